/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choose the symbols that name addresses of the sampled kernel: /proc/kallsyms, a file like it, or a vmlinux.
 *
 * For a recording, the running kernel may be another one, or the same at other addresses. Its /proc/kallsyms is used
 * only if there is evidence for it and none against it:
 *
 *	build id	reference symbol	boot		used for
 *	another		any			any		nothing
 *	equal		same address		same or unknown	all; but see below
 *	equal		same address		another		the kernel proper
 *	equal		another address		any		the kernel proper, moved by the difference
 *	equal		unknown			same		all
 *	unknown		same address		same		all
 *	otherwise						nothing
 *
 * A reference symbol at its link address means that KASLR did not move the kernel. Then the same address in two boots
 * says nothing about the addresses of modules and BPF programs: these get names only if the boot is known to be the
 * same.
 *
 * If the kernel answers questions about single addresses (namer.h), these answers are used instead: they are those of
 * /proc/kallsyms. Then we read only the beginning of that file, and more only for addresses without an answer.
 *
 * If /proc/kallsyms is of no use for a recording, perf's copy of the recorded kernel's /proc/kallsyms is used, provided
 * that the recording has a reference symbol. It names everything if that symbol has the same address in the copy and
 * KASLR has moved the kernel; otherwise only the kernel proper.
 *
 * A vmlinux, if it is given, names the kernel proper; it has no modules. Not thread safe.
 */
#ifndef CORE_SYMBOLS_KERNEL_NAMES_H
#define CORE_SYMBOLS_KERNEL_NAMES_H

#include "core/base/err.h"
#include "core/symbols/kernel_file.h"
#include "core/symbols/symbols_cfg.h"

struct kernel_names;

/**
 * kernel_names_open() - read the files that options in @cfg name, and no other symbols yet.
 * Return: 0 and the owned *@out, which borrows everything that @cfg points to; -errno and *@err: a file cannot be read
 * or has no usable symbols, a vmlinux is not of the running kernel (without a recording), no memory.
 */
int kernel_names_open(const struct symbols_cfg *cfg, struct kernel_names **out, struct err *err);
void kernel_names_free(struct kernel_names *kn);

/**
 * kernel_names_find() - the symbol @addr is in. Reads /proc/kallsyms, or perf's copy of it, as far as it is needed.
 * Return: true and *@out, whose strings are borrowed until kernel_names_renew(); false: no symbol is known, or the code
 * there may not be the code that was sampled.
 */
bool kernel_names_find(struct kernel_names *kn, uint64_t addr, struct kernel_symbol *out);

/**
 * kernel_names_frame() - the same for a frame of a kernel stack, which may have a number instead of an address
 * (KERNEL_RANGE_FRAME, kernel_ranges.h).
 * @is_return: @frame is a return address: look up the call before it
 * @addr: out, also without a name: its address, or 0
 */
bool kernel_names_frame(struct kernel_names *kn, uint64_t frame, bool is_return, struct kernel_symbol *out,
			uint64_t *addr);

/**
 * kernel_names_ahead() - read a little of the file that kernel_names_find() will need, if that is known already.
 * Return: true: there is more.
 */
bool kernel_names_ahead(struct kernel_names *kn);

/**
 * kernel_names_begin() - sampling of this kernel begins: remember which modules are loaded.
 * @no_records: the kernel will not record which BPF programs come and go: remember these, too
 * Return: 0 or -ENOMEM.
 */
int kernel_names_begin(struct kernel_names *kn, bool no_records);

/** kernel_names_renew() - another report begins. */
void kernel_names_renew(struct kernel_names *kn);

/** kernel_names_hidden() - see symbols_kernel_hidden(), and kernel_names_withheld() - see symbols_kernel_withheld() */
bool kernel_names_hidden(const struct kernel_names *kn, struct err *why);
bool kernel_names_withheld(const struct kernel_names *kn, struct err *why);
size_t kernel_names_reused(const struct kernel_names *kn); /* see symbols_kernel_reused() */

#endif
