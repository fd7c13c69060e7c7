/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle() for many names, in a worker process.
 *
 * The library that demangles is not made for hostile names: a short one may have a readable form of astronomic length,
 * take very long to demangle, or crash the library. So the library runs in a confined worker process (worker.h,
 * confine.h), which gets many names at a time, and has 64 MiB of memory. If it crashes, or uses 20 ms of CPU time,
 * the names are sent again one at a time, and only the bad one stays mangled, for the rest of the run. After 64 bad
 * names no more names are sent. The replies are as hostile as the names.
 *
 * All names of a report may take 2 s of CPU time and 20 s of elapsed time; with intervals, a twentieth of an interval
 * of CPU time and half an interval of elapsed time. Once that time is over, or a signal has come and the report is
 * overdue (signals_overdue()), the remaining names stay mangled in this report, so that each pass over its rows has the
 * same names (--backend=both compares two). The next report tries them again. Replies are kept for later reports.
 *
 * Not thread safe; see worker.h for the thread to use.
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
 * @interval_ns: time between reports; 0: there is one report
 * Return: NULL: no memory.
 */
struct demangler *demangler_new(uint64_t interval_ns);
void demangler_free(struct demangler *d);

/** demangler_renew() - another report begins, with new time. If many replies are kept, forget all but the bad names. */
void demangler_renew(struct demangler *d);

/**
 * demangler_read() - the readable forms of @nr names.
 * @names: symbols of programs and libraries, of any bytes and any length
 * @out:   of @nr: the readable form, shorter than DEMANGLED_MAX bytes; borrowed until demangler_renew(). NULL:
 *         print the name as it is
 * Return: 0 or -ENOMEM.
 *
 * Pass hundreds of names in a call: a message costs about as much CPU time as demangling a hundred of them.
 */
int demangler_read(struct demangler *d, const char *const *names, size_t nr, const char **out);

/**
 * demangler_bad() - the first name that took too long or crashed the process; NULL: there is none, or the first name
 * that stayed mangled had another cause.
 */
const char *demangler_bad(const struct demangler *d);

/** demangler_skipped() - true if some mangled names were not demangled. @why: out: a line with the cause. */
bool demangler_skipped(const struct demangler *d, struct err *why);

#endif
