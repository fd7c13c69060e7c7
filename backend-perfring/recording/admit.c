// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/recording/recording.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <string.h>

/* A hostile recording may have any ids, not only those that its kernel could have had. */
static bool is_task(pid_t id)
{
	return id >= -1 && id <= PID_MAX_LIMIT;
}

static bool has_tasks(const struct record *r)
{
	bool both = r->type == PERF_RECORD_FORK || r->type == PERF_RECORD_EXIT;

	return is_task(r->pid) && is_task(r->tid) && (!both || (is_task(r->fork.ppid) && is_task(r->fork.ptid)));
}

static void note_time(struct recording *r, uint64_t ns)
{
	if (ns && (!r->first_ns || ns < r->first_ns))
		r->first_ns = ns;
	if (ns > r->last_ns)
		r->last_ns = ns;
}

static int admit_sample(struct source *b, const struct perf_event_header *record, struct incoming *in)
{
	struct stats *stats = &b->queue.applier.stats[0];
	size_t event = perfdata_event_of(b->pd, record);
	int rc = choice_count(&b->choice, b->pd, event);

	if (rc < 0)
		return rc;
	if (!rc) {
		b->env->recording->other_samples++;
		return 0;
	}
	stats->ring_samples++;
	rc = decode_record(&perfdata_event(b->pd, event)->attr, in->bytes, in->size, &in->record);
	if (rc <= 0 || !has_tasks(&in->record)) {
		stats->bad_samples++;
		stats->bad_records++;
		return 0;
	}
	note_time(b->env->recording, in->record.time);
	if (filter_match_cpu(&b->env->request->filter, in->record.cpu))
		return 1;
	stats->filtered++;
	return 0;
}

/* perf record writes the address of the kernel as a mapping with the name of one of the kernel's symbols. */
static void note_kernel(struct recorded *origin, const struct record *r)
{
	static const char *const references[] = { "_text", "_stext" };
	size_t i, len = sizeof(BUILD_ID_KERNEL) - 1;

	if (strncmp(r->mmap.path, BUILD_ID_KERNEL, len))
		return;
	for (i = 0; i < ARRAY_SIZE(references); i++) {
		if (strcmp(r->mmap.path + len, references[i]))
			continue;
		origin->reference = references[i];
		origin->reference_addr = r->mmap.pgoff;
	}
}

static bool is_mapping(const struct record *r)
{
	return r->type == PERF_RECORD_MMAP || r->type == PERF_RECORD_MMAP2;
}

/* The pids of a guest are not those of the host. */
static bool is_of_process(const struct record *r)
{
	return r->mode == PERF_RECORD_MISC_USER || r->mode == PERF_RECORD_MISC_CPUMODE_UNKNOWN;
}

/* True if an event of the recording has requested build ids. Then perf record adds them to earlier mappings, too. */
static bool wants_build_ids(struct source *b)
{
	for (; b->nr_asked < perfdata_nr_events(b->pd); b->nr_asked++)
		b->wants_build_ids |= perfdata_event(b->pd, b->nr_asked)->attr.build_id;
	return b->wants_build_ids;
}

/* @event: as from perfdata_event_of(), or the chosen event if there is none */
static int decode_side_band(struct source *b, size_t event, struct incoming *in)
{
	const struct perf_event_header *record = (const void *)in->bytes;
	struct perf_event_attr attr = perfdata_event(b->pd, event)->attr;

	if (record->type == PERF_RECORD_MMAP2)
		attr.build_id = wants_build_ids(b);
	return decode_record(&attr, record, in->size, &in->record);
}

static bool admit_side_band(struct source *b, const struct perf_event_header *record, struct incoming *in)
{
	struct stats *stats = &b->queue.applier.stats[0];
	const struct record *r = &in->record;
	size_t event = perfdata_event_of(b->pd, record);
	int rc;

	if (event == SIZE_MAX)
		event = b->choice.event;
	rc = decode_side_band(b, event, in);
	if (rc > 0 && !has_tasks(r))
		rc = -EBADMSG;
	stats->bad_records += rc < 0;
	if (rc <= 0)
		return false;
	/* All events of a CPU share one ring, which may report losses with the id of any of them. */
	if (r->type == PERF_RECORD_LOST)
		b->lost_records += r->lost.records;
	if (r->type == PERF_RECORD_LOST_SAMPLES && choice_is(&b->choice, b->pd, event) && !r->lost.wanted)
		b->lost_samples += r->lost.records;
	if (is_mapping(r) && r->mode == PERF_RECORD_MISC_KERNEL)
		note_kernel(&b->env->recording->origin, r);
	if (is_mapping(r) && (!is_of_process(r) || record->misc & PERF_RECORD_MISC_MMAP_DATA))
		return false;
	return (r->type != PERF_RECORD_THROTTLE && r->type != PERF_RECORD_UNTHROTTLE) ||
	       choice_is(&b->choice, b->pd, event);
}

int recording_admit(struct source *b, const struct perf_event_header *record, struct incoming *in)
{
	return record->type == PERF_RECORD_SAMPLE ? admit_sample(b, record, in) : admit_side_band(b, record, in);
}
