// SPDX-License-Identifier: Apache-2.0
#include "core/files/confine.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <libelf.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MEMORY (256ull << 20)

static int dir_fd, self_fd;

static long do_open(void)
{
	return open("/dev/null", O_RDONLY);
}

static long do_openat(void)
{
	return syscall(SYS_openat, dir_fd, ".", O_RDONLY);
}

static long do_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM, 0);
}

static long do_fork(void)
{
	return fork();
}

static long do_exec(void)
{
	char *const none[] = { NULL };

	return execve("/bin/true", none, none);
}

static long do_kill(void)
{
	return kill(getppid(), 0);
}

static long do_kill_self(void)
{
	return syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0);
}

static long do_ptrace(void)
{
	return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static long do_limit(void)
{
	const struct rlimit rl = { 1 << 20, 1 << 20 };

	return prlimit(getppid(), RLIMIT_DATA, &rl, NULL);
}

static long do_setuid(void)
{
	return syscall(SYS_setuid, 0);
}

static long do_unlink(void)
{
	return unlink("/no/such/file");
}

static long do_write(void)
{
	return write(dir_fd, "", 1);
}

static long do_dumpable(void)
{
	return prctl(PR_SET_DUMPABLE, 1);
}

static long do_seccomp(void)
{
	return prctl(PR_SET_SECCOMP, 0);
}

static long do_mount(void)
{
	return syscall(SYS_mount, "none", "/", "tmpfs", 0, NULL);
}

static long do_pidfd(void)
{
	return syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0);
}

/* As fstat(3) of some glibc versions, but with a name. */
static long do_stat(void)
{
	struct stat st;

	return syscall(SYS_newfstatat, dir_fd, "etc", &st, AT_EMPTY_PATH);
}

static long do_statx(void)
{
	struct statx st;

	return syscall(SYS_statx, dir_fd, "etc", AT_EMPTY_PATH, STATX_BASIC_STATS, &st);
}

static long do_access(void)
{
	return access("/etc", F_OK);
}

static long do_memory(void)
{
	void *p = mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : munmap(p, 16 << 20);
}

static long do_lseek(void)
{
	return lseek(dir_fd, 0, SEEK_SET);
}

static long do_fstat(void)
{
	struct stat st;

	return fstat(dir_fd, &st) || !S_ISDIR(st.st_mode) ? -1 : 0;
}

static long do_fstat64(void)
{
	struct stat64 st;

	return fstat64(dir_fd, &st) || !S_ISDIR(st.st_mode) ? -1 : 0;
}

/* libelf asks for the size of the file first. */
static long do_elf(void)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(self_fd, ELF_C_READ_MMAP, NULL);
	return elf && elf_kind(elf) == ELF_K_ELF && !elf_end(elf) ? 0 : -1;
}

static long do_dup(void)
{
	int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -1 : close(fd);
}

/* Choose the process that gets signals about a descriptor. With root's user id, this could send any signal to any. */
static long do_owner(void)
{
	return fcntl(dir_fd, F_SETOWN, getppid());
}

static long do_owner_signal(void)
{
	return fcntl(dir_fd, F_SETSIG, SIGKILL);
}

static long do_async(void)
{
	return fcntl(dir_fd, F_SETFL, O_ASYNC);
}

static long do_flags(void)
{
	return fcntl(dir_fd, F_GETFD);
}

static const struct {
	const char *name;
	long (*try)(void);
	bool allowed;
} tries[] = {
	{ "open", do_open, false },          { "openat", do_openat, false },
	{ "socket", do_socket, false },      { "fork", do_fork, false },
	{ "exec", do_exec, false },          { "kill", do_kill, false },
	{ "tgkill", do_kill_self, false },   { "ptrace", do_ptrace, false },
	{ "prlimit", do_limit, false },      { "setuid", do_setuid, false },
	{ "unlink", do_unlink, false },      { "write", do_write, false },
	{ "dumpable", do_dumpable, false },  { "seccomp", do_seccomp, false },
	{ "mount", do_mount, false },        { "process_vm_readv", do_pidfd, false },
	{ "owner", do_owner, false },        { "signal of the owner", do_owner_signal, false },
	{ "asynchronous", do_async, false }, { "newfstatat", do_stat, false },
	{ "statx", do_statx, false },        { "access", do_access, false },
	{ "memory", do_memory, true },       { "lseek", do_lseek, true },
	{ "fstat", do_fstat, true },         { "fstat64", do_fstat64, true },
	{ "libelf", do_elf, true },          { "dup", do_dup, true },
	{ "flags", do_flags, true },
};

static int sock;

/* As the worker does: the filter forbids write(2). */
static void tell(long value)
{
	struct iovec iov = { &value, sizeof(value) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	sendmsg(sock, &m, 0);
}

static long hear(int from)
{
	long value = 12345;
	struct iovec iov = { &value, sizeof(value) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	ck_assert_int_eq(recvmsg(from, &m, 0), (ssize_t)sizeof(value));
	return value;
}

/* A child that confines itself, does @what, reports the result, and waits to be killed. */
static pid_t confined(void (*what)(int), int i, int *from)
{
	int ends[2];
	pid_t pid;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	dir_fd = open("/", O_RDONLY | O_DIRECTORY);
	self_fd = open("/proc/self/exe", O_RDONLY);
	ck_assert_int_ge(dir_fd, 0);
	ck_assert_int_ge(self_fd, 0);
	pid = fork();
	if (!pid) {
		struct iovec iov = { 0 };
		struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

		sock = ends[1];
		close(ends[0]);
		tell(confine(MEMORY));
		what(i);
		recvmsg(sock, &m, 0);
		_exit(0);
	}
	close(ends[1]);
	close(dir_fd);
	close(self_fd);
	*from = ends[0];
	ck_assert_int_eq(hear(*from), 0);
	return pid;
}

static void end(pid_t pid, int from)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(from);
}

static void try(int i)
{
	errno = 0;
	tell(tries[i].try());
	tell(errno);
}

START_TEST(test_tries)
{
	int from;
	pid_t pid = confined(try, _i, &from);
	long rc = hear(from), code = hear(from);

	ck_assert_msg((rc == -1) != tries[_i].allowed, "%s: %ld", tries[_i].name, rc);
	ck_assert_int_eq(code, tries[_i].allowed ? 0 : EPERM);
	end(pid, from);
}
END_TEST

static void nothing(int i)
{
	(void)i;
	tell(0);
}

/* As the kernel reports it. */
START_TEST(test_state)
{
	static const char *const wanted[] = { "CapInh:\t0000000000000000\n", "CapPrm:\t0000000000000000\n",
					      "CapEff:\t0000000000000000\n", "NoNewPrivs:\t1\n", "Seccomp:\t2\n" };
	int from, i;
	pid_t pid = confined(nothing, 0, &from);
	char path[64], text[8192];
	struct rlimit rl;
	FILE *f;

	hear(from);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	for (i = 0; i < (int)ARRAY_SIZE(wanted); i++)
		ck_assert_msg(strstr(text, wanted[i]), "no %s in %s", wanted[i], text);
	ck_assert_int_eq(prlimit(pid, RLIMIT_FSIZE, NULL, &rl), 0);
	ck_assert_uint_eq(rl.rlim_max, 0);
	ck_assert_int_eq(prlimit(pid, RLIMIT_CORE, NULL, &rl), 0);
	ck_assert_uint_eq(rl.rlim_max, 0);
	end(pid, from);
}
END_TEST

/* A little memory is available, much is not. Sanitizers are not limited, and valgrind does not work with the limit. */
static void take(int i)
{
	(void)i;
	tell(mmap(NULL, MEMORY + (4 << 20), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	tell(mmap(NULL, MEMORY / 2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
}

START_TEST(test_memory)
{
	struct rlimit rl;
	bool unlimited;
	pid_t pid;
	int from;

	if (unit_below_valgrind())
		return;
	pid = confined(take, 0, &from);
	ck_assert_int_eq(prlimit(pid, RLIMIT_AS, NULL, &rl), 0);
	unlimited = rl.rlim_max == RLIM_INFINITY;
#ifdef __SANITIZE_ADDRESS__
	ck_assert_int_eq(unlimited, 1);
#else
	ck_assert_int_eq(unlimited, 0);
#endif
	ck_assert_int_eq(hear(from), unlimited);
	ck_assert_int_eq(hear(from), 1);
	end(pid, from);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("confine");
	TCase *tc = tcase_create("confine");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_tries, 0, ARRAY_SIZE(tries));
	tcase_add_test(tc, test_state);
	tcase_add_test(tc, test_memory);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
