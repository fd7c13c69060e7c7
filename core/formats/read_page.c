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
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#define CHUNK         (64 * 1024)
#define HEAD_MAX      (4 << 20)   /* bytes */
#define ENTRIES_MAX   (16 << 20)  /* strings, or frames */
#define STRINGS_MAX   (256 << 20) /* bytes of all strings */
#define FOLLOWERS_MAX (64 << 20)  /* pairs of frames */

static const char before_data[] = "<script id=\"data\"";

/* An entry for a frame of the page. @comm: of a task; NULL: the frame is not a task */
struct page_entry {
	const char *comm;
	struct read_frame frame;
};

struct column {
	uint64_t *v;
	size_t nr, cap;
};

/* Columns of a block of stacks. @sums: the sum of each stack's values; @at_place, @at_fresh: the next ones to use */
struct page_block {
	struct column dropped, added, sums, places, fresh;
	size_t at_place, at_fresh;
};

/* The @nr frames, at most @max, that have followed another one, in the order in which they first did. */
struct followers {
	uint32_t *v, nr, max;
};

/*
 * @text:      all strings
 * @path:      frames of the current stack, root first
 * @followers: an entry for each frame, and a last one for the frames that begin stacks; @follower_frames has them all
 */
struct page_reader {
	struct row_reader rows;
	struct infile *in;
	z_stream z;
	bool inflating;
	unsigned char raw[CHUNK], encoded[CHUNK], plain[CHUNK];
	size_t raw_at, raw_end, plain_at, plain_end;
	bool ended; /* the base64 text has ended */
	bool whole; /* the compressed data has ended, and was not damaged */
	char *text, **strings;
	size_t nr_strings, strings_cap;
	struct page_entry *frames;
	size_t nr_frames;
	struct followers *followers;
	uint32_t *follower_frames;
	uint32_t *path;
	size_t depth, path_cap;
	struct page_block block;
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

static int keep_fact(const json_t *facts, const char *name, char **to)
{
	const json_t *pair;
	const char *text;
	size_t i;

	json_array_foreach(facts, i, pair) {
		text = json_string_value(json_array_get(pair, 1));
		if (!text || !json_is_string(json_array_get(pair, 0)) ||
		    strcmp(json_string_value(json_array_get(pair, 0)), name) != 0)
			continue;
		*to = strdup(text);
		return *to ? 0 : -ENOMEM;
	}
	return 0;
}

static int keep_time(const json_t *facts, int64_t *when)
{
	struct tm utc = { 0 };
	char *text = NULL;
	int rc = keep_fact(facts, "Time", &text);

	if (text && strptime(text, PAGE_TIME, &utc))
		*when = timegm(&utc);
	free(text);
	return rc;
}

static int keep_facts(const json_t *head, struct read_facts *facts)
{
	const json_t *pairs = json_object_get(head, "facts");
	json_int_t cpus = json_integer_value(json_object_get(head, "cpus"));
	int rc = keep_fact(pairs, "Host", &facts->host);

	if (!rc)
		rc = keep_fact(pairs, "Kernel", &facts->kernel);
	if (!rc)
		rc = keep_fact(pairs, "Event", &facts->event);
	if (!rc)
		rc = keep_fact(pairs, "Backend", &facts->backend);
	if (!rc)
		rc = keep_fact(pairs, "Unwinder", &facts->unwinder);
	facts->cpus = cpus > 0 && cpus <= UINT_MAX ? (unsigned int)cpus : 0;
	return rc ? rc : keep_time(pairs, &facts->time);
}

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
	return keep_facts(head, &about->facts) ? no_memory(p) : 0;
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

/* One text has all strings, each with a newline after it. */
static int get_strings(struct page_reader *p)
{
	char **strings, *end, *at;
	int rc = get_text(p, STRINGS_MAX, &p->text);

	for (at = p->text; !rc && *at; at = end + 1) {
		end = strchr(at, '\n');
		strings = grow(p->strings, &p->strings_cap, p->nr_strings, 1, sizeof(*strings));
		if (!strings)
			return no_memory(p);
		p->strings = strings;
		if (!end || end - at > NAME_MAX_BYTES || p->nr_strings == ENTRIES_MAX)
			return bad(p, "has wrong strings");
		*end = 0;
		strings[p->nr_strings++] = at;
	}
	return rc;
}

static int label_frame(struct page_reader *p, enum page_kind kind, const char *name, struct report_frame *frame,
		       struct page_entry *out)
{
	char *copy = strdup(name);
	int rc;

	if (!copy)
		return no_memory(p);
	frame->kind = kind < PAGE_TASK ? (enum report_frame_kind)kind : REPORT_FRAME_MARKER;
	frame->name = copy;
	if (frame->kind == REPORT_FRAME_UNKNOWN || frame->kind == REPORT_FRAME_KERNEL)
		read_name(frame, copy);
	rc = row_reader_label(&p->rows, frame, &out->frame);
	free(copy);
	return rc ? row_reader_failed(&p->rows, rc, p->err) : 0;
}

/* Read @nr numbers of at most @max. */
static int get_column(struct page_reader *p, uint64_t nr, uint64_t max, struct column *out)
{
	uint64_t *v;
	int rc = 0;

	for (out->nr = 0; !rc && out->nr < nr; out->nr++) {
		v = grow(out->v, &out->cap, out->nr, 1, sizeof(*v));
		if (!v)
			return no_memory(p);
		out->v = v;
		rc = get_number(p, max, &v[out->nr]);
	}
	return rc;
}

static const char *string_at(const struct page_reader *p, const uint64_t *column, size_t i)
{
	return column[i] ? p->strings[column[i] - 1] : "";
}

static int add_frame(struct page_reader *p, const uint64_t *columns[], size_t i, struct page_entry *out)
{
	enum page_kind kind = (enum page_kind)columns[0][i];
	const char *name = string_at(p, columns[2], i), *module = string_at(p, columns[3], i);
	const char *file = string_at(p, columns[5], i);
	struct report_frame frame = { .line = (unsigned int)columns[1][i] };
	struct build_id build_id;

	if (kind == PAGE_TASK) {
		out->comm = name;
		return 0;
	}
	frame.module = *module ? module : NULL;
	frame.file = *file ? file : NULL;
	frame.address = strtoull(string_at(p, columns[6], i), NULL, 16);
	if (build_id_parse(&build_id, string_at(p, columns[4], i))) {
		frame.build_id = build_id.bytes;
		frame.build_id_size = build_id.size;
	}
	return label_frame(p, kind, name, &frame, out);
}

static int get_frame_columns(struct page_reader *p, uint64_t nr, struct column columns[PAGE_FRAME_COLUMNS])
{
	const uint64_t nr_strings = p->nr_strings, max[PAGE_FRAME_COLUMNS] = {
		PAGE_KINDS - 1, UINT32_MAX, nr_strings, nr_strings, nr_strings, nr_strings, nr_strings,
	};
	const uint64_t *v[PAGE_FRAME_COLUMNS];
	size_t i;
	int rc = 0;

	for (i = 0; i < PAGE_FRAME_COLUMNS && !rc; i++) {
		rc = get_column(p, nr, max[i], &columns[i]);
		v[i] = columns[i].v;
	}
	if (!rc) {
		p->frames = calloc(nr, sizeof(*p->frames));
		if (!p->frames)
			return no_memory(p);
	}
	for (; !rc && p->nr_frames < nr; p->nr_frames++)
		rc = add_frame(p, v, p->nr_frames, &p->frames[p->nr_frames]);
	return rc;
}

static int get_frames(struct page_reader *p)
{
	struct column columns[PAGE_FRAME_COLUMNS] = { 0 };
	uint64_t nr;
	size_t i;
	int rc = get_number(p, ENTRIES_MAX, &nr);

	if (!rc && nr)
		rc = get_frame_columns(p, nr, columns);
	for (i = 0; i < PAGE_FRAME_COLUMNS; i++)
		free(columns[i].v);
	return rc;
}

/* ---- stacks */

/*
 * Read the columns and values of a block; replace the number of values of each stack, in @sums, by their sum.
 * @nr: of values
 */
static int get_values(struct page_reader *p, uint64_t nr, struct column *sums)
{
	uint64_t column, more, value, left, total = 0;
	size_t i;
	int rc = 0;

	for (i = 0; i < sums->nr && !rc; i++) {
		total = add_or_max(total, sums->v[i]);
		for (column = 0, left = sums->v[i]; left && !rc; left--) {
			rc = get_number(p, p->nr_columns - 1 - column, &more);
			column += rc ? 0 : more;
		}
	}
	if (!rc && total != nr)
		return bad(p, "has a wrong number of values");
	for (i = 0; i < sums->nr && !rc; i++) {
		left = sums->v[i];
		for (sums->v[i] = 0; left && !rc; left--) {
			rc = get_number(p, UINT64_MAX, &value);
			sums->v[i] = rc ? 0 : add_or_max(sums->v[i], value);
		}
	}
	return rc;
}

static int get_planes(struct page_reader *p, uint64_t nr, struct column *out)
{
	unsigned char byte;
	size_t plane, i;
	uint64_t *v;
	int rc = 0;

	v = grow(out->v, &out->cap, 0, nr, sizeof(*v));
	if (!v)
		return no_memory(p);
	out->v = v;
	out->nr = nr;
	memset(v, 0, nr * sizeof(*v));
	for (plane = 0; plane < page_planes(p->nr_frames); plane++)
		for (i = 0; i < nr && !rc; i++) {
			rc = get_bytes(p, &byte, 1);
			v[i] |= rc ? 0 : (uint64_t)byte << 8 * plane;
		}
	for (i = 0; i < nr && !rc; i++)
		if (v[i] >= p->nr_frames)
			rc = bad(p, "has a number that is out of range");
	return rc;
}

static int get_block(struct page_reader *p, uint64_t nr)
{
	struct page_block *b = &p->block;
	uint64_t values, frames, fresh;
	int rc = get_number(p, UINT64_MAX, &values);

	if (!rc)
		rc = get_number(p, ENTRIES_MAX, &frames);
	if (!rc)
		rc = get_number(p, frames, &fresh);
	if (!rc)
		rc = get_column(p, nr, READ_DEPTH + 1, &b->dropped);
	if (!rc)
		rc = get_column(p, nr, READ_DEPTH + 1, &b->added);
	if (!rc)
		rc = get_column(p, nr, p->nr_columns, &b->sums);
	if (!rc)
		rc = get_values(p, values, &b->sums);
	if (!rc)
		rc = get_column(p, frames, UINT32_MAX, &b->places);
	return rc ? rc : get_planes(p, fresh, &b->fresh);
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

/* The frame of the next place in the block; it follows @caller, or it is the first of a stack. */
static int next_frame(struct page_reader *p, uint64_t caller, uint32_t *frame)
{
	struct page_block *b = &p->block;
	struct followers *f = &p->followers[caller];
	uint64_t place;

	if (b->at_place == b->places.nr)
		return bad(p, "has a wrong number of frames");
	place = b->places.v[b->at_place++];
	if (place > f->nr || (!place && (f->nr == f->max || b->at_fresh == b->fresh.nr)))
		return bad(p, "has a number that is out of range");
	if (!place) {
		f->v[f->nr++] = (uint32_t)b->fresh.v[b->at_fresh++];
		place = f->nr;
	}
	*frame = f->v[place - 1];
	return 0;
}

static int extend_path(struct page_reader *p)
{
	uint32_t *path = grow(p->path, &p->path_cap, p->depth, 1, sizeof(*path));
	int rc;

	if (!path)
		return no_memory(p);
	p->path = path;
	rc = next_frame(p, p->depth ? path[p->depth - 1] : p->nr_frames, &path[p->depth]);
	if (rc)
		return rc;
	if (!p->frames[path[p->depth]].comm == !p->depth)
		return bad(p, "has a stack without a task, or a task within a stack");
	if (p->depth > READ_DEPTH)
		return bad(p, "has a stack that is too deep");
	p->depth++;
	return 0;
}

static int add_block(struct page_reader *p)
{
	struct page_block *b = &p->block;
	uint64_t left;
	size_t i;
	int rc = 0;

	b->at_place = 0;
	b->at_fresh = 0;
	for (i = 0; i < b->dropped.nr && !rc; i++) {
		if (b->dropped.v[i] > p->depth || !b->added.v[i])
			return bad(p, "has a number that is out of range");
		p->depth -= b->dropped.v[i];
		for (left = b->added.v[i]; left && !rc; left--)
			rc = extend_path(p);
		if (!rc && b->sums.v[i])
			rc = add_row(p, b->sums.v[i]);
	}
	if (!rc && (b->at_place < b->places.nr || b->at_fresh < b->fresh.nr))
		rc = bad(p, "has a wrong number of frames");
	return rc;
}

/* Read how many frames follow each frame, and make room for them. */
static int get_followers(struct page_reader *p)
{
	struct column nr = { 0 };
	uint64_t all = 0;
	uint32_t *v;
	size_t i;
	int rc = get_column(p, p->nr_frames + 1, p->nr_frames, &nr);

	for (i = 0; !rc && i <= p->nr_frames; i++)
		all += nr.v[i];
	if (!rc && all > FOLLOWERS_MAX)
		rc = bad(p, "has too many frames that follow each other");
	if (!rc) {
		p->follower_frames = v = calloc(all + 1, sizeof(*v));
		p->followers = calloc(p->nr_frames + 1, sizeof(*p->followers));
		rc = v && p->followers ? 0 : no_memory(p);
	}
	for (i = 0; !rc && i <= p->nr_frames; v += nr.v[i++])
		p->followers[i] = (struct followers){ .v = v, .max = (uint32_t)nr.v[i] };
	free(nr.v);
	return rc;
}

static int get_stacks(struct page_reader *p)
{
	uint64_t nr;
	int rc = get_followers(p);

	if (!rc)
		rc = get_number(p, UINT64_MAX, &nr); /* of nodes, which only the script needs */
	for (;;) {
		if (!rc)
			rc = get_number(p, ENTRIES_MAX, &nr);
		if (rc || !nr)
			return rc;
		rc = p->nr_frames ? get_block(p, nr) : bad(p, "has stacks without frames");
		if (!rc)
			rc = add_block(p);
	}
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
		rc = get_stacks(p);
	return rc ? rc : check_end(p);
}

static void release(struct page_reader *p)
{
	struct page_block *b = &p->block;
	struct column *const columns[] = { &b->dropped, &b->added, &b->sums, &b->places, &b->fresh };
	size_t i;

	if (p->inflating)
		inflateEnd(&p->z);
	free(p->text);
	free(p->strings);
	free(p->followers);
	free(p->follower_frames);
	free(p->frames);
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		free(columns[i]->v);
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
