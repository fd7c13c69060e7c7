/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the stacks of threads begin, so that less of a copy has to be kept: what is above the frame that nobody called
 * is not read. Of the first thread these are the arguments, the environment, and the up to 8 KiB by which Linux moves
 * its stack; of others their own variables. Of a shallow stack it is most of the copy.
 *
 * One thread tells, any number of them ask. What is known may be old: the thread has executed another program, or
 * another one has its number. So it is believed only of a stack that has the same words there. And it may be the root
 * of another stack: a program may run a coroutine on a part of main()'s frame. If that root is known first, copies are
 * too short for the stacks of what main() calls; when the first of them is walked, roots of that thread are not
 * believed any more.
 */
#ifndef PERFRING_STACK_ROOTS_H
#define PERFRING_STACK_ROOTS_H

#include "backend-perfring/decode.h"

#include <stdbool.h>

#define STACK_ROOTS 4096 /* threads whose numbers differ by a multiple of this share a place */

/** struct stack_roots - all zeros: none is known. */
struct stack_roots {
	struct stack_root {
		uint64_t sp, words; /* a hash of the thread's number and of what is there */
		bool doubtful;      /* of the thread that tells: none is to be known here */
	} at[STACK_ROOTS];
};

/** stack_roots_note() - the outermost frame of sample @r has stack pointer @sp. By one thread. */
void stack_roots_note(struct stack_roots *roots, const struct record *r, uint64_t sp);

/** stack_roots_doubt() - the walk of sample @r wanted to read behind the copy. By the same thread. */
void stack_roots_doubt(struct stack_roots *roots, const struct record *r);

/** stack_roots_needed() - how many bytes of sample @r's copy are of frames, as far as is known. By any thread. */
uint64_t stack_roots_needed(const struct stack_roots *roots, const struct record *r);

#endif
