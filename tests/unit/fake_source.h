/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source and a counter without a kernel, for tests of the session: a script says what becomes of each sample, how
 * long each step takes, and which one fails.
 *
 *   fake_sample()    a CPU is sampled: the counter gets the sample first, if there is one, then the ring
 *   ring             in the kernel: @room samples, what comes beyond is lost
 *   kept             where fetch() moves them, in memory
 *   rows             where drain(), detach() and end() count them
 *
 * Each sample has a fate, a letter of script.fates, one after the other and again from the begin:
 *
 *   c  the counter counts it             p  is passed on, and comes back by the ring
 *   f  it is filtered, by the counter    x  is passed on, and filtered by the reader
 *      if there is one                   l  is passed on, and lost by the ring, which tells of it
 *                                        n  is passed on, and its note is lost
 *                                        b  is passed on, and refused by the decoder
 *
 * These are lies; nothing of this ever happens if all is well:
 *
 *   m  it is taken, and nobody counts it
 *   d  it is counted twice
 *   s  is passed on, and disappears
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

/** struct fake_fault - the @call-th @step, or always, returns @code: "source drain failed". @call 0: none does. */
struct fake_fault {
	enum fake_step step;
	unsigned int call;
	int code;
};

/** struct fake_script - all zeros: nothing fails, takes time, or has a sample. */
struct fake_script {
	const char *fates;
	size_t room;                           /* 0: any number */
	struct fake_fault source, counter;     /* which step of them fails */
	struct fake_fault switches;            /* the same of the counter of intervals off the CPU */
	unsigned int source_ms[FAKE_STEPS];    /* how long it takes */
	unsigned int counter_ms[FAKE_STEPS];   /* the same of the counter */
	uint64_t begun, charged, filtered;     /* intervals off the CPU, of each interval of the report */
	uint64_t passed, received, lost, open; /* the same */
};

/** struct fake_seen - what the session has done with them. */
struct fake_seen {
	unsigned int source[FAKE_STEPS], counter[FAKE_STEPS], switches[FAKE_STEPS]; /* calls */

	/* Their order, without fetch and pids, and repeats left out: "counter.open source.open source.attach:0 ..." */
	char log[4096];
	uint64_t made[128];   /* samples, by the letter of their fate; 'l' where the ring was full */
	unsigned int opened;  /* sources and counters that are open */
	size_t waiting, kept; /* samples in the ring, and in memory */
	bool changing;        /* the source is within attach or detach: no thread may touch the rings */
	uint64_t passed;      /* what the source was told of at the last end() */
};

extern const struct source_ops fake_source;       /* with fetch */
extern const struct source_ops fake_plain_source; /* without */
extern const struct counter_ops fake_counter;     /* of samples, its switches are fake_switch_counter */
extern const struct counter_ops fake_switch_counter;

/**
 * fake_begin() - before a session.
 * @script: copied
 * @emptied: called when the ring has been emptied, by whatever thread; NULL: nobody wants to know
 */
void fake_begin(const struct fake_script *script, void (*emptied)(void));
/** fake_end() - after it. */
void fake_end(void);

/** fake_sample() - @nr samples of a CPU are taken now, if there is a source. By the thread that runs the session. */
void fake_sample(unsigned int nr);

/** fake_wait_for_fetch() - until another thread has emptied the ring, or has failed to. */
void fake_wait_for_fetch(void);

struct fake_seen *fake_seen(void);

#endif
