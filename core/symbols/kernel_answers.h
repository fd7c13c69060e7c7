/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of single addresses, the same as in /proc/kallsyms, from the running kernel. Not thread safe.
 *
 * For code that is in no module, the kernel does not say whether it is the kernel's own or was made by bpf(2). If the
 * name and the addresses around it do not show this either, use /proc/kallsyms.
 */
#ifndef CORE_SYMBOLS_KERNEL_ANSWERS_H
#define CORE_SYMBOLS_KERNEL_ANSWERS_H

#include "core/symbols/kernel.h"
#include "core/symbols/namer.h"

struct kernel_answers;

/** kernel_answers_new() - @namer is borrowed. Return: NULL: no memory. */
struct kernel_answers *kernel_answers_new(const struct used_namer *namer);
void kernel_answers_free(struct kernel_answers *ka);

/**
 * kernel_answers_find() - the symbol @addr is in. Return: true and *@out, whose strings are borrowed until
 * kernel_answers_renew(); false: /proc/kallsyms may have one, *@out is untouched.
 */
bool kernel_answers_find(struct kernel_answers *ka, uint64_t addr, struct kernel_symbol *out);

/** kernel_answers_renew() - another report begins: forget all answers, because a module may have been unloaded. */
void kernel_answers_renew(struct kernel_answers *ka);

#endif
