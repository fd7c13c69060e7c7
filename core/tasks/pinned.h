/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A BPF hash map that somebody has pinned, whose keys are 64-bit ids, and which may change at any time: what the ring's
 * reader knows of it. The reader looks when it comes to a sample, up to some tenths of a second after that was taken.
 */
#ifndef CORE_TASKS_PINNED_H
#define CORE_TASKS_PINNED_H

#include "core/base/err.h"
#include "core/host/host.h"

#include <stdbool.h>
#include <stdint.h>

struct pinned;

/**
 * pinned_open() - the map that is pinned at @path.
 * @out: to be given to pinned_close()
 * Return: 0; -EINVAL: what is there is not such a map; -errno.
 */
int pinned_open(struct pinned **out, const struct host *h, const char *path, struct err *err);
void pinned_close(struct pinned *p);

/** pinned_fd() - for a program in the kernel, which looks for itself; borrowed. */
int pinned_fd(const struct pinned *p);

/**
 * pinned_has() - was @id a key at some time after that of the sample?
 * @time:   of the sample, CLOCK_MONOTONIC; 0: not known
 * @unsure: out: set to true, or left alone: when the sample was taken the answer may have been the other one, since
 *          this one was not seen before
 */
bool pinned_has(struct pinned *p, uint64_t id, uint64_t time, bool *unsure);

/**
 * pinned_told() - a program in the kernel found that @id was a key, or was not, at the time of the next sample. One
 * that was both may have been either between any two looks: pinned_has() is unsure of it from then on.
 */
void pinned_told(struct pinned *p, uint64_t id, bool has);

#endif
