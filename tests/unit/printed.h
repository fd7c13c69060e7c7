/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to standard error, for tests of the code that prints them. */
#ifndef TESTS_UNIT_PRINTED_H
#define TESTS_UNIT_PRINTED_H

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

struct printed {
	int to, real;
};

/* From now on, standard error is a file. Call it just before the tested function: a failure in between leaves it so. */
static inline struct printed printed_begin(void)
{
	struct printed p = { memfd_create("stderr", MFD_CLOEXEC), fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0) };

	ck_assert(p.to >= 0 && p.real >= 0);
	fflush(stderr);
	ck_assert_int_eq(dup2(p.to, STDERR_FILENO), STDERR_FILENO);
	return p;
}

/* Give standard error back, and compare the messages. */
static inline void printed_end(const struct printed *p, const char *want)
{
	static char got[8192];
	ssize_t n;

	fflush(stderr);
	ck_assert_int_eq(dup2(p->real, STDERR_FILENO), STDERR_FILENO);
	n = pread(p->to, got, sizeof(got) - 1, 0);
	ck_assert(n >= 0 && (size_t)n < sizeof(got) - 1);
	got[n] = 0;
	close(p->to);
	close(p->real);
	ck_assert_str_eq(got, want);
}

#endif
