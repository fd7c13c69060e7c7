// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/pack.h"

#include "backend-perfring/decode.h"
#include "backend-perfring/stack_roots.h"

#include <string.h>

/*
 * Indexes of words in a record. Word @room is the size of the room for the copy of the stack. Word @behind is the size
 * of the copy. The words from @first up to @behind, without it, are left out.
 */
struct unused {
	size_t room, first, behind;
	uint64_t wanted; /* bytes of the copy */
};

/*
 * Keep one word more than needed, so that the room stays larger than the copy: by this, decode_record() knows that the
 * copy is whole. Return: with nothing between @first and @behind if all words are needed, or there is no copy
 */
static struct unused find_unused(const struct perf_event_attr *attr, const struct stack_roots *roots, const void *bytes,
				 size_t size)
{
	const uint64_t *words = bytes;
	struct unused un = { 0 };
	struct record r;

	if (!(attr->sample_type & PERF_SAMPLE_STACK_USER) || decode_record(attr, bytes, size, &r) != 1 ||
	    r.type != PERF_RECORD_SAMPLE || !r.sample.stack)
		return un;
	un.room = (size_t)((const uint64_t *)r.sample.stack - words) - 1;
	un.wanted = roots ? stack_roots_needed(roots, &r) : r.sample.stack_size;
	un.first = un.room + 1 + un.wanted / sizeof(*words) + 1;
	un.behind = un.room + 1 + words[un.room] / sizeof(*words);
	return un;
}

size_t pack_record(const struct perf_event_attr *attr, const struct stack_roots *roots, const void *bytes, size_t size,
		   void *to)
{
	struct unused un = find_unused(attr, roots, bytes, size);
	const uint64_t *words = bytes;
	uint64_t *out = to;
	size_t left_out;

	if (un.behind <= un.first) {
		memmove(to, bytes, size);
		return size;
	}
	left_out = (un.behind - un.first) * sizeof(*words);
	memmove(out, words, un.first * sizeof(*words));
	memmove(out + un.first, words + un.behind, size - un.behind * sizeof(*words));
	out[un.room] -= left_out;
	out[un.first] = un.wanted;
	size -= left_out;
	((struct perf_event_header *)to)->size = (uint16_t)size;
	return size;
}
