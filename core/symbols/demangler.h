/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle() for many names, in a process of its own.
 *
 * The library that demangles is not made for hostile names: a short one may stand for one of astronomic length, take as
 * long to read, or crash it. So it runs in a confined worker process (worker.h, confine.h), which is sent many names at
 * a time, and has 64 MiB. If the process crashes, or needs 20 ms of CPU time for a name, they are sent one at a time,
 * and the bad one alone stays mangled, in all of the run. After 64 bad names no more are read. What comes back is as
 * hostile as the names were.
 *
 * All names of a report may take 2 s of CPU time, and 20 s in all; with intervals, a twentieth and a half of one. Names
 * that had no time are read for the next report: answers are kept. No name is read when a signal has come and the
 * report is overdue (signals_due()). So each pass over the rows of a report has the same answers, too (--backend=both
 * compares two).
 *
 * Not thread safe; see worker.h for what a thread is to it.
 */
#ifndef CORE_SYMBOLS_DEMANGLER_H
#define CORE_SYMBOLS_DEMANGLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct demangler;
struct err;

/**
 * demangler_new() - no process is started before the first mangled name.
 * @interval_ns: between reports; 0: there is one report
 * Return: NULL: no memory.
 */
struct demangler *demangler_new(uint64_t interval_ns);
void demangler_free(struct demangler *d);

/** demangler_renew() - another report begins: its time is counted anew. If many answers are kept, forget the good ones.
 */
void demangler_renew(struct demangler *d);

/**
 * demangler_read() - the readable forms of @nr names.
 * @names: symbols of programs and libraries, of any bytes and any length
 * @out:   of @nr: the readable form, shorter than DEMANGLED_MAX bytes; borrowed until demangler_renew(). NULL:
 *         print the name as it is
 * Return: 0 or -ENOMEM.
 *
 * Ask for hundreds of names a call: a message costs about as much CPU time as demangling a hundred of them.
 */
int demangler_read(struct demangler *d, const char *const *names, size_t nr, const char **out);

/** demangler_bad() - the first name that takes too long or crashes the process, of any bytes; NULL: another reason. */
const char *demangler_bad(const struct demangler *d);

/** demangler_skipped() - were names not read that could have been? Return: true and a line in @why that says it. */
bool demangler_skipped(const struct demangler *d, struct err *why);

#endif
