/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source and a counter without a kernel, for tests of the session. A script chooses the fate of each sample, the
 * duration of each step, and the step that fails.
 *
 *   fake_sample()    a CPU is sampled: the counter, if there is one, gets the sample first, then the ring
 *   ring             in the kernel: room for @room samples, further ones are lost
 *   kept             in memory: fetch() moves samples here
 *   rows             drain(), detach() and end() count them here
 *
 * Each sample has a fate: the next letter of script.fates, and after the last letter the first one again:
 *
 *   c  the counter counts it             p  is passed on, and comes back by the ring
 *   f  the counter filters it, if        x  is passed on, and the reader filters it
 *      there is one                      l  is passed on, and the ring loses it and reports that
 *                                        n  is passed on, and its note is lost
 *                                        b  is passed on, and the decoder refuses it
 *
 * Impossible fates, to test that the sums find them:
 *
 *   m  it is taken, but not counted
 *   d  it is counted twice
 *   s  it is passed on, and disappears
 */
#ifndef TESTS_UNIT_FAKE_SOURCE_H
#define TESTS_UNIT_FAKE_SOURCE_H

#include "core/session/ways.h"

enum fake_step {
	FAKE_PROBE,
	FAKE_OPEN,
	FAKE_ATTACH,
	FAKE_DETACH,
	FAKE_START,
	FAKE_WATCH,
	FAKE_DRAIN,
	FAKE_FETCH,
	FAKE_STOP,
	FAKE_END,
	FAKE_TAKE,
	FAKE_PIDS,
	FAKE_CLOSE,
	FAKE_STEPS,
};

#define FAKE_ALWAYS (~0u)

/**
 * struct fake_fault - the @call-th call of @step returns @code, with a message like "source drain failed" if it is
 * negative. @call 0: no call; FAKE_ALWAYS: each call.
 */
struct fake_fault {
	enum fake_step step;
	unsigned int call;
	int code;
};

/** struct fake_script - all zeros: no step fails or takes time, and there are no samples. */
struct fake_script {
	const char *fates;
	size_t room;                           /* 0: any number */
	struct fake_fault source, counter;     /* which step fails */
	struct fake_fault switches;            /* the same for the counter of intervals off the CPU */
	unsigned int source_ms[FAKE_STEPS];    /* duration of each step */
	unsigned int counter_ms[FAKE_STEPS];   /* the same of the counter */
	uint64_t begun, charged, filtered;     /* intervals off the CPU, for each interval of the report */
	uint64_t passed, received, lost, open; /* the same */
};

/** struct fake_seen - calls and results. */
struct fake_seen {
	unsigned int source[FAKE_STEPS], counter[FAKE_STEPS], switches[FAKE_STEPS]; /* calls */

	/* The calls in order, without fetch, pids and repeats: "counter.open source.open source.attach:0 ..." */
	char log[4096];
	uint64_t made[128];         /* samples, by the letter of their fate; 'l' if the ring was full */
	unsigned int opened;        /* open sources and counters */
	size_t waiting, kept;       /* samples in the ring, and in memory */
	bool changing;              /* the source is inside attach or detach: no thread may touch the rings */
	uint64_t passed;            /* source_env.samples_passed at the last end() of the source */
	unsigned int told, told_ms; /* processes that the counter reported, and when the last one was read */
};

extern const struct source_ops fake_source;       /* with fetch */
extern const struct source_ops fake_plain_source; /* without */
extern const struct counter_ops fake_counter;     /* counts samples; its switches are fake_switch_counter */
extern const struct counter_ops fake_switch_counter;

/**
 * fake_begin() - call it before a session.
 * @script: copied
 * @emptied: called when the ring has been emptied, by any thread; NULL: no callback
 */
void fake_begin(const struct fake_script *script, void (*emptied)(void));
/** fake_end() - call it after the session. */
void fake_end(void);

/** fake_sample() - take @nr samples of a CPU now, if there is a source. Called by the thread that runs the session. */
void fake_sample(unsigned int nr);

/** fake_tell() - let the counter report a process. */
void fake_tell(void);

/** fake_wait_for_fetch() - wait until another thread has emptied the ring, or has failed to. */
void fake_wait_for_fetch(void);

struct fake_seen *fake_seen(void);

#endif
