// SPDX-License-Identifier: Apache-2.0
#include "core/files/elf_file.h"

#include "core/base/faults.h"
#include "core/tasks/mapping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTES_MAX    64    /* segments and sections of notes that are read; files have about five */
#define NOTE_BYTES   16384 /* of each; the rest is ignored */
#define SECTIONS_MAX 1024  /* whose name is compared; programs and libraries have about 40 */

static bool is_wide(const struct elf_file *f)
{
	return f->class == ELFCLASS64;
}

void elf_table_init(struct elf_table *t, const struct file_bytes *b, size_t item, uint64_t offset, uint64_t nr)
{
	t->b = b;
	t->item = item;
	t->offset = offset;
	t->nr = nr;
	t->per = sizeof(t->buf.bytes) / item;
	t->next = t->loaded = t->nr_loaded = 0;
	t->rc = 0;
}

/* Read the entries from @first on that fit. */
static int load_table(struct elf_table *t, uint64_t first)
{
	uint64_t left = t->nr - first, nr = left < t->per ? left : t->per, at;
	size_t len = (size_t)nr * t->item;
	int rc = -ENOEXEC;

	t->nr_loaded = 0;
	if (!__builtin_mul_overflow(first, t->item, &at) && !__builtin_add_overflow(at, t->offset, &at))
		rc = file_bytes_read(t->b, at, t->buf.bytes, len);
	if (!rc) {
		t->loaded = first;
		t->nr_loaded = nr;
	}
	return rc;
}

const void *elf_table_at(struct elf_table *t, uint64_t i)
{
	if (i >= t->nr)
		return NULL;
	if (i < t->loaded || i - t->loaded >= t->nr_loaded) {
		t->rc = load_table(t, i - i % t->per);
		if (t->rc)
			return NULL;
	}
	return t->buf.bytes + (i - t->loaded) * t->item;
}

const void *elf_table_next(struct elf_table *t)
{
	const void *item = elf_table_at(t, t->next);

	t->next += item != NULL;
	return item;
}

static void widen_ehdr(const Elf32_Ehdr *in, Elf64_Ehdr *out)
{
	*out = (Elf64_Ehdr){
		.e_type = in->e_type,
		.e_machine = in->e_machine,
		.e_phoff = in->e_phoff,
		.e_phentsize = in->e_phentsize,
		.e_phnum = in->e_phnum,
		.e_shoff = in->e_shoff,
		.e_shentsize = in->e_shentsize,
		.e_shnum = in->e_shnum,
		.e_shstrndx = in->e_shstrndx,
	};
}

static int read_header(struct elf_file *f, Elf64_Ehdr *out)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr e32;
		Elf64_Ehdr e64;
	} h;
	int rc = file_bytes_read(&f->bytes, 0, &h, sizeof(h.e32));

	if (rc)
		return rc;
	f->class = h.ident[EI_CLASS];
	if (memcmp(h.ident, ELFMAG, SELFMAG) || (f->class != ELFCLASS32 && f->class != ELFCLASS64) ||
	    h.ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	if (is_wide(f))
		rc = file_bytes_read(&f->bytes, 0, out, sizeof(*out));
	else
		widen_ehdr(&h.e32, out);
	if (rc)
		return rc;
	/* PN_XNUM: more than 65,000, counted in section 0. Nothing that is loaded has so many. */
	if (out->e_phnum == PN_XNUM ||
	    (out->e_phnum && out->e_phentsize != (is_wide(f) ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr))))
		return -ENOEXEC;
	f->type = out->e_type;
	f->machine = out->e_machine;
	f->names = out->e_shstrndx;
	if (out->e_shentsize == (is_wide(f) ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
		f->nr_sections = out->e_shnum;
	return 0;
}

/*
 * Look for the build id, if it is not known yet, in the notes at @offset. Unreadable notes count as missing, because
 * nothing else depends on them. @left: how many segments and sections may still be read
 */
static void read_notes(struct elf_file *f, unsigned int *left, uint64_t offset, uint64_t size, uint64_t align)
{
	char notes[NOTE_BYTES];

	if (f->build_id.size || !*left)
		return;
	--*left;
	if (size > sizeof(notes))
		size = sizeof(notes);
	if (!file_bytes_read(&f->bytes, offset, notes, (size_t)size))
		build_id_of_notes(notes, (size_t)size, align, &f->build_id);
}

static Elf64_Phdr widen_phdr(const Elf32_Phdr *in)
{
	return (Elf64_Phdr){
		.p_type = in->p_type,
		.p_flags = in->p_flags,
		.p_offset = in->p_offset,
		.p_vaddr = in->p_vaddr,
		.p_filesz = in->p_filesz,
		.p_memsz = in->p_memsz,
		.p_align = in->p_align,
	};
}

static void add_segment(struct elf_file *f, const Elf64_Phdr *p, unsigned int *notes_left)
{
	const struct elf_segment seg = { p->p_offset, p->p_filesz, p->p_vaddr, p->p_memsz, p->p_flags };

	if (p->p_type == PT_NOTE)
		read_notes(f, notes_left, seg.offset, seg.size, p->p_align);
	if (p->p_type == PT_GNU_EH_FRAME && !f->eh_frame_hdr.size)
		f->eh_frame_hdr = seg;
	if (p->p_type == PT_DYNAMIC && !f->dynamic.size)
		f->dynamic = seg;
	if (p->p_type == PT_LOAD && seg.size <= UINT64_MAX - seg.vaddr && seg.size <= UINT64_MAX - seg.offset &&
	    seg.memory <= UINT64_MAX - seg.vaddr)
		f->segments[f->nr_segments++] = seg;
}

static int read_segments(struct elf_file *f, const Elf64_Ehdr *ehdr, unsigned int *notes_left)
{
	struct elf_table t;
	Elf64_Phdr phdr;
	const void *p;

	if (!ehdr->e_phnum)
		return 0;
	elf_table_init(&t, &f->bytes, ehdr->e_phentsize, ehdr->e_phoff, ehdr->e_phnum);
	while (f->nr_segments < ELF_SEGMENTS_MAX && (p = elf_table_next(&t))) {
		if (is_wide(f))
			memcpy(&phdr, p, sizeof(phdr));
		else
			phdr = widen_phdr(p);
		add_segment(f, &phdr, notes_left);
	}
	return t.rc;
}

static Elf64_Shdr widen_shdr(const Elf32_Shdr *in)
{
	return (Elf64_Shdr){
		.sh_name = in->sh_name,
		.sh_type = in->sh_type,
		.sh_flags = in->sh_flags,
		.sh_addr = in->sh_addr,
		.sh_offset = in->sh_offset,
		.sh_size = in->sh_size,
		.sh_link = in->sh_link,
		.sh_entsize = in->sh_entsize,
		.sh_addralign = in->sh_addralign,
	};
}

static int read_sections(struct elf_file *f, const Elf64_Ehdr *ehdr)
{
	struct elf_table t;
	const void *p;
	size_t i;

	if (!f->nr_sections)
		return 0;
	f->sections = calloc(f->nr_sections, sizeof(*f->sections));
	if (!f->sections)
		return fault(-ENOMEM);
	elf_table_init(&t, &f->bytes, ehdr->e_shentsize, ehdr->e_shoff, f->nr_sections);
	for (i = 0; (p = elf_table_next(&t)); i++) {
		if (is_wide(f))
			memcpy(&f->sections[i], p, sizeof(*f->sections));
		else
			f->sections[i] = widen_shdr(p);
	}
	if (t.rc != -ENOEXEC)
		return t.rc;
	/* The headers are not in the file: it may have been cut. Unwinding does not need them. */
	elf_file_drop_sections(f);
	f->nr_sections = 0;
	return 0;
}

bool elf_file_address(const struct elf_file *f, uint64_t offset, uint64_t *addr)
{
	const struct elf_segment *seg;

	for (seg = f->segments; seg < f->segments + f->nr_segments; seg++) {
		if (seg->flags & PF_X && offset >= seg->offset && offset - seg->offset < seg->size) {
			*addr = offset - seg->offset + seg->vaddr;
			return true;
		}
	}
	return false;
}

bool elf_file_loaded(const struct elf_file *f, uint64_t addr, uint64_t *offset, uint64_t *left)
{
	const struct elf_segment *seg;

	for (seg = f->segments; seg < f->segments + f->nr_segments; seg++) {
		uint64_t at = addr - seg->vaddr;

		if (addr < seg->vaddr || at >= seg->size || seg->offset + at >= f->bytes.size)
			continue;
		*offset = seg->offset + at;
		*left = seg->size - at < f->bytes.size - *offset ? seg->size - at : f->bytes.size - *offset;
		return true;
	}
	return false;
}

/*
 * Return: the number of executable segments.
 * @code:  out: the last one of them
 * @whole: out: all of them have their bytes in the file
 */
static unsigned int count_code(const struct elf_file *f, const struct elf_segment **code, bool *whole)
{
	const struct elf_segment *seg;
	unsigned int nr = 0;

	*whole = true;
	for (seg = f->segments; seg < f->segments + f->nr_segments; seg++) {
		if (!(seg->flags & PF_X))
			continue;
		*code = seg;
		*whole = *whole && seg->size == seg->memory;
		nr++;
	}
	return nr;
}

/* The pages from @start to @end. @page: a power of two */
static uint64_t pages(uint64_t start, uint64_t end, uint64_t page)
{
	return ((end - 1) | (page - 1)) + 1 - (start & ~(page - 1));
}

/*
 * Return true if, by its length, @m maps exactly the pages of @code, or the whole program, which begins with @code: see
 * elf_file_address_mapped().
 */
static bool shows_segment(const struct elf_file *f, const struct elf_segment *code, const struct mapping *m)
{
	const struct elf_segment *last = &f->segments[f->nr_segments - 1];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), len = m->end - m->start;

	if (!code->memory)
		return false;
	if (len == pages(code->vaddr, code->vaddr + code->memory, page))
		return true;
	return code == f->segments && !m->pgoff && last->memory && last->vaddr >= code->vaddr &&
	       len == pages(code->vaddr, last->vaddr + last->memory, page);
}

bool elf_file_address_mapped(const struct elf_file *f, const struct mapping *m, uint64_t at, uint64_t *addr)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), found;
	const struct elf_segment *code;
	bool whole;
	unsigned int nr = count_code(f, &code, &whole);

	if (whole)
		return elf_file_address(f, mapping_offset(m, at), addr);
	if (nr != 1 || !shows_segment(f, code, m))
		return false;
	found = at - m->start + (code->vaddr & ~(page - 1));
	if (found < code->vaddr || found - code->vaddr >= code->memory)
		return false;
	*addr = found;
	return true;
}

static bool section_in_file(const struct elf_file *f, const Elf64_Shdr *sh)
{
	return sh->sh_offset <= f->bytes.size && sh->sh_size <= f->bytes.size - sh->sh_offset;
}

bool elf_section_readable(const struct elf_file *f, const Elf64_Shdr *sh)
{
	return !(sh->sh_flags & SHF_COMPRESSED) && section_in_file(f, sh);
}

/*
 * Read the first @cap - 1 bytes of the name of section @sh, terminated. A name without an end in the table is
 * malformed.
 */
static int read_name(struct elf_file *f, const Elf64_Shdr *sh, char *buf, size_t cap)
{
	const Elf64_Shdr *names = f->names < f->nr_sections ? &f->sections[f->names] : NULL;
	uint64_t left;
	size_t len;
	int rc;

	buf[0] = 0;
	if (!names || names->sh_type != SHT_STRTAB || !elf_section_readable(f, names) || sh->sh_name >= names->sh_size)
		return 0;
	left = names->sh_size - sh->sh_name;
	len = left < cap - 1 ? (size_t)left : cap - 1;
	buf[len] = 0;
	rc = file_bytes_read_kept(&f->bytes, names->sh_offset + sh->sh_name, buf, len);
	return !rc && left == len && !memchr(buf, 0, len) ? -ENOEXEC : rc;
}

void elf_section_name(struct elf_file *f, const Elf64_Shdr *sh, char *buf, size_t cap)
{
	if (read_name(f, sh, buf, cap))
		buf[0] = 0;
}

int elf_section_find(struct elf_file *f, const char *name, Elf64_Shdr *out)
{
	size_t i, nr = f->nr_sections < SECTIONS_MAX ? f->nr_sections : SECTIONS_MAX;
	char text[32]; /* longer than any name that is looked for */
	int rc;

	for (i = 0; i < nr; i++) {
		const Elf64_Shdr *sh = &f->sections[i];

		if (sh->sh_type == SHT_NULL || sh->sh_type == SHT_NOBITS || !section_in_file(f, sh))
			continue;
		rc = read_name(f, sh, text, sizeof(text));
		if (rc && rc != -ENOEXEC)
			return rc;
		if (!rc && !strcmp(text, name)) {
			*out = *sh;
			return 0;
		}
	}
	return -ENOENT;
}

/*
 * `perf inject --jit` before Linux 6.2 makes files without program headers, each with the code of one function: use
 * the sections as segments. In an object file (ET_REL), the addresses of sections mean nothing.
 */
static void use_sections(struct elf_file *f)
{
	size_t i;

	if (f->nr_segments || (f->type != ET_EXEC && f->type != ET_DYN))
		return;
	for (i = 0; i < f->nr_sections && f->nr_segments < ELF_SEGMENTS_MAX; i++) {
		const Elf64_Shdr *sh = &f->sections[i];
		uint32_t flags =
			PF_R | (sh->sh_flags & SHF_EXECINSTR ? PF_X : 0) | (sh->sh_flags & SHF_WRITE ? PF_W : 0);

		if (!(sh->sh_flags & SHF_ALLOC) || sh->sh_type == SHT_NULL || sh->sh_type == SHT_NOBITS ||
		    !elf_section_readable(f, sh) || sh->sh_size > UINT64_MAX - sh->sh_addr)
			continue;
		f->segments[f->nr_segments++] =
			(struct elf_segment){ sh->sh_offset, sh->sh_size, sh->sh_addr, sh->sh_size, flags };
	}
}

/* Call this after the segments' notes: the kernel reads the build id of a mapped file from those. */
static void read_note_sections(struct elf_file *f, unsigned int *notes_left)
{
	size_t i;

	for (i = 0; i < f->nr_sections; i++) {
		const Elf64_Shdr *sh = &f->sections[i];

		if (sh->sh_type == SHT_NOTE && elf_section_readable(f, sh))
			read_notes(f, notes_left, sh->sh_offset, sh->sh_size, sh->sh_addralign);
	}
}

static int read_head(struct elf_file *f)
{
	unsigned int notes_left = NOTES_MAX;
	Elf64_Ehdr ehdr;
	int rc;

	rc = read_header(f, &ehdr);
	if (!rc)
		rc = read_segments(f, &ehdr, &notes_left);
	if (!rc)
		rc = read_sections(f, &ehdr);
	if (rc) {
		elf_file_release(f);
		return rc;
	}
	use_sections(f);
	read_note_sections(f, &notes_left);
	return 0;
}

int elf_file_open(struct elf_file *f, int fd)
{
	int rc;

	*f = ELF_FILE_NONE;
	rc = file_bytes_open(&f->bytes, fd);
	return rc ? rc : read_head(f);
}

int elf_file_adopt(struct elf_file *f, char *memory, size_t len)
{
	*f = (struct elf_file){ .bytes = { .fd = -1, .memory = memory, .size = len } };
	return read_head(f);
}

void elf_file_drop_sections(struct elf_file *f)
{
	free(f->sections);
	f->sections = NULL;
	file_bytes_drop_pages(&f->bytes);
}

void elf_file_release(struct elf_file *f)
{
	free(f->sections);
	file_bytes_release(&f->bytes);
	*f = ELF_FILE_NONE;
}

size_t elf_symbol_size(const struct elf_file *f)
{
	return is_wide(f) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

Elf64_Sym elf_symbol_of(const struct elf_file *f, const void *item)
{
	const Elf32_Sym *in = item;
	Elf64_Sym sym;

	if (is_wide(f))
		memcpy(&sym, item, sizeof(sym));
	else
		sym = (Elf64_Sym){ .st_name = in->st_name,
				   .st_info = in->st_info,
				   .st_other = in->st_other,
				   .st_shndx = in->st_shndx,
				   .st_value = in->st_value,
				   .st_size = in->st_size };
	return sym;
}
