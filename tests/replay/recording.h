/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording of the perf rings of one run, for replaying it without a kernel, root or the processes.
 *
 *   struct recording_head, the struct perf_event_attr of the events
 *   any number of: struct recording_block, its bytes: whole perf event records
 *
 * All data is in the format of the recording machine's memory: x86-64 and other little endian machines with 64 bits.
 */
#ifndef TESTS_RECORDING_H
#define TESTS_RECORDING_H

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define RECORDING_MAGIC      "fprings" /* 8 bytes with its zero */
#define RECORDING_VERSION    1
#define RECORDING_RING_BYTES (512u << 10) /* a block fits a ring of this size */
#define RECORDING_MAX_RINGS  4096

struct recording_head {
	char magic[8];
	uint32_t version;
	/* Of the attr that follows. If the recorder had another perf_event.h, it may be longer or shorter than ours. */
	uint32_t attr_bytes;
	uint32_t nr_rings;
	uint32_t unused;
};

/** struct recording_block - bytes read from @ring in @round. Rounds ascend; a ring has at most one block a round. */
struct recording_block {
	uint32_t round;
	uint32_t ring;
	uint64_t bytes;
};

static void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

static void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static_assert(sizeof(struct recording_head) == 24, "changed: raise RECORDING_VERSION");
static_assert(sizeof(struct recording_block) == 16, "changed: raise RECORDING_VERSION");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && sizeof(void *) == 8, "recordings are of such machines");

#endif
