/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that a BPF program reports at their first sample or interval: those that were there when the run began,
 * since no record of the kernel has their mappings. User space reads the mappings before the process can exit.
 */
#ifndef BACKEND_BPF_FIRST_SAMPLES_H
#define BACKEND_BPF_FIRST_SAMPLES_H

#include <stdint.h>
#include <sys/types.h>

struct filter;
struct first_samples;
struct host;

/**
 * first_new() - open the events of the map `first` on all CPUs that are online.
 * @first, @unseen: descriptors of the maps; not owned
 * @out: out; NULL after a failure
 * Return: 0; -ENOMEM; another -errno: the kernel refuses the events or their rings.
 */
int first_new(int first, int unseen, struct first_samples **out);
void first_delete(struct first_samples *s);

/** first_begin() - let the program report the processes that exist now, as far as @filter may select them. */
void first_begin(struct first_samples *s, const struct host *h, const struct filter *filter);

/** first_fd() - a descriptor that is readable when the program has reported a process. */
int first_fd(const struct first_samples *s);

/** first_read() - call @fn for each process that the program has reported since. */
void first_read(struct first_samples *s, void (*fn)(void *ctx, pid_t pid), void *ctx);

#endif
