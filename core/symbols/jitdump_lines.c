// SPDX-License-Identifier: Apache-2.0
#include "core/base/base_name.h"
#include "core/symbols/jitdump_lines.h"

#include "core/symbols/jitdump_format.h"

#include <stdio.h>
#include <string.h>

static bool is_printable(const char *name)
{
	const unsigned char *s = (const unsigned char *)name;

	while (*s >= ' ' && *s != 0x7f)
		s++;
	return !*s && s != (const unsigned char *)name;
}

/* An entry, with the name of its file. */
struct entry {
	struct jitdump_debug_entry e;
	const char *file;
};

/*
 * Read the entry at *@at, and move *@at behind it. @entry: in: the entry before, whose file may be used again
 * Return: 1; 0: the end, with only padding left; -1: malformed.
 */
static int next_entry(const struct jitdump_lines *lines, const char **at, struct entry *entry)
{
	const char *end = lines->entries + lines->size, *name = *at + sizeof(entry->e);
	size_t len;

	if ((size_t)(end - *at) <= sizeof(entry->e))
		return 0;
	memcpy(&entry->e, *at, sizeof(entry->e));
	len = strnlen(name, (size_t)(end - name));
	if (name + len == end || entry->e.addr < lines->start || entry->e.addr > lines->end)
		return -1;
	/* "\xff": the same file as in the entry before */
	if (strcmp(name, "\xff") != 0)
		entry->file = name;
	*at = name + len + 1;
	return entry->file && is_printable(entry->file) ? 1 : -1;
}

bool jitdump_line_of(const struct jitdump_lines *lines, uint64_t addr, struct jitdump_line *out)
{
	struct entry entry = { 0 }, found = { 0 };
	const char *at = lines->entries;
	int rc;

	while ((rc = next_entry(lines, &at, &entry)) > 0)
		if (entry.e.line && entry.e.addr <= addr && entry.e.addr >= found.e.addr)
			found = entry;
	if (rc || !found.file)
		return false;
	snprintf(out->file, sizeof(out->file), "%s", base_name(found.file));
	out->line = found.e.line;
	return true;
}
