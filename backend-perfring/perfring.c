// SPDX-License-Identifier: Apache-2.0
/*
 * The backend that reads the events' mmap rings and counts in user space what the BPF program would have counted.
 * Behind the bpf backend it reads what that one passed on, and the side-band records both need.
 */
#include "backend-perfring/apply.h"
#include "backend-perfring/queue.h"
#include "backend-perfring/refresh.h"
#include "backend-perfring/ring.h"
#include "backend-perfring/switching.h"
#include "core/base/clock.h"
#include "core/base/saturate.h"
#include "core/events/event_rings.h"
#include "core/rows/compare.h"
#include "core/sources/source.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define REFRESH_NS NSEC_PER_SEC

/* Of what perfring_fetch() has kept, the reader is told: so much is better applied by and by. */
#define MUCH_BYTES      (1UL << 20)
#define MUCH_SIDE_BYTES (32UL << 10) /* files are opened while they still can be */

#define DAMAGES_MAX 64 /* of one ring in one round */

#define KEPT_SIDE_SHARE 4 /* of what may wait in memory, one part in so many is for tasks and mappings */

/* Of one event of the capture, in the same place. */
struct cpu_rings {
	struct ring ring, side;
	uint64_t *switch_ids; /* of its events at switches, ascending */
	size_t nr_switch_ids;
	struct lost {
		uint64_t samples, switches, notes[NOTED_NR];
	} lost; /* PERF_FORMAT_LOST when they were read last */
	uint64_t lost_side;
	struct sample_note note; /* of the sample that comes next */
	bool noted;
	uint64_t latest;         /* time of a record that was read from @ring */
	uint64_t lost_when_full; /* records, by PERF_FORMAT_LOST */
};

struct source {
	const struct source_env *env;
	struct cpu_rings *sources;
	struct queue queue;
	bool started;
	size_t kept_most;      /* bytes that waited, seen by perfring_fetch() */
	bool told_of_all;      /* see side_band_tell_of_all() */
	bool refresh;          /* names are to be read anew, */
	uint64_t refreshed_at; /* but not as often as records get lost */
	bool starting;         /* samples do not count yet */
};

static bool in_kernel(const struct source *b)
{
	return b->env->nr_counters;
}

/* Of what is read, if no program in the kernel tells to which set it belongs. */
static struct stats *stats_of(struct source *b)
{
	return &b->queue.applier.stats[b->queue.applier.set];
}

static int perfring_open(struct source **out, const struct source_env *env, struct err *err)
{
	struct source *b = calloc(1, sizeof(*b));

	*out = b;
	if (!b)
		return err_sys(err, -ENOMEM, "cannot open backend 'perfring'");
	b->env = env;
	b->sources = calloc(env->events->nr_places, sizeof(*b->sources));
	if (!b->sources || queue_open(&b->queue, env, env->events->nr_places))
		return err_sys(err, -ENOMEM, "cannot open backend 'perfring'");
	return 0;
}

static int cmp_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* With threads that are followed there may be thousands. */
static int note_switch_ids(struct cpu_rings *s, const struct event_place *e)
{
	size_t i;

	free(s->switch_ids);
	s->nr_switch_ids = 0;
	s->switch_ids = malloc((e->nr_more + 1) * sizeof(*s->switch_ids));
	if (!s->switch_ids)
		return -ENOMEM;
	for (i = 0; i < e->nr_more; i++)
		if (e->more[i].switch_id)
			s->switch_ids[s->nr_switch_ids++] = e->more[i].switch_id;
	qsort(s->switch_ids, s->nr_switch_ids, sizeof(*s->switch_ids), cmp_ids);
	return 0;
}

/* All write to one ring. */
static int join(struct cpu_rings *s, const struct event_place *e, struct err *err)
{
	size_t i;
	int rc = 0;

	if (note_switch_ids(s, e))
		return err_sys(err, -ENOMEM, "cannot remember the perf events of CPU %d", e->cpu);
	for (i = 0; i < NOTED_NR && !rc; i++)
		if (e->notes[i].fd >= 0)
			rc = ioctl(e->notes[i].fd, PERF_EVENT_IOC_SET_OUTPUT, e->fd);
	for (i = 0; i < e->nr_more && !rc; i++)
		rc = ioctl(e->more[i].fd, PERF_EVENT_IOC_SET_OUTPUT, e->fd);
	return rc ? err_sys(err, -errno, "cannot join the perf events of CPU %d", e->cpu) : 0;
}

static int map_samples(struct source *b, size_t i, struct err *err)
{
	struct event_place *e = &b->env->events->places[i];
	struct cpu_rings *s = &b->sources[i];
	int rc = ring_map(&s->ring, e->fd, b->env->events->rings.samples);

	if (rc)
		return events_ring_error(b->env->events, e->cpu, rc, err);
	e->ring_bytes = b->env->events->rings.samples;
	if (b->queue.applier.switching)
		s->ring.record = events_largest_record(b->env->events, b->env->events->attr.sample_stack_user);
	return join(s, e, err);
}

static int map_side(struct source *b, size_t i, struct err *err)
{
	struct side_band *e = &b->env->events->places[i].side;
	int cpu = b->env->events->places[i].cpu;
	int rc = ring_map(&b->sources[i].side, e->fd, b->env->events->rings.side);
	size_t j;

	if (rc)
		return events_ring_error(b->env->events, cpu, rc, err);
	e->ring_bytes = b->env->events->rings.side;
	for (j = 0; j < e->nr_more; j++)
		if (ioctl(e->more[j], PERF_EVENT_IOC_SET_OUTPUT, e->fd))
			return err_sys(err, -errno, "cannot join the perf events of CPU %d", cpu);
	return 0;
}

/* Those of the events from @first to @last that are open. */
static int map_rings(struct source *b, size_t first, size_t last, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = first; i <= last && !rc; i++) {
		if (b->env->events->places[i].side.fd >= 0)
			rc = map_side(b, i, err);
		if (!rc && b->env->events->places[i].fd >= 0)
			rc = map_samples(b, i, err);
	}
	return rc;
}

static void unmap_rings(struct cpu_rings *s)
{
	ring_unmap(&s->ring);
	ring_unmap(&s->side);
}

/*
 * What may be locked is known to nobody but the kernel, and other programs of the same user take of it: so it is tried.
 * All rings shall have the same size, so those that were mapped before are mapped anew, first of all to give back what
 * they took. In a run that has begun they hold records, and stay.
 * Return: false: there is no smaller ring.
 */
static bool shrink_rings(struct source *b, size_t *first, size_t last, int code)
{
	const struct source_env *env = b->env;
	size_t i;

	if (code != -EPERM && code != -ENOMEM)
		return false;
	env->events->ring_refused = code;
	if (!ring_sizes_halve(&env->events->rings, (size_t)sysconf(_SC_PAGESIZE)))
		return false;
	if (!b->started)
		*first = 0;
	for (i = *first; i <= last; i++)
		unmap_rings(&b->sources[i]);
	return true;
}

/*
 * Of switches that are lost the ring tells in front of the next record that has room, which may take long, and until
 * then nobody knows: a thread that came back and left again would seem to have been away all the time.
 */
static int mark_gap(struct source *b, uint32_t i, uint64_t time, enum record_gap what)
{
	return queue_add(&b->queue, &(struct incoming){
					    .ring = i,
					    .lead = { .kind = OF_SIDE_BAND },
					    .record = { .type = RECORD_GAP, .time = time, .gap = what },
				    });
}

/* How many records event @fd has lost so far. */
static uint64_t lost_by(const struct source *b, int fd)
{
	struct event_counts counts;

	if (!(b->env->events->attr.read_format & PERF_FORMAT_LOST) || fd < 0 ||
	    read(fd, &counts, sizeof(counts)) != sizeof(counts))
		return 0;
	return counts.lost;
}

/* The same of all that share its ring for samples. */
static struct lost lost_by_all(const struct source *b, const struct event_place *e)
{
	struct lost lost = { .samples = lost_by(b, e->fd) };
	size_t j;

	for (j = 0; j < NOTED_NR; j++)
		lost.notes[j] = lost_by(b, e->notes[j].fd);
	for (j = 0; j < e->nr_more; j++)
		*(e->more[j].switch_id ? &lost.switches : &lost.samples) += lost_by(b, e->more[j].fd);
	return lost;
}

/* The same of the other ring. There may be thousands of events. */
static uint64_t lost_by_side(const struct source *b, const struct side_band *s)
{
	uint64_t lost = lost_by(b, s->fd);
	size_t j;

	for (j = 0; j < s->nr_more; j++)
		lost += lost_by(b, s->more[j]);
	return lost;
}

static int perfring_attach(struct source *b, size_t i, struct err *err)
{
	size_t first = i;
	int rc;

	do
		rc = map_rings(b, first, i, err);
	while (rc && shrink_rings(b, &first, i, rc));
	b->refresh = b->started;
	stats_of(b)->reopened += b->started;
	order_restart(&b->queue.order, (uint32_t)i);
	/* Since its CPU came online nobody has seen its switches. */
	if (!rc && b->started && b->queue.applier.switching && mark_gap(b, (uint32_t)i, now_ns(), GAP_WAS))
		rc = err_sys(err, -ENOMEM, "cannot keep the records of a perf ring");
	if (b->started && b->env->events->attr.use_clockid)
		b->queue.applier.rings[i].since = now_ns();
	/* Those of threads outlive a CPU that goes offline. */
	b->sources[i].lost = lost_by_all(b, &b->env->events->places[i]);
	b->sources[i].lost_side = lost_by_side(b, &b->env->events->places[i].side);
	return rc;
}

/* Taken before the names had been read. Where the events have another clock (before 4.1) that cannot be told of all. */
static bool too_early(const struct source *b, const struct record *r)
{
	return !in_kernel(b) && (b->starting || (b->env->events->attr.use_clockid && r->time < b->env->sink->began_ns));
}

/*
 * Taken when the run was over: the events are disabled one after the other, and what happens on a CPU whose event is
 * disabled already is not told any more to the samples of the others.
 */
static bool too_late_for_run(const struct source *b, const struct record *r)
{
	return !in_kernel(b) && b->env->sink->over_ns && b->env->events->attr.use_clockid &&
	       r->time > b->env->sink->over_ns;
}

static bool is_outside_run(const struct source *b, const struct record *r)
{
	return too_early(b, r) || too_late_for_run(b, r);
}

/*
 * The set to which something belongs of which no program in the kernel tells. What is read while an interval ends may
 * be of the next one; with another clock nobody knows.
 */
static unsigned int set_of(const struct source *b, uint64_t time)
{
	const struct source_env *env = b->env;

	return b->queue.ending && env->events->attr.use_clockid && time > env->sink->stopped_ns ? env->sink->set
												: b->queue.applier.set;
}

struct reading {
	struct source *b;
	uint32_t ring;
	bool side; /* the one for tasks and mappings */
};

/* By the event that it is of; what is no sample, by its ring. */
static enum sample_kind kind_of(const struct reading *rd, const struct perf_event_header *record, size_t size)
{
	const struct source_env *env = rd->b->env;
	const struct event_place *e = &env->events->places[rd->ring];
	const struct cpu_rings *s = &rd->b->sources[rd->ring];
	enum sample_kind of_main = env->request->options->on_cpu ? OF_SAMPLE : OF_SWITCH;
	uint64_t id;

	if (record->type != PERF_RECORD_SAMPLE)
		return rd->side ? OF_SIDE_BAND : OF_SAMPLE;
	if (!(env->events->attr.sample_type & PERF_SAMPLE_IDENTIFIER))
		return of_main;
	id = decode_identifier(record, size);
	if (e->notes[NOTED_SAMPLES].fd >= 0 && id == e->notes[NOTED_SAMPLES].id)
		return OF_NOTE;
	if (e->notes[NOTED_SWITCHES].fd >= 0 && id == e->notes[NOTED_SWITCHES].id)
		return OF_SWITCH_NOTE;
	return bsearch(&id, s->switch_ids, s->nr_switch_ids, sizeof(id), cmp_ids) ? OF_SWITCH : of_main;
}

static const struct perf_event_attr *attr_of(const struct source_env *env, enum sample_kind kind)
{
	switch (kind) {
	case OF_SWITCH:
		return &env->events->switch_attr;
	case OF_NOTE:
		return &env->events->notes_attr[NOTED_SAMPLES];
	case OF_SWITCH_NOTE:
		return &env->events->notes_attr[NOTED_SWITCHES];
	case OF_SIDE_BAND:
		return &env->events->side_attr;
	default:
		return &env->events->attr;
	}
}

/* Records of one ring come in the order of their times, but for a little. */
static int add(const struct reading *rd, const struct incoming *in)
{
	struct cpu_rings *s = &rd->b->sources[rd->ring];

	if (!rd->side && in->record.time > s->latest)
		s->latest = in->record.time;
	return queue_add(&rd->b->queue, in);
}

/*
 * Whatever comes next in this ring is the sample it is about: the kernel writes both without a break. @rc: of
 * decode_record(), here and below.
 */
static int take_note(const struct reading *rd, int rc, const struct incoming *in)
{
	const struct record *r = &in->record;
	struct cpu_rings *s = &rd->b->sources[rd->ring];

	s->noted = rc == 1 && r->sample.raw &&
		   !rd->b->env->counters[0].ops->note(r->sample.raw, r->sample.raw_size, &s->note);
	stats_of(rd->b)->bad_records += !s->noted;
	return 0;
}

/* What the program in the kernel says of a switch. */
static int take_switch_note(const struct reading *rd, int rc, struct incoming *in)
{
	const struct used_counter *program = env_switch_counter(rd->b->env);
	const struct record *r = &in->record;
	struct source *b = rd->b;
	struct switch_note n;

	if (rc != 1 || !r->sample.raw || program->ops->switch_note(r->sample.raw, r->sample.raw_size, &n)) {
		stats_of(b)->bad_records++;
		return 0;
	}
	if (queue_late(&b->queue, n.set)) /* what it is about is lost: it was passed on, and not received */
		return 0;
	b->queue.applier.stats[n.set].intervals_received += n.kind == SWITCH_BEGIN || n.kind == SWITCH_CHARGE;
	in->lead.note.set = n.set;
	return add(rd, in);
}

static int take_switch(const struct reading *rd, int rc, struct incoming *in)
{
	struct source *b = rd->b;

	if (rc < 0) {
		stats_of(b)->bad_records++;
		return 0;
	}
	in->lead.note.set = set_of(b, in->record.time);
	return is_outside_run(b, &in->record) ? 0 : add(rd, in);
}

static int take_sample(const struct reading *rd, int rc, struct incoming *in)
{
	struct source *b = rd->b;
	struct cpu_rings *s = &b->sources[rd->ring];
	struct stats *stats;

	in->lead.note.set = rc < 0 ? b->queue.applier.set : set_of(b, in->record.time);
	if (s->noted) {
		in->lead.note = s->note;
		in->lead.noted = true;
		s->noted = false;
	}
	if (rc >= 0 && is_outside_run(b, &in->record))
		return 0;
	if (queue_late(&b->queue, in->lead.note.set)) {
		stats_of(b)->late_samples++;
		return 0;
	}
	stats = &b->queue.applier.stats[in->lead.note.set];
	stats->ring_samples++;
	if (rc < 0) {
		stats->bad_records++;
		stats->bad_samples++;
		return 0;
	}
	return add(rd, in);
}

/*
 * Names and mappings may be wrong from here on, until they have been read anew. Of this CPU alone, so most are not; but
 * who runs there, nobody knows.
 */
static void miss_names(struct source *b)
{
	sink_missed(b->env->sink);
	b->refresh = true;
}

static void count_lost(struct source *b, uint32_t i, uint64_t records)
{
	struct stats *stats = stats_of(b);

	stats->lost_records += records;
	stats->lost_here += b->env->events->places[i].samples ? records : 0;
	if (records && !b->env->events->apart)
		miss_names(b);
}

static void miss_side_band(struct source *b, uint64_t records)
{
	struct stats *stats = stats_of(b);

	stats->lost_records += records;
	stats->lost_side_band += records;
	miss_names(b);
}

/* The kernel tells of lost records in front of the next one that fits. */
static void note_lost(const struct reading *rd, uint64_t records)
{
	struct source *b = rd->b;
	bool told = b->env->events->attr.read_format & PERF_FORMAT_LOST;

	if (rd->side) {
		miss_side_band(b, told ? 0 : records);
		return;
	}
	b->sources[rd->ring].noted = false; /* perhaps its sample was among them */
	if (!told)
		count_lost(b, rd->ring, records);
	else if (!b->env->events->apart)
		miss_names(b);
}

/*
 * An event that asks for mappings gets FORK and EXIT records, too (perf_event_task_match(), kernel/events/core.c). So
 * the event of a target's thread writes what that of the CPU has written, or will write.
 */
static bool is_written_twice(const struct reading *rd, const struct perf_event_header *record, size_t size)
{
	uint64_t of_cpu = rd->b->env->events->places[rd->ring].side.tasks_id;

	return rd->side && of_cpu && (record->type == PERF_RECORD_FORK || record->type == PERF_RECORD_EXIT) &&
	       decode_identifier(record, size) != of_cpu;
}

static int take_side_band(const struct reading *rd, int rc, const struct incoming *in)
{
	const struct record *r = &in->record;

	stats_of(rd->b)->bad_records += rc < 0;
	if (rc <= 0 || (r->type == PERF_RECORD_SWITCH && is_outside_run(rd->b, r)))
		return 0;
	if (is_written_twice(rd, in->bytes, in->size))
		return 0;
	if (r->type == PERF_RECORD_LOST)
		note_lost(rd, r->lost.records);
	return add(rd, in);
}

static int take_record(void *ctx, const struct perf_event_header *record, size_t size)
{
	const struct reading *rd = ctx;
	struct incoming in = {
		.ring = rd->ring, .lead.kind = kind_of(rd, record, size), .bytes = record, .size = size
	};
	int rc = decode_record(attr_of(rd->b->env, in.lead.kind), record, size, &in.record);

	stats_of(rd->b)->ring_records++;
	stats_of(rd->b)->ring_bytes += size;
	if (record->type != PERF_RECORD_SAMPLE)
		return take_side_band(rd, rc, &in);
	switch (in.lead.kind) {
	case OF_SWITCH:
		return take_switch(rd, rc, &in);
	case OF_NOTE:
		return take_note(rd, rc, &in);
	case OF_SWITCH_NOTE:
		return take_switch_note(rd, rc, &in);
	default:
		return take_sample(rd, rc, &in);
	}
}

static uint64_t lost_sum(const struct lost *l)
{
	return l->samples + l->switches + l->notes[NOTED_SAMPLES] + l->notes[NOTED_SWITCHES];
}

/* It was full, and has room again: what came in between is lost. Since 6.0 it is known whether something did. */
static int note_full(void *ctx, const struct ring_part *part)
{
	const struct reading *rd = ctx;
	struct source *b = rd->b;
	struct cpu_rings *s = &b->sources[rd->ring];
	struct lost lost = lost_by_all(b, &b->env->events->places[rd->ring]);
	uint64_t before = s->lost_when_full;

	/* Where it has been full again since, something of that may have been lost then. */
	if (!ring_full_again(&s->ring))
		s->lost_when_full = lost_sum(&lost);
	if (b->env->events->attr.read_format & PERF_FORMAT_LOST && lost_sum(&lost) == before)
		return 0;
	if (mark_gap(b, rd->ring, s->latest, GAP_BEGINS))
		return -ENOMEM;
	/* With another clock only the next record tells. */
	return b->env->events->attr.use_clockid ? mark_gap(b, rd->ring, part->copied_ns, GAP_ENDS) : 0;
}

/* What comes with a damaged record is dropped. What has come since is read, so that this round has all there is. */
static int read_ring(struct reading *rd, struct ring *r)
{
	struct source *b = rd->b;
	bool gaps = b->queue.applier.switching && !rd->side;
	int rc = r->page ? -EBADMSG : 0, tries;

	for (tries = 0; rc == -EBADMSG && tries < DAMAGES_MAX; tries++) {
		rc = ring_read(r, take_record, gaps ? note_full : NULL, rd);
		if (rc != -EBADMSG)
			break;
		stats_of(b)->bad_records++;
		if (!rd->side)
			b->sources[rd->ring].noted = false;
		if (rd->side)
			miss_side_band(b, 0);
		if (gaps && mark_gap(b, rd->ring, b->sources[rd->ring].latest, GAP_WAS))
			rc = -ENOMEM;
	}
	return rc == -EBADMSG ? 0 : rc;
}

static int read_source(struct source *b, uint32_t i, struct err *err)
{
	int rc = read_ring(&(struct reading){ b, i, true }, &b->sources[i].side);

	if (!rc)
		rc = read_ring(&(struct reading){ b, i, false }, &b->sources[i].ring);
	return rc ? err_sys(err, rc, "cannot keep the records of a perf ring") : 0;
}

static int read_rings(struct source *b, struct err *err)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < b->env->events->nr_places && !rc; i++)
		rc = read_source(b, i, err);
	return rc;
}

/* What was lost since @before, which is @now then. */
static uint64_t since(uint64_t now, uint64_t *before)
{
	uint64_t lost = sub_or_0(now, *before);

	*before += lost;
	return lost;
}

/*
 * The kernel tells of lost records in front of the next one that fits, which never comes for those at the very end.
 * Since 6.0 an event counts them itself.
 */
static void ask_lost(struct source *b, uint32_t i)
{
	struct stats *stats = stats_of(b);
	const struct event_place *e = &b->env->events->places[i];
	struct cpu_rings *s = &b->sources[i];
	struct lost now = lost_by_all(b, e);
	uint64_t notes = since(now.notes[NOTED_SAMPLES], &s->lost.notes[NOTED_SAMPLES]);
	uint64_t switch_notes = since(now.notes[NOTED_SWITCHES], &s->lost.notes[NOTED_SWITCHES]);

	count_lost(b, i, since(now.samples, &s->lost.samples));
	stats->lost_records += since(now.switches, &s->lost.switches) + notes + switch_notes;
	stats->lost_notes += notes;
	stats->lost_switch_notes += switch_notes;
}

static void ask_all_lost(struct source *b)
{
	uint32_t i;

	for (i = 0; i < b->env->events->nr_places; i++)
		ask_lost(b, i);
}

static void ask_side_lost(struct source *b, uint32_t i)
{
	uint64_t lost = since(lost_by_side(b, &b->env->events->places[i].side), &b->sources[i].lost_side);

	if (lost)
		miss_side_band(b, lost);
}

static void ask_all_side_lost(struct source *b)
{
	uint32_t i;

	for (i = 0; i < b->env->events->nr_places; i++)
		ask_side_lost(b, i);
}

static int perfring_detach(struct source *b, size_t i, struct err *err)
{
	struct cpu_rings *s = &b->sources[i];
	int rc = read_source(b, (uint32_t)i, err);

	ask_lost(b, (uint32_t)i);
	ask_side_lost(b, (uint32_t)i);
	if (b->queue.applier.switching) {
		switching_gap(&b->queue.applier);
		switching_gap_ends(&b->queue.applier, (uint32_t)i);
	}
	unmap_rings(s);
	free(s->switch_ids);
	*s = (struct cpu_rings){ 0 };
	return rc;
}

/*
 * Of a command, everything will be told but where it begins: records of namespaces come when a process is made, or
 * leaves one. It waits for us, so this is read before its first sample.
 */
static int learn_command(const struct source_env *env)
{
	pid_t pid = command_pid(env->request->command);
	uint64_t mntns;

	if (!filter_by_mntns(&env->request->filter) || proc_mntns(env->request->host, pid, pid, &mntns))
		return 0;
	return tasks_namespaces(env->sink->tasks, pid, pid, mntns);
}

/*
 * Names of the threads that exist: read after the events were enabled, so that no renaming is missed, and before the
 * first sample counts here, so that none has a later name. A program in the kernel counts meanwhile: what it passes on
 * has its name in a note, but an exec ends the image of a name that must be known. Without /proc, threads have their
 * numbers.
 */
static int perfring_start(struct source *b, struct err *err)
{
	const struct source_env *env = b->env;
	int rc = env->request->command ? learn_command(env) : tasks_snapshot(env->sink->tasks, &env->request->filter);

	b->started = true;
	if (rc == -ENOMEM)
		return err_sys(err, rc, "cannot keep the names of the running threads");
	if (in_kernel(b))
		return 0;
	/* The rings are empty when counting begins, and what they lost until then were no samples of this run. */
	b->starting = true;
	rc = read_rings(b, err);
	b->starting = false;
	ask_all_lost(b);
	ask_all_side_lost(b);
	stats_of(b)->lost_records = stats_of(b)->lost_here = 0;
	stats_of(b)->lost_side_band = 0;
	return rc;
}

static size_t kept_in(struct ring *r)
{
	return r->page ? ring_kept(r) : 0;
}

static size_t kept_in_all(const struct source *b, bool side)
{
	size_t waits = 0, i;

	for (i = 0; i < b->env->events->nr_places; i++)
		waits += kept_in(side ? &b->sources[i].side : &b->sources[i].ring);
	return waits;
}

/*
 * Without memory, or beyond @most bytes, a ring keeps what it has, and loses what comes when it is full: the kernel
 * counts that.
 */
static size_t fetch_all(const struct source *b, bool side, size_t most)
{
	size_t waits = kept_in_all(b, side), i;

	for (i = 0; i < b->env->events->nr_places && waits < most; i++) {
		struct ring *r = side ? &b->sources[i].side : &b->sources[i].ring;
		size_t before = kept_in(r), kept = before;

		if (r->page)
			ring_empty(r, &kept);
		/* The reader may have taken what was there. */
		waits += sub_or_0(kept, before);
	}
	return waits;
}

/* Names have a part of the memory that samples cannot take. */
static int perfring_fetch(struct source *b, struct err *err)
{
	size_t of_side = b->env->events->kept_bytes_max / KEPT_SIDE_SHARE;
	size_t side = fetch_all(b, true, of_side);
	size_t waits = side + fetch_all(b, false, b->env->events->kept_bytes_max - of_side);

	(void)err;
	if (waits > b->kept_most)
		__atomic_store_n(&b->kept_most, waits, __ATOMIC_RELAXED);
	return waits >= MUCH_BYTES || side >= MUCH_SIDE_BYTES;
}

static int apply_round(struct source *b, struct err *err)
{
	int rc = queue_round(&b->queue);

	return rc ? err_sys(err, rc, "cannot count the samples of the perf rings") : 0;
}

static int refresh(struct source *b, struct err *err)
{
	uint64_t now = now_ns();

	if (!b->refresh || (b->refreshed_at && now - b->refreshed_at < REFRESH_NS))
		return 0;
	b->refresh = false;
	b->refreshed_at = now;
	if (refresh_read(&b->queue))
		return err_sys(err, -ENOMEM, "cannot keep the names of the running threads");
	return 0;
}

static int perfring_drain(struct source *b, struct err *err)
{
	int rc = read_rings(b, err);

	/* What was executed before is known to nobody. */
	if (b->env->events->side_of_all && !b->told_of_all) {
		b->told_of_all = b->refresh = true;
		b->refreshed_at = 0;
	}
	if (!rc)
		rc = refresh(b, err);
	return rc ? rc : apply_round(b, err);
}

/* Has everything come that the program in the kernel passed on? */
static bool is_interval_read(const struct source *b)
{
	const struct stats *stats = &b->queue.applier.stats[b->env->sink->ended];

	return stats->ring_samples + stats->lost_here >= b->env->samples_passed &&
	       stats->intervals_received + stats->lost_switch_notes >= b->env->intervals_passed;
}

/*
 * All samples of the interval that ended: the kernel writes one to the ring after the program there has returned, so
 * the last ones may still be on their way, for microseconds, or as long as the host keeps a virtual CPU waiting.
 */
static int read_interval(struct source *b, struct err *err)
{
	const struct timespec pause = { .tv_nsec = 100 * 1000 };
	int tries = 1000, rc;

	do {
		rc = read_rings(b, err);
		ask_all_lost(b);
	} while (!rc && in_kernel(b) && !is_interval_read(b) && tries-- && !nanosleep(&pause, NULL));
	return rc;
}

/* When the interval ended that did. Where the events have another clock, its last record is the best that is known. */
static uint64_t interval_end(const struct source *b)
{
	return b->env->events->attr.use_clockid ? b->env->sink->stopped_ns : b->queue.order.applied;
}

/* Sampling goes on: what has been read is applied when the rings have been read once more. */
static int next_interval(struct source *b, struct err *err)
{
	int rc = apply_round(b, err);

	apply_time(&b->queue.applier, interval_end(b));
	b->queue.applier.set = b->env->sink->set;
	if (!rc)
		rc = read_rings(b, err);
	return rc ? rc : apply_round(b, err);
}

/* The record that explains one of the last samples may be still to come. */
static int look_further(struct source *b, struct err *err)
{
	int rc;

	compare_wait();
	rc = perfring_drain(b, err);
	return rc ? rc : perfring_drain(b, err);
}

static int perfring_end(struct source *b, struct err *err)
{
	const struct source_env *env = b->env;
	int rc;

	if (env->sink->set != env->sink->ended)
		b->queue.applier.stats[env->sink->set] = (struct stats){ 0 };
	b->queue.ending = true;
	rc = read_interval(b, err);
	ask_all_side_lost(b);
	if (!rc && env->sink->set != env->sink->ended) {
		rc = next_interval(b, err);
		/* Of the last switches the samples may still be to come, behind their notes. */
		if (!rc && (env->sink->sets[env->sink->ended].ring_intervals ||
			    (env->sink->sets[env->sink->ended].compare &&
			     compare_nr_pending(env->sink->sets[env->sink->ended].compare))))
			rc = look_further(b, err);
	} else if (!rc) {
		rc = queue_flush(&b->queue);
		if (!rc && b->queue.applier.switching)
			rc = switching_end(&b->queue.applier, interval_end(b));
		rc = rc ? err_sys(err, rc, "cannot count the samples of the perf rings") : 0;
		apply_time(&b->queue.applier, interval_end(b));
	}
	b->queue.ending = false;
	b->env->events->kept_bytes = __atomic_load_n(&b->kept_most, __ATOMIC_RELAXED);
	b->queue.applier.stats[env->sink->ended].late_records += b->queue.order.late;
	b->queue.applier.stats[env->sink->ended].backward_records += b->queue.order.backward;
	b->queue.order.late = b->queue.order.backward = 0;
	if (!rc && env->sink->sets[env->sink->ended].compare && compare_end(env->sink->sets[env->sink->ended].compare))
		rc = err_sys(err, -ENOMEM, "cannot compare the backends");
	return rc;
}

static void perfring_stats(const struct source *b, struct stats *stats)
{
	if (b)
		stats_add(stats, &b->queue.applier.stats[b->env->sink->ended]);
}

static void perfring_close(struct source *b)
{
	size_t i;

	if (!b)
		return;
	for (i = 0; b->sources && i < b->env->events->nr_places; i++) {
		unmap_rings(&b->sources[i]);
		free(b->sources[i].switch_ids);
	}
	free(b->sources);
	queue_release(&b->queue);
	free(b);
}

const struct source_ops source_rings = {
	.open = perfring_open,
	.attach = perfring_attach,
	.detach = perfring_detach,
	.start = perfring_start,
	.drain = perfring_drain,
	.fetch = perfring_fetch,
	.end = perfring_end,
	.stats = perfring_stats,
	.close = perfring_close,
};
