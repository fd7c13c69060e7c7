// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/lines_dwarf.h"

#include "core/base/grow.h"
#include "core/base/search.h"
#include "core/symbols/lines_sections.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#define NESTING_MAX 64 /* of functions, namespaces, types and blocks */
#define OVERLAP_MAX 64 /* ranges tried for an address: the last one that begins at or before it, then backwards */

/* Addresses of a unit or a function. */
struct range {
	uint64_t start, end;
	uint32_t unit;
	Dwarf_Die die;
};

struct ranges {
	struct range *v;
	size_t nr, cap;
};

struct unit {
	Dwarf_Die die;
	bool read;
	struct ranges functions;
};

struct lines_dwarf {
	struct lines_sections sections;
	Elf *elf;
	Dwarf *dwarf;
	struct unit *units;
	size_t nr_units, cap_units;
	struct ranges ranges;
};

/* ---- ranges */

/* Skip ranges that begin at address 0: the linker has dropped their code. */
static int add_ranges(struct ranges *r, Dwarf_Die *die, uint32_t unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	struct range *v;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (!start || start >= end)
			continue;
		v = grow(r->v, &r->cap, r->nr, 1, sizeof(*v));
		if (!v)
			return -ENOMEM;
		r->v = v;
		v[r->nr++] = (struct range){ start, end, unit, *die };
	}
	return 0;
}

/*
 * A range comes before those that are nested in it. If ranges are equal, the first one in the file comes last
 * here, so that find_range() finds it.
 */
static int cmp_ranges(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a->die.addr < b->die.addr) - (a->die.addr > b->die.addr);
}

static void sort_ranges(struct ranges *r)
{
	if (r->nr)
		qsort(r->v, r->nr, sizeof(*r->v), cmp_ranges);
}

/* The innermost range that has @addr. */
static struct range *find_range(const struct ranges *r, uint64_t addr)
{
	size_t i = first_above(r->v, r->nr, start, addr), looked;

	for (looked = 0; i-- > 0 && looked < OVERLAP_MAX; looked++)
		if (addr < r->v[i].end)
			return &r->v[i];
	return NULL;
}

/* ---- contents of the file */

static int read_units(struct lines_dwarf *d)
{
	Dwarf_CU *cu = NULL;
	struct unit *units;
	Dwarf_Die die;
	int rc = 0;

	while (!rc && !dwarf_get_units(d->dwarf, cu, &cu, NULL, NULL, &die, NULL)) {
		units = grow(d->units, &d->cap_units, d->nr_units, 1, sizeof(*units));
		if (!units)
			return -ENOMEM;
		d->units = units;
		if (dwarf_tag(&die) == DW_TAG_invalid)
			continue;
		units[d->nr_units] = (struct unit){ .die = die };
		rc = add_ranges(&d->ranges, &die, (uint32_t)d->nr_units++);
	}
	sort_ranges(&d->ranges);
	return rc;
}

int lines_dwarf_open(int fd, struct lines_dwarf **out)
{
	struct lines_dwarf *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return -ENOMEM;
	rc = lines_sections_open(fd, &d->sections, &d->elf);
	if (!rc)
		d->dwarf = dwarf_begin_elf(d->elf, DWARF_C_READ, NULL);
	if (!rc)
		rc = d->dwarf ? read_units(d) : -ENOEXEC;
	if (rc)
		lines_dwarf_free(d);
	else
		*out = d;
	return rc;
}

void lines_dwarf_free(struct lines_dwarf *d)
{
	size_t i;

	if (!d)
		return;
	for (i = 0; i < d->nr_units; i++)
		free(d->units[i].functions.v);
	free(d->units);
	free(d->ranges.v);
	if (d->dwarf)
		dwarf_end(d->dwarf);
	if (d->elf)
		elf_end(d->elf);
	lines_sections_release(&d->sections);
	free(d);
}

/* ---- the functions of a unit */

/* Return true if @tag may contain functions. The children of other tags, like the parameters of DW_TAG_call_site, are
 * no functions. */
static bool has_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

static int read_functions(struct unit *u)
{
	Dwarf_Die path[NESTING_MAX];
	int depth = 0, tag, rc = 0;

	u->read = true;
	if (dwarf_child(&u->die, &path[0]))
		return 0;
	while (!rc && depth >= 0) {
		tag = dwarf_tag(&path[depth]);
		if (tag == DW_TAG_subprogram)
			rc = add_ranges(&u->functions, &path[depth], 0);
		if (has_functions(tag) && depth + 1 < NESTING_MAX && !dwarf_child(&path[depth], &path[depth + 1])) {
			depth++;
			continue;
		}
		while (depth >= 0 && dwarf_siblingof(&path[depth], &path[depth]))
			depth--;
	}
	sort_ranges(&u->functions);
	return rc;
}

/* ---- one address */

static bool is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return true;
	default:
		return false;
	}
}

/* Find the functions inlined into @function at @addr, outermost first. */
static int find_inlined(Dwarf_Die *function, uint64_t addr, Dwarf_Die out[LINES_DEPTH])
{
	Dwarf_Die die, child;
	bool more = !dwarf_child(function, &die);
	int nr = 0, tag;

	while (more && nr < LINES_DEPTH) {
		tag = dwarf_tag(&die);
		if (!is_scope(tag) || dwarf_haspc(&die, addr) <= 0) {
			more = !dwarf_siblingof(&die, &die);
			continue;
		}
		if (tag == DW_TAG_inlined_subroutine)
			out[nr++] = die;
		more = !dwarf_child(&die, &child);
		die = child;
	}
	return nr;
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* The attribute @name may be in the entry of the function itself, or in that of its declaration. */
static const char *text_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	const char *text = dwarf_formstring(dwarf_attr_integrate(die, name, &attr));

	return text && *text ? text : NULL;
}

static const char *name_of(Dwarf_Die *die)
{
	const char *name = text_of(die, DW_AT_linkage_name);

	if (!name)
		name = text_of(die, DW_AT_MIPS_linkage_name);
	if (!name)
		name = text_of(die, DW_AT_name);
	return name ? name : "[inlined]";
}

static unsigned int number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, name, &attr), &value) || value > INT32_MAX)
		return 0;
	return (unsigned int)value;
}

static void set_position(struct unit *u, uint64_t addr, struct lines_frame *f)
{
	Dwarf_Line *line = dwarf_getsrc_die(&u->die, addr);
	int number;

	if (!line || dwarf_lineno(line, &number) || number <= 0)
		return;
	f->file = base_name(dwarf_linesrc(line, NULL, NULL));
	f->line = f->file ? (unsigned int)number : 0;
}

/* The line from which @die was called. */
static void set_call(struct unit *u, Dwarf_Die *die, struct lines_frame *f)
{
	unsigned int line = number_of(die, DW_AT_call_line);
	Dwarf_Files *files;
	size_t nr;

	if (!line || dwarf_getsrcfiles(&u->die, &files, &nr))
		return;
	f->file = base_name(dwarf_filesrc(files, number_of(die, DW_AT_call_file), NULL, NULL));
	f->line = f->file ? line : 0;
}

int lines_dwarf_find(struct lines_dwarf *d, unsigned int wanted, uint64_t addr, struct lines_frame out[LINES_FRAMES])
{
	struct range *in = find_range(&d->ranges, addr), *function = NULL;
	struct unit *u = in ? &d->units[in->unit] : NULL;
	Dwarf_Die inlined[LINES_DEPTH];
	int nr = 0, i, rc = 0;

	if (!u)
		return 0;
	if (wanted & LINES_INLINED && !u->read)
		rc = read_functions(u);
	if (rc)
		return rc;
	if (wanted & LINES_INLINED)
		function = find_range(&u->functions, addr);
	if (function)
		nr = find_inlined(&function->die, addr, inlined);
	for (i = 0; i <= nr; i++) {
		Dwarf_Die *die = i < nr ? &inlined[nr - 1 - i] : NULL;

		out[i] = (struct lines_frame){ .name = die ? name_of(die) : NULL };
		if (wanted & LINES_SOURCE && !i)
			set_position(u, addr, &out[i]);
		else if (wanted & LINES_SOURCE)
			set_call(u, &inlined[nr - i], &out[i]);
	}
	return nr + 1;
}
