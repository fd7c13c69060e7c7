// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer target for decode_record().
 *
 * Input: sample_type (8 bytes), flags (8 bytes, of which bit 0 is sample_id_all, bit 1 corrects the record's own size,
 * so that most inputs pass that check, and bits 8 to 15 are read_format), then the record.
 */
#include "tests/fuzz/fuzz.h"

#include "backend-perfring/decode.h"
#include "compat/perf_deferred.h"

#include <stdlib.h>
#include <string.h>

#define FLAG_SAMPLE_ID_ALL 1U
#define FLAG_FIX_SIZE      2U
#define READ_FORMAT(flags) ((flags) >> 8 & 0xff)

static bool inside(const void *p, size_t len, const unsigned char *bytes, size_t size)
{
	uintptr_t at = (uintptr_t)p, from = (uintptr_t)bytes;

	return at >= from && at - from <= size && len <= size - (at - from);
}

/* The decoded strings and arrays are inside the record. */
static void check_record(const struct record *r, const unsigned char *bytes, size_t size)
{
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		check(r->sample.nr <= size / 8);
		check(inside(r->sample.ips, 8 * r->sample.nr, bytes, size));
		check(!r->sample.raw || inside(r->sample.raw, r->sample.raw_size, bytes, size));
		break;
	case RECORD_CALLCHAIN_DEFERRED:
		check(r->deferred.nr <= size / 8);
		check(inside(r->deferred.ips, 8 * r->deferred.nr, bytes, size));
		break;
	case PERF_RECORD_COMM:
		check(inside(r->comm.name, strlen(r->comm.name) + 1, bytes, size));
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		check(inside(r->mmap.path, strlen(r->mmap.path) + 1, bytes, size));
		check(r->mmap.build_id_size <= 20);
		check(!r->mmap.build_id || inside(r->mmap.build_id, r->mmap.build_id_size, bytes, size));
		check(r->mmap.build_id || !r->mmap.build_id_size);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_event_attr attr = { 0 };
	struct perf_event_header h;
	unsigned char *bytes;
	struct record r;
	uint64_t flags;

	if (size < 16)
		return -1;
	memcpy(&attr.sample_type, data, 8);
	memcpy(&flags, data + 8, 8);
	attr.sample_id_all = flags & FLAG_SAMPLE_ID_ALL;
	attr.read_format = READ_FORMAT(flags);
	data += 16;
	size -= 16;
	/* Exactly as long as the record, so that the sanitizer finds reads beyond it; never NULL. */
	bytes = malloc(size ? size : 1);
	if (!bytes)
		return -1;
	memcpy(bytes, data, size);
	if (flags & FLAG_FIX_SIZE && size >= sizeof(h)) {
		memcpy(&h, bytes, sizeof(h));
		h.size = (uint16_t)size;
		memcpy(bytes, &h, sizeof(h));
	}
	if (decode_record(&attr, bytes, size, &r) == 1)
		check_record(&r, bytes, size);
	free(bytes);
	return 0;
}
