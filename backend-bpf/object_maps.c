// SPDX-License-Identifier: Apache-2.0
/* The contents of the maps of a loaded object: the current set, counts, stacks and statistics. */
#include "backend-bpf/object.h"
#include "backend-bpf/first_samples.h"
#include "compat/bpf_map.h"
#include "core/rows/callchain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LAND_NS (1000 * 1000 * 1000LL) /* the longest wait for the end of running programs */

/* A key that is in no map. */
static struct bpf_count_key key_of_none(void)
{
	struct bpf_count_key key;

	memset(&key, 0xff, sizeof(key));
	return key;
}

int object_set(struct counter *c, uint32_t set)
{
	__u32 zero = 0;

	c->config.set = set;
	return bpf_map_update_elem(bpf_map__fd(c->tables.config), &zero, &c->config, BPF_ANY) ? -errno : 0;
}

/* For @fd -1, delete the entry: otherwise the map would keep the event for ever. */
int object_notes(struct counter *c, int cpu, int fd, struct err *err)
{
	__u32 key = (__u32)cpu;

	if (fd < 0)
		bpf_map_delete_elem(bpf_map__fd(c->maps.notes), &key);
	else if (bpf_map_update_elem(bpf_map__fd(c->maps.notes), &key, &fd, BPF_ANY))
		return err_sys(err, -errno, "cannot give the BPF program the ring of CPU %d", cpu);
	return 0;
}

/*
 * Find the key after @key; if @key is not in the table, the first one. (The kernel accepts NULL for that only since
 * 4.12.) Return: 0; -ENOENT at the end; another -errno.
 */
static int next_count(const struct counter *c, unsigned int set, struct bpf_count_key *key)
{
	return bpf_map_get_next_key(bpf_map__fd(c->tables.counts[set]), key, key) ? -errno : 0;
}

static int read_stack(struct counter *c, unsigned int set, __s32 id, int side, struct stack *out)
{
	const struct bpf_map *map = c->tables.stacks[set];
	unsigned int depth = c->depth;
	__u32 key = (__u32)id;

	*out = (struct stack){ .state = STACK_NONE };
	if (id < 0)
		return 0;
	if (id & BPF_SHORT_STACK) {
		map = c->tables.shorts[set];
		depth = BPF_SHORT_WORDS;
		key &= ~(__u32)BPF_SHORT_STACK;
	}
	if (bpf_map_lookup_elem(bpf_map__fd(map), &key, c->frames[side])) {
		out->state = STACK_MISSED;
		return errno == ENOENT ? 0 : -errno;
	}
	callchain_entry(c->frames[side], depth, out);
	return 0;
}

/*
 * Limit both stacks, but only the kernel stack if the program counts proven user stacks: these must be the same as the
 * unwound ones, to which the limit of callchains does not apply.
 */
static void limit_stacks(const struct request *request, struct row_key *key)
{
	struct stack user = key->user;

	callchain_limit(request->asked, &key->kernel, &key->user);
	if (request->proves)
		key->user = user;
}

/* @id: user_stack of a key of `counts_N`. It may stand for a callchain with the leaf's caller, see proved_leaf(). */
static int read_user_stack(struct counter *c, unsigned int set, __s32 id, struct stack *out)
{
	struct proved_leaf leaf = { .user_stack = id };
	frame_t *frames;
	int rc;

	if (id >= BPF_LEAF_STACKS && !proved_leaf(&c->tables.proved, set, id, &leaf))
		return -EBADMSG;
	rc = read_stack(c, set, leaf.user_stack, 1, out);
	if (rc || !leaf.top || !out->nr)
		return rc;
	frames = c->frames[1] + (out->frames - c->frames[1]);
	memmove(frames + 2, frames + 1, (out->nr - 1) * sizeof(*frames));
	frames[1] = leaf.top;
	out->nr++;
	return 0;
}

int object_row_key(struct counter *c, unsigned int set, const struct bpf_count_key *key, struct row_key *out)
{
	int rc;

	*out = (struct row_key){ .pid = (pid_t)key->pid };
	memcpy(out->comm, key->comm, COMM_LEN);
	rc = read_stack(c, set, key->kernel_stack, 0, &out->kernel);
	if (!rc)
		rc = read_user_stack(c, set, key->user_stack, &out->user);
	if (!rc)
		limit_stacks(c->env->request, out);
	return rc;
}

struct counts_reader {
	struct counter *c;
	object_count_fn fn;
};

static int read_count(void *ctx, const void *key, const void *value)
{
	const struct counts_reader *r = ctx;

	return r->fn(r->c, key, value);
}

static int read_counts(struct counter *c, unsigned int set, object_count_fn fn)
{
	const struct bpf_map *map = c->tables.counts[set];

	return kernel_map_walk(bpf_map__fd(map), sizeof(struct bpf_count_key), bpf_map__value_size(map), read_count,
			       &(struct counts_reader){ c, fn });
}

/* The number of stacks in a map; 0 if the kernel does not report it (before 4.16), or if there is no such map. */
static uint64_t nr_stacks(const struct bpf_map *map)
{
	__u32 id = UINT32_MAX;
	uint64_t nr = 0;

	while (map && !bpf_map_get_next_key(bpf_map__fd(map), &id, &id))
		nr++;
	return nr;
}

/* Read the values of one key of a per-CPU map, @size bytes for each CPU; the caller frees them. NULL: see errno. */
static void *read_cpus(const struct counter *c, const struct bpf_map *map, __u32 key, size_t size)
{
	void *each = calloc((size_t)c->cpus, size);

	if (!each || !bpf_map_lookup_elem(bpf_map__fd(map), &key, each))
		return each;
	free(each);
	return NULL;
}

int object_sum(const struct counter *c, unsigned int set, void *sum, size_t size)
{
	uint64_t *each = read_cpus(c, c->maps.stats, set, size), *all = sum;
	size_t i, nr = size / sizeof(*all);

	if (!each)
		return -errno;
	for (i = 0; i < (size_t)c->cpus * nr; i++)
		all[i % nr] += each[i];
	free(each);
	return 0;
}

/*
 * Return: 1: all runs of the program that began before the first call with @before have ended; 0: not yet; -errno.
 * @before: in and out; zeros in the first call
 */
static int landed(struct counter *c, struct bpf_flight *before)
{
	struct bpf_flight *each = read_cpus(c, c->maps.flight, 0, sizeof(*each));
	int i, rc = 1;

	if (!each)
		return -errno;
	for (i = 0; i < c->cpus; i++) {
		if (!before[i].entered)
			before[i].entered = each[i].entered;
		if (each[i].left < before[i].entered)
			rc = 0;
	}
	free(each);
	return rc;
}

/*
 * Let the program count into another set, and wait until none of its runs can use the previous set. A run increments
 * @entered before it reads the number of the set. Barriers on both sides ensure that one of the two sees the other: a
 * run that is not seen here sees the new set. In the program the addition is the barrier: ARCH_ADD_IS_BARRIER.
 */
int object_change_set(struct counter *c, uint32_t set)
{
	const struct timespec pause = { .tv_nsec = 50 * 1000 };
	struct bpf_flight *before = calloc((size_t)c->cpus, sizeof(*before));
	int64_t waited = 0;
	int rc = before ? object_set(c, set) : -ENOMEM;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	while (!rc) {
		rc = landed(c, before);
		waited += pause.tv_nsec;
		if (!rc && waited > LAND_NS)
			rc = -ETIMEDOUT;
		if (!rc)
			nanosleep(&pause, NULL);
	}
	free(before);
	return rc > 0 ? 0 : rc;
}

/*
 * Delete all entries. Ask for the next key before deleting one: after a deleted key, the kernel would start again at
 * the first place of the table.
 * @key, @next: room for a key each; @key is not in the map
 * Return: 0; -EINVAL: this kernel does not list the keys of such a map; another -errno.
 */
static int clear_map(int fd, void *key, void *next, size_t key_size)
{
	int rc = bpf_map_get_next_key(fd, key, next) ? -errno : 0;

	while (!rc) {
		memcpy(key, next, key_size);
		rc = bpf_map_get_next_key(fd, key, next) ? -errno : 0;
		if (bpf_map_delete_elem(fd, key))
			return -errno;
	}
	return rc == -ENOENT ? 0 : rc;
}

static int clear_counts(struct counter *c, unsigned int set)
{
	struct bpf_count_key key = key_of_none(), next;

	return clear_map(bpf_map__fd(c->tables.counts[set]), &key, &next, sizeof(key));
}

static int clear_stacks(const struct bpf_map *stacks)
{
	__u32 key = UINT32_MAX, next;
	int rc = clear_map(bpf_map__fd(stacks), &key, &next, sizeof(key));

	return rc == -EINVAL ? kernel_clear_stack_map(bpf_map__fd(stacks), bpf_map__max_entries(stacks)) : rc;
}

/* Clear the counts and statistics of a set, and its stacks if the other set does not share them. */
static int clear_set(struct counter *c, unsigned int set)
{
	void *none = calloc((size_t)c->cpus, bpf_map__value_size(c->maps.stats));
	__u32 key = set;
	int rc = none ? clear_counts(c, set) : -ENOMEM;

	proved_clear(&c->tables.proved, set);
	if (!rc && c->tables.stacks[0] != c->tables.stacks[1])
		rc = clear_stacks(c->tables.stacks[set]);
	if (!rc && c->tables.shorts[set])
		rc = clear_stacks(c->tables.shorts[set]);
	if (!rc && bpf_map_update_elem(bpf_map__fd(c->maps.stats), &key, none, BPF_ANY))
		rc = -errno;
	free(none);
	return rc;
}

int object_end(struct counter *c, void *sum, size_t size, struct err *err)
{
	const struct sink *sink = c->env->sink;
	uint32_t next = sink->set == sink->ended ? BPF_SET_NONE : sink->set;
	int rc = c->config.set == next ? 0 : object_change_set(c, next);

	if (rc)
		return err_sys(err, rc, "cannot switch the BPF program to another set of tables");
	rc = object_sum(c, sink->ended, sum, size);
	return rc ? err_sys(err, rc, "cannot read the statistics of the BPF program") : 0;
}

int object_read(struct counter *c, object_count_fn fn, struct err *err)
{
	unsigned int set = c->env->sink->ended;
	int rc = read_counts(c, set, fn);

	if (c->env->request->counts_entries)
		c->stats[set].stack_entries += nr_stacks(c->tables.stacks[set]) + nr_stacks(c->tables.shorts[set]);
	return rc ? err_sys(err, rc, "cannot read the BPF maps") : 0;
}

int object_take(struct counter *c, object_count_fn fn, struct err *err)
{
	const struct sink *sink = c->env->sink;
	int rc = object_read(c, fn, err);

	if (rc || sink->set == sink->ended)
		return rc;
	rc = clear_set(c, sink->ended);
	return rc ? err_sys(err, rc, "cannot clear the BPF maps") : 0;
}

/*
 * Use get_next_key only: while the kernel reads a value, it runs no program for samples of this CPU. A walk may never
 * end while new keys come, so the size of the table bounds it.
 */
int object_pids(struct counter *c, bool (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct bpf_count_key key = key_of_none();
	uint64_t left = (uint64_t)c->tables.sizes.counts + 1; /* plus one, because the end comes after the last key */
	int rc = 0;

	while (left-- && !(rc = next_count(c, c->env->sink->set, &key)))
		if (!fn(ctx, (pid_t)key.pid))
			return -EAGAIN;
	return rc == -ENOENT ? 0 : rc ? rc : -EAGAIN;
}

static int first_samples_fd(const struct counter *c)
{
	return c->first ? first_fd(c->first) : -1;
}

static void read_first_samples(struct counter *c, void (*fn)(void *ctx, pid_t pid, bool existed), void *ctx)
{
	if (c->first)
		first_read(c->first, fn, ctx);
}

const struct first_ops object_first = { object_watch_first, first_samples_fd, read_first_samples };

bool object_judged(struct counter *c, pid_t pid, enum descent what)
{
	__u32 key = (__u32)pid, in = what == DESCENT_IN;
	int fd = bpf_map__fd(c->maps.targets);

	if (what == DESCENT_UNKNOWN)
		return !bpf_map_delete_elem(fd, &key);
	return !bpf_map_update_elem(fd, &key, &in, BPF_ANY);
}

int object_note(const struct bpf_note *note, struct sample_note *out)
{
	if (note->set > 1 || note->verdict > BPF_UNNUMBERED)
		return -EBADMSG;
	*out = (struct sample_note){
		.set = note->set,
		.verdict = note->verdict == BPF_COUNTED      ? NOTE_COUNTED
			   : note->verdict == BPF_SPILLED    ? NOTE_SPILLED
			   : note->verdict == BPF_UNKNOWN    ? NOTE_UNKNOWN
			   : note->verdict == BPF_UNNUMBERED ? NOTE_UNNUMBERED
							     : NOTE_FILTERED,
		.left = note->verdict == BPF_LEFT,
		.pid = (pid_t)note->pid,
		.tid = (pid_t)note->tid,
		.user_stack = -1,
	};
	memcpy(out->comm, note->comm, LAYOUT_COMM_LEN);
	return 0;
}

void object_add_spills(const struct bpf_spills *spills, struct stats *to)
{
	to->spilled_stack += spills->stack;
	to->spilled_count += spills->count;
	to->spilled_unwind += spills->unwind;
	to->spilled_tree += spills->tree;
	to->spilled_number += spills->number;
}

void object_add_stats(const struct counter *c, struct stats *stats)
{
	if (c)
		stats_add(stats, &c->stats[c->env->sink->ended]);
}
