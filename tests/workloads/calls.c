// SPDX-License-Identifier: Apache-2.0
/*
 * calls read|write|nanosleep [SECONDS] - spends nearly all its time in one system call, below main;outer;inner. Now and
 * then main;outer;other;deeper computes for a moment, in frames of other sizes, which leaves old frames on the stack.
 */
#include "tests/workloads/workload.h"

enum kind { READ, WRITE, NANOSLEEP };

static char buffer[1 << 19];
static int fd;

static NOINLINE void inner(enum kind kind)
{
	const struct timespec pause = { 0, 100000 };
	ssize_t done = sizeof(buffer);

	if (kind == READ)
		done = read(fd, buffer, sizeof(buffer));
	else if (kind == WRITE)
		done = write(fd, buffer, sizeof(buffer));
	else
		nanosleep(&pause, NULL);
	if (done != (ssize_t)sizeof(buffer))
		workload_die("a system call");
}

static NOINLINE void deeper(uint64_t n)
{
	volatile char room[200];

	room[n % sizeof(room)] = 1;
	spin_iterations(n);
	workload_sink += (uint64_t)room[0];
}

static NOINLINE void other(uint64_t n)
{
	volatile char room[40];

	room[n % sizeof(room)] = 1;
	deeper(n);
	workload_sink += (uint64_t)room[0];
}

static NOINLINE void outer(enum kind kind, unsigned int turn)
{
	inner(kind);
	if (kind == WRITE && lseek(fd, 0, SEEK_SET))
		workload_die("lseek");
	if (turn % 8 == 0)
		other(50000);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	enum kind kind = !strcmp(name, "read") ? READ : !strcmp(name, "write") ? WRITE : NANOSLEEP;
	unsigned int turn;

	alarm(argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 60);
	fd = kind == READ ? open("/dev/zero", O_RDONLY) : open("/tmp", O_TMPFILE | O_RDWR, 0600);
	if (fd < 0)
		workload_die("cannot open a file");
	printf("ready\n");
	fflush(stdout);
	for (turn = 0; !workload_stop; turn++)
		outer(kind, turn);
	return 0;
}
