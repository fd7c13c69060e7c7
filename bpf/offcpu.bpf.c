// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Add up the time that threads are off their CPUs, by task and stacks, in the kernel.
 *
 * A program runs at each switch, on the CPU that switches: the current task is the one that leaves. count_switch() runs
 * on every kernel since 4.9, see shared.h. raw_count_switch() needs 4.17 and BTF; where it can run, user space prefers
 * it, see choose_source() in backend-bpf/offcpu.c. The maps are described in layout.h.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/layout.h"
#include "bpf/shared.h"

/* The record of sched:sched_switch, the same on every kernel except those with PREEMPT_RT patches. */
struct switch_record {
	__u64 common; /* not readable by programs */
	char prev_comm[LAYOUT_COMM_LEN];
	__u32 prev_pid, prev_prio;
	__u64 prev_state;
	char next_comm[LAYOUT_COMM_LEN];
	__u32 next_pid, next_prio;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct bpf_switch_stats);
} stats SEC(".maps");

/* All entries are preallocated: a run queue is locked here, and old kernels must not allocate memory then. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_slot);
} slots SEC(".maps");

struct charges_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct bpf_count_key);
	__type(value, struct bpf_charge);
} counts_0 SEC(".maps"), counts_1 SEC(".maps");

struct stack_map stack_map SEC(".maps");

/* Add an interval to its count. Return: 1: charged; 0: no room. See count() in profile.bpf.c. */
static __always_inline int charge(struct charges_map *counts, const struct bpf_count_key *key, __u64 ns)
{
	struct bpf_charge first = { .ns = ns, .times = 1 }, *sum = bpf_map_lookup_elem(counts, key);

	if (!sum) {
		if (!bpf_map_update_elem(counts, key, &first, BPF_NOEXIST))
			return 1;
		sum = bpf_map_lookup_elem(counts, key);
	}
	if (!sum)
		return 0;
	__sync_fetch_and_add(&sum->ns, ns);
	__sync_fetch_and_add(&sum->times, 1);
	return 1;
}

static __always_inline void write_note(void *ctx, struct bpf_switch_note *note)
{
	bpf_perf_event_output(ctx, &notes, BPF_F_CURRENT_CPU, note, sizeof(*note));
}

/* Thread @id comes to a CPU: end the interval that began when it left. */
static __always_inline void end_interval(void *ctx, const struct bpf_config *c, struct bpf_switch_stats *b, __u32 set,
					 __u64 now, __u32 id)
{
	struct bpf_switch_note note = { .kind = BPF_SWITCH_END, .id = id, .ns = now, .charge.set = set };
	struct bpf_slot *slot = bpf_map_lookup_elem(&slots, &id);
	__u64 ns;

	if (!slot || !slot->ns)
		return;
	ns = now > slot->ns ? now - slot->ns : 0; /* the clocks of two CPUs may differ */
	slot->ns = 0;
	if (slot->spilled) {
		write_note(ctx, &note);
		return;
	}
	if (ns < c->min_ns || ns > c->max_ns) {
		b->filtered++;
		return;
	}
	note.charge.key = slot->key;
	if (set == 0 ? charge(&counts_0, &note.charge.key, ns) : charge(&counts_1, &note.charge.key, ns)) {
		b->charged++;
		return;
	}
	b->spilled.count++;
	b->passed++;
	note.kind = BPF_SWITCH_CHARGE;
	note.id = 0;
	note.ns = ns;
	write_note(ctx, &note);
}

/* Return true if the interval passes the filters on task state and CPU. */
static __always_inline int is_wanted(const struct bpf_config *c, __u64 state)
{
	__u64 waits = state & ~c->could_run;

	if (c->by_state && (c->state_mask ? !(waits & c->state_mask) : waits != 0))
		return 0;
	return !c->by_cpu || bpf_get_smp_processor_id() == c->cpu;
}

/* Filter by kind of thread: a kernel thread has no user stack. */
static __always_inline int is_of_threads(void *ctx, const struct bpf_config *c)
{
	return c->threads == BPF_THREADS_ANY || (c->threads == BPF_THREADS_USER) == has_user_part(ctx);
}

/*
 * Apply the filters to the current thread, as judge().
 * @who: out: its ids and name
 */
static __always_inline __u32 judge_switch(void *ctx, const struct bpf_config *c, struct bpf_note *who, __u64 task,
					  __u64 state, int groups)
{
	__u32 verdict;

	if (!is_wanted(c, state))
		return BPF_FILTERED;
	who->pid = task >> 32;
	who->tid = (__u32)task;
	bpf_get_current_comm(who->comm, sizeof(who->comm));
	if (groups & BY_PIDNS && number(c, who)) {
		who->pid = who->tid = 0;
		verdict = BPF_UNNUMBERED;
	} else {
		/* The ring's reader cannot tell tasks outside from the idle task, and ignores them: do the same. */
		if (groups & BY_PIDNS && who->tid == BPF_OUTSIDE)
			return BPF_FILTERED;
		verdict = judge(c, who, groups);
	}
	if (verdict == BPF_FILTERED || verdict == BPF_LEFT || !is_of_threads(ctx, c))
		return BPF_FILTERED;
	return verdict;
}

/* True if intervals with this key have ended while the current set was filled. */
static __always_inline int is_charged(__u32 set, const struct bpf_count_key *key)
{
	return !!(set == 0 ? bpf_map_lookup_elem(&counts_0, key) : bpf_map_lookup_elem(&counts_1, key));
}

/*
 * Store the stacks. Return: BPF_COUNTED: the key is in @slot; BPF_SPILLED: it is not, because a stack could not be
 * stored, or user space unwinds the user stack.
 */
static __always_inline __u32 keep_key(void *ctx, const struct bpf_config *c, struct bpf_switch_stats *b,
				      const struct bpf_note *who, struct bpf_slot *slot)
{
	struct stack_maps maps = { .stacks = &stack_map };
	__s32 user_stack = BPF_NO_STACK;
	struct bpf_count_key key;

	if (c->unwind && has_user_part(ctx)) {
		b->spilled.unwind++;
		return BPF_SPILLED;
	}
	if (!c->no_user)
		user_stack = stack_id(ctx, c, maps, BPF_F_USER_STACK);
	if (!make_key(ctx, c, who, user_stack, maps, &key) ||
	    (!is_charged(who->set, &key) && !has_stacks(ctx, c, maps, key.kernel_stack, user_stack))) {
		b->spilled.stack++;
		return BPF_SPILLED;
	}
	slot->key = key;
	return BPF_COUNTED;
}

/* If an interval of thread @id is still open, its end was not seen: count it as lost here, or tell the reader. */
static __always_inline void lose_interval(void *ctx, struct bpf_switch_stats *b, struct bpf_slot *slot, __u32 set,
					  __u32 id)
{
	struct bpf_switch_note note = { .kind = BPF_SWITCH_END, .id = id, .charge.set = set };

	if (slot->ns && slot->spilled)
		write_note(ctx, &note);
	else if (slot->ns)
		b->lost++;
	slot->ns = 0;
}

/* Thread @id leaves, but this interval is not wanted. */
static __always_inline void forget(void *ctx, struct bpf_switch_stats *b, __u32 set, const __u32 *id)
{
	struct bpf_slot *slot = bpf_map_lookup_elem(&slots, id);

	if (slot)
		lose_interval(ctx, b, slot, set, *id);
}

/*
 * Find or make the slot of a thread that leaves. Look it up again after each step: verifiers before 4.14 do not permit
 * the use of a pointer that was NULL once and was stored meanwhile, whatever tests precede the use.
 */
static __always_inline struct bpf_slot *slot_of(const __u32 *id)
{
	struct bpf_slot *slot = bpf_map_lookup_elem(&slots, id), none = {};

	if (slot)
		return slot;
	bpf_map_update_elem(&slots, id, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&slots, id);
}

/* Begin an interval: store its stacks for the slot, or pass it on to the reader. */
static __always_inline void begin_interval(void *ctx, const struct bpf_config *c, struct bpf_switch_stats *b,
					   struct bpf_switch_note *note, struct bpf_slot *slot)
{
	if (note->who.verdict == BPF_COUNTED)
		note->who.verdict = keep_key(ctx, c, b, &note->who, slot);
	else if (note->who.verdict == BPF_UNKNOWN)
		b->spilled.tree++;
	else
		b->spilled.number++;
	slot->ns = note->ns;
	slot->spilled = note->who.verdict != BPF_COUNTED;
	if (slot->spilled) {
		b->passed++;
		write_note(ctx, note);
	}
}

/* The running thread leaves: an interval begins. */
static __always_inline void begin_if_wanted(void *ctx, const struct bpf_config *c, struct bpf_switch_stats *b,
					    __u32 set, __u64 now, __u64 state, int groups)
{
	struct bpf_switch_note note = { .kind = BPF_SWITCH_BEGIN, .ns = now, .charge.set = set };
	__u64 task = bpf_get_current_pid_tgid();
	__u32 id = (__u32)task;
	struct bpf_slot *slot;

	if (!id)
		return;
	if (state & c->dead) {
		forget(ctx, b, set, &id);
		bpf_map_delete_elem(&slots, &id);
		return;
	}
	b->begun++;
	note.id = id;
	note.who.verdict = judge_switch(ctx, c, &note.who, task, state, groups);
	if (note.who.verdict == BPF_FILTERED) {
		b->filtered++;
		forget(ctx, b, set, &id);
		return;
	}
	slot = slot_of(&id);
	if (!slot) {
		b->lost++;
		b->no_slot++;
		return;
	}
	lose_interval(ctx, b, slot, set, id);
	note_first(ctx, note.who.pid);
	begin_interval(ctx, c, b, &note, slot);
}

static __always_inline void count_in(void *ctx, const struct bpf_config *c, __u32 set, __u64 state, __u32 next,
				     int unseen, int groups)
{
	struct bpf_switch_stats *b = bpf_map_lookup_elem(&stats, &set);
	struct bpf_switch_note seen = { .kind = BPF_SWITCH_SEEN, .id = next, .charge.set = set };
	__u64 now;

	if (!b)
		return;
	b->unseen += unseen;
	seen.ns = now = bpf_ktime_get_ns();
	/* Write this note first: its record has the time of perf's clock, which is to be read close to @now. */
	if (c->pass_all)
		write_note(ctx, &seen);
	if (next)
		end_interval(ctx, c, b, set, now, next);
	begin_if_wanted(ctx, c, b, set, now, state, groups);
}

/*
 * Always return 1: 0 would hide the switch from other perf events on this tracepoint.
 * @leaves, @comes: identify the threads, see struct bpf_flight
 */
static __always_inline int handle_switch(void *ctx, __u64 state, __u32 next, __u64 leaves, __u64 comes, int groups)
{
	__u32 zero = 0;
	const struct bpf_config *c = bpf_map_lookup_elem(&config, &zero);
	struct bpf_flight *f = bpf_map_lookup_elem(&flight, &zero);
	int unseen;

	if (!c || !f)
		return 1;
	__sync_fetch_and_add(&f->entered, 1); /* a full barrier, too: ARCH_ADD_IS_BARRIER */
	unseen = f->came && f->came != leaves;
	f->came = comes;
	count_in(ctx, c, *(volatile const __u32 *)&c->set, state, next, unseen, groups);
	f->left++;
	return 1;
}

#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_REPORTED        0x7f  /* TASK_REPORT: the states in the tracepoint's record */
#define TASK_IDLE            0x402 /* TASK_UNINTERRUPTIBLE | TASK_NOLOAD */
/* TASK_RTLOCK_WAIT | TASK_FROZEN, which the tracepoint reports as TASK_UNINTERRUPTIBLE */
#define TASK_LIKE_D 0x9000

/*
 * The state that the tracepoint's record would have, computed as in __task_state_index() of include/linux/sched.h.
 * Before 5.18 the program does not get the state that the kernel read a moment before: a thread that was woken in
 * between looks like one that could run. The fourth argument is read as memory: the kernel would not attach a program
 * that reads an argument which the tracepoint does not have.
 */
static __always_inline __u64 state_of(const struct bpf_config *c, struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = ctx->args[1];
	__u32 state = c->switch_at.given ? number_at((__u64)&ctx->args[3], 0) : number_at(task, c->switch_at.state);

	if ((state & TASK_IDLE) == TASK_IDLE)
		state = BPF_STATE_IDLE;
	else if (state & TASK_LIKE_D)
		state = TASK_UNINTERRUPTIBLE;
	else
		state &= TASK_REPORTED;
	return state | (number_at(task, c->switch_at.exit_state) & BPF_STATE_DEAD);
}

/* Handle the arguments of the raw tracepoint: whether the switch is a preemption, the leaving task, the coming task. */
static __always_inline int handle_raw_switch(struct bpf_raw_tracepoint_args *ctx, int groups)
{
	__u32 zero = 0;
	const struct bpf_config *c = bpf_map_lookup_elem(&config, &zero);
	__u64 state = BPF_STATE_PREEMPTED;

	if (!c)
		return 1;
	if (!(ctx->args[0] & 1))
		state = state_of(c, ctx);
	return handle_switch(ctx, state, number_at(ctx->args[2], c->switch_at.tid), ctx->args[1], ctx->args[2], groups);
}

#define PROGRAM(name, groups)                                                                                          \
	SEC("tracepoint/sched/sched_switch")                                                                           \
	int name(struct switch_record *ctx)                                                                            \
	{                                                                                                              \
		return handle_switch(ctx, ctx->prev_state, ctx->next_pid, (__u64)ctx->prev_pid + 1,                    \
				     (__u64)ctx->next_pid + 1, groups);                                                \
	}                                                                                                              \
	SEC("raw_tp/sched_switch")                                                                                     \
	int raw_##name(struct bpf_raw_tracepoint_args *ctx)                                                            \
	{                                                                                                              \
		return handle_raw_switch(ctx, groups);                                                                 \
	}

PROGRAMS(count_switch)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
