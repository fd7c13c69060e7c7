/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file of 64 bits made of any sections, with names, for tests to read or to break. */
#ifndef TESTS_ELF_SECTIONS_H
#define TESTS_ELF_SECTIONS_H

#include "tests/unit/elf_image.h"

/** struct section - @sh: everything but name and offset; @data: its sh_size bytes, NULL: none (SHT_NOBITS). */
struct section {
	const char *name;
	Elf64_Shdr sh;
	const void *data;
};

/** sections_build() - build @im: section 0, the @nr sections @v, their names; the file is one executable segment. */
static inline void sections_build(struct image *im, const struct section *v, size_t nr)
{
	Elf64_Ehdr e = { .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phnum = 1 };
	Elf64_Phdr p = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x400000, .p_filesz = 0x100000 };
	Elf64_Shdr *sh = calloc(nr + 2, sizeof(*sh));
	struct image names = { 0 };
	size_t i;

	ck_assert_ptr_nonnull(sh);
	*im = (struct image){ .class = ELFCLASS64, .encoding = ELFDATA2LSB };
	image_put(im, &e, sizeof(e));
	im->phdr = image_put(im, &p, sizeof(p));
	image_put(&names, "", 1);
	for (i = 0; i < nr; i++) {
		sh[i + 1] = v[i].sh;
		sh[i + 1].sh_name = (uint32_t)image_put(&names, v[i].name, strlen(v[i].name) + 1);
		sh[i + 1].sh_offset = v[i].data ? image_put(im, v[i].data, v[i].sh.sh_size) : im->len;
	}
	sh[nr + 1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_size = names.len };
	sh[nr + 1].sh_offset = image_put(im, names.bytes, names.len);
	im->shdr = image_put(im, sh, (nr + 2) * sizeof(*sh));
	memcpy(e.e_ident, ELFMAG, SELFMAG);
	e.e_ident[EI_CLASS] = ELFCLASS64;
	e.e_ident[EI_DATA] = ELFDATA2LSB;
	e.e_phoff = im->phdr;
	e.e_shoff = im->shdr;
	e.e_shnum = (uint16_t)(nr + 2);
	e.e_shstrndx = (uint16_t)(nr + 1);
	e.e_ehsize = sizeof(e);
	e.e_phentsize = sizeof(p);
	e.e_shentsize = sizeof(*sh);
	memcpy(im->bytes, &e, sizeof(e));
	image_release(&names);
	free(sh);
}

#endif
