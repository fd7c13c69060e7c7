/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the backends of this folder have in common: a BPF object with the maps of bpf/shared.h, of whose programs one is
 * loaded, and two sets of counts, of which user space reads the one while the program fills the other.
 */
#ifndef BACKEND_BPF_OBJECT_H
#define BACKEND_BPF_OBJECT_H

#include "backend-bpf/map_sizes.h"
#include "backend-bpf/proved.h"
#include "core/host/kernel.h"
#include "core/host/pidns.h"
#include "core/rows/rows.h"
#include "core/sources/source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/layout.h"

/** struct tables - that a program fills, and what belongs to them. */
struct tables {
	struct bpf_map *config;
	struct bpf_map *counts[2], *stacks[2]; /* of each set; both may have the same stacks */
	struct bpf_map *shorts[2];             /* for stacks of BPF_SHORT_WORDS; NULL: there are none */
	struct map_sizes sizes;                /* after object_init(): as they are asked for, without short stacks */
	struct proved proved;                  /* of samples */
};

/** struct counter - what both counters begin with; all 0 before object_init(). */
struct counter {
	const struct source_env *env;
	struct bpf_object *bpf;       /* its skeleton's */
	struct bpf_program *program;  /* the one of them that is used, */
	struct bpf_program *dispatch; /* and what is attached to call it; NULL: itself is attached */
	struct tables tables;
	struct {
		struct bpf_map *targets, *cgroup, *cgroup_ids, *mntns_ids, *stats, *flight, *notes;
	} maps;
	int cpus;            /* that this kernel can have: values in an entry of a per-CPU map */
	unsigned int depth;  /* addresses in an entry of a stack map */
	uint64_t *frames[2]; /* one such entry each: kernel, user */
	bool here;           /* this process is in a pid namespace: @pidns, whose numbers are wanted */
	struct pidns pidns;
	struct bpf_config config;
	struct bpf_count_key walk; /* where object_pids() has got to */
	struct stats stats[2];     /* of each set, when its interval has ended */
};

/**
 * object_probe() - does this kernel have what an object needs? Tried with the smallest map and program there are.
 * @what:    a program of @type, for the message
 * @missing: why a kernel has none
 * @forced:  see counter_ops.probe
 */
int object_probe(enum bpf_prog_type type, const char *what, const char *missing, bool forced, struct err *err);

/** object_init() - before the skeleton is opened, of which only object_refused() is to be said. */
int object_init(struct counter *c, const struct source_env *env, struct err *err);

/** object_refused() - @code is -errno of libbpf, whose own words may be known. Return: @code. */
int object_refused(struct err *err, int code, const char *what);

/** object_nowhere() - a key that no count has. */
struct bpf_count_key object_nowhere(void);

/**
 * object_load() - choose sizes and a program, load it, and fill the maps; nothing counts yet.
 * @bpf:     of the open skeleton; borrowed. `probe` and maps that are not of bpf/shared.h have their sizes, but for
 *           the counts and stacks
 * @program: its name for all tasks of the initial pid namespace; those of the others begin with it
 * On success what else is to be in @c->config can be set, until object_set().
 */
int object_load(struct counter *c, struct bpf_object *bpf, const char *program, struct err *err);

void object_release(struct counter *c);

/**
 * object_grow() - as object_load() of another instance of the object that @c has, which it shares all with but for
 * its tables. Nothing runs it yet.
 * @more:  its stack maps and sizes
 * @grown: out, also on failure, when it means nothing: as @c, with its tables, configuration and program
 */
int object_grow(const struct counter *c, struct bpf_object *bpf, const char *program, const struct tables *more,
		struct counter *grown, struct err *err);

/** object_size_stacks() - the stack map @map, before it is made, has so many @entries of @depth addresses. -errno. */
int object_size_stacks(struct bpf_map *map, __u32 entries, unsigned int depth);

/** object_set() - tell the program where to count, but do not wait for its runs: a set, or BPF_SET_NONE. -errno. */
int object_set(struct counter *c, uint32_t set);

/** object_change_set() - the same, and wait until no run can use the one before. -errno; -ETIMEDOUT. */
int object_change_set(struct counter *c, uint32_t set);

/** object_notes() - notes of a CPU go to the event @fd; -1: to none any more. Return: 0 or -errno, described. */
int object_notes(struct counter *c, int cpu, int fd, struct err *err);

/**
 * object_end() - sink.ended is over: go on in sink.set, or nowhere where that is the same; add up its statistics.
 * @sum: a structure of @size bytes, all of its members __u64; to which they are added
 * Return: 0 or -errno, described.
 */
int object_end(struct counter *c, void *sum, size_t size, struct err *err);

/** object_sum() - statistics of @set, of all CPUs, added to @sum; as object_end(). Return: 0 or -errno. */
int object_sum(const struct counter *c, unsigned int set, void *sum, size_t size);

/** object_count_fn - to a count of sink.ended. Return: 0 or -errno. */
typedef int (*object_count_fn)(struct counter *c, const struct bpf_count_key *key, const void *value);

/** object_read() - call @fn for each count of sink.ended, as object_take(), which clears them. */
int object_read(struct counter *c, object_count_fn fn, struct err *err);

/**
 * object_take() - call @fn for each count of sink.ended, and clear that set if the run goes on.
 * Return: 0 or -errno, described.
 */
int object_take(struct counter *c, object_count_fn fn, struct err *err);

/**
 * object_row_key() - the key of the row that @key is counted in.
 * @set: whose stack map has its stacks
 * @out: its stacks are borrowed until the next call
 * Return: 0 or -errno.
 */
int object_row_key(struct counter *c, unsigned int set, const struct bpf_count_key *key, struct row_key *out);

/** object_add_spills() - of what object_end() has added up, to @to. */
void object_add_spills(const struct bpf_spills *spills, struct stats *to);

/** object_pids(), object_judged(), object_add_stats(), object_note() - see counter_ops.pids, .judged, .stats, .note. */
int object_pids(struct counter *c, bool resume, bool (*fn)(void *ctx, pid_t pid), void *ctx);
bool object_judged(struct counter *c, pid_t pid, enum descent what);
void object_add_stats(const struct counter *c, struct stats *stats);
int object_note(const struct bpf_note *note, struct sample_note *out);

#endif
