// SPDX-License-Identifier: Apache-2.0
/*
 * The backend that reads the events' mmap rings and counts in user space what the BPF program would have counted.
 * Behind the bpf backend it reads what that one passed on, and the side-band records both need.
 */
#include "backend-perfring/apply.h"
#include "backend-perfring/decode.h"
#include "backend-perfring/order.h"
#include "backend-perfring/ring.h"
#include "compat/perf_open.h"
#include "core/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct backend {
	struct capture *cap;
	struct ring *rings; /* one for each event of cap */
	struct order order;
	struct applier applier;
	uint64_t lost_before; /* records lost before counting began */
};

/* One event on some CPU, as a run would open it. */
static int perfring_probe(bool forced, struct err *err)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = 1,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
	};
	struct cpu_list cpus;
	int rc = host_online_cpus(&host_here, &cpus, err), cpu, fd;

	(void)forced;
	if (rc)
		return rc;
	cpu = cpus.cpu[0];
	cpu_list_release(&cpus);
	fd = perf_open(&attr, -1, cpu);
	if (fd < 0)
		return capture_open_error(&host_here, event_default(), 1, cpu, fd, err);
	close(fd);
	return 0;
}

static int perfring_open(struct backend **out, struct capture *cap, struct err *err)
{
	struct backend *b = calloc(1, sizeof(*b));
	size_t i;
	int rc = 0;

	*out = b;
	if (!b)
		return err_sys(err, -ENOMEM, "cannot open backend 'perfring'");
	b->cap = cap;
	b->applier.cap = cap;
	b->rings = calloc(cap->nr_events, sizeof(*b->rings));
	b->applier.exits = calloc(cap->nr_events, sizeof(*b->applier.exits));
	if (!b->rings || !b->applier.exits)
		return err_sys(err, -ENOMEM, "cannot open backend 'perfring'");
	for (i = 0; i < cap->nr_events && !rc; i++)
		rc = ring_map(&b->rings[i], cap->events[i].fd, cap->ring_bytes, err);
	return rc;
}

static bool counts_everything(const struct backend *b)
{
	return !b->cap->backends[0].ops->in_kernel;
}

/* Taken while the names were read. Where the events have another clock (before 4.1) such samples cannot be told. */
static bool too_early(const struct backend *b, const struct record *r)
{
	return r->type == PERF_RECORD_SAMPLE && counts_everything(b) && b->cap->attr.use_clockid &&
	       r->time < b->cap->started_ns;
}

struct reading {
	struct backend *b;
	uint32_t ring;
};

static int take_record(void *ctx, const struct perf_event_header *record, size_t size)
{
	bool sample = record->type == PERF_RECORD_SAMPLE;
	struct reading *rd = ctx;
	struct backend *b = rd->b;
	struct books *books = &b->applier.books;
	struct record r;
	int rc = decode_record(&b->cap->attr, record, size, &r);

	books->ring_records++;
	books->ring_bytes += size;
	if (rc >= 0 && too_early(b, &r))
		return 0;
	books->ring_samples += sample;
	if (rc < 0) {
		books->bad_records++;
		books->bad_samples += sample;
		return 0;
	}
	if (r.type == PERF_RECORD_LOST)
		books->lost_records += r.lost.records;
	return order_add(&b->order, r.time, rd->ring, record, size);
}

/* A record that is in the queue has been decoded before, without error. */
static int apply_queued(void *ctx, uint32_t ring, const struct perf_event_header *record, size_t size)
{
	struct backend *b = ctx;
	struct record r;

	if (decode_record(&b->cap->attr, record, size, &r) <= 0)
		return 0;
	return apply_record(&b->applier, ring, &r);
}

static int read_rings(struct backend *b, struct err *err)
{
	struct reading rd = { b, 0 };
	int rc = 0;

	for (; rd.ring < b->cap->nr_events && !rc; rd.ring++) {
		rc = ring_read(&b->rings[rd.ring], take_record, &rd);
		if (rc == -EBADMSG) {
			b->applier.books.bad_records++;
			rc = 0;
		}
	}
	return rc ? err_sys(err, rc, "cannot keep the records of a perf ring") : 0;
}

/*
 * The kernel tells of lost records in front of the next one that fits, which never comes for those at the very end.
 * Since 6.0 an event counts them itself.
 */
static uint64_t lost_so_far(const struct backend *b)
{
	struct {
		uint64_t value, lost;
	} counts;
	uint64_t lost = 0;
	size_t i;

	if (!(b->cap->attr.read_format & PERF_FORMAT_LOST))
		return b->applier.books.lost_records;
	for (i = 0; i < b->cap->nr_events; i++)
		if (read(b->cap->events[i].fd, &counts, sizeof(counts)) == sizeof(counts))
			lost += counts.lost;
	return lost;
}

/*
 * Names of the threads that exist: read after the events were enabled, so that no renaming is missed, and before the
 * first sample counts, so that none has a later name. Behind the bpf backend few samples come here, and their names are
 * read one by one. Without /proc, threads have their numbers.
 */
static int perfring_start(struct backend *b, struct err *err)
{
	int rc;

	if (!counts_everything(b))
		return 0;
	rc = tasks_snapshot(b->cap->tasks, &b->cap->filter);
	if (rc == -ENOMEM)
		return err_sys(err, rc, "cannot keep the names of the running threads");
	/* The rings are empty when counting begins, and what they lost until then were no samples of this run. */
	rc = read_rings(b, err);
	b->lost_before = lost_so_far(b);
	return rc;
}

static int perfring_drain(struct backend *b, struct err *err)
{
	int rc = read_rings(b, err);

	if (rc)
		return rc;
	rc = order_round(&b->order, apply_queued, b);
	return rc ? err_sys(err, rc, "cannot count the samples of the perf rings") : 0;
}

static int perfring_stop(struct backend *b, struct err *err)
{
	int rc = read_rings(b, err);

	if (rc)
		return rc;
	rc = order_flush(&b->order, apply_queued, b);
	b->applier.books.lost_records = lost_so_far(b) - b->lost_before;
	return rc ? err_sys(err, rc, "cannot count the samples of the perf rings") : 0;
}

static void perfring_stats(const struct backend *b, struct books *books)
{
	const struct books *own = &b->applier.books;

	books->counted_ring += own->counted_ring;
	books->filtered += own->filtered;
	books->dead_tasks += own->dead_tasks;
	books->outside += own->outside;
	books->throttled += own->throttled;
	books->lost_records += own->lost_records;
	books->ring_samples += own->ring_samples;
	books->bad_samples += own->bad_samples;
	books->ring_records += own->ring_records;
	books->ring_bytes += own->ring_bytes;
	books->late_records += b->order.late;
	books->bad_records += own->bad_records;
}

static void perfring_close(struct backend *b)
{
	size_t i;

	if (!b)
		return;
	for (i = 0; b->rings && i < b->cap->nr_events; i++)
		ring_unmap(&b->rings[i]);
	free(b->rings);
	free(b->applier.exits);
	order_release(&b->order);
	free(b);
}

const struct backend_ops backend_perfring = {
	.name = "perfring",
	.does = "reads the perf rings and counts in user space",
	.probe = perfring_probe,
	.open = perfring_open,
	.start = perfring_start,
	.drain = perfring_drain,
	.stop = perfring_stop,
	.stats = perfring_stats,
	.close = perfring_close,
};
