// SPDX-License-Identifier: Apache-2.0
/* Read our own JSON lines, see json.c. Unknown members are ignored. */
#include "core/formats/json_names.h"
#include "core/formats/read_rows.h"

#include "core/base/number.h"
#include "core/files/build_ids.h"
#include "core/tasks/mapping.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct json_reader {
	struct row_reader rows;
	struct infile_lines lines;
	bool began;
	struct textbuf text, key; /* scratch */
};

static int refuse(const struct json_reader *j, const char *why, struct err *err)
{
	return err_set(err, -EBADMSG, "cannot read '%s': line %" PRIu64 " %s", infile_name(j->lines.in),
		       j->lines.number, why);
}

static int refuse_member(const struct json_reader *j, const char *key, struct err *err)
{
	return err_set(err, -EBADMSG, "cannot read '%s': line %" PRIu64 ": a wrong or missing \"%s\"",
		       infile_name(j->lines.in), j->lines.number, key);
}

static int no_memory(const struct json_reader *j, struct err *err)
{
	return row_reader_failed(&j->rows, -ENOMEM, err);
}

/*
 * Read an optional member; if it is missing, @out is unchanged. Return, for this and the next functions: 0; -errno,
 * described.
 */
static int get_number(const struct json_reader *j, const json_t *object, const char *key, uint64_t max, uint64_t *out,
		      struct err *err)
{
	const json_t *value = json_object_get(object, key);

	if (!value)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0 || (uint64_t)json_integer_value(value) > max)
		return refuse_member(j, key, err);
	*out = (uint64_t)json_integer_value(value);
	return 0;
}

static int get_text(const struct json_reader *j, const json_t *object, const char *key, const char **out,
		    struct err *err)
{
	const json_t *value = json_object_get(object, key);

	if (value && !json_is_string(value))
		return refuse_member(j, key, err);
	*out = value ? json_string_value(value) : NULL;
	return 0;
}

/* Read a member like "0x1f". */
static int get_hex(const struct json_reader *j, const json_t *object, const char *key, uint64_t *out, struct err *err)
{
	const char *text;
	int rc = get_text(j, object, key, &text, err);

	if (rc || !text)
		return rc;
	if (strncmp(text, "0x", 2) != 0)
		return refuse_member(j, key, err);
	text += 2;
	return parse_digits(&text, 16, UINT64_MAX, out) || *text ? refuse_member(j, key, err) : 0;
}

static int get_build_id(const struct json_reader *j, const json_t *object, struct build_id *id,
			struct report_frame *frame, struct err *err)
{
	const char *text;
	int rc = get_text(j, object, "build_id", &text, err);

	if (rc || !text || !*text)
		return rc;
	if (!build_id_parse(id, text))
		return refuse_member(j, "build_id", err);
	frame->build_id = id->bytes;
	frame->build_id_size = id->size;
	return 0;
}

static int get_kind(const struct json_reader *j, const json_t *object, enum report_frame_kind *out, struct err *err)
{
	const char *text, *name;
	unsigned int kind;
	int rc = get_text(j, object, "kind", &text, err);

	if (rc)
		return rc;
	for (kind = 0; text && (name = json_kind_name(kind)); kind++)
		if (!strcmp(name, text)) {
			*out = (enum report_frame_kind)kind;
			return 0;
		}
	return refuse_member(j, "kind", err);
}

static int get_code(const struct json_reader *j, const json_t *object, struct report_frame *frame, struct err *err)
{
	uint64_t line = 0;
	int rc = get_text(j, object, "module", &frame->module, err);

	if (!rc)
		rc = get_text(j, object, "file", &frame->file, err);
	if (!rc)
		rc = get_hex(j, object, "address", &frame->address, err);
	if (!rc)
		rc = get_hex(j, object, "offset", &frame->offset, err);
	if (!rc)
		rc = get_number(j, object, "line", UINT_MAX, &line, err);
	frame->line = (unsigned int)line;
	return rc;
}

/* Text that is printed for code without a symbol is not a name. The module comes from its own member. */
static int set_name(struct json_reader *j, struct report_frame *frame, const char *name)
{
	const char *module = frame->module;

	j->text.len = 0;
	textbuf_put(&j->text, name, strlen(name) + 1);
	if (j->text.failed)
		return -ENOMEM;
	frame->name = j->text.bytes;
	if (frame->kind == REPORT_FRAME_UNKNOWN || frame->kind == REPORT_FRAME_KERNEL)
		read_name(frame, j->text.bytes);
	if (module)
		frame->module = module;
	return 0;
}

static int label_object(struct json_reader *j, const json_t *object, struct read_frame *out, struct err *err)
{
	struct report_frame frame = { 0 };
	struct build_id build_id;
	const char *name;
	int rc = get_text(j, object, "name", &name, err);

	if (!rc && !name)
		rc = refuse_member(j, "name", err);
	if (!rc)
		rc = get_kind(j, object, &frame.kind, err);
	if (!rc)
		rc = get_code(j, object, &frame, err);
	if (!rc)
		rc = get_build_id(j, object, &build_id, &frame, err);
	if (rc)
		return rc;
	if (set_name(j, &frame, name))
		return no_memory(j, err);
	rc = row_reader_label(&j->rows, &frame, out);
	return rc ? row_reader_failed(&j->rows, rc, err) : 0;
}

static int append(const char *bytes, size_t len, void *b)
{
	textbuf_put(b, bytes, len);
	return 0;
}

static int push_object(struct json_reader *j, const json_t *object, struct err *err)
{
	struct read_frame *frame;
	bool is_new;
	int rc;

	if (!json_is_object(object))
		return refuse_member(j, "frames", err);
	j->key.len = 0;
	if (json_dump_callback(object, append, &j->key, JSON_COMPACT) || j->key.failed ||
	    row_reader_known(&j->rows, &(struct text_ref){ j->key.bytes, j->key.len }, &frame, &is_new))
		return no_memory(j, err);
	rc = is_new ? label_object(j, object, frame, err) : 0;
	return rc || !row_reader_push(&j->rows, frame) ? rc : no_memory(j, err);
}

static int push_objects(struct json_reader *j, const json_t *object, struct err *err)
{
	const json_t *frames = json_object_get(object, "frames");
	size_t i;
	int rc = 0;

	if (!json_is_array(frames))
		return refuse_member(j, "frames", err);
	if (json_array_size(frames) > READ_DEPTH)
		return refuse(j, "has more than 65536 frames", err);
	for (i = 0; !rc && i < json_array_size(frames); i++)
		rc = push_object(j, json_array_get(frames, i), err);
	return rc;
}

static int get_ids(const struct json_reader *j, const json_t *object, struct read_row *row, struct err *err)
{
	uint64_t pid = 0, tid = 0;
	int rc = get_number(j, object, "pid", INT_MAX, &pid, err);

	if (!rc)
		rc = get_number(j, object, "tid", INT_MAX, &tid, err);
	row->pid = (pid_t)pid;
	row->tid = (pid_t)tid;
	return rc;
}

static int read_row(struct json_reader *j, const json_t *object, struct err *err)
{
	struct read_row row = { 0 };
	int rc = get_text(j, object, "comm", &row.comm, err);

	if (!rc && !row.comm)
		rc = refuse_member(j, "comm", err);
	if (!rc && !json_object_get(object, "value"))
		rc = refuse_member(j, "value", err);
	if (!rc && json_object_get(object, "before"))
		rc = refuse(j, "compares two reports, which cannot be read as one", err);
	if (!rc)
		rc = get_number(j, object, "value", INT64_MAX, &row.value, err);
	row.times = row.value;
	if (!rc)
		rc = get_number(j, object, "times", INT64_MAX, &row.times, err);
	if (!rc)
		rc = get_text(j, object, "cgroup", &row.cgroup, err);
	if (!rc)
		rc = get_text(j, object, "input", &row.input, err);
	if (!rc)
		rc = get_ids(j, object, &row, err);
	if (!rc)
		rc = push_objects(j, object, err);
	if (rc)
		return rc;
	rc = row_reader_add(&j->rows, &row);
	return rc ? row_reader_failed(&j->rows, rc, err) : 0;
}

static int keep_text(const struct json_reader *j, const json_t *object, const char *key, char **to, struct err *err)
{
	const char *text;
	int rc = get_text(j, object, key, &text, err);

	if (rc || !text)
		return rc;
	*to = strdup(text);
	return *to ? 0 : no_memory(j, err);
}

static int read_facts(const struct json_reader *j, const json_t *object, struct read_facts *facts, struct err *err)
{
	uint64_t when = 0, cpus = 0;
	int rc = keep_text(j, object, "host", &facts->host, err);

	if (!rc)
		rc = keep_text(j, object, "kernel", &facts->kernel, err);
	if (!rc)
		rc = keep_text(j, object, "backend", &facts->backend, err);
	if (!rc)
		rc = keep_text(j, object, "unwind", &facts->unwinder, err);
	if (!rc)
		rc = keep_text(j, object, "event", &facts->event, err);
	if (!rc)
		rc = get_number(j, object, "time", INT64_MAX, &when, err);
	if (!rc)
		rc = get_number(j, object, "cpus", UINT_MAX, &cpus, err);
	facts->time = (int64_t)when;
	facts->cpus = (unsigned int)cpus;
	return rc;
}

/* If several files were concatenated, each has such a line. */
static int read_head(struct json_reader *j, const json_t *object, struct err *err)
{
	struct read_about *about = j->rows.about;
	const char *unit;
	uint64_t version = 0, period_ns = 0;
	bool usec;
	int rc = get_number(j, object, JSON_VERSION_KEY, INT64_MAX, &version, err);

	if (!rc && version != JSON_VERSION)
		rc = refuse(j, "is of a newer version of this format", err);
	if (!rc)
		rc = get_number(j, object, "period_ns", INT64_MAX, &period_ns, err);
	if (!rc)
		rc = get_text(j, object, "unit", &unit, err);
	if (rc)
		return rc;
	usec = unit && !strcmp(unit, report_unit_name(UNIT_USEC));
	if (!unit || (!usec && strcmp(unit, report_unit_name(UNIT_SAMPLES)) != 0))
		return refuse_member(j, "unit", err);
	if (j->began && about->unit != (usec ? UNIT_USEC : UNIT_SAMPLES))
		return refuse(j, "begins a report in another unit", err);
	about->unit = usec ? UNIT_USEC : UNIT_SAMPLES;
	about->unit_told = true;
	about->period_ns = period_ns;
	read_facts_clear(&about->facts);
	rc = j->began ? 0 : read_facts(j, object, &about->facts, err);
	j->began = true;
	return rc;
}

static int read_object(struct json_reader *j, const json_t *object, struct err *err)
{
	if (json_object_get(object, JSON_VERSION_KEY))
		return read_head(j, object, err);
	if (!j->began)
		return refuse(j, "does not begin a report of fleetprof", err);
	return json_object_get(object, JSON_COUNTS_KEY) ? 0 : read_row(j, object, err);
}

static int read_line(struct json_reader *j, struct err *err)
{
	char why[NAME_SHOWN + 1];
	json_error_t error;
	json_t *object = json_loadb(j->lines.line, j->lines.len, JSON_REJECT_DUPLICATES, &error);
	int rc;

	if (!object && json_error_code(&error) == json_error_out_of_memory)
		return no_memory(j, err);
	if (!object && !j->began)
		return refuse(j, "does not begin a report of fleetprof", err);
	if (!object)
		return err_set(err, -EBADMSG, "cannot read '%s': line %" PRIu64 ", byte %d: %s",
			       infile_name(j->lines.in), j->lines.number, error.position, name_shown(error.text, why));
	rc = json_is_object(object) ? read_object(j, object, err) : refuse(j, "is no JSON object", err);
	json_decref(object);
	return rc;
}

int read_json(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
	      struct err *err)
{
	struct json_reader j = { .rows = { in, r, cfg, about }, .lines = { .in = in } };
	int rc;

	while ((rc = infile_line(&j.lines, err)) > 0) {
		rc = j.lines.len ? read_line(&j, err) : 0;
		if (rc)
			break;
	}
	infile_lines_release(&j.lines);
	row_reader_release(&j.rows);
	free(j.text.bytes);
	free(j.key.bytes);
	return rc;
}
