// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer target for kernel_symbols_feed(), _finish() and _find(). Input: the size of the pieces that are fed (one
 * byte), then the text.
 *
 * How the text is cut must make no difference: it is fed whole, too, and the answers are compared. The text's own
 * numbers are the addresses that are looked up.
 */
#include "tests/fuzz/fuzz.h"

#include "core/symbols/kernel.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LOOKUPS 256

/* Each piece has its own memory, so that the sanitizer finds reads beyond it. */
static struct kernel_symbols *load(const char *text, size_t size, size_t piece)
{
	struct kernel_symbols *ks = kernel_symbols_new();
	size_t at, len;
	char *copy;

	check(ks);
	for (at = 0; at < size; at += len) {
		len = piece < size - at ? piece : size - at;
		copy = malloc(len);
		check(copy);
		memcpy(copy, text + at, len);
		check(!kernel_symbols_feed(ks, copy, len));
		free(copy);
	}
	check(!kernel_symbols_finish(ks));
	return ks;
}

static void look_up(const struct kernel_symbols *a, const struct kernel_symbols *b, uint64_t addr)
{
	struct kernel_symbol x = { 0 }, y = { 0 };
	bool found = kernel_symbols_find(a, addr, &x);

	check(kernel_symbols_find(b, addr, &y) == found);
	if (!found)
		return;
	check(kernel_address(addr) && x.start <= addr && x.start == y.start);
	check(*x.name && *x.module);
	check(!strcmp(x.name, y.name) && !strcmp(x.module, y.module));
}

/* The 16 digits that begin at @text, whatever the bytes are. */
static uint64_t digits(const char *text)
{
	uint64_t v = 0;
	int i;

	for (i = 0; i < 16; i++)
		v = v << 4 | (unsigned int)((text[i] & 0xf) + (text[i] > '9' ? 9 : 0));
	return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	struct kernel_symbols *whole, *pieces;
	size_t i, step;

	if (size < 2)
		return -1;
	size--;
	whole = load(text, size, size);
	pieces = load(text, size, data[0] ? data[0] : 1);
	check(kernel_symbols_zeroed(whole) == kernel_symbols_zeroed(pieces));
	step = size / MAX_LOOKUPS + 1;
	for (i = 0; i + 16 <= size; i += step) {
		look_up(whole, pieces, digits(text + i));
		look_up(whole, pieces, digits(text + i) - 1);
		look_up(whole, pieces, digits(text + i) + 4096);
	}
	look_up(whole, pieces, UINT64_MAX);
	kernel_symbols_free(whole);
	kernel_symbols_free(pieces);
	return 0;
}
