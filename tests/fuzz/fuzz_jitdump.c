// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer target for jitdump_read(), jitdump_find(), _find_line() and _find_frames(), and for the rules that unwind/
 * reads from the latter. Input: by how many bytes the file grows (one byte, times 16; 0: it is whole), then the file.
 *
 * How the file grows must make no difference: it is read as it grows, and whole, and the answers are compared. The
 * numbers in the file are the addresses that are looked up.
 */
#include "tests/fuzz/fuzz.h"

#include "core/symbols/jitdump.h"
#include "unwind/expr.h"
#include "unwind/rules.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_LOOKUPS 64

static struct jitdump *open_dump(int *fd)
{
	struct jitdump *d;

	*fd = memfd_create("dump", MFD_CLOEXEC);
	check(*fd >= 0);
	check(!jitdump_open(dup(*fd), &d));
	return d;
}

static void read_all(struct jitdump *d)
{
	size_t left;
	int rc;

	do {
		left = 1; /* until everything is read */
		rc = jitdump_read(d, &left);
	} while (rc > 0);
	check(!rc);
}

static struct jitdump *load(const uint8_t *data, size_t size, size_t step)
{
	size_t at, len;
	int fd;
	struct jitdump *d = open_dump(&fd);

	for (at = 0; at < size; at += len) {
		len = step < size - at ? step : size - at;
		check(write(fd, data + at, len) == (ssize_t)len);
		read_all(d);
	}
	close(fd);
	return d;
}

static void look_up_lines(const struct jitdump *a, const struct jitdump *b, uint64_t addr)
{
	struct jitdump_line x, y;
	bool found = jitdump_find_line(a, addr, &x);

	check(jitdump_find_line(b, addr, &y) == found);
	if (!found)
		return;
	check(x.line && x.line == y.line);
	check(*x.file && strlen(x.file) < sizeof(x.file) && !strcmp(x.file, y.file));
}

static void look_up_frames(const struct jitdump *a, const struct jitdump *b, uint64_t addr)
{
	struct jitdump_frames x = { 0 }, y = { 0 };
	int rc = jitdump_find_frames(a, addr, &x);

	check(rc >= 0 && jitdump_find_frames(b, addr, &y) == rc);
	if (rc)
		check(x.size == y.size && x.addr == y.addr && x.hdr == y.hdr && !memcmp(x.bytes, y.bytes, x.size));
	free(x.bytes);
	free(y.bytes);
}

static int find_frames(void *ctx, uint64_t addr, struct extent *out, uint64_t *hdr)
{
	struct jitdump_frames f;
	int rc = jitdump_find_frames(ctx, addr, &f);

	if (rc > 0) {
		*out = (struct extent){ .addr = f.addr, .size = f.size, .memory = f.bytes };
		*hdr = f.hdr;
	}
	return rc;
}

static void look_up_rules(struct rules *r, uint64_t addr)
{
	const struct cfi_row *row;
	uint8_t expr[EXPR_MAX_BYTES];

	if (rules_find(r, addr, &row) <= 0)
		return;
	check(addr >= row->start && addr < row->end && row->function <= addr);
	if (row->cfa_expr)
		check(rules_expr(r, row, (uint64_t)row->cfa_value, expr) <= EXPR_MAX_BYTES);
}

static void look_up(const struct jitdump *a, const struct jitdump *b, struct rules *r, uint64_t addr)
{
	struct jitdump_code x, y;
	bool found = jitdump_find(a, addr, &x);

	check(jitdump_find(b, addr, &y) == found);
	if (found) {
		check(x.start <= addr && addr - x.start < x.size && x.start == y.start && x.size == y.size);
		check(*x.name && strlen(x.name) <= 4096 && !strcmp(x.name, y.name));
	}
	look_up_lines(a, b, addr);
	look_up_frames(a, b, addr);
	look_up_rules(r, addr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitdump *whole, *grown;
	struct rules_code code;
	struct rules *r;
	size_t i, step;
	uint64_t addr;

	if (size < 2)
		return -1;
	whole = load(data + 1, size - 1, size);
	grown = load(data + 1, size - 1, data[0] ? 16 * (size_t)data[0] : size);
	code = (struct rules_code){ whole, find_frames };
	check(!rules_open_code(&code, &r));
	step = size / MAX_LOOKUPS + 1;
	for (i = 1; i + sizeof(addr) <= size; i += step) {
		memcpy(&addr, data + i, sizeof(addr));
		look_up(whole, grown, r, addr);
		look_up(whole, grown, r, addr - 1);
		look_up(whole, grown, r, addr + 9);
	}
	rules_close(r);
	jitdump_close(whole);
	jitdump_close(grown);
	return 0;
}
