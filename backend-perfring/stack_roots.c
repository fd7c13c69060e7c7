// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/stack_roots.h"

#include "core/arch/arch.h"
#include "core/base/hash.h"

#include <string.h>

#define WORDS_BYTES 64 /* bytes at a root by which it is recognized */

/* Return: 0: the sample does not have it, or is of 32-bit code */
static uint64_t stack_pointer(const struct record *r)
{
	const uint64_t *sp = record_reg(r, arch_perf_regs[ARCH_SP]);

	return sp && r->sample.abi == PERF_SAMPLE_REGS_ABI_64 ? *sp : 0;
}

/* Hash the thread of sample @r and the words at @sp. Return true if its copy has these words. *@end: where they end */
static bool find_words(const struct record *r, uint64_t sp, uint64_t *words, uint64_t *end)
{
	uint64_t from = stack_pointer(r), at = sp - from;

	if (r->tid <= 0 || !from || !r->sample.stack || sp < from || at > r->sample.stack_size ||
	    r->sample.stack_size - at < WORDS_BYTES)
		return false;
	*words = hash_bytes((const char *)r->sample.stack + at, WORDS_BYTES, (uint64_t)r->tid);
	*end = at + WORDS_BYTES;
	return true;
}

/* True if @root is the root of the stack of sample @r. *@end: as find_words() */
static bool is_root(const struct stack_root *root, const struct record *r, uint64_t *end)
{
	uint64_t sp = __atomic_load_n(&root->sp, __ATOMIC_RELAXED), words;

	return sp && find_words(r, sp, &words, end) && words == __atomic_load_n(&root->words, __ATOMIC_RELAXED);
}

void stack_roots_note(struct stack_roots *roots, const struct record *r, uint64_t sp)
{
	struct stack_root *root = &roots->at[(uint32_t)r->tid % STACK_ROOTS];
	uint64_t words, end;

	/*
	 * If the copy also has the known root, and that is higher, @sp is the root of a stack within a frame of the
	 * thread's own stack (a coroutine): keep the higher root.
	 */
	if (root->doubtful || (root->sp > sp && is_root(root, r, &end)) || !find_words(r, sp, &words, &end))
		return;
	__atomic_store_n(&root->sp, sp, __ATOMIC_RELAXED);
	__atomic_store_n(&root->words, words, __ATOMIC_RELAXED);
}

void stack_roots_doubt(struct stack_roots *roots, const struct record *r)
{
	struct stack_root *root = &roots->at[(uint32_t)r->tid % STACK_ROOTS];
	uint64_t end;

	/* Doubt only a root at which the copy was cut. Other copies end with the stack, or had no room for more. */
	if (!is_root(root, r, &end) || end != r->sample.stack_size)
		return;
	root->doubtful = true;
	__atomic_store_n(&root->sp, 0, __ATOMIC_RELAXED);
}

uint64_t stack_roots_needed(const struct stack_roots *roots, const struct record *r)
{
	const struct stack_root *root = &roots->at[(uint32_t)r->tid % STACK_ROOTS];
	uint64_t end;

	return is_root(root, r, &end) ? end : r->sample.stack_size;
}
