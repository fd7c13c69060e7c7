/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for records that were moved out of the rings.
 *
 * The thread that moves them must never wait for the thread that reads them. With malloc(), it would wait for the
 * kernel's mmap_lock: malloc() and free() in the other thread change the mappings of the process, so they hold that
 * lock, and meanwhile may wait for the lock of an anon_vma. A kernel thread that looks for unused pages may hold the
 * lock of the anon_vma while it waits for a CPU: for 3 seconds with Linux 6.18 and DAMON, while many processes started
 * and ended. So all memory is reserved at the start. Then a block takes time only when it is used for the first
 * time, or for the first time after its memory was given back to the kernel. Since Linux 6.4, such a use does not need
 * the mmap_lock; because of older kernels, a few blocks are used at the start.
 */
#ifndef PERFRING_BLOCKS_H
#define PERFRING_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#define BLOCK_BYTES (128UL << 10)

/** struct block - the caller of blocks_get() links it and fills its first @used bytes. Any record fits into one. */
struct block {
	struct block *next;
	size_t used;
	_Alignas(8) unsigned char bytes[];
};

#define BLOCK_ROOM (BLOCK_BYTES - sizeof(struct block))

struct blocks;

/**
 * blocks_new() - reserve @nr blocks, or a half, a quarter and so on if the limits of this process permit no more; at
 * least 4. Only blocks in use, and some free ones, take memory.
 * Return: NULL: no memory
 */
struct blocks *blocks_new(size_t nr);

/** blocks_delete() - free all blocks, also those in use. NULL is allowed. */
void blocks_delete(struct blocks *b);

/**
 * blocks_get() - an empty block. Call from any thread.
 * @for_reader: may return one of the last two free blocks, so that the reader can always go on
 * Return: NULL: none is free, or only those two
 */
struct block *blocks_get(struct blocks *b, bool for_reader);

/** blocks_put() - @block is not used any more. Call only from the reader: this may wait for the kernel. */
void blocks_put(struct blocks *b, struct block *block);

#endif
