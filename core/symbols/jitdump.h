/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A jitdump: a file to which a just-in-time compiler appends records about the code that it makes. Each piece of code
 * has a name, and may have source lines and rules for unwinding.
 *
 * Memory is reused: each address belongs to the last piece of code that covers it. If a file was truncated or begins
 * with another header, it was begun anew: all that was read from it is forgotten.
 *
 * The file is hostile, and changes while it is read. At 262,144 pieces of code, or 64 MiB of names, the older half of
 * the pieces is dropped. A name has at most 4 KiB; the code itself is not read. Records of other processes, or of code
 * without size or name, or beyond the last address, are skipped. Reading ends at a record that makes no sense. A last
 * record that is not complete is still being written. Rules and lines of a piece of code are read at a lookup, at most
 * 64 KiB of rules (larger ones are not used) and 1 MiB of lines.
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
 * @bytes: @size of them, from malloc(3); the caller frees them
 * @addr:  where they would be in the process: their pointers are relative to that address
 * @hdr:   where .eh_frame_hdr would be
 */
struct jitdump_frames {
	void *bytes;
	uint64_t addr, size, hdr;
};

/**
 * jitdump_open() - reads nothing yet. @fd: a regular file, taken over, also on failure
 * Return: 0 and the owned *@out, or -ENOMEM.
 */
int jitdump_open(int fd, struct jitdump **out);
void jitdump_close(struct jitdump *d);

/**
 * jitdump_read() - read new records.
 * @left: how many bytes to read; the last record may need some KiB more; out: how many are left of them
 * Return: 1: there may be more to read now; 0: there is not; -ENOMEM, -EIO: the records from before stay.
 */
int jitdump_read(struct jitdump *d, size_t *left);

/** jitdump_changes() - a number that grows when code is added or forgotten. */
uint64_t jitdump_changes(const struct jitdump *d);

/** jitdump_find() - the code at @addr. Return: true and *@out; it is untouched otherwise. */
bool jitdump_find(const struct jitdump *d, uint64_t addr, struct jitdump_code *out);

/** jitdump_find_line() - the source line of @addr. Return: true and *@out; false: it is not known. */
bool jitdump_find_line(const struct jitdump *d, uint64_t addr, struct jitdump_line *out);

/**
 * jitdump_find_frames() - the rules of the code at @addr, if the jitdump is of this machine's architecture. If all code
 * so far is alike, the record of this code need not be in the file yet, see jitdump_pattern.h.
 * Return: 1 and *@out; 0: it has none; -ENOMEM, -EIO.
 */
int jitdump_find_frames(const struct jitdump *d, uint64_t addr, struct jitdump_frames *out);

/** jitdump_memory() - bytes it takes. */
size_t jitdump_memory(const struct jitdump *d);

/**
 * jitdump_attach() - attach the owner's data @what to @d: jitdump_close() calls @release for it.
 * jitdump_attached() - return this data; NULL: nothing is attached.
 */
void jitdump_attach(struct jitdump *d, void *what, void (*release)(void *what));
void *jitdump_attached(const struct jitdump *d);

#endif
