/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pinned BPF hash map of another program. Its keys are 64-bit ids, and it may change at any time. The ring's reader
 * looks up keys when it comes to a sample, up to some tenths of a second after the sample was taken.
 */
#ifndef CORE_TASKS_PINNED_H
#define CORE_TASKS_PINNED_H

#include "core/base/err.h"
#include "core/host/host.h"

#include <stdbool.h>
#include <stdint.h>

struct pinned;

/**
 * pinned_open() - open the map that is pinned at @path.
 * @out: pass it to pinned_close()
 * Return: 0; -EINVAL: it is not a hash map with 64-bit keys; -errno.
 */
int pinned_open(struct pinned **out, const struct host *h, const char *path, struct err *err);
void pinned_close(struct pinned *p);

/** pinned_fd() - the map, for a BPF program that looks up keys itself; borrowed. */
int pinned_fd(const struct pinned *p);

/**
 * pinned_has() - true if @id was a key at some time after the sample was taken.
 * @time:   of the sample, CLOCK_MONOTONIC; 0: not known
 * @unsure: out: set to true if the answer may have been the other one when the sample was taken: because the
 *          answer last changed, or was first looked up, at or after @time, because @time is 0, because of
 *          pinned_told(), or because there is no memory. Else unchanged
 */
bool pinned_has(struct pinned *p, uint64_t id, uint64_t time, bool *unsure);

/**
 * pinned_told() - a BPF program found that @id was a key (@has), or was not, when it saw the sample that comes next. An
 * id for which both were found may have changed between any two lookups: pinned_has() sets @unsure for it from then on.
 */
void pinned_told(struct pinned *p, uint64_t id, bool has);

#endif
