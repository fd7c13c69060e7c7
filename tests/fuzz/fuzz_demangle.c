// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer target for demangle(). Input: the size of the buffer in units of 16 (one byte), then a name, or what would
 * follow "_Z" or "_R" of one.
 *
 * A smaller buffer makes no difference where the name fits, and the answer is the same every time.
 */
#include "tests/fuzz/fuzz.h"

#include "core/symbols/demangle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* In memory of its own, so that the sanitizer sees what is read or written beyond. Owned; NULL: it is not demangled. */
static char *demangled(const char *name, size_t size)
{
	char *out = malloc(size);

	check(out);
	if (!demangle(name, out, size)) {
		free(out);
		return NULL;
	}
	check(*out && memchr(out, '\0', size));
	return out;
}

static void try_name(const char *prefix, const char *text, size_t len, size_t size)
{
	char *name = malloc(strlen(prefix) + len + 1), *whole, *small;

	check(name);
	memcpy(name, prefix, strlen(prefix));
	memcpy(name + strlen(prefix), text, len);
	name[strlen(prefix) + len] = '\0';
	whole = demangled(name, DEMANGLED_MAX);
	small = demangled(name, size);
	if (small)
		check(whole && !strcmp(whole, small));
	else
		check(!whole || strlen(whole) >= size);
	free(whole);
	free(small);
	free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	size_t out;

	if (size < 2)
		return -1;
	size--;
	out = data[0] ? 16 * (size_t)data[0] : 1;
	try_name("", text, size, out);
	try_name("_Z", text, size, out);
	try_name("_R", text, size, out);
	return 0;
}
