/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses where the stacks of threads begin, so that we keep less of each copy: nothing reads above the outermost
 * frame. Above it are, in the first thread, the arguments, the environment, and the up to 8 KiB by which Linux
 * randomizes the stack pointer; in other threads, thread-local variables. All this is most of the copy if the stack is
 * shallow.
 *
 * One thread adds roots, any number of threads look them up. A root may be outdated: the thread has called exec, or
 * another thread has its number. So a root is used only for a stack that has the same words there. But one thread may
 * have two roots: a program may run a coroutine on memory within main()'s frame. If the coroutine's root is found
 * first, copies of main()'s own stack end there, below main(). The first walk that needs more of the stack notices
 * this, and from then on no root is used for that thread, nor for others that share its place.
 */
#ifndef PERFRING_STACK_ROOTS_H
#define PERFRING_STACK_ROOTS_H

#include "backend-perfring/decode.h"

#include <stdbool.h>

#define STACK_ROOTS 4096 /* threads whose numbers differ by a multiple of this share a place */

/** struct stack_roots - all zeros: no root is known. */
struct stack_roots {
	struct stack_root {
		uint64_t sp, words; /* @words: a hash of the thread's number and of the words at @sp; @sp 0: none */
		bool doubtful;      /* add no root here; only the thread that adds roots reads this */
	} at[STACK_ROOTS];
};

/** stack_roots_note() - the outermost frame of sample @r has stack pointer @sp. Call from one thread only. */
void stack_roots_note(struct stack_roots *roots, const struct record *r, uint64_t sp);

/** stack_roots_doubt() - the walk of sample @r wanted to read behind the copy. Call from the thread that adds roots. */
void stack_roots_doubt(struct stack_roots *roots, const struct record *r);

/**
 * stack_roots_needed() - how many bytes of sample @r's copy to keep: up to its root and the words that identify it; all
 * if its root is not known. Call from any thread.
 */
uint64_t stack_roots_needed(const struct stack_roots *roots, const struct record *r);

#endif
