// SPDX-License-Identifier: Apache-2.0
/*
 * The backend that counts samples in the kernel. It loads bpf/profile.bpf.c, attaches it to the sampling events, and
 * turns its maps into rows at the end of each interval. The ring's reader counts the samples that the program passes
 * on.
 */
#include "backend-bpf/namer.h"
#include "backend-bpf/object.h"
#include "backend-bpf/source.h"

#include "core/tasks/cgroup_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "bpf/profile.skel.h"

#define GROW_SPILLS 32 /* grow the tables when this many samples had no room */

struct sample_counter {
	struct counter counter;
	struct profile_bpf *skel;
	struct map_sizes most;     /* the largest sizes of its tables; see grow() */
	struct profile_bpf *grown; /* the instance with these sizes; NULL: not made yet, or @skel has them already */
	struct tables first;       /* the tables of @skel if @grown exists */
};

static int bpf_probe(bool forced, struct err *err)
{
	return object_probe(BPF_PROG_TYPE_PERF_EVENT, "perf events",
			    "before Linux 4.9, or built without CONFIG_BPF_EVENTS", forced, err);
}

static int size_maps(const struct counter *c, struct profile_bpf *skel, const struct tables *t)
{
	int rc = bpf_map__set_max_entries(skel->maps.proved, c->env->request->proves ? t->sizes.proved : 1);

	return rc ? rc : object_size_stacks(skel->maps.probe, 1, c->depth);
}

/* Fill @t with the maps of @skel, and with @sizes. */
static void take_maps(struct tables *t, const struct profile_bpf *skel, const struct map_sizes *sizes)
{
	*t = (struct tables){
		.stacks = { skel->maps.stack_map_0, skel->maps.stack_map_1 },
		.shorts = { skel->maps.short_map_0, skel->maps.short_map_1 },
		.sizes = *sizes,
	};
}

static void use_proofs(struct tables *t, const struct profile_bpf *skel, const struct source_env *env)
{
	t->proved.used = env->request->proves;
	t->proved.fd = bpf_map__fd(skel->maps.proved);
}

static enum proof_use bpf_unwound(struct counter *c, const struct sample_note *note, enum proof proof)
{
	/*
	 * Ignore notes of other tables: numbers of stacks are valid only in their own tables, and only until a set is
	 * cleared.
	 */
	return note->set == c->config.set && note->tables == c->config.generation
		       ? proved_tell(&c->tables.proved, note, proof)
		       : PROOF_UNUSED;
}

static size_t bpf_withdraw(struct counter *c, pid_t pid, bool gone)
{
	return proved_withdraw(&c->tables.proved, pid, gone);
}

/*
 * Remove the calls to bpf_probe_read(). If the kernel is locked down (confidentiality), it refuses programs with such
 * calls. Without them, the program does not know the top of a stack, and all stacks whose leaf has no frame are
 * unwound.
 */
static int take_reading_out(struct bpf_program *p)
{
	size_t nr = bpf_program__insn_cnt(p), i;
	struct bpf_insn *insns = malloc(nr * sizeof(*insns));
	int rc = insns ? 0 : -ENOMEM;

	for (i = 0; i < nr && !rc; i++) {
		insns[i] = bpf_program__insns(p)[i];
		if (insns[i].code == (BPF_JMP | BPF_CALL) && !insns[i].src_reg && insns[i].imm == BPF_FUNC_probe_read)
			insns[i] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = -1 };
	}
	if (!rc)
		rc = bpf_program__set_insns(p, insns, nr);
	free(insns);
	return rc;
}

/* Programs that read mount or PID namespaces need bpf_probe_read(), so they keep the calls. */
static int fit_programs(struct profile_bpf *skel, const struct source_env *env)
{
	bool reads = env->request->proves &&
		     libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_probe_read, NULL) == 1;
	int rc = reads ? 0 : take_reading_out(skel->progs.count_sample);

	return rc || reads ? rc : take_reading_out(skel->progs.count_sample_in_cgroup);
}

static int dispatch_to(const struct sample_counter *own, const struct bpf_program *program)
{
	__u32 zero = 0;
	int fd = bpf_program__fd(program);

	return bpf_map_update_elem(bpf_map__fd(own->skel->maps.programs), &zero, &fd, BPF_ANY);
}

static int bpf_open(struct counter **out, const struct source_env *env, struct err *err)
{
	struct sample_counter *own = calloc(1, sizeof(*own));
	struct counter *c = own ? &own->counter : NULL;
	struct map_sizes first;
	int rc;

	*out = c;
	if (!c)
		return err_sys(err, -ENOMEM, "cannot open backend 'bpf'");
	if (object_init(c, env, 1, err)) /* since 5.9 an entry begins with a PERF_CONTEXT_ marker */
		return err->code;
	own->skel = profile_bpf__open();
	if (!own->skel)
		return object_refused(err, -errno, "cannot read the embedded BPF object");
	own->most = map_sizes_choose(env->request, (unsigned int)c->cpus, c->depth, false);
	first = map_sizes_choose(env->request, (unsigned int)c->cpus, c->depth, true);
	map_sizes_bound(&own->most, &first, c->depth, memory_limit(env->request->host));
	take_maps(&c->tables, own->skel, &first);
	if (map_sizes_grow(&first, &own->most))
		c->dispatch = own->skel->progs.dispatch;
	rc = size_maps(c, own->skel, &c->tables);
	rc = rc ? rc : fit_programs(own->skel, env);
	if (rc)
		return object_refused(err, rc, "cannot choose the sizes of the BPF maps");
	if (object_load(c, own->skel->obj, "count_sample", err))
		return err->code;
	use_proofs(&c->tables, own->skel, env);
	if (c->dispatch && dispatch_to(own, c->program))
		return err_sys(err, -errno, "cannot fill the BPF maps");
	/* With both backends, the reader and the program begin at the same time, in bpf_start(). */
	rc = env->request->both ? 0 : object_set(c, env->sink->set);
	return rc ? err_sys(err, rc, "cannot fill the BPF maps") : 0;
}

static int bpf_attach(struct counter *c, size_t i, struct err *err)
{
	const struct event_place *e = &c->env->events->places[i];

	if (!e->samples)
		return 0;
	if (object_notes(c, e->cpu, e->notes[EVENT_SAMPLES].fd, err))
		return err->code;
	if (c->env->sink->began_ns) /* the CPU has come online */
		object_watch_first(c);
	if (ioctl(e->fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(c->dispatch ? c->dispatch : c->program)))
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

	return rc ? err_sys(err, rc, "cannot start the BPF program") : 0;
}

/*
 * Replace the program whose tables are full by one with larger tables. The old program may still run on other CPUs, and
 * counts into the first tables: these are read at the end, too. On failure nothing changes, and samples without room
 * are counted from the ring.
 */
static int grow(struct sample_counter *own)
{
	struct counter *c = &own->counter;
	struct profile_bpf *skel = profile_bpf__open();
	struct counter grown;
	struct tables more;
	struct err ignored;

	if (!skel)
		return -errno;
	take_maps(&more, skel, &own->most);
	if (size_maps(c, skel, &more) || fit_programs(skel, c->env) ||
	    object_grow(c, skel->obj, "count_sample", &more, &grown, &ignored) || dispatch_to(own, grown.program)) {
		profile_bpf__destroy(skel);
		return -EINVAL;
	}
	use_proofs(&grown.tables, skel, c->env);
	own->grown = skel;
	own->first = c->tables;
	c->tables = grown.tables;
	c->config = grown.config;
	return 0;
}

static void bpf_tend(struct counter *c)
{
	struct sample_counter *own = (struct sample_counter *)c;
	struct bpf_stats sum = { 0 };

	if (!c->dispatch || own->grown || object_sum(c, c->config.set, &sum, sizeof(sum)) ||
	    sum.spilled.stack + sum.spilled.count < GROW_SPILLS)
		return;
	if (grow(own))
		own->counter.dispatch = NULL; /* do not try again; dispatch() stays attached */
}

static void bpf_so_far(const struct counter *c, struct stats *stats)
{
	struct bpf_stats sum = { 0 };

	if (!object_sum(c, c->config.set, &sum, sizeof(sum)))
		stats->counted_kernel += sum.counted;
}

static void swap_tables(struct sample_counter *own)
{
	struct tables now = own->counter.tables;

	own->counter.tables = own->first;
	own->first = now;
}

static int bpf_pids(struct counter *c, bool (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct sample_counter *own = (struct sample_counter *)c;
	int rc = 0;

	if (own->grown) {
		swap_tables(own);
		rc = object_pids(c, fn, ctx);
		swap_tables(own);
	}
	return rc ? rc : object_pids(c, fn, ctx);
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
		.proved = sum.proved,
	};
	object_add_spills(&sum.spilled, to);
	to->passed = to->spilled_stack + to->spilled_count + to->spilled_unwind + to->spilled_tree + to->spilled_number;
	return 0;
}

static int bpf_take(struct counter *c, struct err *err)
{
	struct sample_counter *own = (struct sample_counter *)c;
	int rc = object_take(c, add_row, err);

	if (rc || !own->grown)
		return rc;
	swap_tables(own);
	rc = object_read(c, add_row, err);
	swap_tables(own);
	return rc;
}

/* Do not wait here: disabling the events waits for the runs that have begun. */
static int bpf_stop(struct counter *c, struct err *err)
{
	int rc = object_set(c, BPF_SET_NONE);

	return rc ? err_sys(err, rc, "cannot stop the BPF program") : 0;
}

static int bpf_read_note(const void *raw, size_t size, struct sample_note *out)
{
	struct bpf_sample_note n = { .user_stack = BPF_NO_STACK };
	int rc;

	/* Notes in recordings of rings may have only the task. */
	if (size < sizeof(n.who))
		return -EBADMSG;
	memcpy(&n, raw, size < sizeof(n) ? sizeof(n.who) : sizeof(n));
	rc = object_note(&n.who, out);
	out->user_stack = n.user_stack < 0 ? -1 : n.user_stack;
	out->tables = n.generation;
	out->top = n.top;
	return rc;
}

static void bpf_close(struct counter *c)
{
	struct sample_counter *own = (struct sample_counter *)c;

	if (!c)
		return;
	object_release(c);
	proved_release(&own->first.proved);
	profile_bpf__destroy(own->grown);
	profile_bpf__destroy(own->skel);
	free(own);
}

const struct counter_ops counter_bpf = {
	.program = bpf_source,
	.namer = &namer_bpf,
	.switches = &counter_bpf_switches,
	.probe = bpf_probe,
	.open = bpf_open,
	.attach = bpf_attach,
	.detach = bpf_detach,
	.start = bpf_start,
	.stop = bpf_stop,
	.end = bpf_end,
	.take = bpf_take,
	.first = &object_first,
	.pids = bpf_pids,
	.tend = bpf_tend,
	.so_far = bpf_so_far,
	.judged = object_judged,
	.unwound = bpf_unwound,
	.withdraw = bpf_withdraw,
	.note = bpf_read_note,
	.stats = object_add_stats,
	.close = bpf_close,
};
