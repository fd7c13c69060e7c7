/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks of rows as sequences of labels, each frame and each stack named once. Private to core/report/.
 *
 * Rows are named task by task. So the table of user addresses serves one task at a time, and stays small enough for the
 * CPU's caches: naming a million rows takes half as long.
 */
#ifndef CORE_REPORT_STACKS_H
#define CORE_REPORT_STACKS_H

#include "core/report/labeller.h"
#include "core/report/quality.h"
#include "core/rows/rows.h"

struct named_frame;

/** struct task_image - a user address has a name only within a task and an image of its process. */
struct task_image {
	struct task_key key;
	uint32_t image; /* as of struct row_key */
};

/* Frames that have been named: those of the kernel, or those of one task. All zeros is empty. */
struct named_frames {
	struct named_frame *v;
	size_t nr, cap;
	uint32_t *labels;
	size_t nr_labels, labels_cap; /* below 2^32 */
	struct hash_index index;
};

/**
 * struct report_stacks - valid if all except @labeller is zero; see stacks_init().
 * @kernel_seqs: by stack number; HASH_NONE: not named yet
 * @finds_incomplete: find stacks with FLAW_INCOMPLETE; for the current part
 */
struct report_stacks {
	struct labeller *labeller;
	uint32_t missed_user, missed_kernel, truncated; /* labels */
	struct named_frames kernel_frames;
	/* for the current part */
	bool from_schedule;
	uint32_t *kernel_seqs;
	/* for the current task */
	const struct task_image *task;
	bool finds_incomplete;
	struct named_frames user_frames;
	struct intern_table user_stacks;
	/* scratch */
	uint32_t *ids;
	size_t ids_cap;
	uint32_t ends[2]; /* positions of the two outermost frames of the last stack */
};

/** stacks_init() - prepare @s. Return: 0 or -ENOMEM, as do all functions here that return int. */
int stacks_init(struct report_stacks *s);
void stacks_release(struct report_stacks *s);

/**
 * stacks_begin_part() - the next rows are from another table with @nr stacks. Call stacks_begin_task() after it.
 * @from_schedule: as in struct report_part
 */
int stacks_begin_part(struct report_stacks *s, size_t nr, bool from_schedule);

/** stacks_forget_kernel() - forget the names of kernel frames: the same addresses may get other names from now on. */
void stacks_forget_kernel(struct report_stacks *s);

/** stacks_begin_task() - the next rows are of @task, borrowed until another one begins. */
void stacks_begin_task(struct report_stacks *s, const struct task_image *task);

/**
 * struct added_stacks - of a row.
 * @user, @kernel: their sequences of labels (labels_seq())
 * @flaws:  of the user stack, bits 1 << enum stack_flaw
 * @reused: it has a frame with FRAME_REUSED
 */
struct added_stacks {
	uint32_t user, kernel;
	unsigned int flaws;
	bool reused;
};

int stacks_add(struct report_stacks *s, const struct row *row, struct added_stacks *out);

#endif
