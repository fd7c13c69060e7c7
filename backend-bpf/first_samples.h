/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that a BPF program reports at their first sample or interval. User space then reads their mappings, or the
 * records about them, at once: such a process may exit soon.
 */
#ifndef BACKEND_BPF_FIRST_SAMPLES_H
#define BACKEND_BPF_FIRST_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct filter;
struct first_samples;
struct host;

/**
 * first_new() - open the events of the map `first` on all CPUs that are online.
 * @first: descriptor of the map; not owned
 * @out: out; NULL after a failure
 * Return: 0; -ENOMEM; another -errno: the kernel refuses the events or their rings.
 */
int first_new(int first, const struct host *h, struct first_samples **out);
void first_delete(struct first_samples *s);

/**
 * first_begin() - remember the processes that exist now and may pass @filter. No record has their mappings, so
 * first_read() reports them with existed = true.
 */
void first_begin(struct first_samples *s, const struct host *h, const struct filter *filter);

/** first_fd() - a descriptor that is readable when the program has reported a process. */
int first_fd(const struct first_samples *s);

/** first_read() - as first_ops.read of core/sources/counter.h */
void first_read(struct first_samples *s, void (*fn)(void *ctx, pid_t pid, bool existed), void *ctx);

#endif
