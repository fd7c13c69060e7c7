// SPDX-License-Identifier: Apache-2.0
#include "core/formats/read_rows.h"

#include "core/base/grow.h"
#include "core/base/number.h"
#include "core/base/saturate.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX (1u << 28)   /* of all stacks together: 1 GiB. A hostile file of a few megabytes could have more */
#define COPIED_MAX (512u << 20) /* bytes */

struct known_frame {
	struct text_ref text;
	struct read_frame frame;
};

struct known_text {
	char *text;
	uint32_t label;
};

/* Words of this program itself, and the part to which they belong. */
static const struct {
	const char *word;
	enum read_part part;
} markers[] = {
	{ "[Missed User Stack]", PART_MISSED_USER },
	{ "[Missed Kernel Stack]", PART_MISSED_KERNEL },
	{ "[truncated]", PART_NEXT },
	{ "-", PART_DELIMITER },
	{ "--", PART_DELIMITER },
	{ "on-cpu", PART_ROOT },
	{ "off-cpu", PART_ROOT },
	{ "runnable", PART_ROOT },
	{ "blocked", PART_ROOT },
};

static int find_marker(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(markers); i++)
		if (!strcmp(markers[i].word, name))
			return (int)i;
	return -1;
}

bool read_is_marker(const char *name)
{
	return find_marker(name) >= 0;
}

static enum read_part part_of(const struct report_frame *frame)
{
	int marker = frame->kind == REPORT_FRAME_MARKER && frame->name ? find_marker(frame->name) : -1;

	if (marker >= 0)
		return markers[marker].part;
	return frame->kind == REPORT_FRAME_KERNEL ? PART_KERNEL : PART_USER;
}

static const struct intern_kind known_kind = INTERN_TEXT(struct known_frame, text);
static const struct intern_kind text_kind = INTERN_STRING(struct known_text, text);

int row_reader_failed(const struct row_reader *r, int rc, struct err *err)
{
	if (rc == -E2BIG)
		return err_set(
			err, rc,
			"cannot read '%s': its stacks have more than %u frames together, or more than %u MiB of names",
			infile_name(r->in), FRAMES_MAX, COPIED_MAX >> 20);
	return err_sys(err, rc, "cannot read '%s'", infile_name(r->in));
}

void row_reader_release(struct row_reader *r)
{
	intern_release_copies(&r->known, &known_kind);
	intern_release_copies(&r->texts, &text_kind);
	free(r->labels);
	free(r->frames);
}

static size_t text_size(const char *text)
{
	return text ? strlen(text) : 0;
}

int row_reader_label(struct row_reader *r, const struct report_frame *frame, struct read_frame *out)
{
	out->part = part_of(frame);
	r->copied += text_size(frame->name) + text_size(frame->module) + text_size(frame->file);
	if (r->copied > COPIED_MAX)
		return -E2BIG;
	return report_frame(r->report, frame, &out->label);
}

int row_reader_known(struct row_reader *r, const struct text_ref *key, struct read_frame **frame, bool *is_new)
{
	struct known_frame *known = intern(&r->known, &known_kind, key, is_new);

	*frame = known ? &known->frame : NULL;
	return known ? 0 : -ENOMEM;
}

int row_reader_push(struct row_reader *r, const struct read_frame *frame)
{
	struct read_frame *frames = grow(r->frames, &r->frames_cap, r->nr_frames, 1, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	r->frames = frames;
	frames[r->nr_frames++] = *frame;
	return 0;
}

static int cmp_pids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool in_cgroup(const char *path, const char *wanted)
{
	size_t len = strlen(wanted);

	return path && !strncmp(path, wanted, len) && (!path[len] || path[len] == '/' || (len && path[len - 1] == '/'));
}

static bool is_wanted(const struct read_cfg *cfg, const struct read_row *row)
{
	pid_t id = cfg->by_tid ? row->tid : row->pid;

	if (cfg->nr_pids && !bsearch(&id, cfg->pids, cfg->nr_pids, sizeof(*cfg->pids), cmp_pids))
		return false;
	if (cfg->comm && strcmp(cfg->comm, row->comm) != 0)
		return false;
	return !cfg->cgroup || in_cgroup(row->cgroup, cfg->cgroup);
}

static int label_text(struct row_reader *r, const char *text, uint32_t *label)
{
	bool is_new;
	struct known_text *known = intern(&r->texts, &text_kind, &text, &is_new);
	int rc = known ? 0 : -ENOMEM;

	if (!rc && is_new)
		rc = report_label(r->report, text, &known->label);
	if (!rc)
		*label = known->label;
	return rc;
}

/* @text: a text of the row; if it is NULL or empty, @otherwise is used. @otherwise NULL: there is no label. */
static int label_origin(struct row_reader *r, const char *text, const char *otherwise, uint32_t *label)
{
	if (!text || !*text)
		text = otherwise;
	*label = HASH_NONE;
	return text ? label_text(r, text, label) : 0;
}

/* Decide for each frame to which part it belongs, by the frames around it. */
static void settle_parts(struct row_reader *r)
{
	enum read_part next = PART_USER, *part;
	size_t i;

	for (i = r->nr_frames; i-- > 0;) {
		part = &r->frames[i].part;
		if (*part == PART_NEXT)
			*part = next;
		else if (*part == PART_ROOT && i)
			*part = PART_USER;
		if (*part != PART_DELIMITER)
			next = *part;
	}
}

static bool keeps(const struct read_cfg *cfg, enum read_part part)
{
	if (part == PART_KERNEL || part == PART_MISSED_KERNEL)
		return !cfg->user_only;
	return part == PART_ROOT || !cfg->kernel_only;
}

/* Collect the labels of the wanted frames. There is room for all of them, and a delimiter. */
static uint32_t put_labels(struct row_reader *r)
{
	bool in_user = false, in_kernel = false;
	enum read_part part;
	uint32_t nr = 0;
	size_t i;

	settle_parts(r);
	for (i = 0; i < r->nr_frames; i++) {
		part = r->frames[i].part;
		if (part == PART_DELIMITER || !keeps(r->cfg, part))
			continue;
		if (part == PART_KERNEL && in_user && !in_kernel && r->cfg->delimited)
			r->labels[nr++] = report_delimiter(r->report);
		in_user |= part == PART_USER;
		in_kernel |= part == PART_KERNEL;
		r->labels[nr++] = r->frames[i].label;
	}
	return nr;
}

static int add_row(struct row_reader *r, const struct read_row *row)
{
	struct report_named named = {
		.pid = row->pid,
		.tid = row->tid,
		.value = row->value,
		.times = r->cfg->times && !r->about->unit_told ? 0 : row->times,
		.before = r->cfg->before,
	};
	uint32_t *labels = grow(r->labels, &r->labels_cap, 0, r->nr_frames + 1, sizeof(*labels));
	int rc;

	if (!labels)
		return -ENOMEM;
	r->labels = labels;
	rc = label_text(r, row->comm, &named.comm);
	if (!rc)
		rc = label_origin(r, row->cgroup, NULL, &named.cgroup);
	if (!rc)
		rc = label_origin(r, row->input, r->cfg->input, &named.input);
	if (rc)
		return rc;
	r->total += r->nr_frames;
	if (r->total > FRAMES_MAX)
		return -E2BIG;
	named.labels = labels;
	named.nr = put_labels(r);
	r->about->samples = add_or_max(r->about->samples, row->times);
	r->about->times = add_or_max(r->about->times, named.times);
	return report_add_named(r->report, &named);
}

int row_reader_add(struct row_reader *r, const struct read_row *row)
{
	int rc = 0;

	if (!is_wanted(r->cfg, row))
		r->about->filtered = add_or_max(r->about->filtered, row->times);
	else if (row->value || row->times)
		rc = add_row(r, row);
	r->nr_frames = 0;
	return rc;
}

/* Parse the address of a function after the last "+0x" of @name, which ends in "]", as a report prints it. */
static bool parse_function(const char *name, char **plus, uint64_t *function)
{
	char *at = NULL, *next;
	const char *digits;

	for (next = strstr(name, "+0x"); next; next = strstr(next + 1, "+0x"))
		at = next;
	if (!at)
		return false;
	digits = at + 3;
	if (*digits == '0' && digits[1] != ']')
		return false;
	*plus = at;
	return !parse_digits(&digits, 16, UINT64_MAX, function) && !strcmp(digits, "]");
}

void read_name(struct report_frame *frame, char *name)
{
	size_t len = strlen(name);
	char *plus;

	frame->name = name;
	/* Modules with brackets of their own are printed without more brackets. */
	if (len < 3 || name[0] != '[' || name[len - 1] != ']' || (name[1] == '[' && name[len - 2] == ']'))
		return;
	frame->name = NULL;
	if (frame->kind != REPORT_FRAME_KERNEL)
		frame->kind = REPORT_FRAME_UNKNOWN;
	frame->anonymous = !strcmp(name, "[unknown]");
	if (frame->anonymous)
		return;
	frame->has_function = parse_function(name, &plus, &frame->function);
	if (frame->has_function)
		*plus = 0;
	else
		name[len - 1] = 0;
	frame->module = name + 1;
}
