// SPDX-License-Identifier: Apache-2.0
/*
 * JSON, one object per line: the facts of the run, then each row, then the counts. See FORMATS in doc/profile.8: other
 * programs rely on the format, so members may be added, but the meaning of a member must not change.
 *
 * The label of a frame is its JSON object, so that each distinct one is made once.
 */
#include "core/formats/json_names.h"
#include "core/formats/json_text.h"

#include "core/base/err.h"
#include "core/report/forms.h"
#include "core/report/writer.h"

#include <inttypes.h>
#include <stdlib.h>

/* @interval: the current report; 0: there is only one */
struct json_state {
	unsigned int interval;
	struct textbuf text; /* scratch */
};

static int add_printed_name(json_t *object, const struct report_frame *frame)
{
	struct textbuf name = { 0 };
	int rc;

	report_frame_name(&name, frame, report_json.semicolon);
	rc = name.failed
		     ? -ENOMEM
		     : json_object_set_new(object, "name", json_of_text(&(struct text_ref){ name.bytes, name.len }));
	free(name.bytes);
	return rc;
}

static int add_hex(json_t *object, const char *key, uint64_t number)
{
	char hex[32];

	snprintf(hex, sizeof(hex), "0x%" PRIx64, number);
	return json_object_set_new(object, key, json_string(hex));
}

static int add_build_id(json_t *object, const struct report_frame *frame)
{
	struct textbuf hex = { 0 };
	int rc;

	report_frame_build_id(&hex, frame);
	rc = hex.failed
		     ? -ENOMEM
		     : json_object_set_new(object, "build_id", json_of_text(&(struct text_ref){ hex.bytes, hex.len }));
	free(hex.bytes);
	return rc;
}

/* Return, for this and the next functions: 0; otherwise there was no memory. */
static int add_code(json_t *object, const struct report_frame *frame)
{
	int rc = json_add_name(object, "module", frame->module);

	if (!rc && frame->build_id_size)
		rc = add_build_id(object, frame);
	if (!rc && report_frame_address(frame))
		rc = add_hex(object, "address", report_frame_address(frame));
	if (!rc && frame->offset)
		rc = add_hex(object, "offset", frame->offset);
	if (!rc)
		rc = json_add_name(object, "file", frame->file);
	if (!rc && frame->line)
		rc = json_add_number(object, "line", frame->line);
	return rc;
}

static int add_kind(json_t *object, const struct report_frame *frame)
{
	bool is_code = frame->kind != REPORT_FRAME_MARKER && frame->kind != REPORT_FRAME_FUNCTION;
	int rc = json_object_set_new(object, "kind", json_string(json_kind_name(frame->kind)));

	return rc || !is_code ? rc : add_code(object, frame);
}

/* In a comparison, a frame has only a name: the program may have been built again, and not each format has kinds. */
static void json_label(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *frame)
{
	json_t *object = json_object();
	int rc = add_printed_name(object, frame);

	if (!rc && !cfg->compared)
		rc = add_kind(object, frame);
	if (rc)
		b->failed = true;
	json_put(b, object);
}

static int add_about_names(json_t *object, const struct report_about *about)
{
	const struct about_text texts[] = ABOUT_TEXTS(about);
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < ARRAY_SIZE(texts); i++)
		rc = json_add_name(object, texts[i].key, texts[i].text);
	return rc;
}

static int add_about(json_t *object, const struct report_about *about)
{
	int rc = json_add_number(object, JSON_VERSION_KEY, JSON_VERSION);

	if (!rc)
		rc = add_about_names(object, about);
	if (!rc && about->time > 0)
		rc = json_add_number(object, "time", (uint64_t)about->time);
	if (!rc && about->cpus)
		rc = json_add_number(object, "cpus", about->cpus);
	if (!rc && about->period_ns)
		rc = json_add_number(object, "period_ns", about->period_ns);
	if (!rc)
		rc = json_add_name(object, "unit", report_unit_name(about->unit));
	return rc || !about->off_cpu ? rc : json_object_set_new(object, "off_cpu", json_true());
}

/* Write @object as a line and free it. @rc: result of adding its members */
static int write_line(struct report_output *o, json_t *object, int rc)
{
	struct json_state *s = o->state;

	s->text.len = 0;
	json_put(&s->text, object);
	textbuf_put(&s->text, "\n", 1);
	if (rc || s->text.failed)
		return -ENOMEM;
	fwrite(s->text.bytes, 1, s->text.len, o->out);
	return 0;
}

static int json_begin(struct report_output *o, const struct report_about *about)
{
	struct json_state *s = calloc(1, sizeof(*s));
	json_t *object;

	if (!s)
		return -ENOMEM;
	o->state = s;
	object = json_object();
	return write_line(o, object, add_about(object, about));
}

static void json_interval(struct report_output *o, const struct report_interval *interval)
{
	((struct json_state *)o->state)->interval = interval->number;
}

static int write_frames(struct report_output *o, const struct report_row *row)
{
	size_t i;

	fputs("\"frames\":[", o->out);
	for (i = 0; i < row->nr; i++) {
		if (i)
			putc_unlocked(',', o->out);
		fwrite_unlocked(row->texts[i].bytes, 1, row->texts[i].len, o->out);
	}
	fputs("]}\n", o->out);
	return 0;
}

static int json_row(struct report_output *o, const struct report_row *row)
{
	struct json_state *s = o->state;
	json_t *object = json_object();
	int rc = object ? 0 : -ENOMEM;

	if (!rc && s->interval)
		rc = json_add_number(object, "interval", s->interval);
	if (!rc)
		rc = json_object_set_new(object, "comm", json_of_text(&row->comm));
	if (!rc && row->pid)
		rc = json_add_number(object, "pid", (uint64_t)row->pid);
	if (!rc && row->tid)
		rc = json_add_number(object, "tid", (uint64_t)row->tid);
	if (!rc && row->cgroup.len)
		rc = json_object_set_new(object, "cgroup", json_of_text(&row->cgroup));
	if (!rc && row->input.len)
		rc = json_object_set_new(object, "input", json_of_text(&row->input));
	if (!rc)
		rc = json_add_number(object, "value", row->value);
	if (!rc)
		rc = json_add_number(object, "times", row->times);
	if (!rc && (row->before || row->times_before))
		rc = json_add_number(object, "before", row->before);
	s->text.len = 0;
	json_put(&s->text, object);
	if (rc || s->text.failed)
		return -ENOMEM;
	s->text.bytes[s->text.len - 1] = ','; /* this was the brace */
	fwrite_unlocked(s->text.bytes, 1, s->text.len, o->out);
	return write_frames(o, row);
}

static int add_known(json_t *object, const struct report_counts *counts)
{
	const struct {
		const char *key;
		uint64_t number;
	} numbers[] = {
		{ "taken", counts->taken },
		{ "counted", counts->counted },
		{ "lost", counts->lost },
	};
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < ARRAY_SIZE(numbers); i++)
		rc = json_add_number(object, numbers[i].key, numbers[i].number);
	if (!rc &&
	    (json_object_set_new(object, "incomplete_percent", json_real(report_share_percent(&counts->incomplete))) ||
	     json_object_set_new(object, "unnamed_percent", json_real(report_share_percent(&counts->unnamed)))))
		rc = -ENOMEM;
	return rc;
}

static int json_counts(struct report_output *o, const struct report_counts *counts)
{
	const struct json_state *s = o->state;
	json_t *inner = json_object(), *object = json_object();
	int rc = inner ? 0 : -ENOMEM;

	if (!rc && s->interval)
		rc = json_add_number(inner, "interval", s->interval);
	if (!rc)
		rc = json_object_set_new(inner, "seconds", json_real(counts->seconds));
	if (!rc && counts->known)
		rc = add_known(inner, counts);
	if (json_object_set_new(object, JSON_COUNTS_KEY, inner))
		rc = -ENOMEM;
	return write_line(o, object, rc);
}

static int json_end(struct report_output *o, bool whole)
{
	struct json_state *s = o->state;

	(void)whole;
	if (s)
		free(s->text.bytes);
	free(s);
	o->state = NULL;
	return 0;
}

static const char *const json_suffixes[] = { ".json", NULL };

const struct report_writer report_json = {
	.name = "json",
	.suffixes = json_suffixes,
	.delimiter = "-",
	.semicolon = ';',
	.prints_pid = true,
	.prints_tid = true,
	.prints_origin = true,
	.compares = true,
	.names_only = true,
	.label = json_label,
	.begin = json_begin,
	.interval = json_interval,
	.row = json_row,
	.counts = json_counts,
	.end = json_end,
};
