/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modules and BPF programs that were in the kernel during the whole sampling time. The kernel writes no records
 * about modules, and none about BPF programs before 5.1. So we compare /proc at the beginning and at the end. Not
 * thread safe.
 */
#ifndef CORE_SYMBOLS_KERNEL_LOADED_H
#define CORE_SYMBOLS_KERNEL_LOADED_H

#include "core/symbols/kernel.h"

struct host;
struct kernel_loaded;

/** kernel_loaded_new() - reads nothing yet. @host: borrowed. Return: NULL: no memory. */
struct kernel_loaded *kernel_loaded_new(const struct host *host);
void kernel_loaded_free(struct kernel_loaded *kl);

/** kernel_loaded_begin() - sampling begins. @programs: compare BPF programs, too: no records tell of them. */
void kernel_loaded_begin(struct kernel_loaded *kl, bool programs);

/**
 * kernel_loaded_stayed() - true if code that is there now, of a module or a BPF program, was there when sampling began.
 * True also if there is nothing to compare with: without kernel_loaded_begin(); for a module, without /proc/modules;
 * for a BPF program, if @programs was false. False for a BPF program that /proc/kallsyms did not show when sampling
 * began.
 */
bool kernel_loaded_stayed(struct kernel_loaded *kl, const struct kernel_symbol *s);

/**
 * kernel_loaded_renew() - another report begins: from now on, compare modules with the last list that was read; BPF
 * programs are still compared with the list from the beginning of the first report.
 */
void kernel_loaded_renew(struct kernel_loaded *kl);

/** kernel_symbol_made() - true for code that the kernel made, such as a BPF program or a trampoline. */
bool kernel_symbol_made(const struct kernel_symbol *s);

#endif
