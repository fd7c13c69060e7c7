// SPDX-License-Identifier: Apache-2.0
#include "core/files/elf.h"

#include "core/base/faults.h"
#include "core/base/grow.h"
#include "core/files/alias.h"
#include "core/files/elf_dynamic.h"
#include "core/files/elf_file.h"
#include "core/files/elf_go.h"
#include "core/files/elf_inflate.h"
#include "core/files/elf_names.h"
#include "core/files/elf_plt.h"
#include "core/files/elf_spans.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS_MAX (4u << 20) /* entries of one table; browsers with all symbols have about 2 million */
#define LABELS_MAX  (1u << 20) /* untyped symbols whose name is read, which takes a system call; the rest is ignored */

/*
 * A symbol table of the file, checked.
 * @by_segments: the sections of symbols are not known: the flags of segments show whether a symbol is code
 */
struct symtab {
	uint64_t offset, nr;
	const struct elf_strings *names;
	bool by_segments;
};

struct elf_symbols {
	unsigned int sharers; /* owners beside the first one */
	struct elf_file file, debug;
	struct elf_file late; /* a debug file that was added for more names, after the first lookups */
	struct elf_names names;
	struct elf_entry *entries; /* freed once spans are made of them */
	size_t nr, cap;
	uint64_t nr_read;   /* symbols, also those that are not functions */
	uint32_t nr_labels; /* see LABELS_MAX */
	struct symtab tables[2];
	unsigned int nr_tables;
	bool has_symtab, swept, plt_read, go_read;
	bool own_symtab;  /* the .symtab is the file's own, which may lack most symbols */
	bool wants_names; /* names of a debug file are wanted beside the file's own */
	bool is_debug;    /* @file is the separate debug file of a program */
	bool wants_lines;
	const struct elf_file *lines; /* @file or @debug: the one with the debug information; NULL: neither */
	struct elf_spans spans, plt, late_spans, go_spans;
	const struct elf_strings *dynamic; /* the names of the symbols that relocations refer to; NULL: none */
	struct elf_plt_sections plt_sections;
	struct elf_go_table go;
	uint64_t inside, inside_size; /* .gnu_debugdata */
	char debuglink[NAME_MAX + 1]; /* "": none */
	uint32_t debuglink_crc;
};

static enum symbol_bind bind_of(unsigned char info)
{
	switch (ELF64_ST_BIND(info)) {
	case STB_LOCAL:
		return SYMBOL_LOCAL;
	case STB_WEAK:
		return SYMBOL_WEAK;
	default:
		return SYMBOL_GLOBAL;
	}
}

/* Ignore labels that mark the kind of bytes ($x, $d on ARM and RISC-V), and local ones that the assembler left (.L). */
static bool is_code(struct elf_symbols *es, const struct elf_entry *e, unsigned char type)
{
	char name[4];

	switch (type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		if (es->nr_labels == LABELS_MAX)
			return false;
		es->nr_labels++;
		elf_names_read(&es->names, e->name, name, sizeof(name));
		return name[0] && name[0] != '$' && strncmp(name, ".L", 2) != 0;
	default:
		return false;
	}
}

static int add_entry(struct elf_symbols *es, const struct elf_entry *e)
{
	struct elf_entry *entries = grow(es->entries, &es->cap, es->nr, 1, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	es->entries = entries;
	es->entries[es->nr++] = *e;
	return 0;
}

static uint64_t bytes_from(uint64_t addr, uint64_t start, uint64_t size)
{
	return addr >= start && addr - start < size ? size - (addr - start) : 0;
}

/* Bytes of code from @addr on; 0: none. In a debug file, the section is executable, too, though it has no bytes. */
static uint64_t code_from(const struct elf_file *f, const struct symtab *of, const Elf64_Sym *sym, uint64_t addr)
{
	const Elf64_Shdr *sh = of->by_segments ? NULL : &f->sections[sym->st_shndx];
	const struct elf_segment *seg;
	uint64_t room = 0;

	if (sh)
		return sh->sh_flags & SHF_EXECINSTR ? bytes_from(addr, sh->sh_addr, sh->sh_size) : 0;
	for (seg = f->segments; !room && seg < f->segments + f->nr_segments; seg++)
		room = seg->flags & PF_X ? bytes_from(addr, seg->vaddr, seg->size) : 0;
	return room;
}

static int add_symbol(struct elf_symbols *es, const struct elf_file *f, const Elf64_Sym *sym, const struct symtab *of)
{
	struct elf_entry e = { .name = of->names->base + sym->st_name, .bind = bind_of(sym->st_info) };
	uint64_t room;

	if (!sym->st_name || sym->st_name >= of->names->size)
		return 0;
	/* The reserved indices (absolute, common) are above any possible e_shnum. */
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE ||
	    (!of->by_segments && sym->st_shndx >= f->nr_sections))
		return 0;
	e.addr = sym->st_value;
	if (f->machine == EM_ARM && ELF64_ST_TYPE(sym->st_info) != STT_NOTYPE)
		e.addr &= ~1ULL; /* Thumb */
	room = code_from(f, of, sym, e.addr);
	if (room > UINT64_MAX - e.addr)
		room = UINT64_MAX - e.addr;
	if (room > UINT32_MAX)
		room = UINT32_MAX;
	if (!room || !is_code(es, &e, ELF64_ST_TYPE(sym->st_info)))
		return 0;
	e.sized = sym->st_size != 0;
	e.len = (uint32_t)(e.sized && sym->st_size < room ? sym->st_size : room);
	return add_entry(es, &e);
}

static int read_table(struct elf_symbols *es, const struct elf_file *f, const struct symtab *of)
{
	struct elf_table t;
	Elf64_Sym sym;
	const void *p;
	int rc = 0;

	elf_table_init(&t, &f->bytes, elf_symbol_size(f), of->offset, of->nr);
	while (!rc && (p = elf_table_next(&t))) {
		sym = elf_symbol_of(f, p);
		rc = add_symbol(es, f, &sym, of);
		es->nr_read++;
	}
	return rc ? rc : t.rc;
}

/* The first section of @type; NULL: none. */
static const Elf64_Shdr *find_type(const struct elf_file *f, uint32_t type)
{
	size_t i;

	for (i = 0; i < f->nr_sections; i++)
		if (f->sections[i].sh_type == type)
			return &f->sections[i];
	return NULL;
}

/* Read the symbol table @sh, whose names are in @strings. */
static int read_section(struct elf_symbols *es, const struct elf_file *f, const Elf64_Shdr *sh,
			const Elf64_Shdr *strings, struct symtab *out)
{
	size_t item = elf_symbol_size(f);
	struct elf_strings *st;
	int rc;

	if (!elf_section_readable(f, sh) || sh->sh_entsize != item || sh->sh_size / item > SYMBOLS_MAX)
		return -ENOEXEC;
	rc = elf_names_add(&es->names, f, strings, &st);
	if (rc)
		return rc;
	out->offset = sh->sh_offset;
	out->nr = sh->sh_size / item;
	out->names = st;
	return read_table(es, f, out);
}

/* Read the first section of @type, a symbol table. Return: -ENOENT: there is none. */
static int read_symbols(struct elf_symbols *es, const struct elf_file *f, uint32_t type, struct symtab *out)
{
	const Elf64_Shdr *sh = find_type(f, type);

	if (!sh)
		return -ENOENT;
	if (sh->sh_link >= f->nr_sections)
		return -ENOEXEC;
	*out = (struct symtab){ 0 };
	return read_section(es, f, sh, &f->sections[sh->sh_link], out);
}

/* Read .dynsym. The section header may be missing, because nothing needs it at run time: then use PT_DYNAMIC. */
static int read_dynamic(struct elf_symbols *es, const struct elf_file *f, struct symtab *out)
{
	int rc = read_symbols(es, f, SHT_DYNSYM, out);
	Elf64_Shdr symbols, strings;

	if (rc != -ENOENT)
		return rc;
	rc = elf_dynamic_symbols(f, &symbols, &strings);
	*out = (struct symtab){ .by_segments = true };
	return rc ? rc : read_section(es, f, &symbols, &strings, out);
}

/* The section has a name, zeros up to a multiple of four bytes, and the CRC. The name will be part of a path. */
static void read_debuglink(struct elf_symbols *es, const Elf64_Shdr *sh)
{
	char name[sizeof(es->debuglink)] = "";
	size_t len = sh->sh_size < sizeof(name) ? (size_t)sh->sh_size : sizeof(name), crc;

	if (file_bytes_read(&es->file.bytes, sh->sh_offset, name, len))
		return;
	len = strnlen(name, len);
	crc = (len + 4) & ~(size_t)3;
	if (!len || len == sizeof(name) || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..") ||
	    sh->sh_size < crc + 4 || file_bytes_read(&es->file.bytes, sh->sh_offset + crc, &es->debuglink_crc, 4))
		return;
	memcpy(es->debuglink, name, len + 1);
}

static bool is_debug_info(const char *name)
{
	return !strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info");
}

/* .data.rel.ro.gopclntab is the section in position-independent programs. */
static void note_go(struct elf_go_table *go, const Elf64_Shdr *sh, const char *name)
{
	if (!strcmp(name, ".text")) {
		go->text = sh->sh_addr;
	} else if (!go->size && (!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab"))) {
		go->offset = sh->sh_offset;
		go->size = sh->sh_size;
	}
}

/* Find sections by name. Debug information is only noted here, also if it is compressed: another process reads it. */
static void find_named(struct elf_symbols *es)
{
	struct elf_file *f = &es->file;
	size_t i;

	for (i = 0; i < f->nr_sections; i++) {
		const Elf64_Shdr *sh = &f->sections[i];
		char name[24] = ""; /* the longest is .data.rel.ro.gopclntab */

		if (sh->sh_type == SHT_PROGBITS)
			elf_section_name(f, sh, name, sizeof(name));
		if (is_debug_info(name))
			es->lines = f;
		if (!elf_section_readable(f, sh))
			continue;
		elf_plt_note(&es->plt_sections, f, sh, name);
		note_go(&es->go, sh, name);
		if (!strcmp(name, ".gnu_debugdata")) {
			es->inside = sh->sh_offset;
			es->inside_size = sh->sh_size;
		} else if (!strcmp(name, ".gnu_debuglink")) {
			read_debuglink(es, sh);
		}
	}
}

static bool has_debug_info(struct elf_file *f)
{
	char name[16];
	size_t i;

	for (i = 0; i < f->nr_sections; i++) {
		if (f->sections[i].sh_type != SHT_PROGBITS)
			continue;
		elf_section_name(f, &f->sections[i], name, sizeof(name));
		if (is_debug_info(name))
			return true;
	}
	return false;
}

static int load(struct elf_symbols *es)
{
	struct symtab *t = es->tables;
	int rc = read_symbols(es, &es->file, SHT_SYMTAB, t), rc_dyn;

	es->has_symtab = es->own_symtab = !rc;
	t += !rc;
	rc_dyn = read_dynamic(es, &es->file, t);
	if (!rc_dyn) {
		es->dynamic = t->names;
		es->plt_sections.symbols = t->offset;
		es->plt_sections.nr_symbols = t->nr;
		t++;
	}
	es->nr_tables = (unsigned int)(t - es->tables);
	find_named(es);
	elf_file_drop_sections(&es->file);
	/* If one table is broken, use the other. A file may also have neither. */
	return rc && rc != -ENOENT && rc_dyn && rc_dyn != -ENOENT ? rc : 0;
}

/* Some tools strip all section headers: the segments are enough. */
static bool is_program(const struct elf_file *f)
{
	return f->nr_sections || f->nr_segments;
}

int elf_symbols_of(struct elf_file *f, struct elf_symbols **out)
{
	struct elf_symbols *es = calloc(1, sizeof(*es));
	int rc;

	if (!es) {
		elf_file_release(f);
		return fault(-ENOMEM);
	}
	es->file = *f;
	es->debug = es->late = ELF_FILE_NONE;
	rc = is_program(&es->file) ? load(es) : -ENOEXEC;
	if (rc)
		elf_symbols_free(es);
	else
		*out = es;
	return rc;
}

int elf_symbols_of_debug(struct elf_file *f, struct elf_symbols **out)
{
	int rc = elf_symbols_of(f, out);

	if (rc)
		return rc;
	(*out)->is_debug = true;
	(*out)->own_symtab = false;
	if ((*out)->has_symtab)
		return 0;
	elf_symbols_free(*out);
	*out = NULL;
	return -ENOENT;
}

int elf_symbols_open(int fd, struct elf_symbols **out)
{
	struct elf_file f;
	int rc = elf_file_open(&f, fd);

	return rc ? rc : elf_symbols_of(&f, out);
}

int elf_build_id(int fd, struct build_id *id)
{
	struct elf_file f;
	int rc = elf_file_open(&f, fd);

	if (rc)
		return rc;
	if (is_program(&f))
		*id = f.build_id;
	else
		rc = -ENOEXEC;
	elf_file_release(&f);
	return rc;
}

struct elf_symbols *elf_symbols_share(struct elf_symbols *es)
{
	es->sharers++;
	return es;
}

bool elf_symbols_shared(const struct elf_symbols *es)
{
	return es->sharers;
}

void elf_symbols_free(struct elf_symbols *es)
{
	if (!es)
		return;
	if (es->sharers) {
		es->sharers--;
		return;
	}
	elf_names_release(&es->names);
	elf_file_release(&es->file);
	elf_file_release(&es->debug);
	elf_file_release(&es->late);
	free(es->entries);
	free(es->spans.v);
	free(es->plt.v);
	free(es->late_spans.v);
	free(es->go_spans.v);
	free(es);
}

/* ---- the debug file */

void elf_symbols_want_lines(struct elf_symbols *es)
{
	es->wants_lines = true;
}

bool elf_symbols_want_names(struct elf_symbols *es)
{
	es->wants_names = es->own_symtab && es->swept;
	return es->wants_names && !es->late.class;
}

bool elf_symbols_may_want_names(const struct elf_symbols *es)
{
	return es->own_symtab && !es->late.class;
}

bool elf_symbols_wants_debug(const struct elf_symbols *es)
{
	if (es->wants_names)
		return !es->late.class;
	return !es->has_symtab || (es->wants_lines && !es->lines);
}

bool elf_symbols_stripped(const struct elf_symbols *es)
{
	return !es->has_symtab;
}

int elf_symbols_lines_fd(const struct elf_symbols *es)
{
	return es->lines ? es->lines->bytes.fd : -1;
}

/* From a debug file in memory, keep only the names. */
static void keep_strings(struct file_bytes *b, struct elf_strings *st)
{
	char *less;

	if (!b->memory)
		return;
	memmove(b->memory, b->memory + st->offset, st->size);
	st->offset = 0;
	b->size = st->size;
	less = realloc(b->memory, st->size);
	if (less)
		b->memory = less;
}

static bool same_build(const struct elf_file *a, const struct elf_file *b)
{
	if (a->class != b->class || a->machine != b->machine)
		return false;
	return !a->build_id.size || !b->build_id.size || build_id_equal(&a->build_id, &b->build_id);
}

/* Read the symbols of es->debug, unless it is there only for the debug information. */
static int take_debug(struct elf_symbols *es)
{
	struct symtab t;
	int rc;

	if (!same_build(&es->file, &es->debug))
		return -ESTALE;
	if (es->wants_lines && !es->lines && has_debug_info(&es->debug))
		es->lines = &es->debug;
	if (es->has_symtab && es->wants_lines)
		return es->lines == &es->debug ? 0 : -ENOENT;
	rc = read_symbols(es, &es->debug, SHT_SYMTAB, &t);
	if (!rc)
		keep_strings(&es->debug.bytes, &es->names.strings[es->names.nr_strings - 1]);
	return rc;
}

static int merge_debug(struct elf_symbols *es)
{
	unsigned int nr_strings = es->names.nr_strings;
	size_t nr = es->nr;
	int rc = es->debug.nr_sections ? take_debug(es) : -ENOEXEC;

	if (rc) {
		es->nr = nr;
		es->names.nr_strings = nr_strings;
		if (es->lines == &es->debug)
			es->lines = NULL;
		elf_file_release(&es->debug);
		return rc;
	}
	elf_file_drop_sections(&es->debug);
	es->has_symtab = true;
	return 0;
}

/*
 * Return true if the .symtab of es->late seems to be that of the file, because it has as many symbols: reading it
 * again, slow in large files, would add nothing.
 */
static bool is_whole(const struct elf_symbols *es)
{
	const Elf64_Shdr *sh = find_type(&es->late, SHT_SYMTAB);

	return sh && !es->late.bytes.memory && sh->sh_size / elf_symbol_size(&es->late) == es->tables[0].nr;
}

static int take_late(struct elf_symbols *es)
{
	struct symtab t;
	int rc;

	if (!same_build(&es->file, &es->late))
		return -ESTALE;
	rc = is_whole(es) ? -ENOENT : read_symbols(es, &es->late, SHT_SYMTAB, &t);
	if (rc)
		return rc;
	keep_strings(&es->late.bytes, &es->names.strings[es->names.nr_strings - 1]);
	return elf_spans_make(es->entries, es->nr, &es->names, &es->late_spans);
}

/* Merge the names of es->late. Names that were found before stay as they are. */
static int merge_late(struct elf_symbols *es)
{
	unsigned int nr_strings = es->names.nr_strings;
	int rc = es->late.nr_sections ? take_late(es) : -ENOEXEC;

	free(es->entries);
	es->entries = NULL;
	es->nr = es->cap = 0;
	elf_file_drop_sections(&es->late);
	if (rc) {
		es->late_spans.nr = 0;
		es->names.nr_strings = nr_strings;
		elf_file_release(&es->late);
	}
	return rc;
}

/* Return: the struct for the debug file that is added now; NULL: none can be added. */
static struct elf_file *next_debug(struct elf_symbols *es)
{
	if (es->wants_names)
		return es->late.class ? NULL : &es->late;
	return es->swept || es->debug.class ? NULL : &es->debug;
}

static int merge(struct elf_symbols *es, const struct elf_file *f)
{
	return f == &es->late ? merge_late(es) : merge_debug(es);
}

int elf_symbols_add_debug(struct elf_symbols *es, int fd)
{
	struct elf_file *f = next_debug(es);
	int rc = f ? elf_file_open(f, fd) : -EALREADY;

	return rc ? rc : merge(es, f);
}

static int merge_memory(struct elf_symbols *es, struct elf_file *f, char *memory, size_t len)
{
	int rc = elf_file_adopt(f, memory, len);

	return rc ? rc : merge(es, f);
}

int elf_symbols_add_inside(struct elf_symbols *es)
{
	struct elf_file *f = next_debug(es);
	size_t len = 0;
	char *memory;
	int rc;

	if (!f)
		return -EALREADY;
	/* .gnu_debugdata has no debug information. */
	if (!es->inside_size || (f == &es->debug && es->has_symtab && es->wants_lines))
		return -ENOENT;
	rc = elf_inflate_xz(&es->file.bytes, es->inside, es->inside_size, &memory, &len);
	/* A few compressed bytes can take much time and memory: count the inflated bytes as symbols. */
	es->nr_read += len / sizeof(struct elf_span);
	return rc ? rc : merge_memory(es, f, memory, len);
}

bool elf_symbols_debuglink(const struct elf_symbols *es, const char **name, uint32_t *crc)
{
	if (!*es->debuglink)
		return false;
	*name = es->debuglink;
	*crc = es->debuglink_crc;
	return true;
}

/* ---- lookups */

uint64_t elf_symbols_read(const struct elf_symbols *es)
{
	return es->nr_read;
}

const struct build_id *elf_symbols_build_id(const struct elf_symbols *es)
{
	return &es->file.build_id;
}

bool elf_symbols_vaddr(const struct elf_symbols *es, const struct mapping *m, uint64_t at, uint64_t *vaddr)
{
	if (es->is_debug)
		return elf_file_address_mapped(&es->file, m, at, vaddr);
	return elf_file_address(&es->file, mapping_offset(m, at), vaddr);
}

/* If there is no memory for the spans, find no symbol: a symbol found without them may be a wrong one. */
static const struct elf_span *find_symbol(struct elf_symbols *es, uint64_t vaddr)
{
	if (!es->swept) {
		if (elf_spans_make(es->entries, es->nr, &es->names, &es->spans))
			es->spans.nr = 0;
		free(es->entries);
		es->entries = NULL;
		es->nr = es->cap = 0;
		es->swept = true;
	}
	return elf_spans_find(&es->spans, vaddr);
}

/* The name of @e, an entry of a linkage table; 0: it has none. */
static uint32_t plt_name(struct elf_symbols *es, const struct elf_plt_entry *e)
{
	const struct elf_span *resolver;

	if (e->name && es->dynamic && e->name < es->dynamic->size)
		return (es->dynamic->base + e->name) | ELF_NAME_PLT;
	resolver = e->resolver ? find_symbol(es, e->resolver) : NULL;
	return resolver && elf_span_symbol(resolver) == e->resolver ? resolver->name | ELF_NAME_PLT : 0;
}

static void read_plt(struct elf_symbols *es)
{
	struct elf_plt_entry *v;
	size_t nr, i;

	es->plt_read = true;
	if (elf_plt_read(&es->file, &es->plt_sections, &v, &nr))
		return;
	es->plt.v = nr ? calloc(nr, sizeof(*es->plt.v)) : NULL;
	if (nr && !es->plt.v)
		fault(-ENOMEM);
	for (i = 0; es->plt.v && i < nr; i++) {
		struct elf_span s = { v[i].addr, v[i].len, 0, plt_name(es, &v[i]), true };

		if (s.name)
			es->plt.v[es->plt.nr++] = s;
	}
	free(v);
}

/* Read the linkage tables only when a sample is in one: this is rare, and reading takes time. */
static const struct elf_span *find_plt(struct elf_symbols *es, uint64_t vaddr)
{
	if (!elf_plt_covers(&es->plt_sections, vaddr))
		return NULL;
	if (!es->plt_read)
		read_plt(es);
	return elf_spans_find(&es->plt, vaddr);
}

static void read_go(struct elf_symbols *es)
{
	unsigned int nr_strings = es->names.nr_strings;
	struct elf_entry *v;
	size_t nr;

	es->go_read = true;
	if (elf_go_read(&es->file, &es->go, &es->names, &v, &nr) || elf_spans_make(v, nr, &es->names, &es->go_spans)) {
		es->go_spans.nr = 0;
		es->names.nr_strings = nr_strings;
		nr = 0;
	}
	es->nr_read += nr;
	free(v);
}

/* Read the table when an address has no symbol, or only one without a size, as in a stripped program. */
static const struct elf_span *find_go(struct elf_symbols *es, uint64_t vaddr)
{
	if (!es->go.size)
		return NULL;
	if (!es->go_read)
		read_go(es);
	return elf_spans_find(&es->go_spans, vaddr);
}

/*
 * @s: the symbol of the file. If it is NULL, use that of the debug file. If it has no size, prefer a symbol of the
 * debug file that has one. A symbol without a size ends where the next one of either file begins.
 */
static const struct elf_span *better_late(const struct elf_symbols *es, uint64_t vaddr, const struct elf_span *s)
{
	const struct elf_span *last = s && s->sized ? NULL : elf_spans_last(&es->late_spans, vaddr);
	const struct elf_span *late = last && elf_span_has(last, vaddr) ? last : NULL;

	if (s && !(late && late->sized) && (!last || elf_span_symbol(last) <= elf_span_symbol(s)))
		return s;
	return late;
}

bool elf_symbols_find(struct elf_symbols *es, uint64_t vaddr, struct elf_symbol *out)
{
	const struct elf_span *s = find_symbol(es, vaddr), *go;
	const char *name;

	if (!s)
		s = find_plt(es, vaddr);
	s = better_late(es, vaddr, s);
	go = s && s->sized ? NULL : find_go(es, vaddr);
	s = go ? go : s;
	name = s ? elf_names_find(&es->names, s->name) : NULL;
	if (!name)
		return false;
	out->name = name;
	out->start = elf_span_symbol(s);
	out->sized = s->sized;
	return true;
}

bool elf_symbols_is_plt(const struct elf_symbols *es, uint64_t vaddr)
{
	return elf_plt_covers(&es->plt_sections, vaddr);
}

static bool is_called(const struct elf_symbols *es, const struct symtab *t, const Elf64_Sym *sym, const char *name)
{
	char text[1024];
	size_t cap = strlen(name) + 2; /* so that a longer name differs */

	if (sym->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(sym->st_info) == STT_SECTION ||
	    ELF64_ST_TYPE(sym->st_info) == STT_FILE || sym->st_name >= t->names->size || cap > sizeof(text))
		return false;
	elf_names_read(&es->names, t->names->base + sym->st_name, text, cap);
	return !strcmp(text, name);
}

bool elf_symbols_address(const struct elf_symbols *es, const char *name, uint64_t *addr)
{
	struct elf_table t;
	unsigned int i;
	Elf64_Sym sym;
	const void *p;

	for (i = 0; i < es->nr_tables; i++) {
		elf_table_init(&t, &es->file.bytes, elf_symbol_size(&es->file), es->tables[i].offset, es->tables[i].nr);
		while ((p = elf_table_next(&t))) {
			sym = elf_symbol_of(&es->file, p);
			if (!is_called(es, &es->tables[i], &sym, name))
				continue;
			*addr = sym.st_value;
			return true;
		}
	}
	return false;
}
