/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangle names of C++ (_Z...) and Rust (_R..., and _ZN...17h<16 hex digits>E) like perf script: with namespaces,
 * classes and template arguments, but without the parameters of the function itself, the hash, and the compiler's
 * suffixes (".cold", ".isra.0"). "_ZN3net4Pool4takeERKSsi" is "net::Pool::take".
 *
 * The grammar permits a short name that has a readable form of astronomic length, or takes astronomic time to demangle.
 * demangle() limits only the length: see demangler.h for time.
 */
#ifndef CORE_SYMBOLS_DEMANGLE_H
#define CORE_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* The @size that demangle() should get. Of the 200,000 names in a Rust compiler 41 do not fit. */
#define DEMANGLED_MAX 4096

/**
 * demangle() - the readable form of @name.
 * @name: a symbol of a program or library, of any bytes and any length
 * @out:  of @size bytes, at least 1; undefined when false is returned
 *
 * Return: false: @name is not mangled, or broken, or too long, or its readable form is; or this was built without
 * libiberty. Print @name then.
 */
bool demangle(const char *name, char *out, size_t size);

/** demangle_may() - true if @name looks mangled and is short enough; if not, demangle() returns false at once. */
bool demangle_may(const char *name);

#endif
