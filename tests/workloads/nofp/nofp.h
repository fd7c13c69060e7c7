/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the workloads without frame pointers. They are optimized. Before "ready" they print the stacks in which
 * they spend nearly all their time: lines "expect: START;main;...", from the root to the last function that all these
 * samples have; more frames may follow. Most samples have the first line. Words in capitals stand for frames of the C
 * library, with or without names: START calls main, CLONE calls a thread's function, BEGUN is a thread that has called
 * nothing yet, TRAMPOLINE returns from a signal handler.
 */
#ifndef TESTS_NOFP_H
#define TESTS_NOFP_H

#include "tests/workloads/workload.h"

#include <stdarg.h>

/* A function with a frame and a name of its own: gcc neither copies it for known arguments nor inlines a part of it. */
#ifdef __clang__
#define NOIPA __attribute__((noinline))
#else
#define NOIPA __attribute__((noipa))
#endif

#define CLOBBER_ALL __asm__ volatile("" : : : "rbx", "rbp", "r12", "r13", "r14", "r15", "memory")

__attribute__((unused)) static void expect(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("expect: ", stdout);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

#endif
