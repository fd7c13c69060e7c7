// SPDX-License-Identifier: Apache-2.0
/*
 * Lines of folded stacks, of this program and of others: "comm;root;...;leaf VALUE".
 *
 * The value follows the last blank, so names may have blanks. A value with a fraction is rounded. If the first line has
 * frames and two numbers at its end, each line has two: it is the output of difffolded.pl, and the second number is
 * from the newer profile. Suffixes _[k], _[i] and _[j] show the kind of a frame, and frames after a delimiter belong to
 * the kernel. Empty lines separate the reports of a run with -i; their rows are added up.
 */
#include "core/formats/read_rows.h"

#include "core/base/saturate.h"

#include <inttypes.h>
#include <string.h>

/* @differential: lines have two numbers; known after the first line */
struct folded {
	struct row_reader rows;
	struct infile_lines lines;
	bool began, differential;
};

static int refuse(const struct folded *f, const char *why, struct err *err)
{
	return err_set(err, -EBADMSG, "cannot read '%s': line %" PRIu64 " %s", infile_name(f->lines.in),
		       f->lines.number, why);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void cut_blanks(char *line, size_t *len)
{
	while (*len && is_blank(line[*len - 1]))
		(*len)--;
	line[*len] = 0;
}

/* Parse a number, perhaps with a fraction, and nothing else. */
static bool parse_value(const char *s, uint64_t *value)
{
	bool up = false;

	if (*s < '0' || *s > '9')
		return false;
	for (*value = 0; *s >= '0' && *s <= '9'; s++)
		*value = add_or_max(mul_or_max(*value, 10), (uint64_t)(*s - '0'));
	if (*s == '.') {
		up = s[1] >= '5' && s[1] <= '9';
		for (s++; *s >= '0' && *s <= '9'; s++)
			;
	}
	*value = add_or_max(*value, up);
	return !*s;
}

/* Cut the number off the end of a line. Return: true if there was one, and text before it. */
static bool cut_value(char *line, size_t *len, uint64_t *value)
{
	size_t at;

	cut_blanks(line, len);
	for (at = *len; at && !is_blank(line[at - 1]); at--)
		;
	if (!at || !parse_value(line + at, value))
		return false;
	*len = at;
	cut_blanks(line, len);
	return true;
}

static enum report_frame_kind cut_suffix(char *name, size_t len)
{
	static const struct {
		char suffix[5];
		enum report_frame_kind kind;
	} kinds[] = {
		{ "_[k]", REPORT_FRAME_KERNEL },
		{ "_[i]", REPORT_FRAME_INLINED },
		{ "_[j]", REPORT_FRAME_JIT },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (len > 4 && !strcmp(name + len - 4, kinds[i].suffix)) {
			name[len - 4] = 0;
			return kinds[i].kind;
		}
	return REPORT_FRAME_USER;
}

/*
 * @in_kernel: it comes after a delimiter; @inside: it is neither the first nor the last one, so it may be a delimiter
 * itself
 */
static int label_name(struct folded *f, char *name, size_t len, bool in_kernel, bool inside, struct read_frame *out)
{
	struct report_frame frame = { .kind = cut_suffix(name, len) };
	bool is_delimiter = !strcmp(name, "-") || !strcmp(name, "--");

	if (in_kernel && frame.kind == REPORT_FRAME_USER)
		frame.kind = REPORT_FRAME_KERNEL;
	if (read_is_marker(name) && (inside || !is_delimiter)) {
		frame.kind = REPORT_FRAME_MARKER;
		frame.name = name;
	} else {
		read_name(&frame, name);
	}
	return row_reader_label(&f->rows, &frame, out);
}

/*
 * Frames with the same text, @in_kernel and @inside are equal: for the lookup, both flags are stored in the byte after
 * the text, and the old byte is restored.
 */
static int push_name(struct folded *f, char *name, size_t len, bool *in_kernel, bool inside)
{
	struct read_frame *frame;
	char end = name[len];
	bool is_new;
	int rc;

	name[len] = (char)(1 + *in_kernel + 2 * inside);
	rc = row_reader_known(&f->rows, &(struct text_ref){ name, len + 1 }, &frame, &is_new);
	name[len] = 0;
	if (!rc && is_new)
		rc = label_name(f, name, len, *in_kernel, inside, frame);
	if (rc)
		return rc;
	*in_kernel |= frame->part == PART_DELIMITER;
	name[len] = end;
	return row_reader_push(&f->rows, frame);
}

/* Return: 0; 1: too many frames; -errno, as row_reader_label(). */
static int push_names(struct folded *f, char *name, const char *end)
{
	bool in_kernel = false, first = true;
	char *next;
	int rc = 0;

	for (; !rc && name < end; name = next + 1, first = false) {
		next = memchr(name, ';', (size_t)(end - name));
		rc = push_name(f, name, (size_t)((next ? next : end) - name), &in_kernel, !first && next);
		if (!next)
			break;
		if (f->rows.nr_frames == READ_DEPTH)
			return 1;
	}
	return rc;
}

static int read_line(struct folded *f, struct err *err)
{
	char *line = f->lines.line, *semicolon;
	size_t len = f->lines.len;
	struct read_row row = { 0 };
	uint64_t older;
	int rc = 0;

	if (memchr(line, 0, len) || !cut_value(line, &len, &row.value))
		return refuse(f, "is no folded stack with a number at its end", err);
	semicolon = memchr(line, ';', len);
	if (!f->began)
		f->differential = semicolon && cut_value(line, &len, &older);
	else if (f->differential && !cut_value(line, &len, &older))
		return refuse(f, "has one number at its end, and the first line has two", err);
	f->began = true;
	row.times = row.value;
	row.comm = line;
	if (semicolon) {
		*semicolon = 0;
		rc = push_names(f, semicolon + 1, line + len);
	}
	if (rc > 0)
		return refuse(f, "has more than 65536 frames", err);
	if (!rc)
		rc = row_reader_add(&f->rows, &row);
	return rc ? row_reader_failed(&f->rows, rc, err) : 0;
}

static bool is_empty(struct infile_lines *lines)
{
	cut_blanks(lines->line, &lines->len);
	return !lines->len;
}

int read_folded(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
		struct err *err)
{
	struct folded f = { .rows = { in, r, cfg, about }, .lines = { .in = in } };
	int rc;

	while ((rc = infile_line(&f.lines, err)) > 0) {
		rc = is_empty(&f.lines) ? 0 : read_line(&f, err);
		if (rc)
			break;
	}
	infile_lines_release(&f.lines);
	row_reader_release(&f.rows);
	return rc;
}
