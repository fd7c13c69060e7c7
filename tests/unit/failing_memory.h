/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that are linked with failing_memory.o have no memory when a test says so. Shared libraries still have it.
 */
#ifndef TESTS_UNIT_FAILING_MEMORY_H
#define TESTS_UNIT_FAILING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/** memory_fail_after() - let @nr allocations succeed and the next one fail. @all: also those after it. */
void memory_fail_after(size_t nr, bool all);

/** memory_restore() - let allocations succeed again. Return: true if one failed since memory_fail_after(). */
bool memory_restore(void);

#endif
