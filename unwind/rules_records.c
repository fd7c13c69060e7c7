// SPDX-License-Identifier: Apache-2.0
#include "unwind/rules_records.h"

#include "core/base/faults.h"
#include "core/base/search.h"

#include <errno.h>
#include <stdlib.h>

#define HEAD_BYTES  20           /* the bytes that cfi_record() needs */
#define INDEX_BYTES (256u << 20) /* of a section that are indexed; browsers have some 20 MiB */

void records_release(struct records *rs)
{
	extent_release(&rs->bytes);
	free(rs->record);
	free(rs->index);
}

size_t records_memory(const struct records *rs)
{
	return (rs->bytes.memory ? rs->bytes.size : 0) + rs->cap_record + rs->cap_index * sizeof(*rs->index);
}

static int read_head(const struct records *rs, uint64_t at, struct cfi_record *out)
{
	uint64_t left = extent_left(&rs->bytes, at);
	size_t len = left < HEAD_BYTES ? (size_t)left : HEAD_BYTES;
	uint8_t head[HEAD_BYTES];
	int rc;

	if (!len)
		return -EBADMSG;
	rc = extent_read(&rs->bytes, at, head, len);
	if (!rc)
		rc = cfi_record(rs->section, head, len, at, out);
	return !rc && out->size > left ? -EBADMSG : rc;
}

/* Read a whole record whose head was read. The file may have changed since: @rec is parsed again, from these bytes. */
static int read_rest(const struct records *rs, uint64_t at, uint8_t *to, struct cfi_record *rec)
{
	uint64_t size = rec->size;
	int rc = extent_read(&rs->bytes, at, to, (size_t)size);

	if (!rc)
		rc = cfi_record(rs->section, to, (size_t)size, at, rec);
	return !rc && rec->size != size ? -EBADMSG : rc;
}

static int read_cie(struct records *rs, uint64_t at)
{
	struct cfi_record rec;
	int rc;

	if (rs->have_cie && rs->cie_at == at)
		return 0;
	rs->have_cie = false;
	rc = read_head(rs, at, &rec);
	if (!rc && rec.size > sizeof(rs->cie_bytes))
		rc = -ENOTSUP;
	if (!rc)
		rc = read_rest(rs, at, rs->cie_bytes, &rec);
	if (!rc && (rec.terminator || !rec.is_cie))
		rc = -EBADMSG;
	if (!rc)
		rc = cfi_cie_parse(rs->section, rs->cie_bytes, (size_t)rec.size, at, &rs->cie);
	rs->have_cie = !rc;
	rs->cie_at = at;
	return rc;
}

static int record_room(struct records *rs, size_t size)
{
	size_t cap = rs->cap_record ? rs->cap_record : 256;
	uint8_t *record;

	if (size <= rs->cap_record)
		return 0;
	while (cap < size)
		cap *= 2;
	record = realloc(rs->record, cap);
	if (!record)
		return fault(-ENOMEM);
	rs->record = record;
	rs->cap_record = cap;
	return 0;
}

/* Read the FDE at @at whose head is @rec, and its CIE into rs->cie. */
static int read_fde(struct records *rs, uint64_t at, struct cfi_record *rec, struct cfi_fde *out)
{
	int rc = record_room(rs, (size_t)rec->size);

	if (!rc)
		rc = read_rest(rs, at, rs->record, rec);
	if (!rc && (rec->terminator || rec->is_cie))
		rc = -EBADMSG;
	if (!rc)
		rc = read_cie(rs, rec->cie_addr);
	if (!rc)
		rc = cfi_fde_parse(&rs->cie, rs->record, (size_t)rec->size, at, rs->data_base, out);
	return rc;
}

int records_fde(struct records *rs, uint64_t at, struct cfi_fde *out, uint64_t *size)
{
	struct cfi_record rec = { 0 };
	int rc = read_head(rs, at, &rec);

	if (!rc)
		rc = read_fde(rs, at, &rec, out);
	*size = rec.size;
	return rc;
}

int records_row(struct records *rs, uint64_t at, uint64_t addr, struct cfi_row *row)
{
	struct cfi_fde fde;
	uint64_t size;
	int rc = records_fde(rs, at, &fde, &size);

	if (rc)
		return rc;
	if (addr < fde.start || addr >= fde.end)
		return 0;
	rs->work += size;
	rc = cfi_row_find(&rs->cie, &fde, addr, row);
	return rc ? rc : 1;
}

int records_function(struct records *rs, uint64_t at, uint64_t addr, uint64_t *start)
{
	struct cfi_fde fde;
	uint64_t size;
	int rc = records_fde(rs, at, &fde, &size);

	if (rc)
		return rc;
	if (addr < fde.start || addr >= fde.end + rs->cie.signal)
		return 0;
	*start = fde.start + rs->cie.signal;
	return 1;
}

static int add_start(struct records *rs, uint64_t start, uint64_t at)
{
	size_t cap = rs->cap_index ? 2 * rs->cap_index : 64;
	struct record_start *index;

	if (rs->nr_index == rs->cap_index) {
		index = realloc(rs->index, cap * sizeof(*index));
		if (!index)
			return fault(-ENOMEM);
		rs->index = index;
		rs->cap_index = cap;
	}
	rs->index[rs->nr_index++] = (struct record_start){ start, at };
	return 0;
}

static int index_record(struct records *rs, uint64_t at, struct cfi_record *rec)
{
	struct cfi_fde fde;
	int rc;

	if (rec->is_cie)
		return 0;
	rc = read_fde(rs, at, rec, &fde);
	if (rc == -EBADMSG || rc == -ENOTSUP)
		return 0;
	return rc || fde.start >= fde.end ? rc : add_start(rs, fde.start, at);
}

static int index_records(struct records *rs)
{
	uint64_t size = rs->bytes.size < INDEX_BYTES ? rs->bytes.size : INDEX_BYTES, done, len;
	struct cfi_record rec;
	unsigned int i;
	int rc = 0;

	for (i = 0, done = 0; !rc && i < RULES_MAX_INDEX && done < size; i++, done += len) {
		rc = read_head(rs, rs->bytes.addr + done, &rec);
		if (rc == -EBADMSG || (!rc && rec.terminator))
			return 0;
		len = rec.size;
		if (!rc)
			rc = index_record(rs, rs->bytes.addr + done, &rec);
	}
	return rc;
}

static int by_start(const void *va, const void *vb)
{
	const struct record_start *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static bool is_sorted(const struct records *rs)
{
	size_t i;

	for (i = 1; i < rs->nr_index; i++)
		if (by_start(&rs->index[i - 1], &rs->index[i]) > 0)
			return false;
	return true;
}

static int make_index(struct records *rs)
{
	struct record_start *trimmed;
	int rc = index_records(rs);

	if (rc)
		rs->nr_index = 0;
	if (!rs->nr_index) {
		free(rs->index);
		rs->index = NULL;
		rs->cap_index = 0;
		return rc;
	}
	trimmed = realloc(rs->index, rs->nr_index * sizeof(*trimmed));
	if (trimmed) {
		rs->index = trimmed;
		rs->cap_index = rs->nr_index;
	}
	if (!is_sorted(rs)) /* linkers keep the order of the input files, which is mostly that of the code */
		qsort(rs->index, rs->nr_index, sizeof(*rs->index), by_start);
	return 0;
}

int records_search(struct records *rs, uint64_t addr, uint64_t *at)
{
	size_t i;

	if (!rs->indexed)
		rs->index_rc = make_index(rs);
	rs->indexed = true;
	i = first_above(rs->index, rs->nr_index, start, addr);
	if (!i)
		return rs->index_rc;
	*at = rs->index[i - 1].at;
	return 1;
}

int records_scan(struct records *rs, uint64_t addr, struct cfi_row *row)
{
	struct cfi_record rec = { 0 };
	uint64_t done = 0;
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < RECORDS_SCAN_MAX && done < rs->bytes.size; i++, done += rec.size) {
		rc = read_head(rs, rs->bytes.addr + done, &rec);
		if (!rc && rec.terminator)
			return 0;
		if (!rc && !rec.is_cie)
			rc = records_row(rs, rs->bytes.addr + done, addr, row);
	}
	return rc;
}
