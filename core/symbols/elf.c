// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/elf.h"

#include "core/grow.h"
#include "core/symbols/alias.h"

#include <errno.h>
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

#define SYMBOLS_MAX  (16u << 20)  /* entries of one table; browsers with all symbols have about 2 million */
#define STRINGS_MAX  (512u << 20) /* bytes of one string table */
#define SEGMENTS_MAX 64           /* executable PT_LOADs kept; linkers make one, hugepage tools a few */

/* Addresses [start, start + len), of the symbol that begins at start - back. Sorted and disjoint. */
struct span {
	uint64_t start;
	uint32_t len;
	uint32_t back;
	uint32_t name; /* offset in names */
};

struct segment {
	uint64_t offset, size, vaddr;
};

struct elf_symbols {
	struct span *spans;
	size_t nr, cap;
	char *names;
	size_t names_len;
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
	int fd; /* -1: memory */
	const char *memory;
	uint64_t size;

	unsigned char class, encoding;
	Elf64_Ehdr ehdr;
	Elf64_Shdr *sections; /* ehdr.e_shnum of them */

	struct elf_symbols *es;
	struct entry *entries;
	size_t nr, cap;
};

/* A table of the file, translated piece by piece. */
struct table {
	struct loader *ld;
	Elf_Type type;
	size_t item;
	uint64_t offset, nr, at;
	int rc;
	union {
		char bytes[16384];
		Elf64_Xword align;
	} buf;
};

static int read_at(const struct loader *ld, uint64_t offset, void *buf, size_t len)
{
	char *p = buf;
	ssize_t n;

	if (offset > ld->size || len > ld->size - offset)
		return -ENOEXEC;
	if (ld->fd < 0) {
		memcpy(buf, ld->memory + offset, len);
		return 0;
	}
	for (; len; p += n, offset += (uint64_t)n, len -= (size_t)n) {
		do
			n = pread(ld->fd, p, len, (off_t)offset);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return -errno;
		if (!n) /* it shrank */
			return -ENOEXEC;
	}
	return 0;
}

/* From the file's class, layout and byte order into ours. Class decides the type of the result. */
static int translate(const struct loader *ld, Elf_Type type, void *buf, size_t len)
{
	Elf_Data data = { .d_buf = buf, .d_type = type, .d_version = EV_CURRENT, .d_size = len };

	if (ld->class == ELFCLASS64)
		return elf64_xlatetom(&data, &data, ld->encoding) ? 0 : -ENOEXEC;
	return elf32_xlatetom(&data, &data, ld->encoding) ? 0 : -ENOEXEC;
}

static void table_init(struct table *t, struct loader *ld, Elf_Type type, size_t item, uint64_t offset, uint64_t nr)
{
	t->ld = ld;
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
			t->rc = read_at(t->ld, t->offset + t->at * t->item, t->buf.bytes, len);
		if (!t->rc)
			t->rc = translate(t->ld, t->type, t->buf.bytes, len);
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
	int rc = read_at(ld, 0, &h, sizeof(h.e32));

	if (rc)
		return rc;
	ld->class = h.ident[EI_CLASS];
	ld->encoding = h.ident[EI_DATA];
	if (memcmp(h.ident, ELFMAG, SELFMAG) || (ld->class != ELFCLASS32 && ld->class != ELFCLASS64) ||
	    (ld->encoding != ELFDATA2LSB && ld->encoding != ELFDATA2MSB))
		return -ENOEXEC;
	wide = ld->class == ELFCLASS64;
	if (wide)
		rc = read_at(ld, sizeof(h.e32), (char *)&h + sizeof(h.e32), sizeof(h.e64) - sizeof(h.e32));
	if (!rc)
		rc = translate(ld, ELF_T_EHDR, &h, wide ? sizeof(h.e64) : sizeof(h.e32));
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

static int read_segments(struct loader *ld)
{
	bool wide = ld->class == ELFCLASS64;
	struct elf_symbols *es = ld->es;
	struct segment seg;
	const void *p;
	struct table t;

	table_init(&t, ld, ELF_T_PHDR, ld->ehdr.e_phentsize, ld->ehdr.e_phoff, ld->ehdr.e_phnum);
	while ((p = table_next(&t)) && es->nr_segments < SEGMENTS_MAX) {
		const Elf64_Phdr *p64 = p;
		const Elf32_Phdr *p32 = p;

		if ((wide ? p64->p_type : p32->p_type) != PT_LOAD || !((wide ? p64->p_flags : p32->p_flags) & PF_X))
			continue;
		seg.offset = wide ? p64->p_offset : p32->p_offset;
		seg.size = wide ? p64->p_filesz : p32->p_filesz;
		seg.vaddr = wide ? p64->p_vaddr : p32->p_vaddr;
		es->segments[es->nr_segments++] = seg;
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
}

static int read_sections(struct loader *ld)
{
	const void *p;
	struct table t;
	size_t i;

	ld->sections = calloc(ld->ehdr.e_shnum, sizeof(*ld->sections));
	if (!ld->sections)
		return -ENOMEM;
	table_init(&t, ld, ELF_T_SHDR, ld->ehdr.e_shentsize, ld->ehdr.e_shoff, ld->ehdr.e_shnum);
	for (i = 0; (p = table_next(&t)); i++) {
		if (ld->class == ELFCLASS64)
			memcpy(&ld->sections[i], p, sizeof(*ld->sections));
		else
			widen_shdr(p, &ld->sections[i]);
	}
	return t.rc;
}

/* Its bytes are in the file as they are. */
static bool section_readable(const struct loader *ld, const Elf64_Shdr *sh)
{
	return !(sh->sh_flags & SHF_COMPRESSED) && sh->sh_offset <= ld->size && sh->sh_size <= ld->size - sh->sh_offset;
}

/*
 * Append a string table to the names: *@base is where it begins, *@usable how many of its bytes begin a
 * string that ends within the table.
 */
static int read_strings(struct loader *ld, const Elf64_Shdr *sh, size_t *base, size_t *usable)
{
	struct elf_symbols *es = ld->es;
	const char *end;
	char *names;
	int rc;

	if (sh->sh_type != SHT_STRTAB || !section_readable(ld, sh) || sh->sh_size > STRINGS_MAX || !sh->sh_size)
		return -ENOEXEC;
	names = realloc(es->names, es->names_len + sh->sh_size);
	if (!names)
		return -ENOMEM;
	es->names = names;
	rc = read_at(ld, sh->sh_offset, names + es->names_len, sh->sh_size);
	if (rc)
		return rc;
	end = memrchr(names + es->names_len, 0, sh->sh_size);
	*base = es->names_len;
	*usable = end ? (size_t)(end - (names + es->names_len)) : 0;
	es->names_len += sh->sh_size;
	return 0;
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
static bool is_code_type(const char *name, unsigned char type)
{
	switch (type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return name[0] != '$' && strncmp(name, ".L", 2) != 0;
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

/* @base, @usable: of its string table, see read_strings(). */
static int add_symbol(struct loader *ld, const Elf64_Sym *sym, size_t base, size_t usable)
{
	struct entry e = { .name = (uint32_t)(base + sym->st_name), .bind = bind_of(sym->st_info) };
	const Elf64_Shdr *sh;
	uint64_t room;

	if (sym->st_name >= usable || !ld->es->names[e.name] ||
	    !is_code_type(ld->es->names + e.name, ELF64_ST_TYPE(sym->st_info)))
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
	size_t item = ld->class == ELFCLASS64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), base, usable, i;
	const Elf64_Shdr *sh = ld->sections;
	const void *p;
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
	rc = read_strings(ld, &ld->sections[sh->sh_link], &base, &usable);
	if (rc)
		return rc;
	table_init(&t, ld, ELF_T_SYM, item, sh->sh_offset, sh->sh_size / item);
	while (!rc && (p = table_next(&t))) {
		if (ld->class == ELFCLASS64)
			memcpy(&sym, p, sizeof(sym));
		else
			widen_sym(p, &sym);
		rc = add_symbol(ld, &sym, base, usable);
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

static bool better(const struct loader *ld, const struct entry *a, const struct entry *b)
{
	struct alias x = { ld->es->names + a->name, (enum symbol_bind)a->bind };
	struct alias y = { ld->es->names + b->name, (enum symbol_bind)b->bind };

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

/* Give back spare room and the strings behind the last one used (.dynstr, where .symtab has it all). */
static void trim(struct elf_symbols *es)
{
	size_t used = 0, i;
	void *p;

	for (i = 0; i < es->nr; i++)
		if (es->spans[i].name >= used)
			used = es->spans[i].name + 1;
	if (used)
		used += strlen(es->names + used - 1);
	else
		used = 1;
	p = es->names ? realloc(es->names, used) : NULL;
	if (p)
		es->names = p;
	p = es->nr ? realloc(es->spans, es->nr * sizeof(*es->spans)) : NULL;
	if (p)
		es->spans = p;
}

static int load(struct loader *ld, struct elf_symbols **out)
{
	int rc, rc_dyn;

	elf_version(EV_CURRENT);
	ld->es = calloc(1, sizeof(*ld->es));
	rc = ld->es ? read_header(ld) : -ENOMEM;
	if (!rc)
		rc = read_segments(ld);
	if (!rc)
		rc = read_sections(ld);
	if (rc)
		goto out;
	/* One broken table does not spoil the other. */
	rc = read_symbols(ld, SHT_SYMTAB);
	rc_dyn = read_symbols(ld, SHT_DYNSYM);
	if (!rc || !rc_dyn)
		rc = make_spans(ld);
	if (!rc)
		trim(ld->es);
out:
	free(ld->sections);
	free(ld->entries);
	if (rc)
		elf_symbols_free(ld->es);
	else
		*out = ld->es;
	return rc;
}

int elf_symbols_open(int fd, struct elf_symbols **out)
{
	struct loader ld = { .fd = fd };
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	ld.size = (uint64_t)st.st_size;
	return load(&ld, out);
}

int elf_symbols_parse(const void *image, size_t len, struct elf_symbols **out)
{
	struct loader ld = { .fd = -1, .memory = image, .size = len };

	return load(&ld, out);
}

void elf_symbols_free(struct elf_symbols *es)
{
	if (!es)
		return;
	free(es->spans);
	free(es->names);
	free(es);
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

bool elf_symbols_find(const struct elf_symbols *es, uint64_t vaddr, struct elf_symbol *out)
{
	size_t lo = 0, hi = es->nr;
	const struct span *s;

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
	out->name = es->names + s->name;
	out->start = s->start - s->back;
	return true;
}
