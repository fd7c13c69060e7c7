/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user stacks that a program may count as the kernel walks them by frame pointers: the map `proved` of
 * bpf/profile.bpf.c, and for each process what is in it, so that it can be withdrawn.
 *
 * Whether the frame pointers of a stack are right follows from its addresses, as long as its process maps the same.
 * User space unwinds one sample with each stack and says what it found. Not thread safe.
 */
#ifndef BACKEND_BPF_PROVED_H
#define BACKEND_BPF_PROVED_H

#include "core/base/intern.h"
#include "core/sources/notes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct admitted;

/** struct proved_leaf - a callchain whose leaf returns to @top: entry @user_stack of a stack map. @top: 0: it has none.
 */
struct proved_leaf {
	uint64_t top;
	int64_t user_stack;
};

/** struct proved - all zeros: there is no map, and everything below does nothing. */
struct proved {
	bool used;
	bool full; /* the map has refused something */
	int fd;    /* of the map; borrowed */
	struct intern_table processes;
	struct admitted *admitted;
	size_t nr_admitted, cap_admitted;
	uint32_t spare;                /* the first of those that are not used, +1; 0: there is none */
	struct intern_table leaves[2]; /* of struct proved_leaf, for each set; they stay while there may be counts */
};

void proved_release(struct proved *p);

/**
 * proved_tell() - a sample that the program passed on has been unwound.
 * @note: which process, callchain and set
 * @proof: what is proved of all that have these
 * Where the map has no room, what is proved of all processes is dropped: those that still run come again.
 */
enum proof_use proved_tell(struct proved *p, const struct sample_note *note, enum proof proof);

/** proved_leaf() - what stack @id of `counts_N`, from BPF_LEAF_STACKS on, is. Return: false: there is none. */
bool proved_leaf(const struct proved *p, unsigned int set, int32_t id, struct proved_leaf *out);

/** proved_withdraw() - see counter_ops.withdraw. */
size_t proved_withdraw(struct proved *p, pid_t pid, bool gone);

/** proved_clear() - the stack map of @set is about to be emptied: its entries will be other stacks. */
void proved_clear(struct proved *p, unsigned int set);

#endif
