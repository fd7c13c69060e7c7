// SPDX-License-Identifier: Apache-2.0
/*
 * The form that https://www.speedscope.app reads: a profile for each report, with stacks and their weights. The frames,
 * which all profiles share, come last, when all are known. The root of a stack is the comm of its task, and nothing
 * else of the task is written.
 */
#include "core/formats/frame_table.h"
#include "core/formats/json_text.h"

#include "core/base/grow.h"
#include "core/base/saturate.h"
#include "core/report/forms.h"
#include "core/report/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * @interval: the current report; @profiles: number of profiles begun; @in_profile: one has begun and not ended
 * @weights:  the values of the rows of the current report; @total: their sum
 */
struct speedscope {
	struct frame_table frames;
	enum report_unit unit;
	struct report_interval interval;
	unsigned int profiles;
	bool in_profile;
	uint64_t *weights, total;
	size_t nr_weights, weights_cap;
	struct textbuf text; /* scratch */
};

static void speedscope_label(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *frame)
{
	json_t *object = json_object();
	struct textbuf name = { 0 };
	int rc;

	(void)cfg;
	report_frame_name(&name, frame, report_speedscope.semicolon);
	rc = json_object_set_new(object, "name", json_of_text(&(struct text_ref){ name.bytes, name.len }));
	if (!rc && frame->file)
		rc = json_add_name(object, "file", frame->file);
	if (!rc && frame->file && frame->line)
		rc = json_add_number(object, "line", frame->line);
	if (rc || name.failed)
		b->failed = true;
	json_put(b, object);
	free(name.bytes);
}

/* Everything before the profiles, known before the first report. */
static int put_head(struct textbuf *b, const struct report_about *about)
{
	json_t *object = json_object();
	int rc = json_add_name(object, "$schema", "https://www.speedscope.app/file-format-schema.json");

	if (!rc)
		rc = json_add_name(object, "exporter", about->tool);
	if (!rc)
		rc = json_add_name(object, "name", about->command);
	json_put(b, object);
	if (rc || b->failed)
		return -ENOMEM;
	b->len--; /* the brace, which comes later */
	return 0;
}

static int speedscope_begin(struct report_output *o, const struct report_about *about)
{
	struct speedscope *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return -ENOMEM;
	o->state = s;
	s->unit = about->unit;
	rc = put_head(&s->text, about);
	if (rc)
		return rc;
	fwrite(s->text.bytes, 1, s->text.len, o->out);
	fputs(",\n\"profiles\":[", o->out);
	return 0;
}

static void speedscope_interval(struct report_output *o, const struct report_interval *interval)
{
	struct speedscope *s = o->state;

	s->interval = *interval;
	frame_table_begin(&s->frames);
}

static void begin_profile(struct speedscope *s, FILE *out)
{
	fprintf(out, "%s\n{\"type\":\"sampled\",\"name\":\"", s->profiles++ ? "," : "");
	if (s->interval.number)
		fprintf(out, "Interval %u, %.3f secs", s->interval.number, s->interval.seconds);
	else
		fputs(s->unit == UNIT_USEC ? "time" : "samples", out);
	fprintf(out, "\",\"unit\":\"%s\",\"samples\":[", s->unit == UNIT_USEC ? "microseconds" : "none");
	s->in_profile = true;
	s->nr_weights = 0;
	s->total = 0;
}

static int add_weight(struct speedscope *s, uint64_t value)
{
	uint64_t *weights = grow(s->weights, &s->weights_cap, s->nr_weights, 1, sizeof(*weights));

	if (!weights)
		return -ENOMEM;
	s->weights = weights;
	weights[s->nr_weights++] = value;
	s->total = add_or_max(s->total, value);
	return 0;
}

static int find_comm(struct speedscope *s, const struct text_ref *comm, uint32_t *nr)
{
	json_t *object = json_object();
	bool is_new;
	int rc = json_object_set_new(object, "name", json_of_text(comm));

	s->text.len = 0;
	json_put(&s->text, object);
	if (rc || s->text.failed)
		return -ENOMEM;
	return frame_table_find(&s->frames, &(struct text_ref){ s->text.bytes, s->text.len }, nr, &is_new);
}

static int speedscope_row(struct report_output *o, const struct report_row *row)
{
	struct speedscope *s = o->state;
	uint32_t frame;
	bool is_new;
	size_t i;
	int rc = find_comm(s, &row->comm, &frame);

	if (rc)
		return rc;
	if (!s->in_profile)
		begin_profile(s, o->out);
	fprintf(o->out, "%s\n[%" PRIu32, s->nr_weights ? "," : "", frame);
	for (i = 0; i < row->nr; i++) {
		rc = frame_table_add(&s->frames, row, i, &frame, &is_new);
		if (rc)
			return rc;
		fprintf(o->out, ",%" PRIu32, frame);
	}
	putc_unlocked(']', o->out);
	return add_weight(s, row->value);
}

static int speedscope_counts(struct report_output *o, const struct report_counts *counts)
{
	struct speedscope *s = o->state;
	size_t i;

	(void)counts;
	if (!s->in_profile)
		begin_profile(s, o->out);
	fputs("],\n\"weights\":[", o->out);
	for (i = 0; i < s->nr_weights; i++)
		fprintf(o->out, "%s%" PRIu64, i ? "," : "", s->weights[i]);
	fprintf(o->out, "],\"startValue\":0,\"endValue\":%" PRIu64 "}", s->total);
	s->in_profile = false;
	return 0;
}

static void write_frames(const struct frame_table *t, FILE *out)
{
	const struct text_ref *frames = t->frames.v;
	size_t i;

	fputs("],\n\"shared\":{\"frames\":[", out);
	for (i = 0; i < t->frames.nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		fwrite_unlocked(frames[i].bytes, 1, frames[i].len, out);
	}
	fputs("]}}\n", out);
}

static int speedscope_end(struct report_output *o, bool whole)
{
	struct speedscope *s = o->state;

	o->state = NULL;
	if (!s)
		return 0;
	if (whole)
		write_frames(&s->frames, o->out);
	frame_table_release(&s->frames);
	free(s->weights);
	free(s->text.bytes);
	free(s);
	return 0;
}

static const char *const speedscope_suffixes[] = { ".speedscope.json", NULL };

const struct report_writer report_speedscope = {
	.name = "speedscope",
	.suffixes = speedscope_suffixes,
	.delimiter = "-",
	.semicolon = ';',
	.names_only = true,
	.label = speedscope_label,
	.begin = speedscope_begin,
	.interval = speedscope_interval,
	.row = speedscope_row,
	.counts = speedscope_counts,
	.end = speedscope_end,
};
