/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame of a stack: an address, or a name if there is no address (a function of an interpreter, a marker).
 *
 * Both have 64 bits, so that stacks are hashed, compared and copied as arrays of numbers. The upper 7 bits tell them
 * apart: plain user addresses have none of these bits set, kernel addresses have all, and the flags below mark the
 * other forms. A name frame holds the number of the name in the struct frame_names of the run, so a name frame means
 * the same in every table of rows.
 *
 * The kernel reads user callchains from the memory of the profiled process, where any number can be a return address.
 * So a process can forge a name frame, but frame_names_text() treats it as an address unless such a name exists.
 */
#ifndef CORE_ROWS_FRAME_H
#define CORE_ROWS_FRAME_H

#include "core/arch/arch.h"
#include "core/base/intern.h"

typedef uint64_t frame_t;

enum frame_kind {
	FRAME_ADDRESS,
	FRAME_FUNCTION, /* the name of a function that an interpreter runs */
	FRAME_MARKER,   /* a word from profile itself */
};

/*
 * Set in the user address of a caller that is not a return address, because a signal interrupted the function there:
 * its symbol is looked up at the address itself.
 */
#define FRAME_EXACT (1ULL << 62)

#define FRAME_NAME (1ULL << 61) /* the kind is in bits 32 to 39, the number of the name below */

/*
 * A frame with only bit 60 of the upper 7 set is kernel code at an address that showed other code, too. It holds the
 * number of a range of kernel_ranges.h (KERNEL_RANGE_FRAME).
 */

static inline bool frame_is_exact(frame_t f)
{
	return f >> ARCH_USER_BITS == FRAME_EXACT >> ARCH_USER_BITS;
}

static inline bool frame_is_name(frame_t f)
{
	return f >> ARCH_USER_BITS == FRAME_NAME >> ARCH_USER_BITS;
}

static inline enum frame_kind frame_kind(frame_t f)
{
	return frame_is_name(f) ? (enum frame_kind)(f >> 32 & 0xff) : FRAME_ADDRESS;
}

/** frame_name_id() - the number of the name. @f: a name frame */
static inline uint32_t frame_name_id(frame_t f)
{
	return (uint32_t)f;
}

/** struct frame_names - the names of name frames, each kept once. All zeros is valid and empty. Not thread safe. */
struct frame_names {
	struct intern_table table;
};

void frame_names_release(struct frame_names *n);

/**
 * frame_names_add() - the frame of this name, the same one for the same name and kind.
 * @kind: not FRAME_ADDRESS
 * Return: 0; -ENOMEM; -E2BIG beyond 2^32 - 2 names.
 */
int frame_names_add(struct frame_names *n, enum frame_kind kind, const char *name, frame_t *out);

/**
 * frame_names_text() - the name of @f, borrowed until frame_names_release(); NULL: @f is an address, or has a name that
 * does not exist. @n: may be NULL
 */
const char *frame_names_text(const struct frame_names *n, frame_t f);

#endif
