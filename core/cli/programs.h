/* SPDX-License-Identifier: Apache-2.0 */
/* Group the tasks of a report by program. */
#ifndef CORE_CLI_PROGRAMS_H
#define CORE_CLI_PROGRAMS_H

#include "core/report/quality.h"

struct tasks;

/**
 * struct program - tasks that run the same file or, if that is not known, have the same name.
 * @path:  of the file, NULL: not known; borrowed until tasks_forget()
 * @tasks: positions of its @nr tasks in report_quality.tasks
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
	uint32_t *tasks; /* of all programs */
	struct quality of;
};

/** programs_find() - Return: 0 and *@out, for programs_release(); -ENOMEM. */
int programs_find(const struct report_quality *q, const struct tasks *tasks, struct programs *out);
void programs_release(struct programs *p);

/**
 * programs_worst() - the program with the highest quality.flawed; of equal ones, the first.
 * @after: only programs that come after this one, from the worst to the best; NULL: all
 * Return: NULL: there is none.
 */
const struct program *programs_worst(const struct programs *p, const struct program *after);

/**
 * program_task() - the task of @p with the highest quality.by_flaw[@flaw]; of equal ones, that with the lowest pid,
 * then the first comm.
 */
const struct task_quality *program_task(const struct report_quality *q, const struct program *p, enum stack_flaw flaw);

#endif
