/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a thread. */
#ifndef CORE_TASKS_COMM_H
#define CORE_TASKS_COMM_H

#define COMM_LEN 16 /* TASK_COMM_LEN of the kernel, with the final zero */

#endif
