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

struct sample_counter {
	struct counter counter;
	struct profile_bpf *skel;
};

static int bpf_probe(bool forced, struct err *err)
{
	return object_probe(BPF_PROG_TYPE_PERF_EVENT, "perf events",
			    "before Linux 4.9, or built without CONFIG_BPF_EVENTS", forced, err);
}

static int bpf_open(struct counter **out, const struct source_env *env, struct err *err)
{
	struct sample_counter *own = calloc(1, sizeof(*own));
	struct counter *c = own ? &own->counter : NULL;
	int rc;

	*out = c;
	if (!c)
		return err_sys(err, -ENOMEM, "cannot open backend 'bpf'");
	if (object_init(c, env, err))
		return err->code;
	own->skel = profile_bpf__open();
	if (!own->skel)
		return object_refused(err, -errno, "cannot read the embedded BPF object");
	c->maps.stacks[0] = own->skel->maps.stack_map_0;
	c->maps.stacks[1] = own->skel->maps.stack_map_1;
	if (object_load(c, own->skel->obj, "count_sample", err))
		return err->code;
	/* Where the ring's reader counts, too, both begin when it says. */
	rc = env->request->both ? 0 : object_set(c, env->sink->set);
	return rc ? err_sys(err, rc, "cannot fill the BPF maps") : 0;
}

static int bpf_attach(struct counter *c, size_t i, struct err *err)
{
	const struct event_place *e = &c->env->events->places[i];

	if (!e->samples)
		return 0;
	if (object_notes(c, e->cpu, e->notes[NOTED_SAMPLES].fd, err))
		return err->code;
	if (ioctl(e->fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(c->program)))
		return err_sys(err, -errno, "cannot attach the BPF program to the perf event of CPU %d", e->cpu);
	return 0;
}

static int bpf_detach(struct counter *c, size_t i, struct err *err)
{
	const struct event_place *e = &c->env->events->places[i];

	return e->samples ? object_notes(c, e->cpu, -1, err) : 0;
}

static int bpf_start(struct counter *c, struct err *err)
{
	int rc = c->env->request->both ? object_set(c, c->env->sink->set) : 0;

	return rc ? err_sys(err, rc, "cannot tell the BPF program to begin") : 0;
}

static int add_row(struct counter *c, const struct bpf_count_key *key, const void *value)
{
	const struct sink *sink = c->env->sink;
	uint64_t samples = *(const __u64 *)value;
	struct row_key row;
	int rc = object_row_key(c, sink->ended, key, &row);

	c->stats[sink->ended].count_entries++;
	return rc ? rc : rows_add(sink->sets[sink->ended].samples, &row, samples, samples);
}

static int bpf_end(struct counter *c, struct err *err)
{
	struct stats *to = &c->stats[c->env->sink->ended];
	struct bpf_stats sum = { 0 };

	if (object_end(c, &sum, sizeof(sum), err))
		return err->code;
	*to = (struct stats){
		.taken = sum.taken,
		.counted_kernel = sum.counted,
		.filtered = sum.filtered,
		.idle = sum.idle,
		.outside = sum.outside,
	};
	object_add_spills(&sum.spilled, to);
	to->passed = to->spilled_stack + to->spilled_count + to->spilled_unwind + to->spilled_tree + to->spilled_number;
	return 0;
}

static int bpf_take(struct counter *c, struct err *err)
{
	__u64 value;

	return object_take(c, &value, add_row, err);
}

/* Disabling the events will wait for the runs that have begun. */
static int bpf_stop(struct counter *c, struct err *err)
{
	int rc = object_set(c, BPF_SET_NONE);

	return rc ? err_sys(err, rc, "cannot tell the BPF program to end") : 0;
}

static int bpf_read_note(const void *raw, size_t size, struct sample_note *out)
{
	struct bpf_note n;

	if (size < sizeof(n))
		return -EBADMSG;
	memcpy(&n, raw, sizeof(n));
	return object_note(&n, out);
}

static void bpf_close(struct counter *c)
{
	struct sample_counter *own = (struct sample_counter *)c;

	if (!c)
		return;
	profile_bpf__destroy(own->skel);
	object_release(c);
	free(own);
}

const struct counter_ops counter_bpf = {
	.program = bpf_source,
	.switches = &counter_bpf_switches,
	.probe = bpf_probe,
	.open = bpf_open,
	.attach = bpf_attach,
	.detach = bpf_detach,
	.start = bpf_start,
	.stop = bpf_stop,
	.end = bpf_end,
	.take = bpf_take,
	.pids = object_pids,
	.judged = object_judged,
	.note = bpf_read_note,
	.stats = object_add_stats,
	.close = bpf_close,
};
