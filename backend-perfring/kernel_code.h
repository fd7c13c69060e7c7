/* SPDX-License-Identifier: Apache-2.0 */
/* Code of the kernel that tells something of whoever runs it, found by name. */
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
 * kernel_code_not_idle() - is this for certain no stack of an idle task?
 * @kernel: taken, the whole of it
 * Return: false also where the kernel's symbols are hidden.
 */
bool kernel_code_not_idle(struct kernel_code *kc, const struct stack *kernel);

/**
 * kernel_code_fast_entry() - is this a stack of a system call whose entry code saves none of the registers that
 * functions save? See arch_is_fast_entry().
 * @kernel: taken, the whole of it
 * Return: false also where the kernel's symbols are hidden.
 */
bool kernel_code_fast_entry(struct kernel_code *kc, const struct stack *kernel);

#endif
