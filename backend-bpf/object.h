/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code that both counters share, bpf.c for samples and offcpu.c for intervals: a BPF object with the maps of
 * bpf/shared.h, and two sets of counts. User space reads one set while the program fills the other. The object
 * has several programs. Only the program that fits the run is loaded. If larger tables may replace its tables later,
 * dispatch() is loaded, too: it is attached, and calls the program.
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

/** struct tables - the maps that a program fills, and the state that belongs to them. */
struct tables {
	struct bpf_map *config;
	struct bpf_map *counts[2], *stacks[2]; /* for each set; both may share the stacks */
	struct bpf_map *shorts[2];             /* for stacks of up to BPF_SHORT_WORDS; NULL: there are none */
	struct map_sizes sizes;                /* object_init() sets those that were requested, and 0 short stacks */
	struct proved proved;                  /* used for samples */
};

/** struct counter - the first member of the structs of both counters; all 0 before object_init(). */
struct counter {
	const struct source_env *env;
	struct bpf_object *bpf;      /* the skeleton owns it */
	struct bpf_program *program; /* the program that is used */
	/* The attached program, which calls @program; NULL: @program itself is attached */
	struct bpf_program *dispatch;
	struct tables tables;
	struct {
		struct bpf_map *targets, *cgroup, *cgroup_ids, *mntns_ids, *stats, *flight, *notes, *seen, *first;
	} maps;
	struct first_samples *first; /* NULL: not wanted, or the kernel refuses the events for them */
	int cpus;                    /* CPUs that this kernel can have = values in an entry of a per-CPU map */
	unsigned int depth;          /* addresses in an entry of a stack map */
	uint64_t *frames[2];         /* a buffer for one such entry each: kernel, user */
	bool here; /* this process is not in the initial PID namespace, but in @pidns: all ids are of @pidns */
	struct pidns pidns;
	struct bpf_config config;
	struct stats stats[2]; /* for each set, when its interval has ended */
};

/**
 * object_probe() - test whether this kernel has the features that an object needs, with the smallest possible map and
 * program.
 * @what:    a program of @type, for the message
 * @missing: why a kernel may lack programs of @type
 * @forced:  see counter_ops.probe
 */
int object_probe(enum bpf_prog_type type, const char *what, const char *missing, bool forced, struct err *err);

/**
 * object_init() - prepare @c. Call it before you open the skeleton, so that object_refused() has libbpf's message if
 * that fails.
 * @others: room in each entry of a stack map besides the addresses that the request asks for
 */
int object_init(struct counter *c, const struct source_env *env, unsigned int others, struct err *err);

/**
 * object_refused() - describe a failure. @code is -errno from libbpf; libbpf's own message is added if there is one.
 * Return: @code.
 */
int object_refused(struct err *err, int code, const char *what);

/**
 * object_load() - choose sizes and a program, load the program, and fill the maps. Nothing counts yet.
 * @bpf:     of the open skeleton; borrowed. The caller has set the sizes of the map `probe` and of the maps that only
 *           this object has; object_load() sets those of the counts, the stacks and the other maps of bpf/shared.h
 * @program: the name of the variant without filters on cgroups and namespaces; other variants have a suffix
 *
 * After success the caller may set more of @c->config, until object_set().
 */
int object_load(struct counter *c, struct bpf_object *bpf, const char *program, struct err *err);

/** object_release() - free all of @c but @c itself. Call it before the BPF object is destroyed: it uses a map. */
void object_release(struct counter *c);

/**
 * object_grow() - load another instance of the object of @c. It shares everything with @c except its tables. Nothing
 * runs it yet.
 * @more:  its stack maps and sizes
 * @grown: out: as @c, with its own tables, configuration and program; undefined on failure
 */
int object_grow(const struct counter *c, struct bpf_object *bpf, const char *program, const struct tables *more,
		struct counter *grown, struct err *err);

/**
 * object_size_stacks() - set the size of the stack map @map, before it is created: @entries of @depth addresses.
 * Return: 0 or -errno.
 */
int object_size_stacks(struct bpf_map *map, __u32 entries, unsigned int depth);

/**
 * object_set() - set the tables into which the program counts (a set, or BPF_SET_NONE), without waiting for its runs.
 * Return: 0 or -errno.
 */
int object_set(struct counter *c, uint32_t set);

/** object_change_set() - the same, and wait until no run can use the previous set. Return: 0; -errno; -ETIMEDOUT. */
int object_change_set(struct counter *c, uint32_t set);

/** object_watch_first() - let the program report each process at its first sample or interval, on CPUs online now. */
void object_watch_first(struct counter *c);
extern const struct first_ops object_first; /* calls object_watch_first() */

/** object_notes() - send the notes of a CPU to the event @fd; -1: to no event. Return: 0 or -errno, described. */
int object_notes(struct counter *c, int cpu, int fd, struct err *err);

/**
 * object_end() - end the interval @c->env->sink->ended: from now on count into the set sink->set, or into none if it
 * equals sink->ended. Add up the statistics of the interval.
 * @sum: a structure of @size bytes whose members are all __u64; the statistics are added to it
 * Return: 0 or -errno, described.
 */
int object_end(struct counter *c, void *sum, size_t size, struct err *err);

/** object_sum() - add the statistics of @set, from all CPUs, to @sum; see object_end(). Return: 0 or -errno. */
int object_sum(const struct counter *c, unsigned int set, void *sum, size_t size);

/** object_count_fn - called for a count of sink.ended. Return: 0 or -errno. */
typedef int (*object_count_fn)(struct counter *c, const struct bpf_count_key *key, const void *value);

/** object_read() - call @fn for each count of sink.ended. Unlike object_take(), it does not clear them. */
int object_read(struct counter *c, object_count_fn fn, struct err *err);

/**
 * object_take() - call @fn for each count of sink.ended, and clear that set if the run goes on.
 * Return: 0 or -errno, described.
 */
int object_take(struct counter *c, object_count_fn fn, struct err *err);

/**
 * object_row_key() - make the key of the row for @key.
 * @set: the set whose stack map has its stacks
 * @out: its stacks are borrowed until the next call
 * Return: 0 or -errno.
 */
int object_row_key(struct counter *c, unsigned int set, const struct bpf_count_key *key, struct row_key *out);

/** object_add_spills() - add @spills, the sums from object_end(), to the members of @to. */
void object_add_spills(const struct bpf_spills *spills, struct stats *to);

/** object_pids(), object_judged(), object_add_stats(), object_note() - see counter_ops.pids, .judged, .stats, .note. */
int object_pids(struct counter *c, bool (*fn)(void *ctx, pid_t pid), void *ctx);
bool object_judged(struct counter *c, pid_t pid, enum descent what);
void object_add_stats(const struct counter *c, struct stats *stats);
int object_note(const struct bpf_note *note, struct sample_note *out);

#endif
