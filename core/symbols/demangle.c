// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/demangle.h"

#ifdef HAVE_IBERTY

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#define LEN_MAX 2048

struct printed {
	char *out;
	size_t len, size;
	bool full, jumps;
	jmp_buf end;
};

/*
 * The library prints in pieces, and has no way to stop it. The whole text may be terabytes long. So if it does not fit,
 * leave the library by longjmp(3) for C++, where it has no allocated memory. For Rust it has, so let it go on.
 */
static void print_piece(const char *text, size_t len, void *arg)
{
	struct printed *p = arg;

	p->full |= len >= p->size - p->len;
	if (p->full && p->jumps)
		longjmp(p->end, 1);
	if (p->full || !len)
		return;
	memcpy(p->out + p->len, text, len);
	p->len += len;
}

typedef int (*demangle_fn)(const char *name, int options, demangle_callbackref print, void *arg);

static bool run(demangle_fn read, const char *name, char *out, size_t size)
{
	struct printed p = { .out = out, .size = size, .jumps = read == cplus_demangle_v3_callback };

	if (setjmp(p.end) || !read(name, DMGL_NO_OPTS, print_piece, &p) || p.full || !p.len)
		return false;
	out[p.len] = '\0';
	return true;
}

bool demangle_may(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') && strnlen(name, LEN_MAX + 1) <= LEN_MAX;
}

/* Rust first: a name in the older Rust form is also a valid C++ name. */
bool demangle(const char *name, char *out, size_t size)
{
	return demangle_may(name) &&
	       (run(rust_demangle_callback, name, out, size) || run(cplus_demangle_v3_callback, name, out, size));
}

#else

bool demangle_may(const char *name)
{
	(void)name;
	return false;
}

bool demangle(const char *name, char *out, size_t size)
{
	(void)name;
	(void)out;
	(void)size;
	return false;
}

#endif
