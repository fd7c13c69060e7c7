/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that are written with stdio and kept in memory. */
#ifndef CORE_BASE_MEMSTREAM_H
#define CORE_BASE_MEMSTREAM_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/**
 * memstream_end() - close a stream of open_memstream(). If fclose(3) of glibc has no memory to shorten the text, it
 * frees the text and returns 0.
 * @f: NULL: it could not be opened
 * @text: of open_memstream(); the caller frees it, in any case
 * Return: 0: @text is complete; -ENOMEM.
 */
static inline int memstream_end(FILE *f, char **text)
{
	bool failed = !f || ferror(f);

	failed |= f && fclose(f);
	return failed || !*text ? -ENOMEM : 0;
}

#endif
