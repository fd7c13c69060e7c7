/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proven user stacks: the BPF program may count a sample with such a stack, because the callchain that the kernel walks
 * by frame pointers is right. The map `proved` of bpf/profile.bpf.c has these stacks. proved.c keeps a list of the
 * map's entries for each process, to withdraw them later.
 *
 * The addresses of a stack prove whether its frame pointers are right, as long as the mappings of its process do not
 * change. User space unwinds one sample with each stack and calls proved_tell(). Not thread safe.
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

/**
 * struct proved_leaf - a callchain, and a caller that it lacks because its leaf has no frame.
 * @top:        that caller's address, which belongs after the leaf; 0: the callchain lacks none
 * @user_stack: number of the callchain, as in struct bpf_count_key
 */
struct proved_leaf {
	uint64_t top;
	int64_t user_stack;
};

/** struct proved - all zeros: there is no map, and all functions below do nothing. */
struct proved {
	bool used;
	bool full; /* the map has refused an entry */
	int fd;    /* file descriptor of the map; borrowed */
	struct intern_table processes;
	struct admitted *admitted;
	size_t nr_admitted, cap_admitted;
	uint32_t spare; /* index + 1 of the first unused entry of @admitted; 0: there is none */
	/* Entries are struct proved_leaf, for each set; they stay as long as there may be counts with them */
	struct intern_table leaves[2];
};

void proved_release(struct proved *p);

/**
 * proved_tell() - report that a sample that the program passed on has been unwound.
 * @note: its process, callchain and set
 * @proof: what was proven about all samples of the process with this callchain; PROOF_LEAF: only about those of them
 *         that have the same top of stack, @note->top
 * If the map is full, all entries of all processes are dropped. A stack gets its entry back when a sample proves it
 * again.
 */
enum proof_use proved_tell(struct proved *p, const struct sample_note *note, enum proof proof);

/**
 * proved_leaf() - find the stack whose number in the keys of `counts_N` (N: @set) is @id, BPF_LEAF_STACKS or above.
 * Return: false: there is none.
 */
bool proved_leaf(const struct proved *p, unsigned int set, int32_t id, struct proved_leaf *out);

/** proved_withdraw() - see counter_ops.withdraw. */
size_t proved_withdraw(struct proved *p, pid_t pid, bool gone);

/**
 * proved_clear() - drop the entries of @set: its stack map is about to be emptied, so their numbers will mean other
 * stacks.
 */
void proved_clear(struct proved *p, unsigned int set);

#endif
