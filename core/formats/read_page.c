// SPDX-License-Identifier: Apache-2.0
/* Read the data in a page, see page_data.h. The page around the data is ignored. */
#include "core/formats/base64.h"
#include "core/formats/page_data.h"
#include "core/formats/read_rows.h"

#include "core/base/grow.h"
#include "core/base/saturate.h"
#include "core/files/build_ids.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define CHUNK       (64 * 1024)
#define HEAD_MAX    (4 << 20)   /* bytes */
#define ENTRIES_MAX (16 << 20)  /* strings, or frames */
#define STRINGS_MAX (256 << 20) /* bytes of all strings */

static const char before_data[] = "<script id=\"data\"";

/* An entry for a node. @comm: NULL: it is not a task */
struct page_entry {
	const char *comm;
	struct read_frame frame;
};

/* @path: frames of the current node, root first */
struct page_reader {
	struct row_reader rows;
	struct infile *in;
	z_stream z;
	bool inflating;
	unsigned char raw[CHUNK], encoded[CHUNK], plain[CHUNK];
	size_t raw_at, raw_end, plain_at, plain_end;
	bool ended; /* the base64 text has ended */
	bool whole; /* the compressed data has ended, and was not damaged */
	char **strings;
	size_t nr_strings, strings_cap;
	struct page_entry *frames;
	size_t nr_frames, frames_cap;
	uint32_t *path;
	size_t depth, path_cap;
	size_t nr_columns;
	struct err *err;
};

static int bad(struct page_reader *p, const char *why)
{
	return err_set(p->err, -EBADMSG, "cannot read '%s': its data %s", infile_name(p->in), why);
}

static int no_memory(struct page_reader *p)
{
	return err_sys(p->err, -ENOMEM, "cannot read '%s'", infile_name(p->in));
}

/* ---- bytes */

/* Return: the next byte of the file; -ENODATA: it has ended; -errno, described. */
static int raw_byte(struct page_reader *p)
{
	ssize_t n;

	if (p->raw_at == p->raw_end) {
		n = infile_read(p->in, p->raw, CHUNK, p->err);
		if (n <= 0)
			return n ? (int)n : -ENODATA;
		p->raw_at = 0;
		p->raw_end = (size_t)n;
	}
	return p->raw[p->raw_at++];
}

/* Skip past @text, whose first character comes only once in it. */
static int skip_to(struct page_reader *p, const char *text)
{
	size_t matched = 0;
	int byte;

	while (text[matched]) {
		byte = raw_byte(p);
		if (byte == -ENODATA)
			return err_set(p->err, -EBADMSG, "cannot read '%s': a page without the data of a profile",
				       infile_name(p->in));
		if (byte < 0)
			return byte;
		if (byte == text[matched])
			matched++;
		else
			matched = byte == text[0];
	}
	return 0;
}

/* Decode four characters. Return: how many bytes they give, 0 at the end; -errno, described. */
static int decode_four(struct page_reader *p, unsigned char *out)
{
	uint32_t bits = 0;
	int nr, byte, value;

	for (nr = 0; nr < 4; nr++) {
		byte = raw_byte(p);
		if (byte < 0 && byte != -ENODATA)
			return byte;
		value = byte < 0 ? -1 : base64_value((char)byte);
		if (value < 0)
			break;
		bits = bits << 6 | (uint32_t)value;
	}
	if (nr == 4) {
		out[0] = (unsigned char)(bits >> 16);
		out[1] = (unsigned char)(bits >> 8);
		out[2] = (unsigned char)bits;
		return 3;
	}
	p->ended = true;
	if (nr == 1)
		return bad(p, "ends within a character");
	bits <<= 6 * (4 - nr);
	out[0] = (unsigned char)(bits >> 16);
	out[1] = (unsigned char)(bits >> 8);
	return nr ? nr - 1 : 0;
}

static int fill_encoded(struct page_reader *p)
{
	size_t nr = 0;
	int n;

	while (!p->ended && nr + 3 <= CHUNK) {
		n = decode_four(p, p->encoded + nr);
		if (n < 0)
			return n;
		nr += (size_t)n;
	}
	p->z.next_in = p->encoded;
	p->z.avail_in = (uInt)nr;
	return 0;
}

static int fill_plain(struct page_reader *p)
{
	int rc = Z_OK, filled;

	p->z.next_out = p->plain;
	p->z.avail_out = CHUNK;
	while (p->z.avail_out == CHUNK && rc == Z_OK) {
		filled = p->z.avail_in ? 0 : fill_encoded(p);
		if (filled)
			return filled;
		if (!p->z.avail_in)
			return bad(p, "ends too early");
		rc = inflate(&p->z, Z_NO_FLUSH);
	}
	p->plain_at = 0;
	p->plain_end = CHUNK - p->z.avail_out;
	p->whole = rc == Z_STREAM_END;
	if (p->plain_end || p->whole)
		return 0;
	return bad(p, "is damaged");
}

static int more_plain(struct page_reader *p)
{
	int rc = p->whole ? bad(p, "ends too early") : fill_plain(p);

	return !rc && !p->plain_end ? bad(p, "ends too early") : rc;
}

/* Check that the data ends here with a correct checksum, which only zlib's last step shows. */
static int check_end(struct page_reader *p)
{
	int rc = 0;

	while (!rc && p->plain_at == p->plain_end && !p->whole)
		rc = fill_plain(p);
	return !rc && p->plain_at < p->plain_end ? bad(p, "has more than it says") : rc;
}

static int get_bytes(struct page_reader *p, void *to, size_t len)
{
	unsigned char *at = to;
	size_t part;
	int rc;

	for (; len; at += part, len -= part) {
		rc = p->plain_at == p->plain_end ? more_plain(p) : 0;
		if (rc)
			return rc;
		part = p->plain_end - p->plain_at < len ? p->plain_end - p->plain_at : len;
		memcpy(at, p->plain + p->plain_at, part);
		p->plain_at += part;
	}
	return 0;
}

/* Read a number of at most @max. */
static int get_number(struct page_reader *p, uint64_t max, uint64_t *out)
{
	unsigned int shift = 0;
	unsigned char byte;
	uint64_t n = 0;
	int rc;

	do {
		rc = get_bytes(p, &byte, 1);
		if (rc)
			return rc;
		if (shift > 63 || (shift == 63 && byte > 1))
			return bad(p, "has a number that is too large");
		n |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	if (n > max)
		return bad(p, "has a number that is out of range");
	*out = n;
	return 0;
}

/* Read a text, zero-terminated; the caller frees it. */
static int get_text(struct page_reader *p, size_t max, char **out)
{
	uint64_t len;
	char *text;
	int rc = get_number(p, max, &len);

	if (rc)
		return rc;
	text = malloc(len + 1);
	if (!text)
		return no_memory(p);
	rc = get_bytes(p, text, len);
	if (rc) {
		free(text);
		return rc;
	}
	text[len] = 0;
	*out = text;
	return 0;
}

/* ---- contents */

static int take_head(struct page_reader *p, const json_t *head)
{
	struct read_about *about = p->rows.about;
	const char *unit = json_string_value(json_object_get(head, "unit"));
	double per_second = json_number_value(json_object_get(head, "per_second"));

	p->nr_columns = json_array_size(json_object_get(head, "columns"));
	if (!unit || !p->nr_columns || p->nr_columns > UINT32_MAX)
		return bad(p, "has no such head");
	if (json_integer_value(json_object_get(head, "before")) >= 0)
		return err_set(p->err, -EINVAL,
			       "cannot read '%s': it compares two reports, which cannot be read as one",
			       infile_name(p->in));
	about->unit_told = true;
	about->unit = !strcmp(unit, report_unit_name(UNIT_USEC)) ? UNIT_USEC : UNIT_SAMPLES;
	if (about->unit == UNIT_SAMPLES && per_second >= 1)
		about->period_ns = (uint64_t)(1e9 / per_second);
	return 0;
}

static int get_head(struct page_reader *p)
{
	char magic[sizeof(PAGE_MAGIC) - 1], *text;
	json_t *head;
	int rc = get_bytes(p, magic, sizeof(magic));

	if (!rc && memcmp(magic, PAGE_MAGIC, sizeof(magic)) != 0)
		return bad(p, "is of another version");
	if (!rc)
		rc = get_text(p, HEAD_MAX, &text);
	if (rc)
		return rc;
	head = json_loads(text, 0, NULL);
	free(text);
	rc = json_is_object(head) ? take_head(p, head) : bad(p, "has no head");
	json_decref(head);
	return rc;
}

static int get_strings(struct page_reader *p)
{
	char **strings;
	size_t bytes = 0;
	uint64_t nr;
	int rc = get_number(p, ENTRIES_MAX, &nr);

	while (!rc && p->nr_strings < nr) {
		strings = grow(p->strings, &p->strings_cap, p->nr_strings, 1, sizeof(*strings));
		if (!strings)
			return no_memory(p);
		p->strings = strings;
		rc = get_text(p, NAME_MAX_BYTES, &strings[p->nr_strings]);
		if (rc)
			break;
		bytes += strlen(strings[p->nr_strings++]) + 1;
		if (bytes > STRINGS_MAX)
			rc = bad(p, "has more than 256 MiB of names");
	}
	return rc;
}

/* Read an optional string: NULL for none. */
static int get_string(struct page_reader *p, const char **out)
{
	uint64_t id;
	int rc = get_number(p, p->nr_strings, &id);

	*out = !rc && id ? p->strings[id - 1] : NULL;
	return rc;
}

static int label_frame(struct page_reader *p, enum page_kind kind, char *name, struct report_frame *frame,
		       struct page_entry *out)
{
	char *copy = strdup(name);
	int rc;

	if (!copy)
		return no_memory(p);
	frame->kind = kind < PAGE_TASK ? (enum report_frame_kind)kind : REPORT_FRAME_MARKER;
	read_name(frame, copy);
	rc = row_reader_label(&p->rows, frame, &out->frame);
	free(copy);
	return rc ? row_reader_failed(&p->rows, rc, p->err) : 0;
}

static int get_frame(struct page_reader *p, struct page_entry *out)
{
	struct report_frame frame = { 0 };
	struct build_id build_id;
	const char *id = NULL;
	uint64_t kind, name, line;
	int rc = get_number(p, PAGE_KINDS - 1, &kind);

	if (!rc)
		rc = p->nr_strings ? get_number(p, p->nr_strings - 1, &name) : bad(p, "has frames without names");
	if (!rc)
		rc = get_string(p, &frame.module);
	if (!rc)
		rc = get_string(p, &id);
	if (!rc)
		rc = get_string(p, &frame.file);
	if (!rc)
		rc = get_number(p, UINT32_MAX, &line);
	if (!rc)
		rc = get_number(p, UINT64_MAX, &frame.address);
	if (rc)
		return rc;
	if (kind == PAGE_TASK) {
		out->comm = p->strings[name];
		return 0;
	}
	frame.line = (unsigned int)line;
	if (id && build_id_parse(&build_id, id)) {
		frame.build_id = build_id.bytes;
		frame.build_id_size = build_id.size;
	}
	return label_frame(p, (enum page_kind)kind, p->strings[name], &frame, out);
}

static int get_frames(struct page_reader *p)
{
	struct page_entry *frames;
	uint64_t nr;
	int rc = get_number(p, ENTRIES_MAX, &nr);

	while (!rc && p->nr_frames < nr) {
		frames = grow(p->frames, &p->frames_cap, p->nr_frames, 1, sizeof(*frames));
		if (!frames)
			return no_memory(p);
		p->frames = frames;
		frames[p->nr_frames] = (struct page_entry){ 0 };
		rc = get_frame(p, &frames[p->nr_frames]);
		p->nr_frames += !rc;
	}
	return rc;
}

/* ---- nodes */

static int get_values(struct page_reader *p, uint64_t *sum)
{
	uint64_t nr, column = 0, more = 0, value, i;
	int rc = get_number(p, p->nr_columns, &nr);

	*sum = 0;
	for (i = 0; i < nr && !rc; i++) {
		if (p->nr_columns > 1)
			rc = get_number(p, p->nr_columns - 1 - column, &more);
		column += more;
		if (!rc)
			rc = get_number(p, UINT64_MAX, &value);
		if (!rc)
			*sum = add_or_max(*sum, value);
	}
	return rc;
}

static int add_row(struct page_reader *p, uint64_t value)
{
	struct read_row row = { .comm = p->frames[p->path[0]].comm, .value = value };
	size_t i;
	int rc = 0;

	row.times = p->rows.about->unit == UNIT_SAMPLES ? value : 0;
	for (i = 1; i < p->depth && !rc; i++)
		rc = row_reader_push(&p->rows, &p->frames[p->path[i]].frame);
	if (!rc)
		rc = row_reader_add(&p->rows, &row);
	return rc ? row_reader_failed(&p->rows, rc, p->err) : 0;
}

static int go_to_node(struct page_reader *p)
{
	uint64_t up, frame = 0;
	uint32_t *path;
	int rc = get_number(p, p->depth, &up);

	if (!rc)
		rc = p->nr_frames ? get_number(p, p->nr_frames - 1, &frame) : bad(p, "has stacks without frames");
	if (rc)
		return rc;
	p->depth -= up;
	if (!p->frames[frame].comm == !p->depth)
		return bad(p, "has a stack without a task, or a task within a stack");
	if (p->depth > READ_DEPTH)
		return bad(p, "has a stack that is too deep");
	path = grow(p->path, &p->path_cap, p->depth, 1, sizeof(*path));
	if (!path)
		return no_memory(p);
	p->path = path;
	path[p->depth++] = (uint32_t)frame;
	return 0;
}

static int get_nodes(struct page_reader *p)
{
	uint64_t nr, value;
	int rc = get_number(p, UINT64_MAX, &nr);

	while (!rc && nr--) {
		rc = go_to_node(p);
		if (!rc)
			rc = get_values(p, &value);
		if (!rc && value)
			rc = add_row(p, value);
	}
	return rc;
}

static int get_all(struct page_reader *p)
{
	int rc = skip_to(p, before_data);

	if (!rc)
		rc = skip_to(p, ">");
	if (!rc && inflateInit2(&p->z, 16 + MAX_WBITS) != Z_OK)
		rc = no_memory(p);
	p->inflating = !rc;
	if (!rc)
		rc = get_head(p);
	if (!rc)
		rc = get_strings(p);
	if (!rc)
		rc = get_frames(p);
	if (!rc)
		rc = get_nodes(p);
	return rc ? rc : check_end(p);
}

static void release(struct page_reader *p)
{
	size_t i;

	if (p->inflating)
		inflateEnd(&p->z);
	for (i = 0; i < p->nr_strings; i++)
		free(p->strings[i]);
	free(p->strings);
	free(p->frames);
	free(p->path);
	row_reader_release(&p->rows);
	free(p);
}

int read_page(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
	      struct err *err)
{
	struct page_reader *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return err_sys(err, -ENOMEM, "cannot read '%s'", infile_name(in));
	p->rows = (struct row_reader){ .in = in, .report = r, .cfg = cfg, .about = about };
	p->in = in;
	p->err = err;
	rc = get_all(p);
	release(p);
	return rc;
}
