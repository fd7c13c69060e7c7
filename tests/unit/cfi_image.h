/* SPDX-License-Identifier: Apache-2.0 */
/* A small program in memory whose functions have any rules and any bytes. It has no .eh_frame_hdr. */
#ifndef TESTS_CFI_IMAGE_H
#define TESTS_CFI_IMAGE_H

#include "tests/unit/unit.h"
#include "unwind/rules.h"

#include <elf.h>

/* The code's place in the file, and its address in the headers. */
#define CFI_CODE_OFFSET 0x1000u
#define CFI_CODE_ADDR   0x421000u
#define CFI_CODE_SIZE   0x1000u
#define CFI_EH_OFFSET   0x200u
#define CFI_EH_ADDR     0x400200u
#define CFI_FILE_SIZE   (CFI_CODE_OFFSET + CFI_CODE_SIZE)

/** struct cfi_function - at its first instruction the CFA is rsp + 8; @program: the instructions of its FDE. */
struct cfi_function {
	uint32_t start, len; /* from the beginning of the code */
	bool signal;
	uint8_t size; /* of @program */
	const char *program;
};

#define CFI_PROGRAM(s) sizeof(s) - 1, s

/** struct cfi_image - the file. */
struct cfi_image {
	uint8_t bytes[CFI_FILE_SIZE];
	size_t used; /* bytes of .eh_frame so far */
};

static inline void cfi_put(struct cfi_image *im, const void *bytes, size_t len)
{
	ck_assert_uint_le(CFI_EH_OFFSET + im->used + len, CFI_CODE_OFFSET);
	memcpy(im->bytes + CFI_EH_OFFSET + im->used, bytes, len);
	im->used += len;
}

static inline void cfi_put_number(struct cfi_image *im, uint32_t value)
{
	cfi_put(im, &value, sizeof(value)); /* little endian, like all machines that this is built on */
}

/* Version 1, factors 1 and -8, return register 16, addresses pcrel | sdata4; CFA rsp + 8, rip at CFA - 8. */
static inline void cfi_put_cie(struct cfi_image *im, bool signal)
{
	static const uint8_t plain[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0 };
	static const uint8_t trampoline[] = { 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0 };

	cfi_put_number(im, 4 + sizeof(plain));
	cfi_put_number(im, 0);
	cfi_put(im, signal ? trampoline : plain, sizeof(plain));
}

static inline void cfi_put_fde(struct cfi_image *im, size_t cie, const struct cfi_function *f)
{
	uint32_t size = (13u + f->size + 3) / 4 * 4;

	cfi_put_number(im, size);
	cfi_put_number(im, (uint32_t)(im->used - cie));
	cfi_put_number(im, (uint32_t)(CFI_CODE_ADDR + f->start - (CFI_EH_ADDR + im->used)));
	cfi_put_number(im, f->len);
	cfi_put(im, "", 1);
	cfi_put(im, f->program, f->size);
	cfi_put(im, "\0\0", size - 13 - f->size);
}

static inline void cfi_put_headers(struct cfi_image *im)
{
	static const char names[] = "\0.eh_frame";
	Elf64_Ehdr e = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_phoff = 64,
			 .e_shoff = 64 + 2 * sizeof(Elf64_Phdr),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 2,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 2 };
	Elf64_Phdr p[2] = {
		{ PT_LOAD, PF_R, 0, CFI_EH_ADDR - CFI_EH_OFFSET, 0, CFI_CODE_OFFSET, CFI_CODE_OFFSET, 4096 },
		{ PT_LOAD, PF_R | PF_X, CFI_CODE_OFFSET, CFI_CODE_ADDR, 0, CFI_CODE_SIZE, CFI_CODE_SIZE, 4096 }
	};
	Elf64_Shdr s[2] = { { 0, SHT_STRTAB, 0, 0, CFI_EH_OFFSET - sizeof(names), sizeof(names) },
			    { 1, SHT_PROGBITS, SHF_ALLOC, CFI_EH_ADDR, CFI_EH_OFFSET, im->used } };

	memcpy(im->bytes, &e, sizeof(e));
	memcpy(im->bytes + e.e_phoff, p, sizeof(p));
	memcpy(im->bytes + e.e_shoff, s, sizeof(s));
	memcpy(im->bytes + CFI_EH_OFFSET - sizeof(names), names, sizeof(names));
}

/** cfi_image_build() - build it; the code is filled with nop. */
static inline void cfi_image_build(struct cfi_image *im, const struct cfi_function *v, size_t nr)
{
	size_t i, trampolines;

	memset(im, 0, sizeof(*im));
	cfi_put_cie(im, false);
	trampolines = im->used;
	cfi_put_cie(im, true);
	for (i = 0; i < nr; i++)
		cfi_put_fde(im, v[i].signal ? trampolines : 0, &v[i]);
	cfi_put_number(im, 0);
	cfi_put_headers(im);
	memset(im->bytes + CFI_CODE_OFFSET, 0x90, CFI_CODE_SIZE);
}

/** cfi_image_open() - open its rules; close them with rules_close(). */
static inline struct rules *cfi_image_open(const struct cfi_image *im)
{
	char *copy = malloc(sizeof(im->bytes));
	struct rules *r = NULL;
	struct elf_file f;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, im->bytes, sizeof(im->bytes));
	ck_assert_int_eq(elf_file_adopt(&f, copy, sizeof(im->bytes)), 0);
	ck_assert_int_eq(rules_open(&f, &ELF_FILE_NONE, &r), 0);
	return r;
}

#endif
