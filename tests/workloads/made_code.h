/* SPDX-License-Identifier: Apache-2.0 */
/* For workloads that generate code at run time, and write a file about it. */
#ifndef TESTS_MADE_CODE_H
#define TESTS_MADE_CODE_H

#include "workload.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/shm.h>

#define REGION 4096

typedef void (*inner_fn)(uint64_t n);
typedef void (*outer_fn)(uint64_t n, inner_fn inner);

static char made_path[256]; /* path of that file */

/* Uses only calls that are safe in a signal handler. */
static void remove_made(int sig)
{
	unlink(made_path);
	_exit(128 + sig); /* the signal alone does not end the first process of a container */
}

/* Create @made_path, which is removed at the end unless @keep. Return: a descriptor. */
static int open_made(bool keep)
{
	static const int deadly[] = { SIGALRM, SIGTERM, SIGINT, SIGHUP };
	size_t i;
	int fd;

	unlink(made_path); /* of an earlier process with this PID */
	fd = open(made_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		workload_die(made_path);
	for (i = 0; !keep && i < sizeof(deadly) / sizeof(deadly[0]); i++)
		signal(deadly[i], remove_made);
	return fd;
}

enum made_memory { MADE_ANONYMOUS, MADE_FILE, MADE_SYSV };

static enum made_memory made_memory;

static void *map_region(int flags, int fd)
{
	return mmap(NULL, REGION, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static void *map_unlinked(void)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	void *region = fd < 0 || ftruncate(fd, REGION) ? MAP_FAILED : map_region(MAP_SHARED, fd);

	close(fd);
	return region;
}

static void *attach_sysv(void)
{
	int id = shmget(IPC_PRIVATE, REGION, IPC_CREAT | 0700);
	void *region = shmat(id, NULL, 0);

	shmctl(id, IPC_RMID, NULL);
	return region;
}

static unsigned char *new_region(void)
{
	unsigned char *region = made_memory == MADE_FILE   ? map_unlinked()
				: made_memory == MADE_SYSV ? attach_sysv()
							   : map_region(MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (region == MAP_FAILED)
		workload_die("cannot map memory");
	return region;
}

static void seal(unsigned char *region)
{
	if (mprotect(region, REGION, PROT_READ | PROT_EXEC))
		workload_die("cannot make code executable");
	__builtin___clear_cache((char *)region, (char *)region + REGION);
}

static NOINLINE void run_made(outer_fn outer, inner_fn inner, uint64_t n)
{
	if (outer)
		outer(n, inner);
	else
		inner(n);
	workload_sink++;
}

/* Work for a tenth of a second. It is inlined and has no frame: main calls run_made(). */
static inline __attribute__((always_inline)) void run_for_a_while(outer_fn outer, inner_fn inner)
{
	uint64_t end;

	for (end = now_ns() + 100 * MSEC; now_ns() < end;)
		run_made(outer, inner, 1000000);
}

#endif
