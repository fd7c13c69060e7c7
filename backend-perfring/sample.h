/* SPDX-License-Identifier: Apache-2.0 */
/* A sample of a ring at work: whose it is, which stacks it has, and whether anybody has asked for it. */
#ifndef PERFRING_SAMPLE_H
#define PERFRING_SAMPLE_H

#include "backend-perfring/applier.h"
#include "backend-perfring/decode.h"
#include "core/rows/rows.h"

/** struct owner - a sample's task, as its record and the side-band tell. */
struct owner {
	pid_t pid, tid;
	char comm[COMM_LEN];
	bool outside; /* of our pid namespace */
};

extern const struct owner owner_outside; /* whoever is outside our pid namespace */

/** struct sample - @record, its ring and @lead are the caller's. */
struct sample {
	const struct record *record;
	uint32_t ring;
	const struct sample_lead *lead;
	bool has_user;      /* its task has a user stack, wanted or not */
	bool unwound;       /* see sample_complete() */
	struct stack chain; /* the kernel's part, asked for or not */
	struct stack kernel, user;
};

/**
 * sample_revive() - a task that is dying has left the pid tables before its last samples, which say -1 for both ids: it
 * is the one whose EXIT record was the last on this CPU. Return: false: there was none.
 */
bool sample_revive(struct applier *a, uint32_t ring, struct owner *o);

/** sample_exited() - the same where the number @tid of the task is known, whatever its CPU. Return: false: it is not.
 */
bool sample_exited(const struct applier *a, pid_t tid, struct owner *o);

/** sample_take_stacks() - one side only where one was asked for, and not deeper than both backends can. */
void sample_take_stacks(const struct source_env *env, struct sample *s);

/**
 * sample_complete() - learn what process @pid maps, and unwind the user stack where that is done here. What counts is
 * not looked at before. Return: 0 or -ENOMEM.
 */
int sample_complete(struct applier *a, struct sample *s, pid_t pid);

/** sample_is_bystander() - of no process that is asked for: neither its name matters nor what it maps. */
bool sample_is_bystander(const struct applier *a, pid_t pid);

/** sample_identify() - the task of a sample as its record and the side-band tell. @stats: NULL: it is none */
void sample_identify(struct applier *a, const struct sample *s, struct stats *stats, struct owner *o);

/** sample_time() - CLOCK_MONOTONIC; 0: of another clock. */
uint64_t sample_time(const struct applier *a, const struct record *r);

/** sample_is_wanted() - do all filters ask for it? @unsure: see pinned_has() */
bool sample_is_wanted(const struct applier *a, const struct sample *s, const struct owner *o, bool *unsure);

/** sample_is_hidden() - of one that is not wanted: would it perhaps be, if we had the right to know where it is? */
bool sample_is_hidden(const struct applier *a, const struct sample *s, const struct owner *o);

/**
 * sample_key() - the row of a sample of @o, of the stacks as they are now, which are borrowed. To be called after
 * sample_complete().
 */
struct row_key sample_key(const struct applier *a, const struct sample *s, const struct owner *o);

/** sample_image() - the image that process @pid has in the key of a row; 0 with --backend=both. */
uint32_t sample_image(const struct applier *a, pid_t pid);

/** sample_hide_user() - nobody here can tell what the user's part of a task outside is. */
void sample_hide_user(struct sample *s);

#endif
