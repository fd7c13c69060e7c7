/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clock that advances only while the thread under test waits: this program's own clock_gettime(), poll() and
 * epoll_wait() replace libc's. A run of ten seconds takes only as long as its work, and each run of a test sees the
 * same times.
 */
#ifndef TESTS_UNIT_FAKE_TIME_H
#define TESTS_UNIT_FAKE_TIME_H

#include <stdint.h>

#define FAKE_MS (1000 * 1000ULL)

/**
 * fake_time_begin() - the clock stands still until the calling thread waits in poll() or calls fake_time_pass().
 * @during: called in each millisecond, before any thread sees that it has passed; may be NULL
 * @tick: called after each millisecond, with the number of these since fake_time_begin(); may be NULL
 */
void fake_time_begin(void (*during)(void), void (*tick)(unsigned int ms));
/** fake_time_end() - use the real time again. */
void fake_time_end(void);

/** fake_time_ms() - milliseconds since fake_time_begin(). */
unsigned int fake_time_ms(void);
/** fake_time_since() - the same for a moment of CLOCK_MONOTONIC, rounded down. */
unsigned int fake_time_since(uint64_t ns);

/** fake_time_pass() - advance the clock; called by the thread that began it. */
void fake_time_pass(unsigned int ms);

/** fake_time_work() - each call of own_cpu_ns() returns @ns more than the one before. */
void fake_time_work(uint64_t ns);

#endif
