/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of addresses that the running kernel was asked for, one by one: those of /proc/kallsyms. Not thread safe.
 *
 * It does not tell of code outside of itself and of its modules whose that is: BPF programs, trampolines.
 * /proc/kallsyms has to be asked for what cannot be told by the name.
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

/** kernel_answers_renew() - another report begins: what was told may be of a module that has gone. */
void kernel_answers_renew(struct kernel_answers *ka);

#endif
