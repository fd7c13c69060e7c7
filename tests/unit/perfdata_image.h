/* SPDX-License-Identifier: Apache-2.0 */
/* A recording of perf record in memory, byte by byte, for tests to read or to break. */
#ifndef TESTS_PERFDATA_IMAGE_H
#define TESTS_PERFDATA_IMAGE_H

#include "tests/unit/unit.h"

#include <linux/perf_event.h>

#define MAGIC         0x32454c4946524550ULL
#define ATTR_SIZE     ((size_t)PERF_ATTR_SIZE_VER7)
#define BUILD_ID_SIZE 48         /* size of its record */
#define IMAGE_MAX     (1u << 20) /* as much as a pipe can hold */

/** struct image - set nr to 0 to begin another one. */
struct image {
	unsigned char bytes[IMAGE_MAX];
	size_t nr;
};

static struct image image;

static inline void put(const void *bytes, size_t len)
{
	ck_assert_uint_le(len, sizeof(image.bytes) - image.nr);
	if (len)
		memcpy(image.bytes + image.nr, bytes, len);
	image.nr += len;
}

static inline void put_word(uint64_t word)
{
	put(&word, sizeof(word));
}

static inline void put_u32(uint32_t word)
{
	put(&word, sizeof(word));
}

static inline void put_record(uint32_t type, uint16_t misc, const void *payload, size_t len)
{
	struct perf_event_header h = { type, misc, (uint16_t)(sizeof(h) + len) };

	put(&h, sizeof(h));
	put(payload, len);
}

/** put_short() - put a record of @type with one word. */
static inline void put_short(uint32_t type, uint64_t word)
{
	put_record(type, 0, &word, sizeof(word));
}

/** patch() - write the low @width bytes of @value to offset @at, which exists already. */
static inline void patch(size_t at, uint64_t value, size_t width)
{
	ck_assert_uint_le(at + width, image.nr);
	memcpy(image.bytes + at, &value, width);
}

static inline struct perf_event_attr attr_of(uint32_t type, uint64_t config, uint64_t sample_type)
{
	return (struct perf_event_attr){
		.type = type, .size = ATTR_SIZE, .config = config, .sample_type = sample_type, .sample_id_all = 1
	};
}

/**
 * put_build_id() - put a record with the build id of @path, for the table of build ids or for a stream. The id has the
 * bytes of the text "0123456789abcdef0123".
 * @size: how many bytes of the id count, if @misc has PERF_RECORD_MISC_BUILD_ID_SIZE (1 << 15)
 */
static inline void put_build_id(uint32_t type, uint16_t misc, uint8_t size, const char *path)
{
	unsigned char payload[BUILD_ID_SIZE - 8] = "PID.0123456789abcdef0123";

	payload[24] = size;
	snprintf((char *)payload + 28, sizeof(payload) - 28, "%s", path);
	put_record(type, misc, payload, sizeof(payload));
}

#endif
