/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file with call frame information, in memory, as a linker would make it, for tests to read or to break. */
#ifndef TESTS_RULES_IMAGE_H
#define TESTS_RULES_IMAGE_H

#include "core/files/elf_inflate.h"
#include "tests/unit/elf_image.h"

#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* Headers and records lie in a segment of constants, at BASE + their offset; the file ends with code and data. */
#define BASE        0x400000u
#define CODE_OFFSET 0x8000u
#define CODE        0x421000u
#define CODE_SIZE   0x800u
#define VARS_OFFSET 0x9000u
#define VARS        0x432000u
#define VARS_SIZE   0x800u

enum { SEG_CONST, SEG_CODE, SEG_VARS, SEG_HDR, SEG_COUNT };
enum { SECT_NULL, SECT_EH, SECT_FRAME, SECT_NAMES, SECT_COUNT };

/** How .eh_frame is found. */
enum table { TABLE, TABLE_OMITTED, TABLE_WIDE, NO_HDR, NO_EH };

/** Which form .debug_frame has. */
enum frame { NO_FRAME, FRAME, FRAME_64, FRAME_ZLIB, FRAME_ZSTD, FRAME_GNU };

/** struct function - rules that make the CFA rsp + @cfa or, if that is 0, use an expression. */
struct function {
	uint32_t start, len; /* from CODE on */
	uint8_t cfa;
};

/** struct rules_image - offsets of the parts in the file. */
struct rules_image {
	struct image im;
	size_t phdr, hdr, table, eh, eh_size, frame, frame_size, names, shdr;
	size_t record[64]; /* record of each function in .eh_frame */
};

static inline void put_fixed(struct image *im, uint64_t value, size_t size)
{
	image_put(im, &value, size); /* little endian, like all machines that this is built on */
}

static inline void put_program(struct image *im, uint8_t cfa)
{
	static const uint8_t expr[] = { 0x0f, 2, 0x77, 8 }; /* DW_CFA_def_cfa_expression, DW_OP_breg7 8 */
	const uint8_t offset[] = { 0x0e, cfa, 0, 0 };       /* DW_CFA_def_cfa_offset */

	image_put(im, cfa ? offset : expr, 4);
}

static inline void set_fixed(struct image *im, size_t at, uint64_t value, size_t size)
{
	memcpy(im->bytes + at, &value, size);
}

static inline void put_eh_frame(struct rules_image *ri, const struct function *v, size_t nr)
{
	/* Length 20, id 0, version 1, "zR", factors 1 and -8, return register 16, pcrel | sdata4; CFA rsp + 8, rip. */
	static const uint8_t cie[24] = { 20, 0, 0,    0,  0, 0,    0,    0, 1, 'z',  'R',
					 0,  1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1 };
	struct image *im = &ri->im;
	size_t i;

	ri->eh = image_put(im, cie, sizeof(cie));
	for (i = 0; i < nr; i++) {
		ri->record[i] = im->len;
		put_fixed(im, 20, 4);
		put_fixed(im, im->len - ri->eh, 4);
		put_fixed(im, CODE + v[i].start - (BASE + im->len), 4);
		put_fixed(im, v[i].len, 4);
		put_fixed(im, 0, 1);
		put_program(im, v[i].cfa);
		put_fixed(im, 0, 3);
	}
	put_fixed(im, 0, 4);
	ri->eh_size = im->len - ri->eh;
}

static inline void put_hdr(struct rules_image *ri, enum table table, const struct function *v, size_t nr)
{
	static const uint8_t encodings[] = { 0x3b, 0xff, 0x3c };
	uint64_t base = BASE + ri->hdr, size = table == TABLE_WIDE ? 8 : 4;
	struct image *im = &ri->im;
	const uint8_t head[4] = { 1, 0x1b, table == TABLE_OMITTED ? 0xff : 0x03, encodings[table] };
	size_t i;

	memcpy(im->bytes + ri->hdr, head, sizeof(head));
	set_fixed(im, ri->hdr + 4, ri->eh - (ri->hdr + 4), 4);
	set_fixed(im, ri->hdr + 8, nr, 4);
	ri->table = ri->hdr + 12;
	for (i = 0; i < nr && table != TABLE_OMITTED; i++) {
		set_fixed(im, ri->table + 2 * i * size, CODE + v[i].start - base, size);
		set_fixed(im, ri->table + (2 * i + 1) * size, ri->record[i] - ri->hdr, size);
	}
}

static inline void put_debug_frame(struct image *im, bool wide, const struct function *v, size_t nr)
{
	/* Version 3, "", factors 1 and -8, return register 16; CFA rsp + 8, rip. */
	static const uint8_t cie[12] = { 3, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1 };
	size_t i, word = wide ? 8 : 4;

	if (wide)
		put_fixed(im, UINT32_MAX, 4);
	put_fixed(im, sizeof(cie) + word, word);
	put_fixed(im, UINT64_MAX, word);
	image_put(im, cie, sizeof(cie));
	for (i = 0; i < nr; i++) {
		if (wide)
			put_fixed(im, UINT32_MAX, 4);
		put_fixed(im, word + 20, word);
		put_fixed(im, 0, word);
		put_fixed(im, CODE + v[i].start, 8);
		put_fixed(im, v[i].len, 8);
		put_program(im, v[i].cfa);
	}
}

/* As SHF_COMPRESSED has it: a header, then a zlib stream. @gnu: as .zdebug_frame has it */
static inline void put_compressed(struct image *im, const struct image *raw, bool gnu)
{
	Elf64_Chdr ch = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = raw->len, .ch_addralign = 8 };
	unsigned char head[12] = "ZLIB";
	uLongf len = compressBound(raw->len);
	unsigned char *out = malloc(len);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(compress(out, &len, raw->bytes, raw->len), Z_OK);
	head[10] = (unsigned char)(raw->len >> 8);
	head[11] = (unsigned char)raw->len;
	if (gnu)
		image_put(im, head, sizeof(head));
	else
		image_put(im, &ch, sizeof(ch));
	image_put(im, out, len);
	free(out);
}

/* The same with zstd: a frame with a checksum for each half of @raw. Without the zstd library, only the header. */
static inline void put_zstd(struct image *im, const struct image *raw)
{
	Elf64_Chdr ch = { .ch_type = ELFCOMPRESS_ZSTD, .ch_size = raw->len, .ch_addralign = 8 };
#ifdef HAVE_ZSTD
	size_t at, len, half = raw->len / 2 + 1, cap = ZSTD_compressBound(half);
	unsigned char *out = malloc(cap);
	ZSTD_CCtx *c = ZSTD_createCCtx();

	ck_assert(out && c);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	image_put(im, &ch, sizeof(ch));
	for (at = 0; at < raw->len; at += half) {
		len = ZSTD_compress2(c, out, cap, raw->bytes + at, raw->len - at < half ? raw->len - at : half);
		ck_assert(!ZSTD_isError(len));
		image_put(im, out, len);
	}
	ZSTD_freeCCtx(c);
	free(out);
#else
	image_put(im, &ch, sizeof(ch));
#endif
}

static inline void put_frame(struct rules_image *ri, enum frame frame, const struct function *v, size_t nr)
{
	struct image raw = { .class = ELFCLASS64, .encoding = ELFDATA2LSB };

	put_debug_frame(&raw, frame == FRAME_64, v, nr);
	ri->frame = ri->im.len;
	if (frame == FRAME_ZLIB || frame == FRAME_GNU)
		put_compressed(&ri->im, &raw, frame == FRAME_GNU);
	else if (frame == FRAME_ZSTD)
		put_zstd(&ri->im, &raw);
	else
		image_put(&ri->im, raw.bytes, raw.len);
	ri->frame_size = ri->im.len - ri->frame;
	image_release(&raw);
}

static inline void rules_image_phdrs(struct rules_image *ri, enum table table, size_t hdr_size)
{
	Elf64_Phdr p[SEG_COUNT] = {
		[SEG_CONST] = { PT_LOAD, PF_R, 0, BASE, BASE, CODE_OFFSET, CODE_OFFSET, 0x1000 },
		[SEG_CODE] = { PT_LOAD, PF_R | PF_X, CODE_OFFSET, CODE, CODE, CODE_SIZE, CODE_SIZE, 0x1000 },
		[SEG_VARS] = { PT_LOAD, PF_R | PF_W, VARS_OFFSET, VARS, VARS, VARS_SIZE, VARS_SIZE, 0x1000 },
		[SEG_HDR] = { PT_GNU_EH_FRAME, PF_R, ri->hdr, BASE + ri->hdr, 0, hdr_size, hdr_size, 4 },
	};

	if (table >= NO_HDR)
		p[SEG_HDR].p_type = PT_NULL;
	memcpy(ri->im.bytes + ri->phdr, p, sizeof(p));
}

static inline void rules_image_shdrs(struct rules_image *ri, enum table table, enum frame frame)
{
	Elf64_Shdr s[SECT_COUNT] = {
		[SECT_EH] = { 1, SHT_PROGBITS, SHF_ALLOC, BASE + ri->eh, ri->eh, ri->eh_size },
		[SECT_FRAME] = { frame == FRAME_GNU ? 34 : 11, SHT_PROGBITS, 0, 0, ri->frame, ri->frame_size },
		[SECT_NAMES] = { 24, SHT_STRTAB, 0, 0, ri->names, 48 },
	};

	if (table == NO_EH)
		s[SECT_EH].sh_type = SHT_NOBITS;
	if (frame == NO_FRAME)
		s[SECT_FRAME].sh_type = SHT_NULL;
	if (frame == FRAME_ZLIB || frame == FRAME_ZSTD)
		s[SECT_FRAME].sh_flags = SHF_COMPRESSED;
	image_put(&ri->im, s, sizeof(s));
}

/** rules_image_build() - build a file with rules for the functions @eh and @debug; the table has @eh in this order. */
static inline void rules_image_build(struct rules_image *ri, enum table table, enum frame frame,
				     const struct function *eh, size_t nr_eh, const struct function *debug,
				     size_t nr_debug)
{
	static const char names[] = "\0.eh_frame\0.debug_frame\0.shstrtab\0.zdebug_frame";
	static const unsigned char zeros[VARS_OFFSET + VARS_SIZE];
	size_t hdr_size = 12 + nr_eh * (table == TABLE_WIDE ? 16 : 8);
	Elf64_Ehdr e = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = SEG_COUNT,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = SECT_COUNT,
			 .e_shstrndx = SECT_NAMES };
	size_t i;

	*ri = (struct rules_image){ .im = { .class = ELFCLASS64, .encoding = ELFDATA2LSB } };
	image_put(&ri->im, zeros, sizeof(e));
	ri->phdr = image_put(&ri->im, zeros, SEG_COUNT * sizeof(Elf64_Phdr));
	/* The records begin on pages of their own, so that they are read separately from the headers. */
	image_put(&ri->im, zeros, 0x1000 - ri->im.len);
	ri->hdr = image_put(&ri->im, zeros, hdr_size);
	put_eh_frame(ri, eh, nr_eh);
	if (table < NO_HDR)
		put_hdr(ri, table, eh, nr_eh);
	image_put(&ri->im, zeros, 0x2000 - ri->im.len);
	if (frame != NO_FRAME)
		put_frame(ri, frame, debug, nr_debug);
	ri->names = image_put(&ri->im, names, sizeof(names));
	ri->shdr = ri->im.len;
	rules_image_phdrs(ri, table, hdr_size);
	rules_image_shdrs(ri, table, frame);
	e.e_phoff = ri->phdr;
	e.e_shoff = ri->shdr;
	memcpy(ri->im.bytes, &e, sizeof(e));
	ck_assert_uint_le(ri->im.len, CODE_OFFSET);
	image_put(&ri->im, zeros, VARS_OFFSET + VARS_SIZE - ri->im.len);
	for (i = CODE_OFFSET; i < ri->im.len; i++)
		ri->im.bytes[i] = (unsigned char)(i * 7 + (i >> 8));
}

#endif
