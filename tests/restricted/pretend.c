// SPDX-License-Identifier: Apache-2.0
/*
 * pretend [-o LOG] KERNEL -- COMMAND [ARGUMENT...] - run COMMAND on an imitation of KERNEL: perf_event_open(2), bpf(2)
 * and uname(2) answer as that kernel would, and newer system calls do not exist (tests/kernels.h has the facts). Calls
 * that it would accept go to this kernel. Files of /proc and /sys stay as they are.
 *
 * LOG gets a line for each of these except uname: the call, for bpf(2) the number of the command, and "ok" or the
 * error; for a call that does not exist, its number.
 *
 * The command runs under a filter of system calls (seccomp) that asks this process; needs root, and Linux 5.9.
 */
#include "tests/kernels.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_INSNS (1u << 20)
#define MAX_BTF   (16u << 20)

/* Not an answer: pass the call on to the host. */
#define PASS 1

static const struct old_kernel *kernel;
static FILE *log_file;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static bool read_memory(pid_t pid, uint64_t at, void *to, size_t len)
{
	struct iovec ours = { to, len }, theirs = { (void *)(uintptr_t)at, len };

	return process_vm_readv(pid, &ours, 1, &theirs, 1, 0) == (ssize_t)len;
}

static bool write_memory(pid_t pid, uint64_t at, const void *from, size_t len)
{
	struct iovec ours = { (void *)(uintptr_t)from, len }, theirs = { (void *)(uintptr_t)at, len };

	return process_vm_writev(pid, &ours, 1, &theirs, 1, 0) == (ssize_t)len;
}

/* ---- perf_event_open(2) */

/*
 * The imitated kernel ignores that field, so the event is opened here, without it. Return: a descriptor in the command;
 * -errno.
 */
static int open_without_max_stack(int listener, const struct seccomp_notif *n, struct perf_event_attr *attr)
{
	pid_t pid = (pid_t)n->data.args[1];
	struct seccomp_notif_addfd add = { .id = n->id };
	int fd;

	memset((char *)attr + ATTR_MAX_STACK, 0, sizeof(attr->sample_max_stack));
	fd = (int)syscall(SYS_perf_event_open, attr, pid ? pid : (pid_t)n->pid, (int)n->data.args[2], -1,
			  n->data.args[4] | PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	add.srcfd = (uint32_t)fd;
	add.newfd_flags = n->data.args[4] & PERF_FLAG_FD_CLOEXEC ? O_CLOEXEC : 0;
	pid = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	close(fd);
	return pid < 0 ? -errno : pid;
}

static int64_t answer_event(int listener, const struct seccomp_notif *n)
{
	union {
		struct perf_event_attr attr;
		char room[4096];
	} u;
	struct event_rules rules = event_rules(kernel->perf);
	uint64_t at = n->data.args[0];
	int rc;

	memset(&u, 0, sizeof(u));
	if (n->data.args[4] & ~rules.flags)
		return -EINVAL;
	if (!read_memory((pid_t)n->pid, at, &u, PERF_ATTR_SIZE_VER0))
		return PASS;
	if (u.attr.size > PERF_ATTR_SIZE_VER0 && u.attr.size <= sizeof(u) &&
	    !read_memory((pid_t)n->pid, at, &u, u.attr.size))
		return PASS;
	rc = event_answer(&rules, &u.attr, n->data.args[4]);
	if (rc == -E2BIG)
		write_memory((pid_t)n->pid, at + offsetof(struct perf_event_attr, size), &rules.size,
			     sizeof(rules.size));
	if (rc)
		return rc;
	if (rules.max_stack || !u.attr.sample_max_stack || (int)n->data.args[3] != -1)
		return PASS;
	return open_without_max_stack(listener, n, &u.attr);
}

/* ---- bpf(2) */

/* The type of a map, from /proc; -1: unknown. */
static int type_of_map(pid_t pid, uint32_t fd)
{
	char path[64], line[256];
	int type = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%u", pid, fd);
	f = fopen(path, "re");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "map_type:\t", 10))
			type = (int)strtol(line + 10, NULL, 10);
	fclose(f);
	return type;
}

static int answer_next_key(pid_t pid, const union bpf_attr *attr)
{
	if (!attr->key && kernel->bpf < LINUX(4, 12))
		return -EFAULT;
	return kernel->bpf < LINUX(4, 16) && type_of_map(pid, attr->map_fd) == BPF_MAP_TYPE_STACK_TRACE ? -EINVAL : 0;
}

static int answer_program(pid_t pid, const union bpf_attr *attr)
{
	struct bpf_insn *insns;
	int rc = 0;

	if (!attr->insn_cnt || attr->insn_cnt > MAX_INSNS)
		return 0;
	insns = calloc(attr->insn_cnt, sizeof(*insns));
	if (!insns)
		die("pretend");
	if (read_memory(pid, attr->insns, insns, attr->insn_cnt * sizeof(*insns)))
		rc = program_answer(kernel->bpf, kernel->long_program, attr->prog_type, insns, attr->insn_cnt);
	free(insns);
	return rc;
}

static int answer_btf(pid_t pid, const union bpf_attr *attr)
{
	void *btf;
	int rc = 0;

	if (!attr->btf_size || attr->btf_size > MAX_BTF)
		return 0;
	btf = malloc(attr->btf_size);
	if (!btf)
		die("pretend");
	if (read_memory(pid, attr->btf, btf, attr->btf_size))
		rc = btf_answer(kernel->bpf, btf, attr->btf_size);
	free(btf);
	return rc;
}

static int64_t answer_bpf(const struct seccomp_notif *n)
{
	union {
		union bpf_attr attr;
		char room[BPF_ATTR_ROOM];
	} u;
	uint32_t size = (uint32_t)n->data.args[2];
	int cmd = (int)n->data.args[0], rc;
	pid_t pid = (pid_t)n->pid;

	memset(&u, 0, sizeof(u));
	if (size > 4096)
		return kernel->bpf ? -E2BIG : -ENOSYS;
	if (size && !read_memory(pid, n->data.args[1], &u, size < sizeof(u) ? size : sizeof(u)))
		return kernel->bpf ? PASS : -ENOSYS;
	rc = bpf_answer(kernel, cmd, &u, size);
	if (!rc && cmd == BPF_MAP_GET_NEXT_KEY)
		rc = answer_next_key(pid, &u.attr);
	if (!rc && cmd == BPF_BTF_LOAD)
		rc = answer_btf(pid, &u.attr);
	if (!rc && cmd == BPF_PROG_LOAD)
		rc = answer_program(pid, &u.attr);
	return rc ? rc : PASS;
}

/* ---- the filter and its supervisor */

static int64_t answer_uname(const struct seccomp_notif *n)
{
	struct utsname u;

	if (uname(&u))
		return -errno;
	snprintf(u.release, sizeof(u.release), "%s", kernel->release);
	return write_memory((pid_t)n->pid, n->data.args[0], &u, sizeof(u)) ? 0 : -EFAULT;
}

static int64_t answer(int listener, const struct seccomp_notif *n)
{
	char call[64] = "perf_event_open";
	int64_t rc;

	switch (n->data.nr) {
	case SYS_uname:
		return answer_uname(n);
	case SYS_bpf:
		snprintf(call, sizeof(call), "bpf %d", (int)n->data.args[0]);
		rc = answer_bpf(n);
		break;
	case SYS_perf_event_open:
		rc = answer_event(listener, n);
		break;
	default:
		snprintf(call, sizeof(call), "call %d", n->data.nr);
		rc = -ENOSYS;
	}
	if (log_file) {
		fprintf(log_file, "%s %s\n", call, rc < 0 ? strerrorname_np((int)-rc) : "ok");
		fflush(log_file);
	}
	return rc;
}

/* A call that was interrupted meanwhile comes again. */
static void serve(int listener)
{
	struct seccomp_notif n = { 0 };
	struct seccomp_notif_resp r = { 0 };
	int64_t rc;

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n))
		return;
	rc = answer(listener, &n);
	r.id = n.id;
	if (rc == PASS)
		r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else if (rc < 0)
		r.error = (int)rc;
	else
		r.val = rc;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
}

#define LOAD(field) (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

static int install(void)
{
	struct sock_filter code[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 5),
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_uname, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)kernel->last_call, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };

	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

union control {
	char room[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static void send_fd(int socket, int fd)
{
	char byte = 0;
	struct iovec io = { &byte, 1 };
	union control c = { { 0 } };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	if (sendmsg(socket, &m, 0) != 1)
		die("pretend: cannot hand over the filter");
}

/* Return: a descriptor; -1: the other side died. */
static int receive_fd(int socket)
{
	char byte;
	struct iovec io = { &byte, 1 };
	union control c = { { 0 } };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c) };
	struct cmsghdr *h;
	int fd;

	if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	h = CMSG_FIRSTHDR(&m);
	if (!h || h->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(h), sizeof(fd));
	return fd;
}

static void __attribute__((noreturn)) become(char **command, int socket, const sigset_t *mask)
{
	int listener;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	listener = install();
	if (listener < 0)
		die("pretend: cannot filter system calls");
	send_fd(socket, listener);
	close(listener);
	close(socket);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(command[0], command);
	perror(command[0]);
	exit(127);
}

/* Serve until the command ends; other processes that it started get ENOSYS from then on. Signals are passed on. */
static int supervise(int listener, int signals, pid_t child)
{
	struct pollfd p[] = { { listener, POLLIN, 0 }, { signals, POLLIN, 0 } };
	struct signalfd_siginfo info;
	int status;

	for (;;) {
		if (poll(p, ARRAY_SIZE(p), -1) < 0)
			continue;
		if (p[0].revents & POLLIN)
			serve(listener);
		if (p[0].revents & POLLHUP)
			p[0].fd = -1;
		if (!(p[1].revents & POLLIN) || read(signals, &info, sizeof(info)) != sizeof(info))
			continue;
		if (info.ssi_signo != SIGCHLD)
			kill(child, (int)info.ssi_signo);
		else if (waitpid(child, &status, WNOHANG) == child)
			return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
}

static int usage(void)
{
	size_t i;

	fputs("usage: pretend [-o log] kernel -- command [argument...]\nkernels:", stderr);
	for (i = 0; i < ARRAY_SIZE(old_kernels); i++)
		fprintf(stderr, " %s", old_kernels[i].name);
	fputs("\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	int sockets[2], listener, signals;
	sigset_t ours, before;
	pid_t child;

	if (argc > 2 && !strcmp(argv[1], "-o")) {
		log_file = fopen(argv[2], "ae");
		if (!log_file)
			die(argv[2]);
		argc -= 2;
		argv += 2;
	}
	kernel = argc > 3 && !strcmp(argv[2], "--") ? old_kernel(argv[1]) : NULL;
	if (!kernel)
		return usage();
	sigemptyset(&ours);
	sigaddset(&ours, SIGCHLD);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigprocmask(SIG_BLOCK, &ours, &before);
	signals = signalfd(-1, &ours, SFD_CLOEXEC);
	if (signals < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		die("pretend");
	child = fork();
	if (child < 0)
		die("pretend");
	if (!child)
		become(argv + 3, sockets[1], &before);
	close(sockets[1]);
	listener = receive_fd(sockets[0]);
	if (listener < 0)
		return 2;
	close(sockets[0]);
	return supervise(listener, signals, child);
}
