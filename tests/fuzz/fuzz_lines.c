// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer target for lines_reply_parse(): replies of a process that hostile debug information may have taken over.
 * The library that reads it there is not fuzzed: that process exists to contain its crashes.
 *
 * An accepted reply is within the bounds of lines.h, and means the same when it is encoded again.
 */
#include "tests/fuzz/fuzz.h"

#include "core/symbols/lines_message.h"

#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void say_again(const struct lines_frame *frames, int nr)
{
	static char bytes[WORKER_MESSAGE_MAX];
	struct worker_message m = { bytes, 0, -1 };
	struct lines_frame again[LINES_FRAMES];
	int i;

	for (i = 0; i < nr; i++)
		check(!lines_reply_add(&m, &frames[i]));
	check(lines_reply_parse(bytes, m.len, again) == nr);
	for (i = 0; i < nr; i++)
		check(same_text(frames[i].name, again[i].name) && same_text(frames[i].file, again[i].file) &&
		      frames[i].line == again[i].line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines_frame frames[LINES_FRAMES];
	char *copy;
	int nr, i;

	if (size > WORKER_MESSAGE_MAX)
		return -1;
	/* In memory of its own, so that the sanitizer finds reads beyond it. */
	copy = malloc(size);
	check(copy || !size);
	if (size)
		memcpy(copy, data, size);
	nr = lines_reply_parse(copy, size, frames);
	check(nr <= LINES_FRAMES);
	for (i = 0; i < nr; i++) {
		check((frames[i].name == NULL) == (i + 1 == nr));
		check(!frames[i].name || (*frames[i].name && strlen(frames[i].name) < LINES_NAME));
		check(!frames[i].file || (*frames[i].file && strlen(frames[i].file) < LINES_NAME));
		check(!frames[i].file || !strchr(frames[i].file, '/'));
	}
	if (nr > 0)
		say_again(frames, nr);
	free(copy);
	return 0;
}
