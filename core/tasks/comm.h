/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a thread. */
#ifndef CORE_TASKS_COMM_H
#define CORE_TASKS_COMM_H

#include <string.h>

#define COMM_LEN 16 /* TASK_COMM_LEN of the kernel, with the final zero */

/** comm_set() - copy the name @comm, which need not be terminated within COMM_LEN; @to is zero padded. */
static inline void comm_set(char *to, const char *comm)
{
	memset(to, 0, COMM_LEN);
	memcpy(to, comm, strnlen(comm, COMM_LEN - 1));
}

#endif
