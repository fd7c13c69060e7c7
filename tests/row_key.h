/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of processes, as tests add them: all parts of the key that are no parameter here are 0. */
#ifndef TESTS_ROW_KEY_H
#define TESTS_ROW_KEY_H

#include "core/rows/rows.h"

#include <string.h>

/** row_key_of() - @comm: a string; truncated to COMM_LEN - 1 bytes. */
static inline struct row_key row_key_of(const char *comm, pid_t pid, const struct stack *kernel,
					const struct stack *user)
{
	struct row_key key = { .pid = pid, .kernel = *kernel, .user = *user };

	memcpy(key.comm, comm, strnlen(comm, COMM_LEN - 1));
	return key;
}

/** row_add() - as rows_add(). */
static inline int row_add(struct rows *t, const char *comm, pid_t pid, const struct stack *kernel,
			  const struct stack *user, uint64_t value, uint64_t times)
{
	const struct row_key key = row_key_of(comm, pid, kernel, user);

	return rows_add(t, &key, value, times);
}

#endif
