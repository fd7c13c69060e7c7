// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/blocks.h"

#include "core/base/pi_mutex.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LEAST        4  /* with fewer blocks we cannot run */
#define WARM_AT_ONCE 4  /* blocks that get memory at the start */
#define WARM_MAX     32 /* free blocks that keep their memory, because new memory has to be faulted in again */
#define FOR_READER   2  /* see blocks_get() */

struct blocks {
	unsigned char *base;
	size_t nr;
	pthread_mutex_t lock;
	size_t nr_free, nr_cold; /* protected by @lock, like @free */
	struct block *free[];    /* the first @nr_cold of them have no memory */
};

/* Return: NULL: no memory. @nr: in and out */
static unsigned char *reserve(size_t *nr)
{
	void *base;

	while (*nr >= LEAST) {
		base = mmap(NULL, *nr * BLOCK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (base != MAP_FAILED) {
			/* Making a huge page takes long, and the thread that moves records would wait for it. */
			madvise(base, *nr * BLOCK_BYTES, MADV_NOHUGEPAGE);
			return base;
		}
		*nr /= 2;
	}
	return NULL;
}

/* The blocks with the lowest addresses are at the end of the array: these are taken first. */
static void make_free(struct blocks *b)
{
	size_t i;

	b->nr_free = b->nr;
	for (i = 0; i < b->nr; i++)
		b->free[b->nr - 1 - i] = (struct block *)(b->base + i * BLOCK_BYTES);
	b->nr_cold = b->nr - WARM_AT_ONCE;
	memset(b->base, 0, WARM_AT_ONCE * BLOCK_BYTES);
}

struct blocks *blocks_new(size_t nr)
{
	struct blocks *b;
	unsigned char *base;

	if (nr < LEAST)
		nr = LEAST;
	base = reserve(&nr);
	if (!base)
		return NULL;
	b = calloc(1, sizeof(*b) + nr * sizeof(struct block *));
	if (!b || pi_mutex_init(&b->lock)) {
		free(b);
		munmap(base, nr * BLOCK_BYTES);
		return NULL;
	}
	b->base = base;
	b->nr = nr;
	make_free(b);
	return b;
}

void blocks_delete(struct blocks *b)
{
	if (!b)
		return;
	munmap(b->base, b->nr * BLOCK_BYTES);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

struct block *blocks_get(struct blocks *b, bool for_reader)
{
	struct block *block = NULL;

	pthread_mutex_lock(&b->lock);
	if (b->nr_free > (for_reader ? 0 : FOR_READER)) {
		block = b->free[--b->nr_free];
		if (b->nr_cold > b->nr_free)
			b->nr_cold = b->nr_free;
	}
	pthread_mutex_unlock(&b->lock);
	if (block)
		*block = (struct block){ 0 };
	return block;
}

void blocks_put(struct blocks *b, struct block *block)
{
	bool cold;

	pthread_mutex_lock(&b->lock);
	cold = b->nr_free - b->nr_cold >= WARM_MAX;
	pthread_mutex_unlock(&b->lock);
	/* Without the lock, because the kernel may take long. */
	if (cold)
		madvise(block, BLOCK_BYTES, MADV_DONTNEED);
	pthread_mutex_lock(&b->lock);
	b->free[b->nr_free] = block;
	if (cold) {
		b->free[b->nr_free] = b->free[b->nr_cold];
		b->free[b->nr_cold++] = block;
	}
	b->nr_free++;
	pthread_mutex_unlock(&b->lock);
}
