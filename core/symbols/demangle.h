/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of C++ (_Z...) and Rust (_R..., and _ZN...17h<16 hex digits>E) as they were written, as perf script has them:
 * namespaces, classes and template arguments, but no parameters of the function itself, no hash, and no suffix of the
 * compiler's (".cold", ".isra.0"). "_ZN3net4Pool4takeERKSsi" is "net::Pool::take".
 *
 * Their grammar lets a short name stand for one of astronomic length, or take as long to read. This knows no limit but
 * of length: see demangler.h.
 */
#ifndef CORE_SYMBOLS_DEMANGLE_H
#define CORE_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* What @size of demangle() ought to be. Of the 200,000 names in a Rust compiler 41 do not fit. */
#define DEMANGLED_MAX 4096

/**
 * demangle() - the readable form of @name.
 * @name: a symbol of a program or library, of any bytes and any length
 * @out:  of @size bytes, at least 1; undefined when false is returned
 *
 * Return: false: it is not mangled, or broken, or too long, here or in @out; or this was built without libiberty. Print
 * @name.
 */
bool demangle(const char *name, char *out, size_t size);

/** demangle_may() - does @name look mangled, and is short enough? If not, demangle() returns false at once. */
bool demangle_may(const char *name);

#endif
