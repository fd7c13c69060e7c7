/* SPDX-License-Identifier: Apache-2.0 */
/* Which tasks of a report run the same program. */
#ifndef CORE_CLI_PROGRAMS_H
#define CORE_CLI_PROGRAMS_H

#include "core/report/quality.h"

struct tasks;

/**
 * struct program - tasks that run the same file, or, where that is not known, have the same name.
 * @path:  of the file, NULL: not known; borrowed until tasks_forget()
 * @tasks: positions in report_quality.tasks, @nr of them
 */
struct program {
	const char *path;
	const uint32_t *tasks;
	size_t nr;
	struct quality of;
};

/** struct programs - all programs of a report, in the order of their paths or names. */
struct programs {
	struct program *v;
	size_t nr;
	uint32_t *tasks; /* of all */
	struct quality of;
};

/** programs_find() - Return: 0 and *@out, for programs_release(); -ENOMEM. */
int programs_find(const struct report_quality *q, const struct tasks *tasks, struct programs *out);
void programs_release(struct programs *p);

/**
 * programs_worst() - the one with most flawed values, the first of several.
 * @after: of those that come after this one in that order; NULL: of all
 * Return: NULL: there are none.
 */
const struct program *programs_worst(const struct programs *p, const struct program *after);

/** program_task() - its task with most of @flaw; of several, the least pid and then comm. */
const struct task_quality *program_task(const struct report_quality *q, const struct program *p, enum stack_flaw flaw);

#endif
