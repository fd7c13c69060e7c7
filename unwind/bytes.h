/* SPDX-License-Identifier: Apache-2.0 */
/* A file to be read, wherever it is. */
#ifndef UNWIND_BYTES_H
#define UNWIND_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct unwind_bytes - a file.
 * @ctx:  for the other two; NULL: there is no file
 * @size: bytes it had when it was opened
 */
struct unwind_bytes {
	void *ctx;
	uint64_t size;
	/* Copy at most @len bytes from @offset on. Return: how many, 0 behind the end, or -errno. */
	ssize_t (*read)(void *ctx, uint64_t offset, void *to, size_t len);
	/* Free @ctx. */
	void (*close)(void *ctx);
};

#endif
