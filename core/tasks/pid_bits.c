// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/pid_bits.h"

#include "core/tasks/filter.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <stdlib.h>

int pid_bits_init(struct pid_bits *b, const struct host *h)
{
	*b = (struct pid_bits){ .nr_words = proc_pid_words(h) };
	b->words = calloc(b->nr_words, sizeof(*b->words));
	if (b->words)
		return 0;
	*b = (struct pid_bits){ 0 };
	return -ENOMEM;
}

void pid_bits_release(struct pid_bits *b)
{
	free(b->words);
	*b = (struct pid_bits){ 0 };
}

static uint64_t bit_of(pid_t pid)
{
	return 1ULL << (uint32_t)pid % 64;
}

/* NULL: no process can have the id. */
static uint64_t *word_of(const struct pid_bits *b, pid_t pid)
{
	return pid > 0 && (uint32_t)pid / 64 < b->nr_words ? &b->words[(uint32_t)pid / 64] : NULL;
}

/* Most calls change nothing: read the word first, because writing takes its cache line from other CPUs. */
bool pid_bits_set(struct pid_bits *b, pid_t pid)
{
	uint64_t *word = word_of(b, pid), bit = bit_of(pid);

	return word && !(__atomic_load_n(word, __ATOMIC_RELAXED) & bit) &&
	       !(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit);
}

bool pid_bits_clear(struct pid_bits *b, pid_t pid)
{
	uint64_t *word = word_of(b, pid), bit = bit_of(pid);

	return word && __atomic_load_n(word, __ATOMIC_RELAXED) & bit &&
	       __atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED) & bit;
}

static int set(void *ctx, pid_t pid)
{
	pid_bits_set(ctx, pid);
	return 0;
}

void pid_bits_set_existing(struct pid_bits *b, const struct filter *filter, const struct host *h)
{
	filter_pids(filter, h, set, b);
}
