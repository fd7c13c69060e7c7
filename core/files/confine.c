// SPDX-License-Identifier: Apache-2.0
#include "core/files/confine.h"

#include "core/arch/arch.h"
#include "core/base/err.h"
#include "core/base/number.h"
#include "core/host/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

/* For memory, its own descriptors, time, and exit. None of them takes a file name. */
static const unsigned int allowed[] = {
	SYS_brk,    SYS_mmap,    SYS_munmap,     SYS_mremap,         SYS_mprotect,  SYS_madvise,
	SYS_futex,  SYS_read,    SYS_pread64,    SYS_lseek,          SYS_fstat,     SYS_close,
	SYS_getpid, SYS_recvmsg, SYS_sendmsg,    SYS_clock_gettime,  SYS_getrandom, SYS_rt_sigreturn,
	SYS_gettid, SYS_exit,    SYS_exit_group, SYS_rt_sigprocmask, SYS_setitimer,
};

static int with_errno(int rc)
{
	if (!rc)
		return 0;
	errno = -rc;
	return -1;
}

/*
 * For fstat(3), glibc 2.33 to 2.38 calls newfstatat(2) with an empty name, and a seccomp filter cannot see whether a
 * name is empty. So fstat(2) is called here, also for the libraries: the dynamic linker gives them the program's
 * functions.
 */
int fstat(int fd, struct stat *st)
{
	return with_errno(arch_fstat(fd, st));
}

int fstat64(int fd, struct stat64 *st)
{
	return with_errno(arch_fstat(fd, st));
}

/*
 * Commands of fcntl(2). F_SETOWN and F_SETSIG are not among them: with root's user ID, they could make any process the
 * owner of a socket, and the kernel would send that process a signal, even SIGKILL, when data arrives there.
 */
static const unsigned int allowed_fcntl[] = { F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_GETFL };

/* Loads 32 bits of the field; of an argument, the low half. */
#define LOAD(field)                                                                                                    \
	(struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define IF_SKIP(value, n)     (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, n, 0)
#define IF_NOT_SKIP(value, n) (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, n)
#define RETURN(what)          (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, what)

/* A refused call fails and does not kill the process, because libraries try calls that they can do without. */
static int allow_little(void)
{
	struct sock_filter code[4 + 2 * ARRAY_SIZE(allowed) + 2 + 2 * ARRAY_SIZE(allowed_fcntl) + 1];
	struct sock_fprog program = { 0, code };
	unsigned short n = 0;
	size_t i;

	code[n++] = LOAD(arch);
	code[n++] = IF_SKIP(ARCH_AUDIT, 1);
	code[n++] = RETURN(SECCOMP_RET_ERRNO | EPERM);
	code[n++] = LOAD(nr);
	for (i = 0; i < ARRAY_SIZE(allowed); i++) {
		code[n++] = IF_NOT_SKIP(allowed[i], 1);
		code[n++] = RETURN(SECCOMP_RET_ALLOW);
	}
	code[n++] = IF_NOT_SKIP(SYS_fcntl, 1 + 2 * ARRAY_SIZE(allowed_fcntl));
	code[n++] = LOAD(args[1]);
	for (i = 0; i < ARRAY_SIZE(allowed_fcntl); i++) {
		code[n++] = IF_NOT_SKIP(allowed_fcntl[i], 1);
		code[n++] = RETURN(SECCOMP_RET_ALLOW);
	}
	code[n++] = RETURN(SECCOMP_RET_ERRNO | EPERM);
	program.len = n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

/* Bytes of address space in use. */
static uint64_t address_space(void)
{
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[32] = "";
	const char *s = text;
	uint64_t pages = 0;

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) > 0)
		parse_digits(&s, 10, UINT64_MAX >> 20, &pages);
	close(fd);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit(__rlimit_resource_t what, uint64_t most)
{
	const struct rlimit rl = { most, most };

	setrlimit(what, &rl);
}

int confine(uint64_t bytes)
{
	uint64_t taken = address_space();

	if (!SANITIZED)
		limit(RLIMIT_AS, taken + bytes);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	privileges_none();
	/* Some hosts collect core dumps in spite of RLIMIT_CORE. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return allow_little();
}
