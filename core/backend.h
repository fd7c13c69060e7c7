/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the core asks of a backend, and which backends there are.
 *
 * The core opens the perf events (capture.h) and gives them to the backends of the run, which turn what the kernel
 * says into rows (stacks.h) and task events (tasks.h). Order of calls: open, start, drain any number of times, stop,
 * stats, close. All calls come from one thread. Nothing here prints: errors are returned and described.
 */
#ifndef CORE_BACKEND_H
#define CORE_BACKEND_H

#include "core/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct capture;
struct backend; /* each backend's own state */

/**
 * struct books - what became of every sample: taken = counted_kernel + counted_ring + filtered + lost.
 *
 * Each term is counted where it happens: each backend of a run adds its own, the run adds what follows from them.
 * The one thing that nobody sees: a kernel runs no BPF program while the same CPU is inside another one or changes a
 * BPF map (bpf_prog_active), and drops the sample.
 */
struct books {
	uint64_t taken;          /* samples the kernel handed over */
	uint64_t counted_kernel; /* counted by the BPF program */
	uint64_t counted_ring;   /* counted in user space from a ring */
	uint64_t filtered;       /* not asked for: idle, other processes */
	uint64_t lost;           /* see capture_books() */
	uint64_t spilled_stack;  /* passed on by the BPF program: no room for the stack, or another one has its place */
	uint64_t spilled_count;  /* passed on by the BPF program: no room in the count table */
	uint64_t ring_samples;   /* samples read from the rings */
	uint64_t bad_samples;    /* of these: refused by the decoder */
	uint64_t lost_records;   /* of any kind, for which a ring had no room */
	uint64_t ring_records;   /* read from the rings, of any kind */
	uint64_t ring_bytes;     /* of these */
	uint64_t late_records;   /* applied out of time order: they came after the window they belong to */
	uint64_t bad_records;    /* refused by the decoder; nothing of them was used */
	uint64_t dead_tasks;     /* samples of dying tasks, without ids: given to the last that exited on their CPU */
	uint64_t outside;        /* samples of tasks outside this pid namespace */
	uint64_t throttled;      /* PERF_RECORD_THROTTLE: the kernel stopped sampling on a CPU for a while */
};

/**
 * struct backend_ops - the whole contract of a backend; a const table each, see backend_bpf and backend_perfring.
 * All return 0 or -errno and describe a failure in @err.
 */
struct backend_ops {
	const char *name;   /* of --backend, --stats, --list-backends: stable */
	const char *does;   /* half a line for --list-backends */
	const char *source; /* of the program it runs in the kernel, for --ebpf; NULL: none */
	bool in_kernel;     /* counts there and passes on what it cannot count: the ring's reader runs behind it */

	/* Can it work here? Tried, not guessed; leaves nothing behind. @forced: asked for by name. */
	int (*probe)(bool forced, struct err *err);

	/* Attach to the events of @cap, which outlives the backend. *@out is set also on failure: close() it. */
	int (*open)(struct backend **out, struct capture *cap, struct err *err);

	/* The events have just been enabled. Optional. */
	int (*start)(struct backend *b, struct err *err);

	/* Take what is waiting. */
	int (*drain)(struct backend *b, struct err *err);

	/* The events are disabled: take everything that is left. Called once. */
	int (*stop)(struct backend *b, struct err *err);

	/*
	 * Call @fn for the process of each count still held in the kernel, repeats included, until it says false.
	 * @resume: go on where the last such call ended, or begin again behind the last count. -EAGAIN: @fn ended it, or
	 * counts came faster than they could be walked. Optional.
	 */
	int (*pids)(struct backend *b, bool resume, bool (*fn)(void *ctx, pid_t pid), void *ctx);

	/* Add this backend's counters to @books. Exact after stop(). */
	void (*stats)(const struct backend *b, struct books *books);

	/* Detach and free. NULL and half-open are fine. */
	void (*close)(struct backend *b);
};

extern const struct backend_ops backend_bpf;
extern const struct backend_ops backend_perfring;

/** backend_at() - the @i-th in order of preference, NULL past the end. */
const struct backend_ops *backend_at(unsigned int i);
/** backend_find() - by name; NULL when there is none. */
const struct backend_ops *backend_find(const char *name);
/** backend_reader() - the one that reads the rings behind a backend that counts in the kernel. */
const struct backend_ops *backend_reader(void);

#endif
