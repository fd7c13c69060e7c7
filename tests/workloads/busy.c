// SPDX-License-Identifier: Apache-2.0
/*
 * busy [SECONDS] - a load for system-wide runs: one thread in user code, one in the kernel, both with pauses.
 *
 * Expected: busy-user;...;busy_user without kernel frames, and busy-kernel;...;busy_kernel;read with the
 * kernel frames of a read from /dev/zero behind it. The pauses leave some idle time on every CPU.
 */
#include "workload.h"

#include <pthread.h>

static char buffer[1 << 20];
static int zero_fd;

static NOINLINE void busy_user(void)
{
	spin_ns(6 * MSEC);
}

/* read() of libc has no frame, so that its caller is missing in the stack: here that is this function. */
static NOINLINE void read_zeros(void)
{
	if (read(zero_fd, buffer, sizeof(buffer)) != (ssize_t)sizeof(buffer))
		workload_die("cannot read /dev/zero");
}

static NOINLINE void busy_kernel(void)
{
	uint64_t end = now_ns() + 6 * MSEC;

	do
		read_zeros();
	while (now_ns() < end);
}

static NOINLINE void *user_thread(void *arg)
{
	workload_name_thread("busy-user");
	while (!workload_stop) {
		busy_user();
		sleep_ns(3 * MSEC);
	}
	return arg;
}

static NOINLINE void *kernel_thread(void *arg)
{
	workload_name_thread("busy-kernel");
	while (!workload_stop) {
		busy_kernel();
		sleep_ns(3 * MSEC);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	workload_live(argc, argv);
	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (zero_fd < 0)
		workload_die("cannot open /dev/zero");
	errno = pthread_create(&threads[0], NULL, user_thread, NULL);
	if (!errno)
		errno = pthread_create(&threads[1], NULL, kernel_thread, NULL);
	if (errno)
		workload_die("cannot start a thread");
	workload_await_names(2);
	workload_ready();
	pthread_join(threads[0], NULL);
	return 0;
}
