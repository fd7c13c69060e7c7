/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle() for many names, in a process of its own.
 *
 * The library that demangles is not made for hostile names: a short one may stand for one of astronomic length, take as
 * long to read, or crash it. So it runs in a confined worker process (worker.h, confine.h), which is sent many names at
 * a time, and has half a second of CPU time for them, and 64 MiB. If it crashes or takes longer, they are sent one at a
 * time, and the bad one alone stays mangled. After 8 bad names, or a minute, no more are read in this report; after 64,
 * or where nobody replies at all, in none. What comes back is as hostile as the names were.
 *
 * Answers are kept, so that each pass over the rows of a report has the same (--backend=both compares two).
 *
 * Not thread safe; see worker.h for what a thread is to it.
 */
#ifndef CORE_SYMBOLS_DEMANGLER_H
#define CORE_SYMBOLS_DEMANGLER_H

#include <stdbool.h>
#include <stddef.h>

struct demangler;
struct err;

/** demangler_new() - no process is started before the first mangled name. NULL: no memory. */
struct demangler *demangler_new(void);
void demangler_free(struct demangler *d);

/** demangler_renew() - another report begins: forget the answers, but not which names are bad, and try again. */
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

/** demangler_skipped() - were names not read that could have been? Return: true and a line in @why that says it. */
bool demangler_skipped(const struct demangler *d, struct err *why);

#endif
