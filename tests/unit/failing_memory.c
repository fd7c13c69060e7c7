// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/failing_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ld --wrap=malloc: calls of malloc() in our objects are calls of __wrap_malloc(). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t len);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t len);

static bool armed, all_fail, failed;
static size_t left;

void memory_fail_after(size_t nr, bool all)
{
	left = nr;
	all_fail = all;
	failed = false;
	armed = true;
}

bool memory_restore(void)
{
	armed = false;
	return failed;
}

static bool fails(void)
{
	if (!armed)
		return false;
	if (failed ? !all_fail : left > 0) {
		left -= !failed;
		return false;
	}
	failed = true;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t len)
{
	return fails() ? NULL : __real_strndup(s, len);
}
