// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -ldl
/*
 * Preloaded, it makes one call of a program fail: FAULT=malloc:N the N-th allocation with ENOMEM, FAULT=pread:N the
 * N-th pread(2) with EIO. Without FAULT no call fails. When the program ends, the file FAULT_COUNT gets both numbers of
 * calls. Only the first process counts, not its children, because the order of their calls depends on chance.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *p, size_t size);

enum { ALLOCATIONS, READS };

static unsigned long calls[2], fail_at[2];
static ssize_t (*real_pread)(int fd, void *to, size_t len, off_t at);
static pid_t first;

static int fails(int what, int code)
{
	if (getpid() != first || __atomic_add_fetch(&calls[what], 1, __ATOMIC_RELAXED) != fail_at[what])
		return 0;
	errno = code;
	return 1;
}

void *malloc(size_t size)
{
	return fails(ALLOCATIONS, ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails(ALLOCATIONS, ENOMEM) ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *p, size_t size)
{
	return fails(ALLOCATIONS, ENOMEM) ? NULL : __libc_realloc(p, size);
}

ssize_t pread(int fd, void *to, size_t len, off_t at)
{
	return fails(READS, EIO) ? -1 : real_pread(fd, to, len, at);
}

ssize_t pread64(int fd, void *to, size_t len, off_t at)
{
	return pread(fd, to, len, at);
}

__attribute__((constructor)) static void begin(void)
{
	const char *what = getenv("FAULT");

	real_pread = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
	if (what && !strncmp(what, "malloc:", 7))
		fail_at[ALLOCATIONS] = strtoul(what + 7, NULL, 10);
	if (what && !strncmp(what, "pread:", 6))
		fail_at[READS] = strtoul(what + 6, NULL, 10);
	first = getpid();
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAULT_COUNT");
	FILE *f;

	if (getpid() != first || !path)
		return;
	first = 0;
	f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "%lu %lu\n", calls[ALLOCATIONS], calls[READS]);
	fclose(f);
}
