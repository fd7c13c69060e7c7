// SPDX-License-Identifier: Apache-2.0
/*
 * deny [CALL=ERROR]... -- COMMAND [ARGUMENT...] - run COMMAND under a filter of system calls (seccomp) that refuses
 * each CALL, like that of a container. CALL: bpf or perf_event_open; ERROR: EPERM, EACCES or ENOSYS.
 *
 * Other restrictions of a host are imitated with setpriv, prlimit and unshare of util-linux. Start deny as root: then
 * the filter does not need no_new_privs, and a test can see which rights COMMAND drops itself.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CALLS 8

struct word {
	const char *name;
	uint32_t value;
};

static const struct word calls[] = { { "bpf", SYS_bpf }, { "perf_event_open", SYS_perf_event_open }, { NULL, 0 } };
static const struct word errors[] = { { "EPERM", EPERM }, { "EACCES", EACCES }, { "ENOSYS", ENOSYS }, { NULL, 0 } };

/* NULL: none of them. */
static const struct word *find(const struct word *list, const char *name, size_t len)
{
	for (; list->name; list++)
		if (strlen(list->name) == len && !strncmp(list->name, name, len))
			return list;
	return NULL;
}

static struct sock_filter filter[2 + 2 * MAX_CALLS] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
};
static unsigned short nr = 1;

static int deny(const char *what)
{
	const char *equals = strchr(what, '=');
	const struct word *call = equals ? find(calls, what, (size_t)(equals - what)) : NULL;
	const struct word *error = equals ? find(errors, equals + 1, strlen(equals + 1)) : NULL;

	if (!call || !error || nr > 2 * MAX_CALLS - 1)
		return -1;
	filter[nr++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call->value, 0, 1);
	filter[nr++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error->value);
	return 0;
}

int main(int argc, char **argv)
{
	struct sock_fprog program = { 0, filter };
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (deny(argv[i]))
			break;
	if (i + 1 >= argc || strcmp(argv[i], "--")) {
		fputs("usage: deny [bpf|perf_event_open=EPERM|EACCES|ENOSYS]... -- command [argument...]\n", stderr);
		return 2;
	}
	filter[nr++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = nr;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("deny: cannot filter system calls");
		return 2;
	}
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 127;
}
