/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's code that only its idle tasks run. */
#ifndef PERFRING_IDLE_CODE_H
#define PERFRING_IDLE_CODE_H

#include "core/stacks.h"

#include <stdbool.h>

struct host;
struct idle_code;

/** idle_code_new() - @host: borrowed; its kallsyms are read when they are needed. Return: NULL: no memory. */
struct idle_code *idle_code_new(const struct host *host);
void idle_code_free(struct idle_code *ic);

/**
 * idle_code_absent() - is this for certain no stack of an idle task?
 * @kernel: taken, the whole of it
 * Return: false also where the kernel's symbols are hidden.
 */
bool idle_code_absent(struct idle_code *ic, const struct stack *kernel);

#endif
