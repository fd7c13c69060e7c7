// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer target for demangler_read(): replies of a process that a hostile name may have taken over. The library that
 * demangles there is not fuzzed: that process exists to contain its crashes. Input: the number of names (one byte),
 * then the reply, the same for every request.
 */
#include "tests/fuzz/fuzz.h"

#include "core/files/worker.h"
#include "core/symbols/demangle.h"
#include "core/symbols/demangler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t *said;
static size_t said_len;

struct worker *worker_new(const struct worker_job *job)
{
	static char none;

	(void)job;
	return (struct worker *)&none;
}

void worker_end(struct worker *w)
{
	(void)w;
}

void worker_free(struct worker *w)
{
	(void)w;
}

uint64_t worker_cpu_ns(const struct worker *w)
{
	(void)w;
	return 0;
}

int worker_call(struct worker *w, const struct worker_message *request, struct worker_message *reply, int timeout_ms)
{
	(void)w;
	(void)request;
	(void)timeout_ms;
	reply->fd = -1;
	reply->len = said_len;
	if (said_len)
		memcpy(reply->data, said, said_len);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *names[255], *out[255];
	char text[255][16];
	struct demangler *d;
	size_t i;

	if (size < 1 || size > WORKER_MESSAGE_MAX)
		return -1;
	said = data + 1;
	said_len = size - 1;
	d = demangler_new(0);
	check(d);
	for (i = 0; i < data[0]; i++) {
		snprintf(text[i], sizeof(text[i]), "%s%zu", i % 3 ? "_Z1fv" : "main", i);
		names[i] = text[i];
	}
	check(!demangler_read(d, names, data[0], out));
	for (i = 0; i < data[0]; i++)
		check(!out[i] || (i % 3 && *out[i] && strlen(out[i]) < DEMANGLED_MAX));
	demangler_free(d);
	return 0;
}
