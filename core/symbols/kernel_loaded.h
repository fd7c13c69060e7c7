/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which modules and BPF programs were in the kernel for the whole time that was sampled. The kernel writes no records
 * about modules, and none about BPF programs before 5.1: what /proc tells at both ends must agree. Not thread safe.
 */
#ifndef CORE_SYMBOLS_KERNEL_LOADED_H
#define CORE_SYMBOLS_KERNEL_LOADED_H

#include "core/symbols/kernel.h"

struct host;
struct kernel_loaded;

/** kernel_loaded_new() - reads nothing yet. @host: borrowed. Return: NULL: no memory. */
struct kernel_loaded *kernel_loaded_new(const struct host *host);
void kernel_loaded_free(struct kernel_loaded *kl);

/** kernel_loaded_begin() - sampling begins. @programs: no records will tell which BPF programs come and go. */
void kernel_loaded_begin(struct kernel_loaded *kl, bool programs);

/**
 * kernel_loaded_stayed() - was code that is there now, of a module or a BPF program, there when sampling began?
 * Return: true also without kernel_loaded_begin(), or without /proc/modules.
 */
bool kernel_loaded_stayed(struct kernel_loaded *kl, const struct kernel_symbol *s);

/**
 * kernel_loaded_renew() - another report begins: modules are compared with those of its beginning; BPF programs still
 * with those of the first report.
 */
void kernel_loaded_renew(struct kernel_loaded *kl);

/** kernel_symbol_made() - is it code that the kernel made, as a BPF program or a trampoline? */
bool kernel_symbol_made(const struct kernel_symbol *s);

#endif
