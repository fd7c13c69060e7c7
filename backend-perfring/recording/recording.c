// SPDX-License-Identifier: Apache-2.0
/*
 * The backend that reads recordings of perf record. They have the same records as the rings, so the same code decodes
 * and applies them, in time order as far as the marks between perf record's rounds permit.
 */
#include "backend-perfring/recording/recording.h"

#include "core/base/grow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CPUS      65536         /* as in core/host/host.h; other CPU numbers, or none, count as CPU 0 */
#define ROUND_BYTES   (256UL << 20) /* a round ends here, to limit memory; only hostile files have longer ones */
#define DRAIN_RECORDS 65536

/* ---- choice of the event */

static int choose_event(struct source *b, struct err *err)
{
	const uint64_t copies = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	const struct request *request = b->env->request;
	const struct input *in = &request->input;
	struct recording *r = b->env->recording;
	const struct perf_event_attr *attr;
	char names[EVENT_NAMES_BYTES];

	choice_list(&b->choice, b->pd, names);
	if (b->choice.event == SIZE_MAX && in->event && *names)
		return err_set(err, -ENOENT, "event '%.100s' is not in '%.200s' (its events: %.150s)", in->event,
			       in->path, names);
	if (b->choice.event == SIZE_MAX)
		return err_set(err, -ENOENT, "no event was sampled in '%.400s'", in->path);
	attr = &perfdata_event(b->pd, b->choice.event)->attr;
	if (request->filter.by_cpu && !(attr->sample_type & PERF_SAMPLE_CPU))
		return err_set(err, -EINVAL, "-C %u: the samples in '%.400s' have no CPU numbers", request->filter.cpu,
			       in->path);
	r->others = *names ? strdup(names) : NULL;
	choice_name(names, 0, perfdata_event(b->pd, b->choice.event)->name);
	r->event = strdup(names);
	if (!r->event)
		return err_sys(err, -ENOMEM, "cannot read '%.400s'", in->path);
	r->freq_hz = attr->freq ? attr->sample_freq : 0;
	r->period = attr->freq ? 0 : attr->sample_period;
	r->user_callchains = attr->sample_type & PERF_SAMPLE_CALLCHAIN && !attr->exclude_callchain_user;
	r->copies = (attr->sample_type & copies) == copies;
	/* If a callchain has the maximal length, assume that there were more addresses. */
	r->max_stack = attr->sample_max_stack ? attr->sample_max_stack : PERF_MAX_STACK_DEPTH;
	return 0;
}

/* ---- records */

static uint32_t ring_of(struct source *b, uint32_t cpu)
{
	struct applied_ring *rings;
	size_t nr = cpu < MAX_CPUS ? cpu + 1 : 1;

	if (nr <= b->nr_rings)
		return (uint32_t)(nr - 1);
	rings = grow(b->queue.applier.rings, &b->cap_rings, b->nr_rings, nr - b->nr_rings, sizeof(*rings));
	if (!rings)
		return UINT32_MAX;
	memset(rings + b->nr_rings, 0, (nr - b->nr_rings) * sizeof(*rings));
	b->queue.applier.rings = rings;
	b->nr_rings = nr;
	return (uint32_t)(nr - 1);
}

static int add_record(struct source *b, const struct perf_event_header *record)
{
	struct incoming *in = queue_take(&b->queue, record->size);
	int wanted;

	if (!in)
		return -ENOMEM;
	memcpy(in->bytes, record, record->size);
	wanted = recording_admit(b, record, in);
	if (wanted > 0)
		in->ring = ring_of(b, in->record.cpu);
	if (wanted > 0 && in->ring != UINT32_MAX)
		return queue_add(&b->queue, in);
	queue_drop(&b->queue, in);
	return wanted ? -ENOMEM : 0;
}

static int keep_record(struct source *b, const struct perf_event_header *record)
{
	int rc;

	if (record->type == PERFDATA_FINISHED_ROUND)
		return queue_round(&b->queue);
	b->queue.applier.stats[0].ring_records++;
	rc = add_record(b, record);
	return rc || queue_bytes(&b->queue) < ROUND_BYTES ? rc : queue_round(&b->queue);
}

/* ---- source_ops */

static int recording_open(struct source **out, const struct source_env *env, struct err *err)
{
	struct source *b = calloc(1, sizeof(*b));
	const struct input *in = &env->request->input;
	int rc;

	*out = b;
	if (!b)
		return err_sys(err, -ENOMEM, "cannot read '%.400s'", in->path);
	b->env = env;
	rc = perfdata_open(&b->pd, in->copy ? in->copy : in->path, err);
	if (!rc)
		rc = choice_open(&b->choice, b->pd, in, err);
	env->recording->ends = b->pd && perfdata_is_file(b->pd);
	return rc ? rc : choose_event(b, err);
}

static int recording_start(struct source *b, struct err *err)
{
	const struct request *request = b->env->request;
	struct recording *r = b->env->recording;
	int rc = 0;

	/* Files are opened while the recording is read, so facts at the end of a stream come too late. */
	if (request->unwinds) {
		r->origin.boot = recording_boot(b);
		rc = r->ends ? recording_build_ids(b) : 0;
	}
	if (!rc)
		rc = queue_open(&b->queue, b->env, 0);
	return rc ? err_sys(err, -ENOMEM, "cannot read '%.400s'", request->input.path) : 0;
}

/* A recording has no events to attach. */
static int recording_attach(struct source *b, size_t i, struct err *err)
{
	(void)b;
	return err_set(err, -EINVAL, "event %zu cannot be attached to a recording", i);
}

static int recording_drain(struct source *b, struct err *err)
{
	const struct perf_event_header *record;
	int nr, rc;

	for (nr = 0; nr < DRAIN_RECORDS; nr++) {
		rc = choice_next(&b->choice, b->pd, &record, err);
		if (rc <= 0)
			return rc ? rc : 1;
		rc = keep_record(b, record);
		if (rc)
			return err_sys(err, rc, "cannot count the samples of '%.400s'", b->env->request->input.path);
	}
	return 0;
}

/* Note the other events that have samples. Return: 0; -ENOMEM. */
static int note_events(const struct source *b, struct recording *r)
{
	const struct event_choice *c = &b->choice;
	char name[EVENT_NAMES_BYTES];
	size_t i;

	r->undescribed_samples = r->other_samples;
	r->more = calloc(c->nr ? c->nr : 1, sizeof(*r->more));
	if (!r->more)
		return -ENOMEM;
	for (i = 0; i < c->nr; i++) {
		if (!c->samples[i] || choice_is(c, b->pd, i))
			continue;
		choice_name(name, 0, perfdata_event(b->pd, i)->name);
		r->more[r->nr_more] = (struct recorded_event){ strdup(name), c->samples[i] };
		if (!r->more[r->nr_more].name)
			return -ENOMEM;
		r->undescribed_samples -= c->samples[i];
		r->nr_more++;
	}
	return 0;
}

static void note_ends(struct recording *r, const struct perfdata_counts *counts)
{
	r->damaged = counts->damaged;
	r->damaged_at = counts->damaged_at;
	snprintf(r->damaged_in, sizeof(r->damaged_in), "%s", counts->damaged ? counts->damaged_in : "");
	r->left_out = counts->left_out;
	r->missing = counts->missing;
	r->truncated = counts->truncated;
	r->unfinished = counts->unfinished;
	r->header_lost = counts->bad_features;
}

/*
 * Fail if no sample was read and the recording is damaged or incomplete: the report would claim that there were none.
 * @r: of a recording that was read to its end
 */
static int check_samples(const struct source *b, const struct recording *r, struct err *err)
{
	const char *input = b->env->request->input.path;

	if (b->queue.applier.stats[0].ring_samples || r->other_samples)
		return 0;
	if (r->damaged)
		return err_set(err, -EBADMSG, "no sample can be read from '%.400s': it is damaged at offset %" PRIu64,
			       input, r->damaged_at);
	if (r->truncated)
		return err_set(err, -EBADMSG, "no sample can be read from '%.400s': it ends early", input);
	if (r->unfinished)
		return err_set(err, -EBADMSG, "'%.400s' has no sample: perf record did not finish it", input);
	return 0;
}

static int recording_end(struct source *b, struct err *err)
{
	struct stats *stats = &b->queue.applier.stats[0];
	struct recording *r = b->env->recording;
	struct perfdata_counts counts = perfdata_counts(b->pd);
	int rc = queue_flush(&b->queue);

	if (!rc && !r->build_ids)
		rc = recording_build_ids(b);
	if (!rc)
		rc = note_events(b, r);
	r->origin.boot = recording_boot(b);
	r->origin.ended_s = recording_ended(b);
	note_ends(r, &counts);
	stats->ring_bytes = counts.bytes;
	stats->bad_records += counts.bad_records;
	stats->late_records = b->queue.order.late;
	/* perf record of 6.1 and later counts lost samples at its end, including those that the rings reported. */
	stats->lost_records = b->lost_samples > b->lost_records ? b->lost_samples : b->lost_records;
	stats->lost_here = stats->lost_records;
	if (rc)
		return err_sys(err, rc, "cannot count the samples of '%.400s'", b->env->request->input.path);
	return check_samples(b, r, err);
}

static void recording_stats(const struct source *b, struct stats *stats)
{
	if (b)
		stats_add(stats, &b->queue.applier.stats[0]);
}

static void recording_close(struct source *b)
{
	if (!b)
		return;
	choice_release(&b->choice);
	perfdata_close(b->pd);
	queue_release(&b->queue);
	free(b);
}

const struct source_ops source_recording = {
	.defers = true,
	.open = recording_open,
	.attach = recording_attach,
	.detach = recording_attach,
	.start = recording_start,
	.drain = recording_drain,
	.end = recording_end,
	.stats = recording_stats,
	.close = recording_close,
};
