/* SPDX-License-Identifier: Apache-2.0 */
/* The report of profile: rows of the folded form with -d, and the statistics. */
#ifndef TESTS_VM_REPORT_H
#define TESTS_VM_REPORT_H

#include "tests/vm/run.h"

/** report_samples() - the samples of rows that begin with @prefix and contain @part ("": all). */
uint64_t report_samples(const char *folded, const char *prefix, const char *part);
/** report_book() - a number of --stats; UINT64_MAX: it is missing. */
uint64_t report_book(const struct run *r, const char *name);
/** report_word() - a word of --stats ("backend"), or the whole line ("backend_reason"); "": it is missing. */
const char *report_word(const struct run *r, const char *name);
/**
 * check_ran() - check that the exit status is 0, the statistics balance, and nothing is lost. Return: all of this is
 * true.
 */
bool check_ran(const struct run *r, const char *name);
/** check_failed() - check that the exit status is 1, and that stderr has all of @parts (separated by '|'). */
void check_failed(const struct run *r, const char *name, const char *parts);

/** struct stack_row - one user stack, from the comm to the leaf, and its samples. */
struct stack_row {
	char *stack;
	uint64_t samples;
	bool in_kernel; /* some samples are in the kernel */
};

struct stack_rows {
	struct stack_row *rows;
	size_t nr;
	uint64_t samples;
};

/** report_user_stacks() - the rows that begin with @prefix; rows with the same user stack are merged. */
void report_user_stacks(const char *folded, const char *prefix, struct stack_rows *out);
void stack_rows_free(struct stack_rows *s);

#endif
