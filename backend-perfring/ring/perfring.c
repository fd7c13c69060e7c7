// SPDX-License-Identifier: Apache-2.0
/*
 * The backend that reads the mmap rings of the events and counts in user space, like the BPF program does in the
 * kernel. Behind the bpf backend, it reads the samples that the program passed on, and the side-band records that both
 * need.
 */
#include "backend-perfring/apply.h"
#include "backend-perfring/ring/rings.h"
#include "backend-perfring/switching.h"
#include "core/base/clock.h"
#include "core/events/event_rings.h"
#include "core/rows/compare.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define REFRESH_NS NSEC_PER_SEC

/* Records wait in memory up to a limit; the ring that is emptied last may exceed it. Each list begins its own block. */
static struct blocks *make_blocks(const struct events *ev)
{
	size_t lists = 2 * 2 * ev->nr_places; /* struct ring_kept */

	return blocks_new((ev->kept_bytes_max + ev->rings_wanted.samples) / BLOCK_ROOM + 2 * lists);
}

static int perfring_open(struct source **out, const struct source_env *env, struct err *err)
{
	struct source *b = calloc(1, sizeof(*b));
	bool wants_unseen = rings_want_first(env->events);

	*out = b;
	if (!b)
		return err_sys(err, -ENOMEM, "cannot open backend 'perfring'");
	b->env = env;
	b->rings = calloc(env->events->nr_places, sizeof(*b->rings));
	b->blocks = make_blocks(env->events);
	if (wants_unseen)
		b->unseen = unseen_new(env->request->host, &env->request->filter);
	if (!b->rings || !b->blocks || (wants_unseen && !b->unseen) ||
	    queue_open(&b->queue, env, env->events->nr_places))
		return err_sys(err, -ENOMEM, "cannot open backend 'perfring'");
	return 0;
}

static int perfring_attach(struct source *b, size_t i, struct err *err)
{
	int rc = rings_map(b, i, err);

	b->refresh = b->started;
	rings_stats(b)->reopened += b->started;
	order_restart(&b->queue.order, (uint32_t)i);
	/* The switches since its CPU came online are unknown. */
	if (!rc && b->started && b->queue.applier.switching && rings_mark_gap(b, (uint32_t)i, now_ns(), GAP_WAS))
		rc = err_sys(err, -ENOMEM, "cannot keep the records of a perf ring");
	if (b->started && events_attr(b->env->events)->use_clockid)
		b->queue.applier.rings[i].since = now_ns();
	/* Begin with the current counts: the events of threads continue to count losses while a CPU is offline. */
	b->rings[i].lost = lost_now(b, i);
	b->rings[i].lost_side = lost_side_now(b, i);
	return rc;
}

static int perfring_detach(struct source *b, size_t i, struct err *err)
{
	int rc = rings_read_place(b, (uint32_t)i, err);

	lost_count(b, (uint32_t)i);
	lost_count_side(b, (uint32_t)i);
	if (b->queue.applier.switching) {
		switching_gap(&b->queue.applier);
		switching_gap_ends(&b->queue.applier, (uint32_t)i);
	}
	rings_unmap(&b->rings[i]);
	return rc;
}

/*
 * Read the mount namespace of the command. Later changes have records: the kernel writes one when a process is made, or
 * enters another namespace. The command waits until we have started, so this is before its first sample.
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
 * Read the names of the existing threads: after the events were enabled, so that no renaming is missed, and before the
 * first sample counts here, so that no sample gets a later name. If a BPF program counts alone, it does so meanwhile,
 * and its notes have the names. The names are still needed: at an exec, counts from before belong to the name that the
 * thread had until then. If /proc cannot be read, the name of a thread is its number.
 */
static int perfring_start(struct source *b, struct err *err)
{
	const struct source_env *env = b->env;
	int rc = env->request->command ? learn_command(env) : tasks_snapshot(env->sink->tasks, &env->request->filter);

	b->started = true;
	if (b->unseen)
		unseen_begin(b->unseen, env->request->host);
	if (rc == -ENOMEM)
		return err_sys(err, rc, "cannot keep the names of the running threads");
	if (rings_in_kernel(b))
		return 0;
	/* Empty the rings before counting begins. Records that were lost before are not samples of this run. */
	b->starting = true;
	rc = rings_read(b, err);
	b->starting = false;
	lost_count_all(b);
	lost_count_all_side(b);
	rings_stats(b)->lost_records = rings_stats(b)->lost_here = 0;
	rings_stats(b)->lost_side_band = 0;
	return rc;
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
	pid_t pid;
	int rc;

	/* Do this first, because these processes may exit soon. Hurry, because records about new processes take two
	 * rounds until they are applied. */
	while ((pid = unseen_next(b->unseen))) {
		rings_learn(b, pid);
		b->env->events->hurry = true;
	}
	rc = rings_read(b, err);

	/* Execs before side_band_tell_of_all() may have no record: read all names again. */
	if (b->env->events->side_of_all && !b->told_of_all) {
		b->told_of_all = b->refresh = true;
		b->refreshed_at = 0;
	}
	if (!rc)
		rc = refresh(b, err);
	return rc ? rc : apply_round(b, err);
}

/* True if everything that the BPF program passed on has been read. */
static bool is_interval_read(const struct source *b)
{
	const struct stats *stats = &b->queue.applier.stats[b->env->sink->ended];

	return stats->ring_samples + stats->lost_here >= b->env->samples_passed &&
	       stats->intervals_received + stats->lost_switch_notes >= b->env->intervals_passed;
}

/*
 * Read all samples of the interval that ended. The kernel writes a sample to the ring after the BPF program has
 * returned, so the last ones may come microseconds later, or as late as the host lets a virtual CPU wait.
 */
static int read_interval(struct source *b, struct err *err)
{
	const struct timespec pause = { .tv_nsec = 100 * 1000 };
	int tries = 1000, rc;

	do {
		rc = rings_read(b, err);
		lost_count_all(b);
	} while (!rc && rings_in_kernel(b) && !is_interval_read(b) && tries-- && !nanosleep(&pause, NULL));
	return rc;
}

/* When the interval ended. If the events have another clock, use the time of its last record. */
static uint64_t interval_end(const struct source *b)
{
	return events_attr(b->env->events)->use_clockid ? b->env->sink->stopped_ns : b->queue.order.applied;
}

/* Sampling goes on: records that were read are applied after the rings have been read once more. */
static int next_interval(struct source *b, struct err *err)
{
	int rc = apply_round(b, err);

	apply_time(&b->queue.applier, interval_end(b));
	b->queue.applier.set = b->env->sink->set;
	if (!rc)
		rc = rings_read(b, err);
	return rc ? rc : apply_round(b, err);
}

/* A record that explains one of the last samples may be still to come. */
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
	lost_count_all_side(b);
	if (!rc && env->sink->set != env->sink->ended) {
		rc = next_interval(b, err);
		/* The samples of the last switches may be still to come, after their notes. */
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

static void perfring_so_far(const struct source *b, struct stats *stats)
{
	stats->lost_here += b->queue.applier.stats[b->env->sink->set].lost_here;
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
	for (i = 0; b->rings && i < b->env->events->nr_places; i++)
		rings_unmap(&b->rings[i]);
	free(b->rings);
	unseen_delete(b->unseen);
	blocks_delete(b->blocks);
	queue_release(&b->queue);
	free(b);
}

const struct source_ops source_rings = {
	.live = true,
	.open = perfring_open,
	.attach = perfring_attach,
	.detach = perfring_detach,
	.start = perfring_start,
	.drain = perfring_drain,
	.look = rings_look,
	.fetch = rings_fetch,
	.end = perfring_end,
	.so_far = perfring_so_far,
	.stats = perfring_stats,
	.close = perfring_close,
};
