// SPDX-License-Identifier: Apache-2.0
#include "core/report/frame.h"

#include "core/base/printable.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UNKNOWN "[unknown]"

/* "[vdso]" and similar names have brackets already. @function: "", or text to add to the module. */
static void put_module(struct textbuf *b, const char *module, const char *function, char semicolon)
{
	size_t len = strlen(module);
	bool bare = len > 1 && module[0] == '[' && module[len - 1] == ']';

	textbuf_put(b, "[", bare ? 0 : 1);
	textbuf_name(b, module, semicolon);
	if (bare && !b->failed)
		b->len--;
	textbuf_put(b, function, strlen(function));
	textbuf_put(b, "]", 1);
}

void report_frame_module(struct textbuf *b, const struct report_frame *frame, char semicolon)
{
	put_module(b, frame->module, "", semicolon);
}

void report_frame_build_id(struct textbuf *b, const struct report_frame *frame)
{
	static const char digits[] = "0123456789abcdef";
	unsigned int i;

	for (i = 0; i < frame->build_id_size; i++) {
		textbuf_put(b, &digits[frame->build_id[i] >> 4], 1);
		textbuf_put(b, &digits[frame->build_id[i] & 15], 1);
	}
}

bool report_frame_unnamed(const struct report_frame *frame)
{
	return !frame->name && frame->module && !frame->anonymous;
}

void report_frame_name(struct textbuf *b, const struct report_frame *frame, char semicolon)
{
	char function[32] = "";

	if (frame->name) {
		textbuf_name(b, frame->name, semicolon);
	} else if (report_frame_unnamed(frame)) {
		if (frame->has_function)
			snprintf(function, sizeof(function), "+0x%" PRIx64, frame->function);
		put_module(b, frame->module, function, semicolon);
	} else {
		textbuf_put(b, UNKNOWN, strlen(UNKNOWN));
	}
}
