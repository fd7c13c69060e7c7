// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/demangle.h"

#ifdef HAVE_IBERTY

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define LEN_MAX     2048
#define CXX_LEN_MAX 1024 /* the library's: the tree of a name is on the stack */

/* Pieces of a Rust name are identifiers and what is between them; some print nothing. */
#define PIECES_MAX 1024

/* Decoding an identifier with Unicode moves up to twice the square of its length. */
#define MOVES_MAX (64u << 20)

/* A conversion to a template of a template parameter is read twice, and so is each inside of it. */
#define CONVERSIONS_MAX 6

/* References to earlier parts, where parts are searched for packs, and with them all that they refer to. */
#define PACK_REFERENCES_MAX 16

/* Digits of how many lifetimes a type is for, of base 62. They are counted one by one, even where none is printed. */
#define LIFETIME_DIGITS_MAX 1

#define DECIMAL "0123456789"
#define UPPER   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define BASE62  DECIMAL UPPER "abcdefghijklmnopqrstuvwxyz"

/* Of a crate, in digits of base 62: mostly 11. */
#define HASH_MIN 8
#define BLANK    "ZZZZZZZZ"

struct printed {
	char *out;
	size_t len, size;
	size_t pieces_left;
	bool rust;
	bool stopped;
	jmp_buf stop;
};

static bool is_ascii(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len && !(text[i] & 0x80); i++)
		;
	return i == len;
}

/*
 * There is no other way to stop the library. It has nothing but its stack to be freed, except while it prints an
 * identifier that was decoded to Unicode, which never comes twice in a row.
 */
static void print_piece(const char *text, size_t len, void *arg)
{
	struct printed *p = arg;

	if (p->stopped || !p->pieces_left || len >= p->size - p->len) {
		p->stopped = true;
		if (p->rust && !is_ascii(text, len))
			return;
		longjmp(p->stop, 1);
	}
	p->pieces_left--;
	if (len) /* or there may be no text */
		memcpy(p->out + p->len, text, len);
	p->len += len;
}

typedef int (*demangle_fn)(const char *name, int options, demangle_callbackref print, void *arg);

static bool run(demangle_fn read, const char *name, size_t pieces, char *out, size_t size)
{
	struct printed p = { .out = out, .size = size, .pieces_left = pieces };

	p.rust = read == rust_demangle_callback;
	if (setjmp(p.stop) || !read(name, DMGL_NO_OPTS, print_piece, &p) || p.stopped || !p.len)
		return false;
	out[p.len] = '\0';
	return true;
}

/* Behind the @nth place where @name has @letter, characters of @middle, and @end; NULL: there are less. */
static const char *nth(const char *name, size_t n, char letter, const char *middle, const char *end)
{
	size_t len;

	for (; n && (name = strchr(name, letter)); name++) {
		len = strspn(name + 1, middle);
		n -= !strncmp(name + 1 + len, end, strlen(end));
	}
	return name;
}

/* Where packs may be expanded, or counted; NULL: nowhere. */
static const char *first_pack(const char *name)
{
	static const char *const marks[] = { "Dp", "sp", "sZ" };
	const char *first = NULL, *found;
	size_t i;

	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		found = strstr(name, marks[i]);
		if (found && (!first || found < first))
			first = found;
	}
	return first;
}

/*
 * How much of @name can be read: all before the first pack, or that has few references. It is enough for nearly all, as
 * parameters are not read.
 */
static size_t harmless_len(const char *name, size_t len)
{
	const char *pack = first_pack(name), *many = nth(name, PACK_REFERENCES_MAX + 1, 'S', DECIMAL UPPER, "_");

	if (!pack || !many)
		return len;
	/* "many" is behind the first letter of the reference that is too much. */
	return (size_t)((pack > many - 1 ? pack : many - 1) - name);
}

static bool demangle_cxx(const char *name, size_t len, char *out, size_t size)
{
	char head[CXX_LEN_MAX + 1];
	size_t harmless;

	if (len > CXX_LEN_MAX || (strstr(name, "cv") && nth(name, CONVERSIONS_MAX + 1, 'T', DECIMAL, "_I")))
		return false;
	harmless = harmless_len(name, len);
	/* Of tables, thunks and so on parameters are read. */
	if (harmless < len && (name[2] == 'T' || name[2] == 'G'))
		return false;
	memcpy(head, name, harmless);
	head[harmless] = '\0';
	return run(cplus_demangle_v3_callback, head, PIECES_MAX, out, size);
}

/* Is there a type for more lifetimes than can be counted? */
static bool many_lifetimes(const char *name)
{
	size_t digits;

	for (; (name = strchr(name, 'G')); name++) {
		digits = strspn(name + 1, BASE62);
		if ((name[-1] == 'F' || name[-1] == 'D') && digits > LIFETIME_DIGITS_MAX && name[1 + digits] == '_')
			return true;
	}
	return false;
}

/* The hashes of crates are not printed, but some look like such a type. What looks like a hash becomes Z. */
static void blank_hashes(char *name)
{
	size_t digits;

	for (; (name = strstr(name, "Cs")); name += digits) {
		name += 2;
		digits = strspn(name, BASE62);
		if (digits >= HASH_MIN && name[digits] == '_')
			memset(name, 'Z', digits);
	}
}

/* The most pieces of @name, by the longest of what may be identifiers with Unicode: "u", length, text. */
static size_t pieces_max(const char *name, size_t len)
{
	size_t longest = 1, n;

	for (; (name = strchr(name, 'u')); name++) {
		n = name[1] >= '0' && name[1] <= '9' ? strtoul(name + 1, NULL, 10) : 0;
		if (n > longest)
			longest = n < len ? n : len;
	}
	n = MOVES_MAX / (longest * longest);
	return n < PIECES_MAX ? n : PIECES_MAX;
}

/* A backwards reference may lead anywhere, so that nothing is known of a name but its text. */
static bool demangle_rust(const char *name, size_t len, char *out, size_t size)
{
	char blanked[LEN_MAX + 1];

	if (!many_lifetimes(name))
		return run(rust_demangle_callback, name, pieces_max(name, len), out, size);
	memcpy(blanked, name, len + 1);
	blank_hashes(blanked);
	if (many_lifetimes(blanked) || !run(rust_demangle_callback, blanked, pieces_max(blanked, len), out, size))
		return false;
	/* It was none. */
	return !strstr(out, BLANK);
}

bool demangle_may(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') && strnlen(name, LEN_MAX + 1) <= LEN_MAX;
}

bool demangle(const char *name, char *out, size_t size)
{
	size_t len;

	if (!demangle_may(name))
		return false;
	len = strlen(name);
	if (name[1] == 'R')
		return demangle_rust(name, len, out, size);
	/* The older form of Rust is valid C++. */
	return run(rust_demangle_callback, name, PIECES_MAX, out, size) || demangle_cxx(name, len, out, size);
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
