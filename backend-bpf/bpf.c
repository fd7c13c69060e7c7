// SPDX-License-Identifier: Apache-2.0
/*
 * The backend that counts samples in the kernel: loads bpf/profile.bpf.c, attaches it to the sampling events, and turns
 * its maps into rows at the end. What the program passes on instead of counting is the ring reader's.
 */
#include "backend-bpf/object.h"
#include "backend-bpf/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "bpf/profile.skel.h"

struct counter {
	struct object object;
	struct profile_bpf *skel;
	struct stats stats[2]; /* of each set, when its interval has ended */
};

static int bpf_probe(bool forced, struct err *err)
{
	return object_probe(BPF_PROG_TYPE_PERF_EVENT, "perf events",
			    "before Linux 4.9, or built without CONFIG_BPF_EVENTS", forced, err);
}

static int bpf_open(struct counter **out, const struct source_env *env, struct err *err)
{
	struct counter *b = calloc(1, sizeof(*b));
	struct object *o;
	int rc;

	*out = b;
	if (!b)
		return err_sys(err, -ENOMEM, "cannot open backend 'bpf'");
	o = &b->object;
	if (object_init(o, env, err))
		return err->code;
	b->skel = profile_bpf__open();
	if (!b->skel)
		return object_refused(err, -errno, "cannot read the embedded BPF object");
	o->maps.stacks[0] = b->skel->maps.stack_map_0;
	o->maps.stacks[1] = b->skel->maps.stack_map_1;
	if (object_load(o, b->skel->obj, "count_sample", err))
		return err->code;
	/* Where the ring's reader counts, too, both begin when it says. */
	rc = env->request->both ? 0 : object_set(o, env->sink->set);
	return rc ? err_sys(err, rc, "cannot fill the BPF maps") : 0;
}

static int bpf_attach(struct counter *b, size_t i, struct err *err)
{
	const struct event_place *e = &b->object.env->events->places[i];

	if (!e->samples)
		return 0;
	if (object_notes(&b->object, e->cpu, e->notes[NOTED_SAMPLES].fd, err))
		return err->code;
	if (ioctl(e->fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(b->object.program)))
		return err_sys(err, -errno, "cannot attach the BPF program to the perf event of CPU %d", e->cpu);
	return 0;
}

static int bpf_detach(struct counter *b, size_t i, struct err *err)
{
	const struct event_place *e = &b->object.env->events->places[i];

	return e->samples ? object_notes(&b->object, e->cpu, -1, err) : 0;
}

static int bpf_start(struct counter *b, struct err *err)
{
	int rc = b->object.env->request->both ? object_set(&b->object, b->object.env->sink->set) : 0;

	return rc ? err_sys(err, rc, "cannot tell the BPF program to begin") : 0;
}

static int add_row(void *ctx, const struct bpf_count_key *key, const void *value)
{
	struct counter *b = ctx;
	const struct sink *sink = b->object.env->sink;
	uint64_t samples = *(const __u64 *)value;
	struct row_key row;
	int rc = object_row_key(&b->object, sink->ended, key, &row);

	b->stats[sink->ended].count_entries++;
	return rc ? rc : rows_add(sink->sets[sink->ended].samples, &row, samples, samples);
}

static int read_stats(const struct counter *b, unsigned int set, struct stats *to)
{
	union {
		struct bpf_stats stats;
		uint64_t all[sizeof(struct bpf_stats) / sizeof(uint64_t)];
	} sum = { 0 };
	int rc = object_stats(&b->object, set, sum.all, ARRAY_SIZE(sum.all));

	if (rc)
		return rc;
	to->taken = sum.stats.taken;
	to->counted_kernel = sum.stats.counted;
	to->filtered = sum.stats.filtered;
	to->spilled_stack = sum.stats.spilled_stack;
	to->spilled_count = sum.stats.spilled_count;
	to->spilled_unwind = sum.stats.spilled_unwind;
	to->spilled_tree = sum.stats.spilled_tree;
	to->spilled_number = sum.stats.spilled_number;
	to->passed = to->spilled_stack + to->spilled_count + to->spilled_unwind + to->spilled_tree + to->spilled_number;
	to->idle = sum.stats.idle;
	to->outside = sum.stats.outside;
	return 0;
}

static int bpf_end(struct counter *b, struct err *err)
{
	const struct source_env *env = b->object.env;
	int rc = env->sink->set != env->sink->ended ? object_change_set(&b->object, env->sink->set) : 0;

	if (rc)
		return err_sys(err, rc, "cannot switch the BPF program to another set of tables");
	b->stats[env->sink->ended] = (struct stats){ 0 };
	rc = read_stats(b, env->sink->ended, &b->stats[env->sink->ended]);
	return rc ? err_sys(err, rc, "cannot read the statistics of the BPF program") : 0;
}

static int bpf_take(struct counter *b, struct err *err)
{
	const struct source_env *env = b->object.env;
	__u64 value;
	int rc = object_counts(&b->object, env->sink->ended, &value, add_row, b);

	if (env->request->options->stats)
		b->stats[env->sink->ended].stack_entries = object_nr_stacks(&b->object, env->sink->ended);
	if (!rc && env->sink->set != env->sink->ended)
		rc = object_clear(&b->object, env->sink->ended);
	return rc ? err_sys(err, rc, "cannot read the BPF maps") : 0;
}

/* Disabling the events will wait for the runs that have begun. */
static int bpf_stop(struct counter *b, struct err *err)
{
	int rc = object_set(&b->object, BPF_SET_NONE);

	return rc ? err_sys(err, rc, "cannot tell the BPF program to end") : 0;
}

static int bpf_pids(struct counter *b, bool resume, bool (*fn)(void *ctx, pid_t pid), void *ctx)
{
	return object_pids(&b->object, resume, fn, ctx);
}

static bool bpf_judged(struct counter *b, pid_t pid, enum descent what)
{
	return object_judged(&b->object, pid, what);
}

static int bpf_read_note(const void *raw, size_t size, struct sample_note *out)
{
	struct bpf_note n;

	if (size < sizeof(n))
		return -EBADMSG;
	memcpy(&n, raw, sizeof(n));
	return object_note(&n, out);
}

static void bpf_stats(const struct counter *b, struct stats *stats)
{
	if (b)
		stats_add(stats, &b->stats[b->object.env->sink->ended]);
}

static void bpf_close(struct counter *b)
{
	if (!b)
		return;
	profile_bpf__destroy(b->skel);
	object_release(&b->object);
	free(b);
}

const struct counter_ops counter_bpf = {
	.program = bpf_source,
	.files = 16, /* a dozen maps, the program, and what libbpf opens while it loads them */
	.switches = &counter_bpf_switches,
	.probe = bpf_probe,
	.open = bpf_open,
	.attach = bpf_attach,
	.detach = bpf_detach,
	.start = bpf_start,
	.stop = bpf_stop,
	.end = bpf_end,
	.take = bpf_take,
	.pids = bpf_pids,
	.judged = bpf_judged,
	.note = bpf_read_note,
	.stats = bpf_stats,
	.close = bpf_close,
};
