/* SPDX-License-Identifier: Apache-2.0 */
/* A small file with a large .debug_frame, which is compressed. */
#ifndef TESTS_LARGE_RULES_H
#define TESTS_LARGE_RULES_H

#include "tests/unit/elf_sections.h"

#include <zlib.h>

#define LARGE_BYTES (15u << 20) /* of .debug_frame */

/** write_large_rules() - write @name below @dir; its .debug_frame has the @nr words of @rules, and zeros after them. */
static inline void write_large_rules(const char *dir, const char *name, const uint32_t *rules, size_t nr)
{
	Elf64_Chdr ch = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = LARGE_BYTES, .ch_addralign = 1 };
	unsigned char *frame = calloc(2, LARGE_BYTES), *small = frame + LARGE_BYTES;
	uLongf len = LARGE_BYTES - sizeof(ch);
	struct section v = { ".debug_frame", { .sh_type = SHT_PROGBITS, .sh_flags = SHF_COMPRESSED }, small };
	struct image im;

	ck_assert_ptr_nonnull(frame);
	memcpy(frame, rules, nr * sizeof(*rules));
	memcpy(small, &ch, sizeof(ch));
	ck_assert_int_eq(compress(small + sizeof(ch), &len, frame, LARGE_BYTES), Z_OK);
	v.sh.sh_size = sizeof(ch) + len;
	sections_build(&im, &v, 1);
	unit_write(dir, name, im.bytes, im.len);
	image_release(&im);
	free(frame);
}

#endif
