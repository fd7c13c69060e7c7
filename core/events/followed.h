/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that are sampled instead of whole CPUs, for which less rights are needed: those of the command, of -p, of -L,
 * or, with none of these, of every process of this user.
 *
 * Each has an event on each CPU, which the threads that it makes inherit, and so do theirs; but of -L nothing is
 * inherited. A thread that is made while the events of its maker are opened may have some of them. Nobody can tell
 * which, and events of its own would count some samples twice: so it has none, and is told of.
 */
#ifndef CORE_EVENTS_FOLLOWED_H
#define CORE_EVENTS_FOLLOWED_H

#include "core/base/err.h"
#include "core/host/host.h"

struct events;
struct followed;

/** followed_new() - whom the options and the command of @ev ask for; nobody is looked up yet. NULL: no memory. */
struct followed *followed_new(const struct events *ev);
void followed_free(struct followed *f);

/**
 * followed_open() - look them up, and open the events of @ev->followed, a thread's all or none, in the places of
 * @ev->places whose CPU is @online, and of those that may come, as long as there is room.
 *
 * Threads that end meanwhile are left out, and so are those of the user that may not be observed. Where there are not
 * enough descriptors the rest is left out, which @ev->unfollowed tells of.
 * Return: 0; -ENOENT: they would have to be listed, and /proc is foreign; -errno: one of -p or -L may not be observed,
 * or no event at all could be opened. What was opened is the caller's to close; after that it may be called again.
 */
int followed_open(struct events *ev, const struct cpu_list *online, struct err *err);

/** followed_describe() - how many are followed, half a line. */
void followed_describe(const struct followed *f, char *buf, size_t size);

#endif
