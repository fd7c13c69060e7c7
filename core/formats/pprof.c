// SPDX-License-Identifier: Apache-2.0
/*
 * The form that pprof reads: messages of profile.proto, compressed as gzip(1) does.
 *
 * A Profile is written in pieces, each as soon as it is known. Only the strings, the frames, and the keys of functions,
 * mappings and locations stay in memory.
 */
#include "core/formats/pieces.h"
#include "core/formats/pprof_locations.h"
#include "core/formats/pprof_names.h"

#include "core/base/err.h"
#include "core/base/saturate.h"
#include "core/report/forms.h"
#include "core/report/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES 2
#define NSEC       1000000000.0

enum pprof_label { LABEL_COMM, LABEL_PID, LABEL_TID, LABEL_CGROUP, LABEL_INPUT, LABEL_INTERVAL, LABEL_BASE, LABEL_NR };

static const char *const label_names[] = {
	[LABEL_COMM] = PPROF_COMM,     [LABEL_PID] = PPROF_PID,     [LABEL_TID] = PPROF_TID,
	[LABEL_CGROUP] = PPROF_CGROUP, [LABEL_INPUT] = PPROF_INPUT, [LABEL_INTERVAL] = "interval",
	[LABEL_BASE] = PPROF_BASE,
};

/*
 * Names of the two sample types: the count and the value. pprof shows the last type by default. A report of CPU time
 * and of intervals off the CPU has wall clock time; a report of such intervals alone has the names of Go's blocking
 * profiles.
 */
struct pprof_type {
	const char *count, *worth; /* NULL: there is only @count */
};

static const struct pprof_type type_events = { "samples", NULL };
static const struct pprof_type type_cpu = { "samples", "cpu" };
static const struct pprof_type type_wall = { "samples", "wall" };
static const struct pprof_type type_delay = { "contentions", "delay" };

struct pprof {
	const struct pprof_type *type;
	enum report_unit unit;
	uint64_t period_ns;
	double seconds;
	unsigned int interval;
	int64_t label_keys[LABEL_NR];
	struct pieces pieces;
	struct pprof_locations locations;
};

static int64_t signed_value(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static size_t set_values(const struct pprof *p, uint64_t value, uint64_t times, int64_t values[MAX_VALUES])
{
	bool is_time = p->unit == UNIT_USEC;

	values[0] = signed_value(is_time ? times : value);
	values[1] = signed_value(mul_or_max(value, is_time ? 1000 : p->period_ns));
	return p->type->worth ? 2 : 1;
}

/* Labels of a sample that are being collected. */
struct sample_labels {
	Pprof__Label v[LABEL_NR];
	Pprof__Label *refs[LABEL_NR];
	size_t nr;
};

static Pprof__Label *add_label(const struct pprof *p, struct sample_labels *labels, enum pprof_label label)
{
	Pprof__Label *l = &labels->v[labels->nr];

	pprof__label__init(l);
	l->key = p->label_keys[label];
	labels->refs[labels->nr++] = l;
	return l;
}

static int add_text_label(struct pprof *p, struct sample_labels *labels, enum pprof_label label,
			  const struct text_ref *text)
{
	uint32_t nr;
	int rc;

	p->pieces.text.len = 0;
	textbuf_put(&p->pieces.text, text->bytes, text->len);
	rc = pieces_add_text(&p->pieces, &nr);
	if (!rc)
		add_label(p, labels, label)->str = nr;
	return rc;
}

static void add_number_label(const struct pprof *p, struct sample_labels *labels, enum pprof_label label, int64_t nr)
{
	if (nr)
		add_label(p, labels, label)->num = nr;
}

static int add_labels(struct pprof *p, const struct report_row *row, struct sample_labels *labels)
{
	int rc;

	labels->nr = 0;
	add_number_label(p, labels, LABEL_PID, row->pid);
	add_number_label(p, labels, LABEL_TID, row->tid);
	add_number_label(p, labels, LABEL_INTERVAL, p->interval);
	rc = add_text_label(p, labels, LABEL_COMM, &row->comm);
	if (!rc && row->cgroup.len)
		rc = add_text_label(p, labels, LABEL_CGROUP, &row->cgroup);
	if (!rc && row->input.len)
		rc = add_text_label(p, labels, LABEL_INPUT, &row->input);
	return rc;
}

/* Samples of the report to compare with have negative values, and a label that pprof knows. */
static int write_sample(struct pprof *p, Pprof__Sample *sample, struct sample_labels *labels, uint64_t value,
			uint64_t times, bool is_base)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	int64_t values[MAX_VALUES];
	size_t i;
	int rc = is_base ? add_text_label(p, labels, LABEL_BASE, &(struct text_ref){ "true", 4 }) : 0;

	sample->n_value = set_values(p, value, times, values);
	for (i = 0; is_base && i < sample->n_value; i++)
		values[i] = -values[i];
	sample->value = values;
	sample->label = labels->refs;
	sample->n_label = labels->nr;
	piece.sample = &sample;
	piece.n_sample = 1;
	return rc ? rc : pieces_add(&p->pieces, &piece);
}

static int pprof_row(struct report_output *o, const struct report_row *row)
{
	struct pprof *p = o->state;
	Pprof__Sample sample = PPROF__SAMPLE__INIT;
	struct sample_labels labels;
	int rc = pprof_locations_of(&p->locations, row, &sample);

	if (!rc)
		rc = add_labels(p, row, &labels);
	if (!rc && (row->value || row->times))
		rc = write_sample(p, &sample, &labels, row->value, row->times, false);
	if (!rc && (row->before || row->times_before))
		rc = write_sample(p, &sample, &labels, row->before, row->times_before, true);
	return rc;
}

static const struct pprof_type *type_of(const struct report_about *about)
{
	if (about->unit == UNIT_USEC)
		return about->period_ns ? &type_wall : &type_delay;
	return about->period_ns ? &type_cpu : &type_events;
}

static int set_type(struct pprof *p, Pprof__ValueType *out, const char *type, const char *unit)
{
	uint32_t type_nr = 0, unit_nr = 0;
	int rc = pieces_add_string(&p->pieces, type, &type_nr);

	if (!rc)
		rc = pieces_add_string(&p->pieces, unit, &unit_nr);
	pprof__value_type__init(out);
	out->type = type_nr;
	out->unit = unit_nr;
	return rc;
}

static int write_types(struct pprof *p)
{
	Pprof__ValueType types[MAX_VALUES], *refs[MAX_VALUES] = { &types[0], &types[1] };
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	int rc = set_type(p, &types[0], p->type->count, "count");

	if (!rc && p->type->worth)
		rc = set_type(p, &types[1], p->type->worth, "nanoseconds");
	piece.sample_type = refs;
	piece.n_sample_type = p->type->worth ? 2 : 1;
	if (!rc)
		piece.default_sample_type = types[piece.n_sample_type - 1].type;
	return rc ? rc : pieces_add(&p->pieces, &piece);
}

/* Write what a sample stands for: CPU time, one interval off the CPU, or an unknown number of events. */
static int write_period(struct pprof *p, const struct report_about *about)
{
	Pprof__ValueType type;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	int rc;

	piece.time_nanos = signed_value(mul_or_max(about->time > 0 ? (uint64_t)about->time : 0, 1000000000));
	piece.period_type = &type;
	piece.period = signed_value(about->period_ns);
	if (about->period_ns) {
		rc = set_type(p, &type, "cpu", "nanoseconds");
	} else if (about->unit == UNIT_USEC) {
		rc = set_type(p, &type, p->type->count, "count");
		piece.period = 1;
	} else {
		p->pieces.text.len = 0;
		textbuf_name(&p->pieces.text, about->event ? about->event : "samples", report_pprof.semicolon);
		textbuf_put(&p->pieces.text, "", 1);
		rc = p->pieces.text.failed ? -ENOMEM : set_type(p, &type, p->pieces.text.bytes, "count");
	}
	return rc ? rc : pieces_add(&p->pieces, &piece);
}

static int add_comment(struct pprof *p, const char *what, const char *text)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	int64_t comment;
	uint32_t nr;
	int rc;

	if (!text)
		return 0;
	p->pieces.text.len = 0;
	textbuf_put(&p->pieces.text, what, strlen(what));
	textbuf_put(&p->pieces.text, ": ", 2);
	textbuf_name(&p->pieces.text, text, report_pprof.semicolon);
	rc = pieces_add_text(&p->pieces, &nr);
	comment = nr;
	piece.comment = &comment;
	piece.n_comment = 1;
	return rc ? rc : pieces_add(&p->pieces, &piece);
}

static int write_comments(struct pprof *p, const struct report_about *about)
{
	const struct about_text texts[] = ABOUT_TEXTS(about);
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < ARRAY_SIZE(texts); i++)
		rc = add_comment(p, texts[i].key, texts[i].text);
	return rc;
}

static int add_label_keys(struct pprof *p)
{
	uint32_t nr;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < LABEL_NR; i++) {
		rc = pieces_add_string(&p->pieces, label_names[i], &nr);
		p->label_keys[i] = nr;
	}
	return rc;
}

/* Readers that recognize a file by its beginning expect the types there: only a few strings come before them. */
static int write_head(struct pprof *p, const struct report_about *about)
{
	int rc = write_types(p);

	if (!rc)
		rc = write_period(p, about);
	if (!rc)
		rc = write_comments(p, about);
	return rc ? rc : add_label_keys(p);
}

static int pprof_begin(struct report_output *o, const struct report_about *about)
{
	struct pprof *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ENOMEM;
	o->state = p;
	p->type = type_of(about);
	p->unit = about->unit;
	p->period_ns = about->period_ns;
	p->locations.pieces = &p->pieces;
	rc = pieces_begin(&p->pieces, o->out);
	return rc ? rc : write_head(p, about);
}

static void pprof_interval(struct report_output *o, const struct report_interval *interval)
{
	struct pprof *p = o->state;

	p->interval = interval->number;
	frame_table_begin(&p->locations.table);
}

static int pprof_counts(struct report_output *o, const struct report_counts *counts)
{
	struct pprof *p = o->state;
	char text[128];

	p->seconds += counts->seconds;
	if (!counts->known)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64 " taken, %" PRIu64 " counted, %" PRIu64 " lost", counts->taken,
		 counts->counted, counts->lost);
	return add_comment(p, counts->intervals ? "intervals" : "samples", text);
}

static int write_duration(struct pprof *p)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	piece.duration_nanos = p->seconds * NSEC < (double)INT64_MAX ? (int64_t)(p->seconds * NSEC) : INT64_MAX;
	return pieces_add(&p->pieces, &piece);
}

static int pprof_end(struct report_output *o, bool whole)
{
	struct pprof *p = o->state;
	int rc = 0;

	if (p && whole) {
		rc = write_duration(p);
		if (!rc)
			rc = pieces_end(&p->pieces);
	}
	if (p) {
		pprof_locations_release(&p->locations);
		pieces_release(&p->pieces);
	}
	free(p);
	o->state = NULL;
	return rc;
}

static const char *const pprof_suffixes[] = { ".pb.gz", ".pprof", NULL };

const struct report_writer report_pprof = {
	.name = "pprof",
	.suffixes = pprof_suffixes,
	.delimiter = "-",
	.semicolon = ';',
	.prints_pid = true,
	.prints_tid = true,
	.prints_origin = true,
	.structured = true,
	.compares = true,
	.names_only = true,
	.label = pprof_label,
	.begin = pprof_begin,
	.interval = pprof_interval,
	.row = pprof_row,
	.counts = pprof_counts,
	.end = pprof_end,
};
