/* SPDX-License-Identifier: Apache-2.0 */
/* Choose the symbol to show if an ELF file has several at one address (see core/symbols/symbols.h). */
#ifndef CORE_FILES_ALIAS_H
#define CORE_FILES_ALIAS_H

#include <stdbool.h>
#include <string.h>

/* Bytes of a name that are compared. A file may hold millions of names of megabytes each, all at one address. */
#define ALIAS_COMPARED 4096

enum symbol_bind { SYMBOL_GLOBAL, SYMBOL_WEAK, SYMBOL_LOCAL };

struct alias {
	const char *name;
	enum symbol_bind bind;
};

static inline size_t alias_underscores(const char *name)
{
	size_t n = 0;

	while (n < ALIAS_COMPARED && name[n] == '_')
		n++;
	return n;
}

/* __indirect_thunk_start and the like mark the bounds of a section for the linker script, and do not name code. */
static inline bool alias_is_mark(const char *name)
{
	size_t len = strnlen(name, ALIAS_COMPARED);

	return len > 8 && !strncmp(name, "__", 2) &&
	       (!strncmp(name + len - 6, "_start", 6) || !strncmp(name + len - 4, "_end", 4));
}

/** alias_better() - true if @a should be shown rather than @b; false if they are equally good. */
static inline bool alias_better(const struct alias *a, const struct alias *b)
{
	size_t na = alias_underscores(a->name), nb = alias_underscores(b->name);

	if (na != nb)
		return na < nb;
	if (alias_is_mark(a->name) != alias_is_mark(b->name))
		return alias_is_mark(b->name);
	if (a->bind != b->bind)
		return a->bind < b->bind;
	na = strnlen(a->name, ALIAS_COMPARED);
	nb = strnlen(b->name, ALIAS_COMPARED);
	if (na != nb)
		return na < nb;
	return memcmp(a->name, b->name, na) < 0;
}

#endif
