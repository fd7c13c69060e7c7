// SPDX-License-Identifier: Apache-2.0
#include "core/cli/about.h"

#include "core/base/clock.h"
#include "core/base/memstream.h"
#include "core/base/percent.h"
#include "core/base/saturate.h"
#include "core/cli/options.h"
#include "core/events/event_rings.h"
#include "core/session/statistics.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* End the stream of memstream_begin(). Return: the text, which the caller frees; NULL: no memory */
static char *end_text(FILE *f, struct textbuf *text)
{
	memstream_end(f, text);
	return text->bytes;
}

static char *make_header(const struct options *o, const struct session *s)
{
	struct textbuf text;
	FILE *f = memstream_begin(&text);

	if (f && !session_is_live(s))
		options_header_recorded(f, o, &s->recording);
	else if (f)
		options_header(f, o, s->events.user_only.code);
	return end_text(f, &text);
}

/* Join the arguments, so that a shell could run them if none needs quoting. */
static char *join_arguments(char *const *argv)
{
	struct textbuf text;
	FILE *f = memstream_begin(&text);

	for (; f && argv && *argv; argv++)
		fprintf(f, "%s%s", *argv, argv[1] ? " " : "");
	return end_text(f, &text);
}

/* @header: owned; NULL: no memory */
static int add_texts(const struct options *o, char *header, struct about_texts *texts, struct report_about *out,
		     struct err *err)
{
	texts->header = header;
	texts->command = join_arguments(o->arguments);
	if (!texts->header || !texts->command)
		return err_sys(err, -ENOMEM, "cannot begin the report");
	out->header = texts->header;
	out->command = texts->command;
	return 0;
}

/* A recording may come from another host. */
static void set_host(const struct session *s, struct about_texts *t, struct report_about *out)
{
	if (!session_is_live(s))
		return;
	if (!uname(&t->host)) {
		out->host = t->host.nodename;
		out->kernel = t->host.release;
	}
	out->time = time(NULL);
	out->cpus = (unsigned int)s->events.nr_cpus;
}

/* If samples are taken at a rate, each stands for CPU time, whatever the event is. */
static uint64_t sample_ns(const struct session *s)
{
	const struct sampling *of = &s->request.sampling;

	if (!session_is_live(s))
		return s->recording.freq_hz ? NSEC_PER_SEC / s->recording.freq_hz : 0;
	return events_sample_rate(of, of->event) ? events_period_ns(of) : 0;
}

int about_run(const struct options *o, const struct session *s, struct about_texts *texts, struct report_about *out,
	      struct err *err)
{
	const struct event_type *event = s->request.sampling.event;

	*texts = (struct about_texts){ 0 };
	*out = (struct report_about){
		.tool = tool_name(o->tool),
		.version = PROFILE_VERSION,
		.backend = session_way_name(s),
		.unwinder = unwind_name(o->unwind),
		.event = !session_is_live(s) ? s->recording.event
			 : event             ? event->name
					     : NULL,
		.period_ns = event ? sample_ns(s) : 0,
		.unit = s->request.off_cpu.wanted ? UNIT_USEC : UNIT_SAMPLES,
		.off_cpu = s->request.off_cpu.wanted,
	};
	set_host(s, texts, out);
	return add_texts(o, make_header(o, s), texts, out, err);
}

int about_infile(const struct options *o, const struct infile *in, const struct read_about *read,
		 struct about_texts *texts, struct report_about *out, struct err *err)
{
	struct textbuf header;
	FILE *f = memstream_begin(&header);

	*texts = (struct about_texts){ 0 };
	*out = (struct report_about){
		.tool = tool_name(o->tool),
		.version = PROFILE_VERSION,
		.period_ns = read->period_ns,
		.unit = read->unit,
	};
	/* Several files may come from several hosts. */
	if (o->nr_inputs == 1) {
		out->host = read->facts.host;
		out->kernel = read->facts.kernel;
		out->backend = read->facts.backend;
		out->unwinder = read->facts.unwinder;
		out->event = read->facts.event;
		out->time = read->facts.time;
		out->cpus = read->facts.cpus;
	}
	if (f)
		options_header_read(f, o, infile_name(in), infile_format_name(infile_format(in)));
	return add_texts(o, end_text(f, &header), texts, out, err);
}

void about_release(struct about_texts *texts)
{
	free(texts->header);
	free(texts->command);
}

/* Stacks walked by frame pointers are judged by their frames, the others by how the unwinding ended. */
static void count_stacks(const struct account *a, const struct report_quality *quality, struct report_counts *out)
{
	const struct task_quality *tasks = quality->tasks.v;
	const uint64_t *unwound = a->stats.unwound;
	struct quality all = { 0 };
	size_t i;

	for (i = 0; i < quality->tasks.nr; i++)
		quality_add(&all, &tasks[i].of);
	out->unnamed.part = add_or_max(all.by_flaw[FLAW_NO_SYMBOLS], all.by_flaw[FLAW_NO_MAP]);
	out->unnamed.all = all.all;
	if (quality->by_fp) {
		out->incomplete = (struct report_share){ all.by_flaw[FLAW_INCOMPLETE], all.all };
		return;
	}
	out->incomplete.part = unwound[UNWOUND_TRUNCATED] + unwound[UNWOUND_NO_RULES] + unwound[UNWOUND_BAD] +
			       unwound[UNWOUND_UNKNOWN] + unwound[UNWOUND_PROBED];
	out->incomplete.all = all.times;
}

/* The samples that were due, if all tasks were sampled: those not taken show idle CPUs. 0: unknown, or none missing. */
static uint64_t due_of_all(const struct session *s, const struct account *a)
{
	const struct request *r = &s->request;
	bool all = r->sampling.event && !r->filter.nr && !r->groups.cgroup && !r->command && !r->filter.idle;

	return all && a->due_known && a->due > a->stats.taken ? a->due : 0;
}

void about_counts(const struct session *s, const struct account *a, const struct report_quality *quality,
		  struct report_counts *out)
{
	const struct stats *b = &a->stats;

	*out = (struct report_counts){ .seconds = (double)a->sampled_ns / 1e9, .known = true };
	if (s->request.sampling.event) {
		out->due = due_of_all(s, a);
		out->taken = b->taken;
		out->counted = b->counted_kernel + b->counted_ring;
		out->lost = b->lost;
	} else {
		out->intervals = true;
		out->taken = b->intervals_begun;
		out->counted = b->intervals_charged;
		out->lost = b->intervals_lost;
	}
	count_stacks(a, quality, out);
}
