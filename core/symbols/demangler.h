/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle() for many names, in a process of its own.
 *
 * The library that demangles is not made for hostile names. So it runs in a confined worker process (worker.h,
 * confine.h), which is sent many names at a time. If it crashes or hangs, the names of that message stay mangled; if
 * that happens too often, all later names do. What comes back is as hostile as the names were.
 *
 * Not thread safe; see worker.h for what a thread is to it.
 */
#ifndef CORE_SYMBOLS_DEMANGLER_H
#define CORE_SYMBOLS_DEMANGLER_H

#include <stddef.h>

struct demangler;

/** demangler_new() - no process is started before the first mangled name. NULL: no memory. */
struct demangler *demangler_new(void);
void demangler_free(struct demangler *d);

/**
 * demangler_read() - the readable forms of @nr names.
 * @names: symbols of programs and libraries, of any bytes and any length
 * @out:   of @nr: the readable form, shorter than DEMANGLED_MAX bytes; borrowed until the next call. NULL: print the
 *         name as it is
 *
 * Ask for hundreds of names a call: a message costs about as much CPU time as demangling a hundred of them.
 */
void demangler_read(struct demangler *d, const char *const *names, size_t nr, const char **out);

#endif
