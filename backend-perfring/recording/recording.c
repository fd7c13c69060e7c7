// SPDX-License-Identifier: Apache-2.0
/*
 * The backend that reads recordings of perf record. They have the same records as the rings, so the same code decodes
 * and applies them, in time order as far as the marks between perf record's rounds permit.
 */
#include "backend-perfring/queue.h"
#include "backend-perfring/recording/event_choice.h"
#include "backend-perfring/recording/perfdata.h"
#include "core/base/clock.h"
#include "core/base/grow.h"
#include "core/base/number.h"
#include "core/sources/source.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define MAX_CPUS      65536         /* as in core/host/host.h; records of higher numbers count for CPU 0 */
#define ROUND_BYTES   (256UL << 20) /* a round ends here, to limit memory; only hostile files have longer ones */
#define DRAIN_RECORDS 65536
#define PID_MAX       (4 << 20) /* PID_MAX_LIMIT of the kernel, include/linux/threads.h */
#define CLOCKS_APART                                                                                                   \
	(60 * NSEC_PER_SEC) /* perf record's default clock and that of now_ns() begin at boot, and drift apart */
#define END_EARLY 2         /* seconds that the last write to the file may be before its last sample */
#define END_LATE  60        /* and after it: perf record reads the build ids of files then */

struct source {
	const struct source_env *env;
	struct perfdata *pd;
	struct event_choice choice;
	struct queue queue;
	size_t nr_rings, cap_rings; /* of applier.rings: one for each CPU */
	uint64_t lost_records;      /* by PERF_RECORD_LOST */
	uint64_t lost_samples;      /* by PERF_RECORD_LOST_SAMPLES */
	size_t nr_asked;            /* events whose attr.build_id was looked at */
	bool wants_build_ids;       /* one of them has attr.build_id */
};

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

/* ---- host and boot */

/* When this host was booted, in seconds of its wall clock; 0: not known. */
static uint64_t boot_time(void)
{
	struct timespec wall, up;

	if (clock_gettime(CLOCK_REALTIME, &wall) || clock_gettime(CLOCK_BOOTTIME, &up) || wall.tv_sec <= up.tv_sec)
		return 0;
	return (uint64_t)(wall.tv_sec - up.tv_sec);
}

/* Call stat(2) for the file that perf record wrote. */
static int stat_recording(const struct source *b, struct stat *st)
{
	const char *path = b->env->request->input.path;
	char data[PATH_MAX];
	int rc = stat(path, st);

	if (rc || !S_ISDIR(st->st_mode))
		return rc;
	if (snprintf(data, sizeof(data), "%s/data", path) >= (int)sizeof(data))
		return -1;
	return stat(data, st);
}

/*
 * A recording does not name the boot. It is of this boot if it is of this host and kernel, was written since the host
 * was booted, and has no times after now.
 */
static enum recorded_boot judge_boot(const struct source *b)
{
	const char *host = perfdata_hostname(b->pd), *release = perfdata_osrelease(b->pd);
	struct utsname here;
	struct stat st;

	if (!*host || !*release || uname(&here))
		return BOOT_UNKNOWN;
	if (strcmp(release, here.release))
		return BOOT_OTHER;
	if (b->env->recording->ends && !stat_recording(b, &st) && (uint64_t)st.st_mtim.tv_sec < boot_time())
		return BOOT_OTHER;
	if (b->env->recording->last_ns > now_ns() + CLOCKS_APART)
		return BOOT_OTHER;
	return strcmp(host, here.nodename) ? BOOT_UNKNOWN : BOOT_SAME;
}

/*
 * When the last sample was taken, in seconds of the wall clock. The clock of the samples counts from the boot, and the
 * file was last written when perf record ended. Only if both agree, the recording is certainly of this boot. They do
 * not agree if a recording of an earlier boot was copied since the host was booted again, or if the host was suspended
 * since the recording.
 * Return: 0: not proved.
 */
static int64_t time_of_end(const struct source *b)
{
	const struct recording *r = b->env->recording;
	struct timespec wall;
	struct stat st;
	int64_t ended;

	if (r->origin.boot != BOOT_SAME || !r->ends || !r->last_ns || clock_gettime(CLOCK_REALTIME, &wall) ||
	    stat_recording(b, &st))
		return 0;
	ended = (int64_t)wall.tv_sec - ((int64_t)now_ns() - (int64_t)r->last_ns) / (int64_t)NSEC_PER_SEC;
	return st.st_mtim.tv_sec >= ended - END_EARLY && st.st_mtim.tv_sec <= ended + END_LATE ? ended : 0;
}

static int keep_build_ids(const struct source *b)
{
	struct recording *r = b->env->recording;
	struct perfdata_build_id id;
	int rc = 0;
	size_t i;

	r->build_ids = build_ids_new();
	if (!r->build_ids)
		return -ENOMEM;
	for (i = 0; rc != -ENOMEM && rc != -E2BIG && perfdata_build_id(b->pd, i, &id); i++)
		rc = build_ids_add(r->build_ids, id.path, id.id, id.size);
	r->origin.build_ids = r->build_ids;
	return rc == -ENOMEM ? rc : 0;
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

/* A hostile recording may have any ids, not only those that its kernel could have had. */
static bool is_task(pid_t id)
{
	return id >= -1 && id <= PID_MAX;
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

/* Return: 1: add it; 0: do not; -ENOMEM. */
static int take_sample(struct source *b, const struct perf_event_header *record, struct incoming *in)
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

/* True if an event of the recording has requested build ids. perf record then also writes those of earlier mappings. */
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

/* Return true to add it. */
static bool take_side_band(struct source *b, const struct perf_event_header *record, struct incoming *in)
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

static int add_record(struct source *b, const struct perf_event_header *record)
{
	struct incoming *in = queue_take(&b->queue, record->size);
	int wanted;

	if (!in)
		return -ENOMEM;
	memcpy(in->bytes, record, record->size);
	wanted = record->type == PERF_RECORD_SAMPLE ? take_sample(b, record, in) : take_side_band(b, record, in);
	if (wanted > 0)
		in->ring = ring_of(b, in->record.cpu);
	if (wanted > 0 && in->ring != UINT32_MAX)
		return queue_add(&b->queue, in);
	queue_drop(&b->queue, in);
	return wanted ? -ENOMEM : 0;
}

static int take_record(struct source *b, const struct perf_event_header *record)
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
		r->origin.boot = judge_boot(b);
		rc = r->ends ? keep_build_ids(b) : 0;
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
		rc = take_record(b, record);
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
		rc = keep_build_ids(b);
	if (!rc)
		rc = note_events(b, r);
	r->origin.boot = judge_boot(b);
	r->origin.ended_s = time_of_end(b);
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
