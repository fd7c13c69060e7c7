/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sample threads instead of whole CPUs, which needs fewer permissions. The threads are those of the command, of -p, of
 * -L (offcputime: -t) or, without any of these, of all processes of this user.
 *
 * Each thread has an event on each CPU. New threads and processes inherit the events, and pass them on; with -L, events
 * are not inherited. A thread that is created while the events of its creator are being opened may inherit some of
 * them. We cannot find out which, and events of its own could count samples twice. So it gets no events of its own, and
 * events.unfollowed counts it.
 */
#ifndef CORE_EVENTS_FOLLOWED_H
#define CORE_EVENTS_FOLLOWED_H

#include "core/base/err.h"
#include "core/host/host.h"

struct events;
struct followed;

/**
 * followed_new() - select the threads that the filter and the command of @ev name. Does not look them up yet. NULL: no
 * memory.
 */
struct followed *followed_new(const struct events *ev);
void followed_free(struct followed *f);

/**
 * followed_open() - look the threads up and open their events: for each thread all or none, in those of @ev->places
 * whose CPU is @online. Unless a BPF program writes notes, also where the CPU is present but offline, as long as there
 * are file descriptors.
 *
 * Threads that end meanwhile are left out. If all processes of the user are followed, threads that may not be sampled
 * are left out, too. If file descriptors run out, the other threads are left out, and @ev->unfollowed counts them.
 * Return: 0: there are events, or followed_have_ended(); -ENOENT: the threads would have to be listed, but /proc is of
 * another PID namespace; -ESRCH: there is no thread; -errno: a thread of the command, -p or -L may not be sampled, no
 * event could be opened, or there is no memory. The caller closes the events that were opened, and may then call this
 * again.
 */
int followed_open(struct events *ev, const struct cpu_list *online, struct err *err);

/**
 * followed_have_ended() - true if followed_open() opened no events because all processes or threads that were selected
 * had ended before it could.
 */
bool followed_have_ended(const struct followed *f);

/** followed_describe() - write half a line about how many threads are followed. */
void followed_describe(const struct followed *f, char *buf, size_t size);

#endif
