/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read DWARF data, little endian, from bytes that may be hostile. A value that goes beyond the end is 0, and the cursor
 * is bad from then on.
 */
#ifndef UNWIND_CURSOR_H
#define UNWIND_CURSOR_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** struct cursor - borrowed bytes [@begin, @end); the next one to read is at @at. */
struct cursor {
	const uint8_t *begin, *at, *end;
	uint64_t addr; /* of @begin */
	bool bad;      /* a value was longer than the rest of the bytes, or than LEB128 may be; @at was set to @end */
};

static inline struct cursor cursor_new(const uint8_t *begin, const uint8_t *end, uint64_t addr)
{
	return (struct cursor){ .begin = begin, .at = begin, .end = end, .addr = addr };
}

/** cursor_addr() - the address of the next byte. */
static inline uint64_t cursor_addr(const struct cursor *c)
{
	return c->addr + (uint64_t)(c->at - c->begin);
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline uint64_t cursor_fail(struct cursor *c)
{
	c->bad = true;
	c->at = c->end;
	return 0;
}

static inline void cursor_skip(struct cursor *c, uint64_t len)
{
	if (len > cursor_left(c))
		cursor_fail(c);
	else
		c->at += len;
}

/** cursor_fixed() - an unsigned number of @size bytes, 1 to 8. */
static inline uint64_t cursor_fixed(struct cursor *c, size_t size)
{
	uint64_t v = 0;

	if (size > cursor_left(c))
		return cursor_fail(c);
	memcpy(&v, c->at, size);
	c->at += size;
	return le64toh(v);
}

/** cursor_signed() - a signed number of @size bytes, 1 to 8. */
static inline int64_t cursor_signed(struct cursor *c, size_t size)
{
	uint64_t sign = 1ULL << (8 * size - 1);

	return (int64_t)((cursor_fixed(c, size) ^ sign) - sign);
}

/* A LEB128 number of at most the 10 bytes that 64 bits need; bits beyond the 64th in the last byte are lost. */
static inline uint64_t cursor_leb(struct cursor *c, bool sign)
{
	uint64_t v = 0;
	unsigned int shift;

	for (shift = 0; shift < 70 && c->at < c->end; shift += 7) {
		uint8_t byte = *c->at++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (sign && byte & 0x40 && shift + 7 < 64)
			v |= UINT64_MAX << (shift + 7);
		return v;
	}
	return cursor_fail(c);
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	return cursor_leb(c, false);
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	return (int64_t)cursor_leb(c, true);
}

#endif
