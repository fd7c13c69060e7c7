// SPDX-License-Identifier: Apache-2.0
#include "unwind/rules.h"

#include "unwind/cursor.h"
#include "unwind/expr.h"
#include "unwind/rules_records.h"
#include "unwind/rules_rows.h"

#include <errno.h>
#include <stdlib.h>

#define TABLE_FORMAT 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4: what linkers write */
#define HDR_BYTES    20   /* of .eh_frame_hdr in front of its table, at most */
#define ULEB_BYTES   10   /* of a number with 64 bits */

/*
 * @file: and @debug, the one with its .debug_frame, NULL if there is none
 * @table: of .eh_frame_hdr, @nr_table entries; 0: @eh is searched by its index
 * @eh_known: @eh and @table are set; @frame_known: @frame is
 */
struct rules {
	struct rules_elf *file, *debug;
	struct extent table;
	uint64_t nr_table;
	struct records eh, frame;
	bool eh_known, frame_known;
	struct rules_rows rows;
};

/* An entry of the search table; both count from the beginning of .eh_frame_hdr. */
struct table_entry {
	int32_t start, record;
};

int rules_open(const struct unwind_bytes *file, const struct unwind_bytes *debug, struct rules **out)
{
	struct rules *r = calloc(1, sizeof(*r));
	int rc = -ENOMEM;

	if (r)
		rc = rules_elf_open(file, &r->file);
	else
		file->close(file->ctx);
	if (rc) {
		if (debug->ctx)
			debug->close(debug->ctx);
		free(r);
		return rc;
	}
	/* Without it there are fewer rules. */
	if (debug->ctx)
		rules_elf_open(debug, &r->debug);
	r->eh.section = CFI_EH_FRAME;
	r->frame.section = CFI_DEBUG_FRAME;
	*out = r;
	return 0;
}

void rules_close(struct rules *r)
{
	if (!r)
		return;
	records_release(&r->eh);
	records_release(&r->frame);
	rules_rows_release(&r->rows);
	rules_elf_close(r->file);
	rules_elf_close(r->debug);
	free(r);
}

size_t rules_memory(const struct rules *r)
{
	return sizeof(*r) + rules_elf_memory(r->file) + rules_elf_memory(r->debug) + records_memory(&r->eh) +
	       records_memory(&r->frame) + rules_rows_memory(&r->rows);
}

bool rules_address(const struct rules *r, uint64_t offset, uint64_t *addr)
{
	unsigned int i;

	for (i = 0; i < r->file->nr_segments; i++) {
		const struct rules_segment *seg = &r->file->segments[i];

		if (seg->executable && offset >= seg->bytes.offset && offset - seg->bytes.offset < seg->bytes.size) {
			*addr = offset - seg->bytes.offset + seg->bytes.addr;
			return true;
		}
	}
	return false;
}

/* Read one of the numbers in front of the table. Return: bytes, or -errno. */
static int hdr_number(const uint8_t *hdr, size_t len, size_t at, uint8_t encoding, uint64_t base, uint64_t *value)
{
	if (encoding == CFI_PE_OMIT)
		return -ENOTSUP;
	return cfi_pointer(hdr + at, len - at, encoding, base + at, base, value);
}

/* Find what .eh_frame_hdr leads to: the segment that .eh_frame is in, and the search table if it is one we read. */
static int read_hdr(struct rules *r)
{
	const struct extent *hdr = &r->file->hdr;
	size_t len = hdr->size < HDR_BYTES ? (size_t)hdr->size : HDR_BYTES, at = 4;
	const struct rules_segment *seg;
	uint8_t bytes[HDR_BYTES];
	uint64_t frames, nr;
	int rc;

	if (len < at)
		return -ENOENT;
	rc = extent_read(hdr, hdr->addr, bytes, len);
	if (rc)
		return rc;
	if (bytes[0] != 1)
		return -ENOTSUP;
	rc = hdr_number(bytes, len, at, bytes[1], hdr->addr, &frames);
	if (rc < 0)
		return rc;
	at += (size_t)rc;
	seg = rules_elf_segment(r->file, frames);
	if (!seg || !extent_from(&seg->bytes, frames, &r->eh.bytes))
		return -EBADMSG;
	r->eh.data_base = hdr->addr;
	if (bytes[3] != TABLE_FORMAT)
		return 0;
	rc = hdr_number(bytes, len, at, bytes[2], hdr->addr, &nr);
	if (rc < 0 || !extent_from(hdr, hdr->addr + at + (size_t)rc, &r->table))
		return 0;
	r->nr_table = nr <= r->table.size / sizeof(struct table_entry) ? nr : 0;
	return 0;
}

/* Where records are for which there is no .eh_frame_hdr that leads to them. */
static int find_eh_section(struct rules *r)
{
	struct extent bytes;
	bool compressed;
	int rc = rules_elf_section(r->file, ".eh_frame", &bytes, &compressed);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	if (!compressed) /* what is loaded is not */
		r->eh.bytes = bytes;
	return 0;
}

/* Return: 1 and *@at; 0: no entry; -errno. */
static int search_table(struct rules *r, uint64_t addr, uint64_t *at)
{
	uint64_t lo = 0, hi = r->nr_table, mid, base = r->file->hdr.addr;
	struct table_entry e;
	int rc;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		rc = extent_read(&r->table, r->table.addr + mid * sizeof(e), &e, sizeof(e));
		if (rc)
			return rc;
		if (base + (uint64_t)e.start <= addr) {
			lo = mid + 1;
			*at = base + (uint64_t)e.record;
		} else {
			hi = mid;
		}
	}
	return lo != 0;
}

static int eh_row(struct rules *r, uint64_t addr, struct cfi_row *row)
{
	uint64_t at;
	int rc = 0;

	if (!r->eh_known && read_hdr(r))
		rc = find_eh_section(r);
	if (rc)
		return rc;
	r->eh_known = true;
	rc = r->nr_table ? search_table(r, addr, &at) : records_search(&r->eh, addr, &at);
	return rc > 0 ? records_row(&r->eh, at, addr, row) : rc;
}

static int find_debug_frame(struct rules_elf *elf, struct extent *out)
{
	bool compressed;
	int rc = elf ? rules_elf_section(elf, ".debug_frame", out, &compressed) : -ENOENT;

	if (!rc && compressed)
		rc = extent_inflate(out);
	if (rc)
		*out = (struct extent){ 0 };
	out->addr = 0; /* records name each other by offsets */
	return rc;
}

/* A .debug_frame that cannot be had is none: most files have none, and do without. */
static int frame_row(struct rules *r, uint64_t addr, struct cfi_row *row)
{
	uint64_t at;

	if (!r->frame_known && find_debug_frame(r->file, &r->frame.bytes))
		find_debug_frame(r->debug, &r->frame.bytes);
	r->frame_known = true;
	return records_search(&r->frame, addr, &at) > 0 ? records_row(&r->frame, at, addr, row) : 0;
}

int rules_find(struct rules *r, uint64_t addr, const struct cfi_row **out)
{
	const struct rules_row *known = rules_rows_find(&r->rows, addr);
	struct cfi_row row;
	int rc;

	if (!known) {
		rc = eh_row(r, addr, &row);
		if (!rc)
			rc = frame_row(r, addr, &row);
		/* Other failures may pass. */
		if (rc < 0 && rc != -EBADMSG && rc != -ENOTSUP)
			return rc;
		known = rules_rows_add(&r->rows, addr, rc, &row);
		if (!known)
			return -ENOMEM;
	}
	if (known->rc > 0)
		*out = &known->row;
	return known->rc;
}

uint64_t rules_work(const struct rules *r)
{
	return r->eh.work + r->frame.work;
}

int rules_expr(struct rules *r, const struct cfi_row *row, uint64_t at, uint8_t *buf)
{
	const struct extent *e = row->debug_frame ? &r->frame.bytes : &r->eh.bytes;
	uint64_t left = extent_left(e, at), len;
	size_t nr = left < ULEB_BYTES ? (size_t)left : ULEB_BYTES;
	uint8_t bytes[ULEB_BYTES];
	struct cursor c = cursor_new(bytes, bytes + nr, at);
	int rc = nr ? extent_read(e, at, bytes, nr) : -EBADMSG;

	if (rc)
		return rc;
	len = cursor_uleb(&c);
	if (c.bad || len > EXPR_MAX_BYTES || len > left - (cursor_addr(&c) - at))
		return -EBADMSG;
	rc = len ? extent_read(e, cursor_addr(&c), buf, (size_t)len) : 0;
	return rc ? rc : (int)len;
}

int rules_read(struct rules *r, uint64_t addr, void *to, size_t len)
{
	unsigned int i;

	for (i = 0; i < r->file->nr_segments; i++) {
		const struct rules_segment *seg = &r->file->segments[i];

		/* What a process can write it may have changed. */
		if (!seg->writable && extent_left(&seg->bytes, addr) >= len)
			return extent_read(&seg->bytes, addr, to, len);
	}
	return -EFAULT;
}
