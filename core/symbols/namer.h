/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the running kernel can be asked with for the names of its addresses. /proc/kallsyms has the same names, but the
 * kernel prints all of them for each reader, which takes longer than anything else that names need.
 */
#ifndef CORE_SYMBOLS_NAMER_H
#define CORE_SYMBOLS_NAMER_H

#include <stdint.h>

struct namer; /* each one's own state */

/** struct namer_ops - a const table for each. One thread at a time. */
struct namer_ops {
	/* *@out is set on success. Return: 0; -errno: this host has none. */
	int (*open)(struct namer **out);

	/*
	 * What the kernel prints for %pS of @addr (Documentation/core-api/printk-formats.rst): "name+0x1c/0x40", with
	 * " [module]" behind it, or a number where it knows no name. *@answer: borrowed until the next call.
	 * Return: 0 or -errno.
	 */
	int (*ask)(struct namer *n, uint64_t addr, const char **answer);

	void (*close)(struct namer *n);
};

/** struct used_namer - all zeros: there is none. */
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
