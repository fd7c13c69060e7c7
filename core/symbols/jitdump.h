/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A jitdump: what a just-in-time compiler tells of the code that it makes, in a file that it appends to. Each piece of
 * code has a name, and may have source lines and rules for unwinding.
 *
 * Memory is used again: each address belongs to the last piece of code that covers it. A file that is cut, or begins
 * with another header, has been begun anew, and what was known of it is forgotten.
 *
 * The file is hostile, and changes while it is read. No more than the last 262,144 pieces of code are kept, or half of
 * them, and 64 MiB of their names, each of 4 KiB; the code itself is not read. Records of other processes, without size
 * or name, or beyond the last address are skipped. Where a record cannot be one the file ends, and a last record that
 * is not whole is being written. Rules and lines are read when they are asked for, at most 64 KiB and 1 MiB of them.
 *
 * Not thread safe.
 */
#ifndef CORE_SYMBOLS_JITDUMP_H
#define CORE_SYMBOLS_JITDUMP_H

#include "core/symbols/jitdump_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jitdump;

/** struct jitdump_code - a piece of code. @name: at most 4 KiB, borrowed until the next jitdump_read() */
struct jitdump_code {
	const char *name;
	uint64_t start, size;
};

/**
 * struct jitdump_frames - the rules for a piece of code, in the form of .eh_frame.
 * @bytes: @size of them, from malloc(3), the caller's
 * @addr:  where they would be in the process: their pointers count from there
 * @hdr:   where .eh_frame_hdr would be
 */
struct jitdump_frames {
	void *bytes;
	uint64_t addr, size, hdr;
};

/**
 * jitdump_open() - nothing is read yet. @fd: a regular file, taken over, also on failure
 * Return: 0 and the owned *@out, or -ENOMEM.
 */
int jitdump_open(int fd, struct jitdump **out);
void jitdump_close(struct jitdump *d);

/**
 * jitdump_read() - read what is new.
 * @left: bytes that may be read, a little more are; out: what is left of them
 * Return: 1: there may be more to be read now; 0: there is not; -ENOMEM, -EIO: what was known stays.
 */
int jitdump_read(struct jitdump *d, size_t *left);

/** jitdump_changes() - a number that grows when something new is known. */
uint64_t jitdump_changes(const struct jitdump *d);

/** jitdump_find() - the code at @addr. Return: true and *@out; it is untouched otherwise. */
bool jitdump_find(const struct jitdump *d, uint64_t addr, struct jitdump_code *out);

/** jitdump_find_line() - the source line of @addr. Return: true and *@out; false: it is not known. */
bool jitdump_find_line(const struct jitdump *d, uint64_t addr, struct jitdump_line *out);

/**
 * jitdump_find_frames() - the rules of the code at @addr, if it is of this machine. It need not be in the file yet if
 * all code is alike, see jitdump_pattern.h.
 * Return: 1 and *@out; 0: it has none; -ENOMEM, -EIO.
 */
int jitdump_find_frames(const struct jitdump *d, uint64_t addr, struct jitdump_frames *out);

/** jitdump_memory() - bytes it takes. */
size_t jitdump_memory(const struct jitdump *d);

/**
 * jitdump_attach() - hang @what, the owner's, behind @d: jitdump_close() calls @release for it.
 * jitdump_attached() - it; NULL: nothing.
 */
void jitdump_attach(struct jitdump *d, void *what, void (*release)(void *what));
void *jitdump_attached(const struct jitdump *d);

#endif
