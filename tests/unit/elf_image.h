/* SPDX-License-Identifier: Apache-2.0 */
/* A small ELF file in memory, as a linker would make it, for tests to read or to break. */
#ifndef TESTS_ELF_IMAGE_H
#define TESTS_ELF_IMAGE_H

#include "tests/unit/unit.h"

#include <libelf.h>

/* Where .text and .data are. The file ends before their contents. */
#define TEXT_ADDR   0x401000u
#define TEXT_OFFSET 0x1000u
#define TEXT_SIZE   0x1000u
#define DATA_ADDR   0x403000u

enum { SEC_NULL, SEC_TEXT, SEC_SYMTAB, SEC_STRTAB, SEC_DYNSYM, SEC_DYNSTR, SEC_DATA, SEC_NOTE, SEC_NR };

/** struct image_symbol - @value counts from DATA_ADDR with SEC_DATA, else from TEXT_ADDR; @shndx may be reserved. */
struct image_symbol {
	const char *name;
	uint64_t value, size;
	unsigned char type, bind;
	uint16_t shndx;
};

/** struct image_notes - raw notes of a file, found by a segment, a section, or both. */
struct image_notes {
	const void *bytes;
	size_t len;
	bool segment, section;
	uint64_t align;
};

/** struct image - @bytes is owned: image_release(). Offsets are those of the parts of the file. */
struct image {
	unsigned char *bytes;
	size_t len, cap;
	int class, encoding;
	size_t phdr, shdr, symtab, strtab, notes;
};

static inline size_t image_put(struct image *im, const void *data, size_t len)
{
	size_t at = im->len;

	if (im->len + len > im->cap) {
		im->cap = (im->len + len) * 2;
		im->bytes = realloc(im->bytes, im->cap);
		ck_assert_ptr_nonnull(im->bytes);
	}
	memcpy(im->bytes + at, data, len);
	im->len += len;
	return at;
}

/* Write @len bytes at @at (or at the end: SIZE_MAX) in the byte order of the file. */
static inline size_t image_put_as(struct image *im, Elf_Type type, size_t at, void *item, size_t len)
{
	Elf_Data d = { .d_buf = item, .d_type = type, .d_version = EV_CURRENT, .d_size = len };
	void *ok =
		im->class == ELFCLASS64 ? elf64_xlatetof(&d, &d, im->encoding) : elf32_xlatetof(&d, &d, im->encoding);

	ck_assert_ptr_nonnull(ok);
	if (at == SIZE_MAX)
		return image_put(im, item, len);
	memcpy(im->bytes + at, item, len);
	return at;
}

static inline void image_ehdr(struct image *im)
{
	Elf64_Ehdr e = { .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phnum = 2 };
	Elf32_Ehdr n = { .e_type = ET_DYN, .e_machine = EM_386, .e_version = EV_CURRENT, .e_phnum = 2 };

	memcpy(e.e_ident, ELFMAG, SELFMAG);
	e.e_ident[EI_CLASS] = (unsigned char)im->class;
	e.e_ident[EI_DATA] = (unsigned char)im->encoding;
	e.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(n.e_ident, e.e_ident, EI_NIDENT);
	e.e_phoff = n.e_phoff = (Elf32_Off)im->phdr;
	e.e_shoff = n.e_shoff = (Elf32_Off)im->shdr;
	e.e_shnum = n.e_shnum = SEC_NR;
	e.e_ehsize = sizeof(e), n.e_ehsize = sizeof(n);
	e.e_phentsize = sizeof(Elf64_Phdr), n.e_phentsize = sizeof(Elf32_Phdr);
	e.e_shentsize = sizeof(Elf64_Shdr), n.e_shentsize = sizeof(Elf32_Shdr);
	if (im->class == ELFCLASS64)
		image_put_as(im, ELF_T_EHDR, 0, &e, sizeof(e));
	else
		image_put_as(im, ELF_T_EHDR, 0, &n, sizeof(n));
}

static inline size_t image_phdr(struct image *im, size_t at, Elf64_Phdr p)
{
	Elf32_Phdr n = { .p_type = p.p_type,
			 .p_flags = p.p_flags,
			 .p_offset = (Elf32_Off)p.p_offset,
			 .p_vaddr = (Elf32_Addr)p.p_vaddr,
			 .p_filesz = (Elf32_Word)p.p_filesz,
			 .p_memsz = (Elf32_Word)p.p_memsz,
			 .p_align = (Elf32_Word)p.p_align };

	return im->class == ELFCLASS64 ? image_put_as(im, ELF_T_PHDR, at, &p, sizeof(p))
				       : image_put_as(im, ELF_T_PHDR, at, &n, sizeof(n));
}

/* Program headers of the text, and room for the notes. */
static inline void image_phdrs(struct image *im)
{
	im->phdr = image_phdr(im, SIZE_MAX,
			      (Elf64_Phdr){ .p_type = PT_LOAD,
					    .p_flags = PF_R | PF_X,
					    .p_offset = TEXT_OFFSET,
					    .p_vaddr = TEXT_ADDR,
					    .p_filesz = TEXT_SIZE,
					    .p_memsz = TEXT_SIZE });
	image_phdr(im, SIZE_MAX, (Elf64_Phdr){ .p_type = PT_NULL });
}

static inline size_t image_shdr(struct image *im, Elf64_Shdr s)
{
	Elf32_Shdr n = { .sh_type = s.sh_type,
			 .sh_flags = (Elf32_Word)s.sh_flags,
			 .sh_addr = (Elf32_Addr)s.sh_addr,
			 .sh_offset = (Elf32_Off)s.sh_offset,
			 .sh_size = (Elf32_Word)s.sh_size,
			 .sh_link = s.sh_link,
			 .sh_addralign = (Elf32_Word)s.sh_addralign,
			 .sh_entsize = (Elf32_Word)s.sh_entsize };

	return im->class == ELFCLASS64 ? image_put_as(im, ELF_T_SHDR, SIZE_MAX, &s, sizeof(s))
				       : image_put_as(im, ELF_T_SHDR, SIZE_MAX, &n, sizeof(n));
}

/* A symbol table, followed by its strings. */
static inline void image_symbols(struct image *im, const struct image_symbol *v, size_t nr, Elf64_Shdr *sym,
				 Elf64_Shdr *str)
{
	bool wide = im->class == ELFCLASS64;
	uint32_t name = 1;
	size_t i;

	sym->sh_offset = im->len;
	sym->sh_entsize = wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	for (i = 0; i < nr; i++) {
		Elf64_Sym s = { .st_name = name, .st_size = v[i].size, .st_shndx = v[i].shndx };
		Elf32_Sym n;

		s.st_info = ELF64_ST_INFO(v[i].bind, v[i].type);
		s.st_value = v[i].value + (v[i].shndx == SEC_DATA ? DATA_ADDR : TEXT_ADDR);
		n = (Elf32_Sym){ name, (Elf32_Addr)s.st_value, (Elf32_Word)s.st_size, s.st_info, 0, s.st_shndx };
		if (wide)
			image_put_as(im, ELF_T_SYM, SIZE_MAX, &s, sizeof(s));
		else
			image_put_as(im, ELF_T_SYM, SIZE_MAX, &n, sizeof(n));
		name += (uint32_t)strlen(v[i].name) + 1;
	}
	sym->sh_size = im->len - sym->sh_offset;
	str->sh_offset = image_put(im, "", 1);
	for (i = 0; i < nr; i++)
		image_put(im, v[i].name, strlen(v[i].name) + 1);
	str->sh_size = im->len - str->sh_offset;
}

static inline void image_put_notes(struct image *im, const struct image_notes *notes, Elf64_Shdr *sh)
{
	size_t phdr = im->phdr + (im->class == ELFCLASS64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	Elf64_Phdr p = { .p_type = PT_NOTE, .p_filesz = notes->len, .p_align = notes->align };

	p.p_offset = im->notes = image_put(im, notes->bytes, notes->len);
	if (notes->segment)
		image_phdr(im, phdr, p);
	if (notes->section)
		*sh = (Elf64_Shdr){
			.sh_type = SHT_NOTE, .sh_offset = im->notes, .sh_size = notes->len, .sh_addralign = notes->align
		};
}

/** image_build_with() - an ELF file with these symbols in .symtab and .dynsym, and @notes unless NULL. */
static inline void image_build_with(struct image *im, int class, int encoding, const struct image_symbol *symtab,
				    size_t nr_symtab, const struct image_symbol *dynsym, size_t nr_dynsym,
				    const struct image_notes *notes)
{
	static const unsigned char zeros[64];
	Elf64_Shdr s[SEC_NR] = {
		[SEC_TEXT] = { .sh_type = SHT_PROGBITS,
			       .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			       .sh_addr = TEXT_ADDR,
			       .sh_offset = TEXT_OFFSET,
			       .sh_size = TEXT_SIZE },
		[SEC_SYMTAB] = { .sh_type = SHT_SYMTAB, .sh_link = SEC_STRTAB },
		[SEC_STRTAB] = { .sh_type = SHT_STRTAB },
		[SEC_DYNSYM] = { .sh_type = SHT_DYNSYM, .sh_link = SEC_DYNSTR },
		[SEC_DYNSTR] = { .sh_type = SHT_STRTAB },
		[SEC_DATA] = { .sh_type = SHT_PROGBITS,
			       .sh_flags = SHF_ALLOC | SHF_WRITE,
			       .sh_addr = DATA_ADDR,
			       .sh_offset = TEXT_OFFSET + TEXT_SIZE,
			       .sh_size = 0x1000 },
	};
	size_t i;

	elf_version(EV_CURRENT);
	*im = (struct image){ .class = class, .encoding = encoding };
	image_put(im, zeros, class == ELFCLASS64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
	image_phdrs(im);
	if (notes)
		image_put_notes(im, notes, &s[SEC_NOTE]);
	image_symbols(im, symtab, nr_symtab, &s[SEC_SYMTAB], &s[SEC_STRTAB]);
	image_symbols(im, dynsym, nr_dynsym, &s[SEC_DYNSYM], &s[SEC_DYNSTR]);
	im->symtab = s[SEC_SYMTAB].sh_offset;
	im->strtab = s[SEC_STRTAB].sh_offset;
	im->shdr = im->len;
	for (i = 0; i < SEC_NR; i++)
		image_shdr(im, s[i]);
	image_ehdr(im);
}

/** image_build() - the same without notes. */
static inline void image_build(struct image *im, int class, int encoding, const struct image_symbol *symtab,
			       size_t nr_symtab, const struct image_symbol *dynsym, size_t nr_dynsym)
{
	image_build_with(im, class, encoding, symtab, nr_symtab, dynsym, nr_dynsym, NULL);
}

/** image_note() - write a note at @to, padded with zeros to @align, in the given byte order. Return: its length. */
static inline size_t image_note(unsigned char *to, int encoding, size_t align, uint32_t type, const void *name,
				uint32_t name_len, const void *desc, uint32_t desc_len)
{
	uint32_t head[3] = { name_len, desc_len, type };
	size_t at = sizeof(head), i;

	for (i = 0; i < sizeof(head); i++)
		to[i] = (unsigned char)(head[i / 4] >> 8 * (encoding == ELFDATA2MSB ? 3 - i % 4 : i % 4));
	memcpy(to + at, name, name_len);
	for (at += name_len; at % align; at++)
		to[at] = 0;
	memcpy(to + at, desc, desc_len);
	for (at += desc_len; at % align; at++)
		to[at] = 0;
	return at;
}

static inline void image_release(struct image *im)
{
	free(im->bytes);
	*im = (struct image){ 0 };
}

#endif
