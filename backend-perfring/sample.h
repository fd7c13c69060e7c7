/* SPDX-License-Identifier: Apache-2.0 */
/* The current sample of a ring: its task, its stacks, and whether it is wanted. */
#ifndef PERFRING_SAMPLE_H
#define PERFRING_SAMPLE_H

#include "backend-perfring/applier.h"
#include "backend-perfring/decode.h"
#include "core/rows/rows.h"

/** struct owner - a sample's task, by its record and the side-band records (COMM, EXIT, ...). */
struct owner {
	pid_t pid, tid;
	char comm[COMM_LEN];
	bool outside; /* of our pid namespace */
};

extern const struct owner owner_outside; /* any task outside our pid namespace */

/** struct sample - the caller owns @record and @lead. */
struct sample {
	const struct record *record;
	uint32_t ring;
	const struct sample_lead *lead;
	bool has_user;      /* its task has a user stack, wanted or not */
	bool unwound;       /* sample_complete() has unwound the user stack */
	struct stack chain; /* the kernel's part, wanted or not */
	struct stack kernel, user;
};

/**
 * sample_exited() - look up, by its number @tid, a task that has left the pid tables.
 * Return: false: no recent EXIT record (see RECENT_EXITS) is about it.
 */
bool sample_exited(const struct applier *a, pid_t tid, struct owner *o);

/**
 * sample_take_stacks() - take only the wanted stacks. Live, they are cut to the depth that the BPF backend has, too.
 */
void sample_take_stacks(const struct source_env *env, struct sample *s);

/**
 * sample_complete() - learn the mappings of process @pid if the user stack needs them, and unwind that stack if this
 * run unwinds (applier.unwinding). Call this only for a sample that counts. Return: 0 or -ENOMEM.
 */
int sample_complete(struct applier *a, struct sample *s, pid_t pid);

/** sample_is_bystander() - true if the filter excludes process @pid: then we need neither its name nor its mappings. */
bool sample_is_bystander(const struct applier *a, pid_t pid);

/**
 * sample_identify() - find the task of a sample by its record and the side-band records.
 * @stats: counts samples of tasks that have left the pid tables (dead_tasks); NULL: do not count
 */
void sample_identify(struct applier *a, const struct sample *s, struct stats *stats, struct owner *o);

/** sample_time() - the time of @r, CLOCK_MONOTONIC; 0: its time is of another clock. */
uint64_t sample_time(const struct applier *a, const struct record *r);

/** sample_is_wanted() - true if @s passes all filters. @unsure: see pinned_has() */
bool sample_is_wanted(const struct applier *a, const struct sample *s, const struct owner *o, bool *unsure);

/**
 * sample_is_hidden() - true if @s, which is not wanted, might be wanted if we were permitted to read the mount
 * namespace of its task.
 */
bool sample_is_hidden(const struct applier *a, const struct sample *s, const struct owner *o);

/**
 * sample_key() - the key of the row of a sample of @o, with its current stacks, which are borrowed. Call it after
 * sample_complete().
 */
struct row_key sample_key(const struct applier *a, const struct sample *s, const struct owner *o);

/** sample_image() - tasks_image() of process @pid, for the key of a row; 0 with --backend=both. */
uint32_t sample_image(const struct applier *a, pid_t pid);

/** sample_hide_user() - drop the user stack of a task outside our pid namespace: we cannot read its mappings. */
void sample_hide_user(struct sample *s);

#endif
