/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between lines.c and the process that reads debug information. Private to the two. */
#ifndef CORE_LINES_MESSAGE_H
#define CORE_LINES_MESSAGE_H

#include "core/files/worker.h"
#include "core/symbols/lines_frame.h"

#define LINES_SLOTS 16   /* files that the process has open at most */
#define LINES_NAME  2048 /* bytes of a name with its final zero; the rest is cut off */

/**
 * struct lines_request - the bytes of the message.
 * @slot: number of the slot that has the file. If a descriptor comes with this request, its file is put into the slot
 *        first; else the slot has the file of an earlier request
 * @wanted: bits of enum lines_wanted
 */
struct lines_request {
	uint32_t slot, wanted;
	uint64_t addr;
};

/** lines_reply_add() - append a frame; the innermost comes first. Return: 0; -E2BIG: no room. */
int lines_reply_add(struct worker_message *reply, const struct lines_frame *f);

/**
 * lines_reply_parse() - check a reply and take it apart.
 * @out: the frames; their strings point into @bytes
 * Return: the number of frames; -EBADMSG: it is malformed.
 */
int lines_reply_parse(const void *bytes, size_t len, struct lines_frame out[LINES_FRAMES]);

/** lines_serve(), lines_prepare() - the functions of the worker, see struct worker_job. */
int lines_serve(void *ctx, const struct worker_message *request, struct worker_message *reply);
void lines_prepare(void *ctx);

#endif
