// SPDX-License-Identifier: Apache-2.0
#include "core/files/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * libelf is used for byte order and layout only. An Elf descriptor would read the header again after we
 * checked it, and allocates by the section count it finds, which a hostile file can raise to 2^32 between the
 * two reads.
 */

#define NOTES_MAX  64    /* segments and sections of notes that are read; files have about five */
#define NOTE_BYTES 16384 /* of each, the rest is not read */

int elf_file_read(const struct elf_file *f, uint64_t offset, void *buf, size_t len)
{
	char *p = buf;
	ssize_t n;

	if (offset > f->size || len > f->size - offset)
		return -ENOEXEC;
	if (f->memory) {
		memcpy(buf, f->memory + offset, len);
		return 0;
	}
	for (; len; p += n, offset += (uint64_t)n, len -= (size_t)n) {
		do
			n = pread(f->fd, p, len, (off_t)offset);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return -errno;
		if (!n) /* it shrank */
			return -ENOEXEC;
	}
	return 0;
}

/* From the file's class, layout and byte order into ours. Class decides the type of the result. */
static int translate(const struct elf_file *f, Elf_Type type, void *buf, size_t len)
{
	Elf_Data data = { .d_buf = buf, .d_type = type, .d_version = EV_CURRENT, .d_size = len };

	if (f->class == ELFCLASS64)
		return elf64_xlatetom(&data, &data, f->encoding) ? 0 : -ENOEXEC;
	return elf32_xlatetom(&data, &data, f->encoding) ? 0 : -ENOEXEC;
}

int elf_file_word(const struct elf_file *f, uint64_t offset, uint32_t *word)
{
	int rc = elf_file_read(f, offset, word, sizeof(*word));

	return rc ? rc : translate(f, ELF_T_WORD, word, sizeof(*word));
}

void elf_table_init(struct elf_table *t, const struct elf_file *f, Elf_Type type, size_t item, uint64_t offset,
		    uint64_t nr)
{
	t->f = f;
	t->type = type;
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
		rc = elf_file_read(t->f, at, t->buf.bytes, len);
	if (!rc)
		rc = translate(t->f, t->type, t->buf.bytes, len);
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
	bool wide;
	int rc = elf_file_read(f, 0, &h, sizeof(h.e32));

	if (rc)
		return rc;
	f->class = h.ident[EI_CLASS];
	f->encoding = h.ident[EI_DATA];
	if (memcmp(h.ident, ELFMAG, SELFMAG) || (f->class != ELFCLASS32 && f->class != ELFCLASS64) ||
	    (f->encoding != ELFDATA2LSB && f->encoding != ELFDATA2MSB))
		return -ENOEXEC;
	wide = f->class == ELFCLASS64;
	if (wide)
		rc = elf_file_read(f, sizeof(h.e32), (char *)&h + sizeof(h.e32), sizeof(h.e64) - sizeof(h.e32));
	if (!rc)
		rc = translate(f, ELF_T_EHDR, &h, wide ? sizeof(h.e64) : sizeof(h.e32));
	if (rc)
		return rc;
	if (wide)
		*out = h.e64;
	else
		widen_ehdr(&h.e32, out);
	/* 0 or PN_XNUM: more than 65,000, counted in section 0. Nothing that is loaded has so many. */
	if (!out->e_shnum || out->e_phnum == PN_XNUM ||
	    out->e_shentsize != (wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) ||
	    out->e_phentsize != (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return -ENOEXEC;
	f->machine = out->e_machine;
	f->nr_sections = out->e_shnum;
	f->names = out->e_shstrndx;
	return 0;
}

/*
 * Look for the build id, when it is not known yet, in the notes at @offset. Nothing else of the file depends on it:
 * what cannot be read is not there. @left: how many may still be looked into.
 */
static void read_notes(struct elf_file *f, unsigned int *left, uint64_t offset, uint64_t size, uint64_t align)
{
	char notes[NOTE_BYTES];

	if (f->build_id.size || !*left)
		return;
	--*left;
	if (size > sizeof(notes))
		size = sizeof(notes);
	if (!elf_file_read(f, offset, notes, (size_t)size))
		build_id_of_notes(notes, (size_t)size, f->encoding == ELFDATA2MSB, align, &f->build_id);
}

static int read_segments(struct elf_file *f, const Elf64_Ehdr *ehdr, unsigned int *notes_left)
{
	bool wide = f->class == ELFCLASS64;
	struct elf_segment seg;
	struct elf_table t;
	const void *p;

	elf_table_init(&t, f, ELF_T_PHDR, ehdr->e_phentsize, ehdr->e_phoff, ehdr->e_phnum);
	while ((p = elf_table_next(&t)) && f->nr_segments < ELF_SEGMENTS_MAX) {
		const Elf64_Phdr *p64 = p;
		const Elf32_Phdr *p32 = p;

		uint32_t type = wide ? p64->p_type : p32->p_type;

		seg.offset = wide ? p64->p_offset : p32->p_offset;
		seg.size = wide ? p64->p_filesz : p32->p_filesz;
		seg.vaddr = wide ? p64->p_vaddr : p32->p_vaddr;
		if (type == PT_LOAD && (wide ? p64->p_flags : p32->p_flags) & PF_X)
			f->segments[f->nr_segments++] = seg;
		else if (type == PT_NOTE)
			read_notes(f, notes_left, seg.offset, seg.size, wide ? p64->p_align : p32->p_align);
	}
	return t.rc;
}

static void widen_shdr(const Elf32_Shdr *in, Elf64_Shdr *out)
{
	out->sh_name = in->sh_name;
	out->sh_type = in->sh_type;
	out->sh_flags = in->sh_flags;
	out->sh_addr = in->sh_addr;
	out->sh_offset = in->sh_offset;
	out->sh_size = in->sh_size;
	out->sh_link = in->sh_link;
	out->sh_entsize = in->sh_entsize;
	out->sh_addralign = in->sh_addralign;
}

static int read_sections(struct elf_file *f, const Elf64_Ehdr *ehdr)
{
	struct elf_table t;
	const void *p;
	size_t i;

	f->sections = calloc(f->nr_sections, sizeof(*f->sections));
	if (!f->sections)
		return -ENOMEM;
	elf_table_init(&t, f, ELF_T_SHDR, ehdr->e_shentsize, ehdr->e_shoff, f->nr_sections);
	for (i = 0; (p = elf_table_next(&t)); i++) {
		if (f->class == ELFCLASS64)
			memcpy(&f->sections[i], p, sizeof(*f->sections));
		else
			widen_shdr(p, &f->sections[i]);
	}
	return t.rc;
}

bool elf_section_readable(const struct elf_file *f, const Elf64_Shdr *sh)
{
	return !(sh->sh_flags & SHF_COMPRESSED) && sh->sh_offset <= f->size && sh->sh_size <= f->size - sh->sh_offset;
}

void elf_section_name(const struct elf_file *f, const Elf64_Shdr *sh, char *buf, size_t cap)
{
	const Elf64_Shdr *names = f->names < f->nr_sections ? &f->sections[f->names] : NULL;
	size_t len = 0;

	if (names && names->sh_type == SHT_STRTAB && elf_section_readable(f, names) && sh->sh_name < names->sh_size) {
		uint64_t left = names->sh_size - sh->sh_name;

		len = left < cap - 1 ? (size_t)left : cap - 1;
		if (elf_file_read(f, names->sh_offset + sh->sh_name, buf, len))
			len = 0;
	}
	buf[len] = 0;
}

/* Behind the segments, which are what the kernel tells of a mapped file. */
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

	elf_version(EV_CURRENT);
	rc = read_header(f, &ehdr);
	if (!rc)
		rc = read_segments(f, &ehdr, &notes_left);
	if (!rc)
		rc = read_sections(f, &ehdr);
	if (!rc)
		read_note_sections(f, &notes_left);
	else
		elf_file_release(f);
	return rc;
}

int elf_file_open(struct elf_file *f, int fd)
{
	struct stat st;

	*f = ELF_FILE_NONE;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	f->size = (uint64_t)st.st_size;
	f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return f->fd < 0 ? -errno : read_head(f);
}

int elf_file_adopt(struct elf_file *f, char *memory, size_t len)
{
	*f = (struct elf_file){ .fd = -1, .memory = memory, .size = len };
	return read_head(f);
}

void elf_file_drop_sections(struct elf_file *f)
{
	free(f->sections);
	f->sections = NULL;
}

void elf_file_release(struct elf_file *f)
{
	elf_file_drop_sections(f);
	if (f->fd >= 0)
		close(f->fd);
	free(f->memory);
	*f = ELF_FILE_NONE;
}

size_t elf_symbol_size(const struct elf_file *f)
{
	return f->class == ELFCLASS64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

Elf64_Sym elf_symbol_of(const struct elf_file *f, const void *item)
{
	const Elf32_Sym *in = item;
	Elf64_Sym sym;

	if (f->class == ELFCLASS64)
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
