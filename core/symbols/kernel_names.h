/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which symbols name the addresses of the kernel that was sampled: /proc/kallsyms, a file like it, a vmlinux.
 *
 * Of a recording, the kernel that runs now may be another one, or the same at other addresses. Its /proc/kallsyms
 * serves only when nothing speaks against it and something for it:
 *
 *	build id	reference symbol	boot		serves for
 *	another		any			any		nothing
 *	equal		same address		not another	all; but see below
 *	equal		same address		another		the kernel proper
 *	equal		another address		any		the kernel proper, moved by the difference
 *	equal		not told		the same	all
 *	not known	same address		the same	all
 *	otherwise						nothing
 *
 * A reference symbol where the kernel was linked to be was not moved at random: that it is there in two boots says
 * nothing of where modules and BPF programs are. These have names then only when the boot is told to be the same.
 *
 * The kernel that runs, where it can be asked for its names one by one, has those of its /proc/kallsyms: that is read
 * only for what it does not tell then.
 *
 * Where it serves for nothing, the copy serves that perf has kept of the /proc/kallsyms of the recorded kernel, if its
 * reference symbol is told: for all at the same address, if that was moved at random, else for the kernel proper.
 *
 * A vmlinux comes first for the kernel proper; modules are not in it. Not thread safe.
 */
#ifndef CORE_SYMBOLS_KERNEL_NAMES_H
#define CORE_SYMBOLS_KERNEL_NAMES_H

#include "core/base/err.h"
#include "core/symbols/kernel_file.h"
#include "core/symbols/symbols_cfg.h"

struct kernel_names;

/**
 * kernel_names_open() - read the files that @cfg names, nothing else yet.
 * Return: 0 and the owned *@out, which borrows what @cfg points to; -errno and *@err: a file that cannot be read or has
 * no usable symbols, a vmlinux of another kernel than runs (without recording), no memory.
 */
int kernel_names_open(const struct symbols_cfg *cfg, struct kernel_names **out, struct err *err);
void kernel_names_free(struct kernel_names *kn);

/** kernel_names_find() - the symbol @addr is in; the first call reads what it needs. Strings are borrowed until
 * kernel_names_renew(). */
bool kernel_names_find(struct kernel_names *kn, uint64_t addr, struct kernel_symbol *out);

/**
 * kernel_names_frame() - the same for a frame of a kernel stack, which may be one of kernel_ranges.h.
 * @is_return: the call before it is looked up
 * @addr: out, also without a name: its address, or 0
 */
bool kernel_names_frame(struct kernel_names *kn, uint64_t frame, bool is_return, struct kernel_symbol *out,
			uint64_t *addr);

/**
 * kernel_names_ahead() - read a little of what kernel_names_find() will need, if that is known already. Return: is
 * there more?
 */
bool kernel_names_ahead(struct kernel_names *kn);

/**
 * kernel_names_begin() - sampling of this kernel begins: remember which modules are loaded.
 * @no_records: there will be none of BPF programs that come and go
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
