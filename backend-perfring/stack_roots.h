/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses where the stacks of threads begin, so that we keep less of each copy: nothing reads above the outermost
 * frame. In the first thread these are the arguments, the environment, and the up to 8 KiB by which Linux moves its
 * stack; in others their thread-local variables. They are most of the copy if the stack is shallow.
 *
 * One thread adds roots, any number of threads look them up. A root may be outdated: the thread has called exec, or
 * another one has its number. So it is used only for a stack that has the same words there. It may also be the root of
 * another stack: a program may run a coroutine on a part of main()'s frame. If that root is found first, copies become
 * too short for the stacks of functions that main() calls. When the first of these is walked, roots of that thread are
 * not used any more.
 */
#ifndef PERFRING_STACK_ROOTS_H
#define PERFRING_STACK_ROOTS_H

#include "backend-perfring/decode.h"

#include <stdbool.h>

#define STACK_ROOTS 4096 /* threads whose numbers differ by a multiple of this share a place */

/** struct stack_roots - all zeros: no root is known. */
struct stack_roots {
	struct stack_root {
		uint64_t sp, words; /* a hash of the thread's number and of the words there */
		bool doubtful;      /* only for the thread that adds roots: add none here */
	} at[STACK_ROOTS];
};

/** stack_roots_note() - the outermost frame of sample @r has stack pointer @sp. Call from one thread only. */
void stack_roots_note(struct stack_roots *roots, const struct record *r, uint64_t sp);

/** stack_roots_doubt() - the walk of sample @r wanted to read behind the copy. Call from the same thread. */
void stack_roots_doubt(struct stack_roots *roots, const struct record *r);

/** stack_roots_needed() - how many bytes of sample @r's copy are frames, as far as we know. Call from any thread. */
uint64_t stack_roots_needed(const struct stack_roots *roots, const struct record *r);

#endif
