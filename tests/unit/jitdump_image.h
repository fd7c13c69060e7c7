/* SPDX-License-Identifier: Apache-2.0 */
/* A jitdump in memory, record by record, for tests to read or to break. */
#ifndef TESTS_JITDUMP_IMAGE_H
#define TESTS_JITDUMP_IMAGE_H

#include "core/symbols/jitdump_format.h"
#include "tests/unit/unit.h"

#include <elf.h>

#include "core/arch/arch.h"

#define DUMP_PID 7

/** struct jitdump_image - @len bytes of @bytes are used. */
struct jitdump_image {
	uint8_t bytes[65536];
	size_t len;
};

/** struct dump_entry - a source line. */
struct dump_entry {
	uint64_t addr;
	uint32_t line;
	const char *file;
};

static inline void dump_put(struct jitdump_image *im, const void *bytes, size_t len)
{
	ck_assert_uint_le(im->len + len, sizeof(im->bytes));
	memcpy(im->bytes + im->len, bytes, len);
	im->len += len;
}

static inline struct jitdump_prefix dump_prefix(enum jitdump_record id, size_t size)
{
	return (struct jitdump_prefix){ (uint32_t)id, (uint32_t)size, 12345 };
}

static inline void dump_put_header(struct jitdump_image *im)
{
	const struct jitdump_header h = {
		.magic = JITDUMP_MAGIC, .version = 1, .size = sizeof(h), .machine = ARCH_ELF_MACHINE, .pid = DUMP_PID
	};

	dump_put(im, &h, sizeof(h));
}

/* The code is zeros; at most 4096 of its @size bytes are in the record. */
static inline void dump_put_load(struct jitdump_image *im, uint64_t addr, uint64_t size, uint64_t index,
				 const char *name)
{
	static const uint8_t code[4096];
	const size_t nr = size < sizeof(code) ? (size_t)size : sizeof(code);
	const struct jitdump_load load = { .prefix = dump_prefix(JITDUMP_LOAD, sizeof(load) + strlen(name) + 1 + nr),
					   .pid = DUMP_PID,
					   .addr = addr,
					   .size = size,
					   .index = index };

	dump_put(im, &load, sizeof(load));
	dump_put(im, name, strlen(name) + 1);
	dump_put(im, code, nr);
}

static inline void dump_put_move(struct jitdump_image *im, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	const struct jitdump_move move = { .prefix = dump_prefix(JITDUMP_MOVE, sizeof(move)),
					   .pid = DUMP_PID,
					   .old_addr = from,
					   .new_addr = to,
					   .size = size,
					   .index = index };

	dump_put(im, &move, sizeof(move));
}

/* Put @nr bytes of rules, and four bytes that stand for .eh_frame_hdr. */
static inline void dump_put_rules(struct jitdump_image *im, const void *rules, size_t nr)
{
	const struct jitdump_unwinding_info info = {
		.prefix = dump_prefix(JITDUMP_UNWINDING_INFO, sizeof(info) + nr + 4), .size = nr + 4, .hdr_size = 4
	};

	dump_put(im, &info, sizeof(info));
	dump_put(im, rules, nr);
	dump_put(im, "hdr", 4);
}

static inline void dump_put_lines(struct jitdump_image *im, uint64_t addr, const struct dump_entry *entries, size_t nr)
{
	struct jitdump_debug_info info = { .addr = addr, .nr = nr };
	size_t begin = im->len, i;

	dump_put(im, &info, sizeof(info));
	for (i = 0; i < nr; i++) {
		const struct jitdump_debug_entry e = { entries[i].addr, entries[i].line, 0 };

		dump_put(im, &e, sizeof(e));
		dump_put(im, entries[i].file, strlen(entries[i].file) + 1);
	}
	info.prefix = dump_prefix(JITDUMP_DEBUG_INFO, im->len - begin);
	memcpy(im->bytes + begin, &info, sizeof(info));
}

#endif
