// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/elf.h"

#include "core/grow.h"
#include "core/hash.h"
#include "core/symbols/alias.h"

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * libelf is used for byte order and layout only. An Elf descriptor would read the header again after we
 * checked it, and allocates by the section count it finds, which a hostile file can raise to 2^32 between the
 * two reads.
 */

#define SYMBOLS_MAX    (4u << 20)   /* entries of one table; browsers with all symbols have about 2 million */
#define STRINGS_MAX    (512u << 20) /* bytes of one string table */
#define NAME_MAX_BYTES (64u << 10)  /* of a name, the rest is cut */
#define SEGMENTS_MAX   64           /* executable PT_LOADs kept; linkers make one, hugepage tools a few */
#define NOTES_MAX      64           /* segments and sections of notes that are read; files have about five */
#define NOTE_BYTES     16384        /* of each, the rest is not read */

/* Addresses [start, start + len), of the symbol that begins at start - back. Sorted and disjoint. */
struct span {
	uint64_t start;
	uint32_t len;
	uint32_t back;
	uint32_t name; /* see struct strings */
};

struct segment {
	uint64_t offset, size, vaddr;
};

/* Where the bytes are: a file, or a copy of what was in memory. */
struct source {
	int fd; /* -1: memory */
	char *memory;
	uint64_t size;
};

/* A string table; in span.name and entry.name its offsets begin at @base. */
struct strings {
	uint64_t offset;
	uint32_t base, size; /* without the bytes that begin no terminated string */
};

/* A symbol table of the file, checked. */
struct symtab {
	uint64_t offset, nr;
	const struct strings *names;
};

/* A name that was asked for. */
struct known_name {
	uint32_t name;
	char *text;
};

struct elf_symbols {
	struct source src;
	unsigned char class, encoding;
	struct build_id build_id;
	struct span *spans;
	size_t nr, cap;
	uint64_t nr_read;
	struct strings strings[2];
	unsigned int nr_strings;
	struct symtab tables[2];
	unsigned int nr_tables;
	struct known_name *known;
	size_t nr_known, cap_known;
	struct hash_index known_index;
	struct segment segments[SEGMENTS_MAX];
	unsigned int nr_segments;
};

/* A symbol on its way into spans. Functions are less than 4 GiB long. */
struct entry {
	uint64_t addr;
	uint32_t len; /* within its section; without size: up to the section's end */
	uint32_t name;
	uint8_t bind; /* enum symbol_bind */
	bool sized;
};

struct loader {
	Elf64_Ehdr ehdr;
	Elf64_Shdr *sections; /* ehdr.e_shnum of them */

	struct elf_symbols *es;
	unsigned int nr_notes; /* looked into */
	struct entry *entries;
	size_t nr, cap;
	/* Of two aliases that are compared, and where they come from: the better one of many is read once. */
	char names[2][ALIAS_COMPARED + 1];
	uint32_t loaded[2];
};

/* A table of the file, translated piece by piece. */
struct table {
	const struct elf_symbols *es;
	Elf_Type type;
	size_t item;
	uint64_t offset, nr, at;
	int rc;
	union {
		char bytes[16384];
		Elf64_Xword align;
	} buf;
};

static int read_at(const struct source *src, uint64_t offset, void *buf, size_t len)
{
	char *p = buf;
	ssize_t n;

	if (offset > src->size || len > src->size - offset)
		return -ENOEXEC;
	if (src->fd < 0) {
		memcpy(buf, src->memory + offset, len);
		return 0;
	}
	for (; len; p += n, offset += (uint64_t)n, len -= (size_t)n) {
		do
			n = pread(src->fd, p, len, (off_t)offset);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return -errno;
		if (!n) /* it shrank */
			return -ENOEXEC;
	}
	return 0;
}

/* From the file's class, layout and byte order into ours. Class decides the type of the result. */
static int translate(const struct elf_symbols *es, Elf_Type type, void *buf, size_t len)
{
	Elf_Data data = { .d_buf = buf, .d_type = type, .d_version = EV_CURRENT, .d_size = len };

	if (es->class == ELFCLASS64)
		return elf64_xlatetom(&data, &data, es->encoding) ? 0 : -ENOEXEC;
	return elf32_xlatetom(&data, &data, es->encoding) ? 0 : -ENOEXEC;
}

static void table_init(struct table *t, const struct elf_symbols *es, Elf_Type type, size_t item, uint64_t offset,
		       uint64_t nr)
{
	t->es = es;
	t->type = type;
	t->item = item;
	t->offset = offset;
	t->nr = nr;
	t->at = 0;
	t->rc = 0;
}

/* The next entry, or NULL at the end and after a failure (t->rc). */
static const void *table_next(struct table *t)
{
	uint64_t per = sizeof(t->buf.bytes) / t->item, in = t->at % per, left = t->nr - t->at;
	size_t len;

	if (!left)
		return NULL;
	if (!in) {
		len = (size_t)(left < per ? left : per) * t->item;
		if (t->at * t->item > UINT64_MAX - t->offset)
			t->rc = -ENOEXEC;
		else
			t->rc = read_at(&t->es->src, t->offset + t->at * t->item, t->buf.bytes, len);
		if (!t->rc)
			t->rc = translate(t->es, t->type, t->buf.bytes, len);
		if (t->rc)
			return NULL;
	}
	t->at++;
	return t->buf.bytes + in * t->item;
}

static void widen_ehdr(const Elf32_Ehdr *in, Elf64_Ehdr *out)
{
	memcpy(out->e_ident, in->e_ident, EI_NIDENT);
	out->e_machine = in->e_machine;
	out->e_phoff = in->e_phoff;
	out->e_phentsize = in->e_phentsize;
	out->e_phnum = in->e_phnum;
	out->e_shoff = in->e_shoff;
	out->e_shentsize = in->e_shentsize;
	out->e_shnum = in->e_shnum;
}

static int read_header(struct loader *ld)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr e32;
		Elf64_Ehdr e64;
	} h;
	bool wide;
	int rc = read_at(&ld->es->src, 0, &h, sizeof(h.e32));

	if (rc)
		return rc;
	ld->es->class = h.ident[EI_CLASS];
	ld->es->encoding = h.ident[EI_DATA];
	if (memcmp(h.ident, ELFMAG, SELFMAG) || (ld->es->class != ELFCLASS32 && ld->es->class != ELFCLASS64) ||
	    (ld->es->encoding != ELFDATA2LSB && ld->es->encoding != ELFDATA2MSB))
		return -ENOEXEC;
	wide = ld->es->class == ELFCLASS64;
	if (wide)
		rc = read_at(&ld->es->src, sizeof(h.e32), (char *)&h + sizeof(h.e32), sizeof(h.e64) - sizeof(h.e32));
	if (!rc)
		rc = translate(ld->es, ELF_T_EHDR, &h, wide ? sizeof(h.e64) : sizeof(h.e32));
	if (rc)
		return rc;
	if (wide)
		ld->ehdr = h.e64;
	else
		widen_ehdr(&h.e32, &ld->ehdr);
	/* 0 or PN_XNUM: more than 65,000, counted in section 0. Nothing that is loaded has so many. */
	if (!ld->ehdr.e_shnum || ld->ehdr.e_phnum == PN_XNUM ||
	    ld->ehdr.e_shentsize != (wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) ||
	    ld->ehdr.e_phentsize != (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return -ENOEXEC;
	return 0;
}

/*
 * Look for the build id, when it is not known yet, in the notes at @offset. Nothing else of the file depends on it:
 * what cannot be read is not there.
 */
static void read_notes(struct loader *ld, uint64_t offset, uint64_t size, uint64_t align)
{
	struct elf_symbols *es = ld->es;
	char notes[NOTE_BYTES];

	if (es->build_id.size || ld->nr_notes == NOTES_MAX)
		return;
	ld->nr_notes++;
	if (size > sizeof(notes))
		size = sizeof(notes);
	if (!read_at(&es->src, offset, notes, (size_t)size))
		build_id_of_notes(notes, (size_t)size, es->encoding == ELFDATA2MSB, align, &es->build_id);
}

static int read_segments(struct loader *ld)
{
	bool wide = ld->es->class == ELFCLASS64;
	struct elf_symbols *es = ld->es;
	struct segment seg;
	const void *p;
	struct table t;

	table_init(&t, ld->es, ELF_T_PHDR, ld->ehdr.e_phentsize, ld->ehdr.e_phoff, ld->ehdr.e_phnum);
	while ((p = table_next(&t)) && es->nr_segments < SEGMENTS_MAX) {
		const Elf64_Phdr *p64 = p;
		const Elf32_Phdr *p32 = p;

		uint32_t type = wide ? p64->p_type : p32->p_type;

		seg.offset = wide ? p64->p_offset : p32->p_offset;
		seg.size = wide ? p64->p_filesz : p32->p_filesz;
		seg.vaddr = wide ? p64->p_vaddr : p32->p_vaddr;
		if (type == PT_LOAD && (wide ? p64->p_flags : p32->p_flags) & PF_X)
			es->segments[es->nr_segments++] = seg;
		else if (type == PT_NOTE)
			read_notes(ld, seg.offset, seg.size, wide ? p64->p_align : p32->p_align);
	}
	return t.rc;
}

static void widen_shdr(const Elf32_Shdr *in, Elf64_Shdr *out)
{
	out->sh_type = in->sh_type;
	out->sh_flags = in->sh_flags;
	out->sh_addr = in->sh_addr;
	out->sh_offset = in->sh_offset;
	out->sh_size = in->sh_size;
	out->sh_link = in->sh_link;
	out->sh_entsize = in->sh_entsize;
	out->sh_addralign = in->sh_addralign;
}

static int read_sections(struct loader *ld)
{
	const void *p;
	struct table t;
	size_t i;

	ld->sections = calloc(ld->ehdr.e_shnum, sizeof(*ld->sections));
	if (!ld->sections)
		return -ENOMEM;
	table_init(&t, ld->es, ELF_T_SHDR, ld->ehdr.e_shentsize, ld->ehdr.e_shoff, ld->ehdr.e_shnum);
	for (i = 0; (p = table_next(&t)); i++) {
		if (ld->es->class == ELFCLASS64)
			memcpy(&ld->sections[i], p, sizeof(*ld->sections));
		else
			widen_shdr(p, &ld->sections[i]);
	}
	return t.rc;
}

/* Its bytes are in the file as they are. */
static bool section_readable(const struct loader *ld, const Elf64_Shdr *sh)
{
	uint64_t size = ld->es->src.size;

	return !(sh->sh_flags & SHF_COMPRESSED) && sh->sh_offset <= size && sh->sh_size <= size - sh->sh_offset;
}

/* Behind the segments, which are what the kernel tells of a mapped file. */
static void read_note_sections(struct loader *ld)
{
	size_t i;

	for (i = 0; i < ld->ehdr.e_shnum; i++) {
		const Elf64_Shdr *sh = &ld->sections[i];

		if (sh->sh_type == SHT_NOTE && section_readable(ld, sh))
			read_notes(ld, sh->sh_offset, sh->sh_size, sh->sh_addralign);
	}
}

/*
 * Find a string table; its names are read when they are wanted, since few are. Strings that the table does not
 * terminate are not there.
 */
static int find_strings(struct loader *ld, const Elf64_Shdr *sh, struct strings **out)
{
	struct elf_symbols *es = ld->es;
	struct strings *st = &es->strings[es->nr_strings];
	uint64_t end = sh->sh_size;
	char tail[512];
	const char *zero = NULL;
	int rc;

	if (sh->sh_type != SHT_STRTAB || !section_readable(ld, sh) || sh->sh_size > STRINGS_MAX)
		return -ENOEXEC;
	while (end && !zero) {
		size_t len = end < sizeof(tail) ? end : sizeof(tail);

		rc = read_at(&es->src, sh->sh_offset + end - len, tail, len);
		if (rc)
			return rc;
		end -= len;
		zero = memrchr(tail, 0, len);
	}
	if (!zero)
		return -ENOEXEC;
	*st = (struct strings){ .offset = sh->sh_offset, .size = (uint32_t)(end + (size_t)(zero - tail) + 1) };
	if (es->nr_strings)
		st->base = es->strings[0].base + es->strings[0].size;
	es->nr_strings++;
	*out = st;
	return 0;
}

/* The name at @name, at most @cap - 1 bytes of it, terminated; "" when it cannot be read. */
static void read_name(const struct elf_symbols *es, uint32_t name, char *buf, size_t cap)
{
	const struct strings *st = &es->strings[es->nr_strings > 1 && name >= es->strings[1].base];
	size_t left = st->size - (name - st->base), len = left < cap - 1 ? left : cap - 1;

	if (read_at(&es->src, st->offset + (name - st->base), buf, len))
		len = 0;
	buf[len] = 0;
}

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

/* Labels that say what the bytes are ($x, $d on ARM and RISC-V) or should have stayed in the assembler. */
static bool is_code(const struct loader *ld, const struct entry *e, unsigned char type)
{
	char name[4];

	switch (type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		read_name(ld->es, e->name, name, sizeof(name));
		return name[0] && name[0] != '$' && strncmp(name, ".L", 2) != 0;
	default:
		return false;
	}
}

static int add_entry(struct loader *ld, const struct entry *e)
{
	struct entry *entries = grow(ld->entries, &ld->cap, ld->nr, 1, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	ld->entries = entries;
	ld->entries[ld->nr++] = *e;
	return 0;
}

static int add_symbol(struct loader *ld, const Elf64_Sym *sym, const struct strings *st)
{
	struct entry e = { .name = st->base + sym->st_name, .bind = bind_of(sym->st_info) };
	const Elf64_Shdr *sh;
	uint64_t room;

	if (!sym->st_name || sym->st_name >= st->size)
		return 0;
	/* The reserved indices (absolute, common) are above any e_shnum that read_header() lets pass. */
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= ld->ehdr.e_shnum || sym->st_shndx >= SHN_LORESERVE)
		return 0;
	e.addr = sym->st_value;
	if (ld->ehdr.e_machine == EM_ARM && ELF64_ST_TYPE(sym->st_info) != STT_NOTYPE)
		e.addr &= ~1ULL; /* Thumb */
	sh = &ld->sections[sym->st_shndx];
	if (!(sh->sh_flags & SHF_EXECINSTR) || e.addr < sh->sh_addr || e.addr - sh->sh_addr >= sh->sh_size)
		return 0;
	room = sh->sh_size - (e.addr - sh->sh_addr);
	if (room > UINT64_MAX - e.addr)
		room = UINT64_MAX - e.addr;
	if (room > UINT32_MAX)
		room = UINT32_MAX;
	if (!is_code(ld, &e, ELF64_ST_TYPE(sym->st_info)))
		return 0;
	e.sized = sym->st_size != 0;
	e.len = (uint32_t)(e.sized && sym->st_size < room ? sym->st_size : room);
	return add_entry(ld, &e);
}

static void widen_sym(const Elf32_Sym *in, Elf64_Sym *out)
{
	out->st_name = in->st_name;
	out->st_info = in->st_info;
	out->st_other = in->st_other;
	out->st_shndx = in->st_shndx;
	out->st_value = in->st_value;
	out->st_size = in->st_size;
}

/* The first section of @type, a symbol table. A file need not have one. */
static int read_symbols(struct loader *ld, uint32_t type)
{
	size_t item = ld->es->class == ELFCLASS64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), i;
	const Elf64_Shdr *sh = ld->sections;
	const void *p;
	struct strings *st;
	struct table t;
	Elf64_Sym sym;
	int rc;

	for (i = 0; i < ld->ehdr.e_shnum && sh->sh_type != type; i++)
		sh++;
	if (i == ld->ehdr.e_shnum)
		return 0;
	if (!section_readable(ld, sh) || sh->sh_entsize != item || sh->sh_size / item > SYMBOLS_MAX ||
	    sh->sh_link >= ld->ehdr.e_shnum)
		return -ENOEXEC;
	rc = find_strings(ld, &ld->sections[sh->sh_link], &st);
	if (rc)
		return rc;
	ld->es->tables[ld->es->nr_tables++] = (struct symtab){ sh->sh_offset, sh->sh_size / item, st };
	table_init(&t, ld->es, ELF_T_SYM, item, sh->sh_offset, sh->sh_size / item);
	while (!rc && (p = table_next(&t))) {
		if (ld->es->class == ELFCLASS64)
			memcpy(&sym, p, sizeof(sym));
		else
			widen_sym(p, &sym);
		rc = add_symbol(ld, &sym, st);
	}
	return rc ? rc : t.rc;
}

/* By address; at one address what has a size first, longest first. The rest makes the order complete. */
static int by_address(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->sized != b->sized)
		return a->sized ? -1 : 1;
	if (a->len != b->len)
		return a->len > b->len ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static const char *alias_name(struct loader *ld, int slot, uint32_t name)
{
	if (ld->loaded[slot] != name)
		read_name(ld->es, name, ld->names[slot], sizeof(ld->names[slot]));
	ld->loaded[slot] = name;
	return ld->names[slot];
}

static bool better(struct loader *ld, const struct entry *a, const struct entry *b)
{
	struct alias x = { alias_name(ld, 0, a->name), (enum symbol_bind)a->bind };
	struct alias y = { alias_name(ld, 1, b->name), (enum symbol_bind)b->bind };

	if (!*x.name || !*y.name)
		return *x.name;
	return alias_better(&x, &y);
}

static uint64_t entry_end(const struct entry *e)
{
	return e->addr + e->len;
}

static int add_span(struct elf_symbols *es, uint64_t start, uint64_t end, const struct entry *of)
{
	struct span *spans = grow(es->spans, &es->cap, es->nr, 1, sizeof(*spans));

	if (!spans)
		return -ENOMEM;
	es->spans = spans;
	es->spans[es->nr++] = (struct span){ start, (uint32_t)(end - start), (uint32_t)(start - of->addr), of->name };
	return 0;
}

/*
 * The sweep that turns entries, which may nest and overlap in any way, into disjoint spans: of all entries
 * open at a position the one that began last owns it, and that is the top of a stack, because entries are
 * opened in the order of their addresses. Each is pushed and popped once, so this is linear whatever the file
 * says.
 */
struct sweep {
	struct loader *ld;
	struct entry *stack; /* in ld->entries, over those that were opened already */
	size_t depth;
	uint64_t at; /* spans are complete up to here */
};

/* Give [@s->at, @upto) to its owners. Afterwards no entry on top of the stack ends at or before @upto. */
static int sweep_to(struct sweep *s, uint64_t upto)
{
	while (s->depth) {
		struct entry *top = &s->stack[s->depth - 1];
		uint64_t end = entry_end(top) < upto ? entry_end(top) : upto;
		int rc = 0;

		if (end > s->at) {
			rc = add_span(s->ld->es, s->at, end, top);
			s->at = end;
		}
		if (rc)
			return rc;
		if (entry_end(top) > upto)
			break;
		s->depth--;
	}
	s->at = upto;
	return 0;
}

/*
 * Open the entries [@from, @to), which begin at one address. Longest first: the best so far is the best of
 * all that are at least as long as the one at hand, so it owns what lies between that one's end and the
 * previous one's.
 */
static void sweep_open(struct sweep *s, size_t from, size_t to)
{
	const struct entry *entries = s->ld->entries;
	uint64_t next = to < s->ld->nr ? entries[to].addr : UINT64_MAX;
	bool sized = entries[from].sized, pushed = false;
	struct entry best;
	size_t i;

	if (!sized && s->depth)
		return;
	for (i = from; i < to && entries[i].sized == sized; i++) {
		struct entry e = entries[i];

		if (!sized && next - e.addr < e.len)
			e.len = (uint32_t)(next - e.addr);
		if (!pushed || better(s->ld, &e, &best)) {
			/* Of equal length there is only one winner: replace, do not stack. */
			if (pushed && s->stack[s->depth - 1].len == e.len)
				s->depth--;
			best = e;
			s->stack[s->depth++] = e;
			pushed = true;
		}
	}
}

static int make_spans(struct loader *ld)
{
	struct sweep s = { .ld = ld, .stack = ld->entries };
	size_t from, to;
	int rc = 0;

	if (ld->nr)
		qsort(ld->entries, ld->nr, sizeof(*ld->entries), by_address);
	for (from = 0; !rc && from < ld->nr; from = to) {
		for (to = from + 1; to < ld->nr && ld->entries[to].addr == ld->entries[from].addr;)
			to++;
		rc = sweep_to(&s, ld->entries[from].addr);
		if (!rc)
			sweep_open(&s, from, to);
	}
	return rc ? rc : sweep_to(&s, UINT64_MAX);
}

/* All but the symbols. */
static int load_head(struct loader *ld)
{
	int rc;

	elf_version(EV_CURRENT);
	rc = read_header(ld);
	if (!rc)
		rc = read_segments(ld);
	if (!rc)
		rc = read_sections(ld);
	if (!rc)
		read_note_sections(ld);
	return rc;
}

static int load_symbols(struct loader *ld)
{
	struct span *trimmed;
	int rc, rc_dyn;

	/* One broken table does not spoil the other. */
	rc = read_symbols(ld, SHT_SYMTAB);
	rc_dyn = read_symbols(ld, SHT_DYNSYM);
	if (!rc || !rc_dyn)
		rc = make_spans(ld);
	ld->es->nr_read = ld->nr;
	trimmed = ld->es->nr ? realloc(ld->es->spans, ld->es->nr * sizeof(*trimmed)) : NULL;
	if (trimmed)
		ld->es->spans = trimmed;
	return rc;
}

static void source_release(const struct source *src)
{
	if (src->fd >= 0)
		close(src->fd);
	free(src->memory);
}

/* Owns what @src holds, also on failure. */
static int load_from(const struct source *src, bool symbols, struct elf_symbols **out)
{
	struct loader *ld = calloc(1, sizeof(*ld));
	struct elf_symbols *es = calloc(1, sizeof(*es));
	int rc = -ENOMEM;

	if (es)
		es->src = *src;
	else
		source_release(src);
	if (es && ld) {
		ld->es = es;
		ld->loaded[0] = ld->loaded[1] = UINT32_MAX;
		rc = load_head(ld);
		if (!rc && symbols)
			rc = load_symbols(ld);
		free(ld->sections);
		free(ld->entries);
	}
	free(ld);
	if (rc)
		elf_symbols_free(es);
	else
		*out = es;
	return rc;
}

static int open_from(int fd, bool symbols, struct elf_symbols **out)
{
	struct source src = { 0 };
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	src.size = (uint64_t)st.st_size;
	src.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return src.fd < 0 ? -errno : load_from(&src, symbols, out);
}

int elf_symbols_open(int fd, struct elf_symbols **out)
{
	return open_from(fd, true, out);
}

int elf_build_id(int fd, struct build_id *id)
{
	struct elf_symbols *es;
	int rc = open_from(fd, false, &es);

	if (rc)
		return rc;
	*id = es->build_id;
	elf_symbols_free(es);
	return 0;
}

int elf_symbols_parse(const void *image, size_t len, struct elf_symbols **out)
{
	struct source src = { .fd = -1, .memory = malloc(len + 1), .size = len };

	if (!src.memory)
		return -ENOMEM;
	memcpy(src.memory, image, len);
	return load_from(&src, true, out);
}

void elf_symbols_free(struct elf_symbols *es)
{
	size_t i;

	if (!es)
		return;
	source_release(&es->src);
	for (i = 0; i < es->nr_known; i++)
		free(es->known[i].text);
	free(es->known);
	hash_release(&es->known_index);
	free(es->spans);
	free(es);
}

uint64_t elf_symbols_read(const struct elf_symbols *es)
{
	return es->nr_read;
}

const struct build_id *elf_symbols_build_id(const struct elf_symbols *es)
{
	return &es->build_id;
}

static bool same_name(const void *table, uint32_t pos, const void *key)
{
	const struct elf_symbols *es = table;
	const uint32_t *name = key;

	return es->known[pos].name == *name;
}

/* A whole name, or its first NAME_MAX_BYTES, in memory of its own. NULL: no memory. */
static char *whole_name(const struct elf_symbols *es, uint32_t name)
{
	char *text = NULL, *longer;
	size_t cap;

	for (cap = 256; cap <= NAME_MAX_BYTES; cap *= 4) {
		longer = realloc(text, cap);
		if (!longer)
			break;
		text = longer;
		read_name(es, name, text, cap);
		if (strlen(text) < cap - 1)
			break;
	}
	return text;
}

static const char *find_name(struct elf_symbols *es, uint32_t name)
{
	uint64_t hash = hash_bytes(&name, sizeof(name), 0);
	uint32_t pos = hash_find(&es->known_index, hash, same_name, es, &name);
	struct known_name *known;
	char *text;

	if (pos != HASH_NONE)
		return es->known[pos].text;
	known = grow(es->known, &es->cap_known, es->nr_known, 1, sizeof(*known));
	if (!known)
		return NULL;
	es->known = known;
	text = whole_name(es, name);
	if (!text || hash_add(&es->known_index, hash, (uint32_t)es->nr_known)) {
		free(text);
		return NULL;
	}
	known[es->nr_known++] = (struct known_name){ name, text };
	return text;
}

bool elf_symbols_vaddr(const struct elf_symbols *es, uint64_t offset, uint64_t *vaddr)
{
	unsigned int i;

	for (i = 0; i < es->nr_segments; i++) {
		const struct segment *seg = &es->segments[i];

		if (offset >= seg->offset && offset - seg->offset < seg->size) {
			*vaddr = offset - seg->offset + seg->vaddr;
			return true;
		}
	}
	return false;
}

bool elf_symbols_find(struct elf_symbols *es, uint64_t vaddr, struct elf_symbol *out)
{
	size_t lo = 0, hi = es->nr;
	const struct span *s;
	const char *name;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (es->spans[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	s = &es->spans[lo - 1];
	if (vaddr - s->start >= s->len)
		return false;
	name = find_name(es, s->name);
	if (!name || !*name)
		return false;
	out->name = name;
	out->start = s->start - s->back;
	return true;
}

static bool is_called(const struct elf_symbols *es, const struct symtab *t, const Elf64_Sym *sym, const char *name)
{
	char text[64];
	size_t cap = strlen(name) + 2; /* so that a longer name differs */

	if (sym->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(sym->st_info) == STT_SECTION ||
	    ELF64_ST_TYPE(sym->st_info) == STT_FILE || sym->st_name >= t->names->size || cap > sizeof(text))
		return false;
	read_name(es, t->names->base + sym->st_name, text, cap);
	return !strcmp(text, name);
}

bool elf_symbols_address(const struct elf_symbols *es, const char *name, uint64_t *addr)
{
	bool wide = es->class == ELFCLASS64;
	unsigned int i;
	struct table t;
	Elf64_Sym sym;
	const void *p;

	for (i = 0; i < es->nr_tables; i++) {
		table_init(&t, es, ELF_T_SYM, wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), es->tables[i].offset,
			   es->tables[i].nr);
		while ((p = table_next(&t))) {
			if (wide)
				memcpy(&sym, p, sizeof(sym));
			else
				widen_sym(p, &sym);
			if (!is_called(es, &es->tables[i], &sym, name))
				continue;
			*addr = sym.st_value;
			return true;
		}
	}
	return false;
}
