/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interface to ask the running kernel for the name of one address. /proc/kallsyms has the same names, but the kernel
 * prints all of them for each reader, which takes longer than all other work on names.
 */
#ifndef CORE_SYMBOLS_NAMER_H
#define CORE_SYMBOLS_NAMER_H

#include <stdint.h>

struct namer; /* the state of an implementation */

/** struct namer_ops - the functions of an implementation. Not thread safe. */
struct namer_ops {
	/* *@out is set on success. Return: 0; -errno: not possible on this host. */
	int (*open)(struct namer **out);

	/*
	 * Get the text that the kernel prints for %pS of @addr (Documentation/core-api/printk-formats.rst):
	 * "name+0x1c/0x40", for a module with " [module]" appended; a number if @addr has no name; "" if the kernel
	 * cannot print it now. *@answer: borrowed until the next call. Return: 0 or -errno.
	 */
	int (*ask)(struct namer *n, uint64_t addr, const char **answer);

	void (*close)(struct namer *n);
};

/** struct used_namer - a namer and its state; all zeros: there is none. */
struct used_namer {
	const struct namer_ops *ops;
	struct namer *state;
};

static inline void namer_close(struct used_namer *n)
{
	if (n->ops)
		n->ops->close(n->state);
	n->ops = 0;
}

#endif
