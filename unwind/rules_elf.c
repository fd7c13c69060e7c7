// SPDX-License-Identifier: Apache-2.0
#include "unwind/rules_elf.h"

#include "core/arch/arch.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PHDRS_MAX      64   /* looked at; linkers make about 13 */
#define SECTIONS_MAX   1024 /* looked at; programs and libraries have about 40 */
#define NAME_BYTES_MAX 16   /* of a section's name that is looked for, its end included */

uint64_t extent_left(const struct extent *e, uint64_t addr)
{
	return addr >= e->addr && addr - e->addr < e->size ? e->size - (addr - e->addr) : 0;
}

bool extent_from(const struct extent *e, uint64_t addr, struct extent *out)
{
	uint64_t left = extent_left(e, addr);

	*out = (struct extent){ addr, left, e->pages, e->offset + (addr - e->addr), NULL };
	return left != 0;
}

int extent_read(const struct extent *e, uint64_t addr, void *to, size_t len)
{
	uint64_t left = extent_left(e, addr);

	if (!left || left < len) /* also for no bytes: an empty extent has no file */
		return -EFAULT;
	if (!e->memory)
		return pages_read(e->pages, e->offset + (addr - e->addr), to, len);
	memcpy(to, e->memory + (addr - e->addr), len);
	return 0;
}

void extent_release(struct extent *e)
{
	free(e->memory);
	*e = (struct extent){ 0 };
}

static bool is_supported(const Elf64_Ehdr *h)
{
	return !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB && h->e_machine == ARCH_ELF_MACHINE &&
	       (h->e_type == ET_EXEC || h->e_type == ET_DYN);
}

/* An extent that the file has no bytes for is left to those who read it: the file may have shrunk since. */
static bool segment_of(struct rules_elf *elf, const Elf64_Phdr *p, struct rules_segment *out)
{
	if (p->p_type != PT_LOAD || p->p_filesz > UINT64_MAX - p->p_vaddr || p->p_filesz > UINT64_MAX - p->p_offset)
		return false;
	*out = (struct rules_segment){ .bytes = { p->p_vaddr, p->p_filesz, &elf->pages, p->p_offset, NULL },
				       .writable = p->p_flags & PF_W,
				       .executable = p->p_flags & PF_X };
	return true;
}

static int read_segments(struct rules_elf *elf, const Elf64_Ehdr *h)
{
	unsigned int i, nr = h->e_phnum < PHDRS_MAX ? h->e_phnum : PHDRS_MAX;
	const Elf64_Phdr *hdr = NULL;
	Elf64_Phdr p[PHDRS_MAX];
	const struct rules_segment *seg;
	int rc;

	if (!nr)
		return 0;
	if (h->e_phentsize != sizeof(*p))
		return -ENOEXEC;
	rc = pages_read(&elf->pages, h->e_phoff, p, nr * sizeof(*p));
	if (rc)
		return rc;
	elf->segments = calloc(nr, sizeof(*elf->segments));
	if (!elf->segments)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		elf->nr_segments += segment_of(elf, &p[i], &elf->segments[elf->nr_segments]);
		if (p[i].p_type == PT_GNU_EH_FRAME && !hdr)
			hdr = &p[i];
	}
	/* By its address, as who unwinds in the process itself finds it. */
	seg = hdr ? rules_elf_segment(elf, hdr->p_vaddr) : NULL;
	if (seg && extent_from(&seg->bytes, hdr->p_vaddr, &elf->hdr) && elf->hdr.size > hdr->p_filesz)
		elf->hdr.size = hdr->p_filesz;
	return 0;
}

static int read_headers(struct rules_elf *elf)
{
	Elf64_Ehdr h;
	int rc;

	rc = pages_read(&elf->pages, 0, &h, sizeof(h));
	if (rc)
		return rc;
	if (!is_supported(&h))
		return -ENOEXEC;
	if (h.e_shentsize == sizeof(Elf64_Shdr)) {
		elf->sections = h.e_shoff;
		elf->nr_sections = h.e_shnum < SECTIONS_MAX ? h.e_shnum : SECTIONS_MAX;
		elf->names = h.e_shstrndx;
	}
	return read_segments(elf, &h);
}

int rules_elf_open(const struct unwind_bytes *file, struct rules_elf **out)
{
	struct rules_elf *elf = calloc(1, sizeof(*elf));
	int rc;

	if (!elf) {
		file->close(file->ctx);
		return -ENOMEM;
	}
	pages_init(&elf->pages, file);
	rc = read_headers(elf);
	if (rc)
		rules_elf_close(elf);
	else
		*out = elf;
	return rc;
}

void rules_elf_close(struct rules_elf *elf)
{
	if (!elf)
		return;
	pages_release(&elf->pages);
	free(elf->segments);
	free(elf);
}

size_t rules_elf_memory(const struct rules_elf *elf)
{
	return elf ? sizeof(*elf) + elf->nr_segments * sizeof(*elf->segments) + pages_memory(&elf->pages) : 0;
}

const struct rules_segment *rules_elf_segment(const struct rules_elf *elf, uint64_t addr)
{
	unsigned int i;

	for (i = 0; i < elf->nr_segments; i++)
		if (extent_left(&elf->segments[i].bytes, addr))
			return &elf->segments[i];
	return NULL;
}

/* What lies outside of the file is not there; another failure is one. */
static int read_part(struct rules_elf *elf, uint64_t offset, void *to, size_t len)
{
	int rc = pages_read(&elf->pages, offset, to, len);

	return rc == -ENOEXEC ? -ENOENT : rc;
}

static int read_section(struct rules_elf *elf, unsigned int i, Elf64_Shdr *sh)
{
	uint64_t at = i * sizeof(*sh);

	if (i >= elf->nr_sections || at > UINT64_MAX - elf->sections)
		return -ENOENT;
	return read_part(elf, elf->sections + at, sh, sizeof(*sh));
}

/* Return: 0: it is called @name, and has bytes; -ENOENT: no; else the reader failed. */
static int is_called(struct rules_elf *elf, const Elf64_Shdr *names, const Elf64_Shdr *sh, const char *name)
{
	size_t len = strlen(name) + 1;
	char text[NAME_BYTES_MAX];
	int rc;

	if (sh->sh_type == SHT_NULL || sh->sh_type == SHT_NOBITS || sh->sh_size > UINT64_MAX - sh->sh_addr ||
	    sh->sh_offset > elf->pages.file.size || sh->sh_size > elf->pages.file.size - sh->sh_offset ||
	    sh->sh_name > names->sh_size || len > names->sh_size - sh->sh_name ||
	    sh->sh_name > UINT64_MAX - names->sh_offset)
		return -ENOENT;
	rc = read_part(elf, names->sh_offset + sh->sh_name, text, len);
	return rc ? rc : memcmp(text, name, len) ? -ENOENT : 0;
}

int rules_elf_section(struct rules_elf *elf, const char *name, struct extent *out, bool *compressed)
{
	Elf64_Shdr names, sh;
	unsigned int i;
	int rc;

	rc = read_section(elf, elf->names, &names);
	if (rc)
		return rc;
	for (i = 0, rc = -ENOENT; rc == -ENOENT && i < elf->nr_sections; i++) {
		rc = read_section(elf, i, &sh);
		if (rc)
			break;
		rc = is_called(elf, &names, &sh, name);
	}
	if (rc)
		return rc;
	*compressed = sh.sh_flags & SHF_COMPRESSED;
	*out = (struct extent){ sh.sh_addr, sh.sh_size, &elf->pages, sh.sh_offset, NULL };
	return 0;
}
