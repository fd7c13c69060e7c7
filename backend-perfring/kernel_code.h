/* SPDX-License-Identifier: Apache-2.0 */
/* Code of the kernel, found by name, that shows in which state a task is. */
#ifndef PERFRING_KERNEL_CODE_H
#define PERFRING_KERNEL_CODE_H

#include "core/rows/rows.h"

#include <stdbool.h>

struct host;
struct kernel_code;

/** kernel_code_new() - @host: borrowed; its kallsyms are read when they are needed. Return: NULL: no memory. */
struct kernel_code *kernel_code_new(const struct host *host);
void kernel_code_free(struct kernel_code *kc);

/**
 * kernel_code_not_idle() - true if this is certainly not the stack of an idle task.
 * @kernel: a whole stack
 * Return: false also if the kernel's symbols are hidden.
 */
bool kernel_code_not_idle(struct kernel_code *kc, const struct stack *kernel);

/**
 * kernel_code_stale() - find the user's registers that are stale: saved at an earlier entry into the kernel than the
 * one of this stack. See arch_entry_stale().
 * @kernel: a whole stack, not empty
 * Return: ARCH_STALE_*; -ENOENT: the kernel's symbols are hidden.
 */
int kernel_code_stale(struct kernel_code *kc, const struct stack *kernel);

#endif
