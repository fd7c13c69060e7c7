/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between libunwinder.c and the process that runs libunwind. Private to the two. */
#ifndef UNWIND_LIBUNWINDER_MESSAGE_H
#define UNWIND_LIBUNWINDER_MESSAGE_H

#include "core/files/worker.h"
#include "unwind/unwind.h"

#define LIBUNWINDER_SLOTS 128                     /* files that the worker has open */
#define LIBUNWINDER_VDSO  LIBUNWINDER_SLOTS       /* the worker's own vDSO, in place of a slot */
#define LIBUNWINDER_NONE  (LIBUNWINDER_SLOTS + 1) /* no file */
#define LIBUNWINDER_MAPS  32                      /* mappings that come with a sample, and that the worker remembers */
#define LIBUNWINDER_COPY  (64u << 10)             /* bytes of a stack, at most */

/** struct libunwinder_map - a mapping. @slot: of its file, or LIBUNWINDER_VDSO or _NONE. @end: 0: no mapping. */
struct libunwinder_map {
	uint64_t start, end, pgoff;
	uint32_t slot;
	/* in answers: 1: the file comes with the answer, for the slot; 2: and the worker must ask for its debug file */
	uint32_t is_new;
};

/** struct libunwinder_sample - registers and mappings of a stack. @copy.bytes is not used: see libunwinder_shared. */
struct libunwinder_sample {
	struct unwind_regs regs;
	struct unwind_copy copy;
	uint32_t cap; /* the most addresses that the reply may have, at most UNWIND_MAX_FRAMES */
	uint32_t nr_maps;
	struct libunwinder_map maps[LIBUNWINDER_MAPS];
};

/**
 * struct libunwinder_shared - memory that both processes share. Only the worker reads it. The worker may also write to
 * it at any time, so we never read it back.
 */
struct libunwinder_shared {
	struct libunwinder_sample sample;
	uint8_t stack[LIBUNWINDER_COPY];
};

enum libunwinder_said {
	LIBUNWINDER_DONE,
	LIBUNWINDER_ASKS_MAP,   /* of @addr; the answer is a struct libunwinder_map */
	LIBUNWINDER_ASKS_DEBUG, /* of slot @addr; the answer is a descriptor */
};

/** struct libunwinder_reply - with LIBUNWINDER_DONE, @ips and @left (as in struct unwind_result) have @nr entries. */
struct libunwinder_reply {
	uint32_t said, nr;
	uint64_t addr;
	uint64_t missing; /* as in struct unwind_result, like the next ones */
	uint32_t end, unknown, by_fp;
	uint8_t left[UNWIND_MAX_FRAMES];
	uint64_t ips[UNWIND_MAX_FRAMES];
};

#define LIBUNWINDER_QUESTION offsetof(struct libunwinder_reply, left) /* bytes of a question */

_Static_assert(sizeof(struct libunwinder_reply) <= WORKER_MESSAGE_MAX, "it is one message");

/**
 * libunwinder_serve(), libunwinder_prepare() - functions of the worker, see struct worker_job. @ctx: the shared memory.
 */
int libunwinder_serve(void *ctx, const struct worker_message *request, struct worker_message *reply);
void libunwinder_prepare(void *ctx);

#endif
