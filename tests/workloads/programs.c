// SPDX-License-Identifier: Apache-2.0
/*
 * programs SECONDS NAME... - runs BPF programs, "first" or "second", one after the other. Each is loaded, run until it
 * has used 0.7 s of CPU time, and unloaded. If the kernel permits it, each later program is at the address of the first
 * one. The first one is loaded before the workload is ready, and runs when SIGUSR1 comes. The last line is "reused", or
 * "elsewhere" if a program got another address.
 *
 * Expected: ...;main;run_first;...;bpf_test_run;bpf_prog_..._first, and the same with second: the function that calls
 * the kernel shows which program runs.
 */
#include "workload.h"

#include <linux/bpf.h>
#include <stdbool.h>
#include <sys/syscall.h>

#define CPU_NS (700 * MSEC)
#define LOOPS  4000
#define TRIES  20000 /* until the kernel reuses the memory of an unloaded program */

#define INSN(c, dst, src, o, i)                                                                                        \
	{                                                                                                              \
		.code = (c), .dst_reg = (dst), .src_reg = (src), .off = (o), .imm = (i)                                \
	}

/* Inlined into its caller: a libc without frame pointers would hide that function from a walk by frame pointers. */
static inline __attribute__((always_inline)) int call_bpf(int cmd, union bpf_attr *attr)
{
#ifdef __x86_64__
	long rc = SYS_bpf;

	__asm__ volatile("syscall" : "+a"(rc) : "D"((long)cmd), "S"(attr), "d"(sizeof(*attr)) : "rcx", "r11", "memory");
	errno = rc < 0 ? (int)-rc : 0;
	return rc < 0 ? -1 : (int)rc;
#else
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
#endif
}

/* Both programs have the same size and nearly the same loop. */
static int load(const char *name)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_XOR | BPF_X, BPF_REG_0, BPF_REG_1, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, 1),
		INSN(BPF_JMP | BPF_JLT | BPF_K, BPF_REG_1, 0, -3, LOOPS + *name),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SCHED_CLS,
		.insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(*insns),
		.license = (uintptr_t) "GPL",
	};
	int fd;

	strncpy(attr.prog_name, name, sizeof(attr.prog_name) - 1);
	fd = call_bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		workload_die("BPF_PROG_LOAD");
	return fd;
}

/* Return: the address of the program; 0: the kernel does not show it. */
static uint64_t address_of(int fd)
{
	uint64_t address = 0;
	struct bpf_prog_info info = { .jited_ksyms = (uintptr_t)&address, .nr_jited_ksyms = 1 };
	union bpf_attr attr = {
		.info = { .bpf_fd = (uint32_t)fd, .info_len = sizeof(info), .info = (uintptr_t)&info },
	};

	return call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) ? 0 : address;
}

static inline __attribute__((always_inline)) void run(int fd)
{
	static char packet[64];
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + CPU_NS;
	union bpf_attr attr;

	do {
		attr = (union bpf_attr){
			.test = { .prog_fd = (uint32_t)fd,
				  .data_in = (uintptr_t)packet,
				  .data_size_in = sizeof(packet),
				  .repeat = 5000 },
		};
		if (call_bpf(BPF_PROG_TEST_RUN, &attr))
			workload_die("BPF_PROG_TEST_RUN");
	} while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end);
}

static NOINLINE void run_first(int fd)
{
	run(fd);
	workload_sink++;
}

static NOINLINE void run_second(int fd)
{
	run(fd);
	workload_sink++;
}

/* @address: the wanted address */
static int load_at(const char *name, uint64_t address)
{
	int fd = load(name), i;

	for (i = 0; i < TRIES && address && address_of(fd) != address; i++) {
		close(fd);
		sched_yield();
		fd = load(name);
	}
	return fd;
}

int main(int argc, char **argv)
{
	uint64_t address;
	bool reused = true;
	sigset_t go;
	int i, fd, sig;

	workload_live(argc, argv);
	if (argc < 3)
		return 2;
	sigemptyset(&go);
	sigaddset(&go, SIGUSR1);
	sigprocmask(SIG_BLOCK, &go, NULL);
	fd = load(argv[2]);
	address = address_of(fd);
	workload_ready();
	sigwait(&go, &sig);
	for (i = 2; i < argc; i++) {
		if (i > 2)
			fd = load_at(argv[i], address);
		reused &= address && address_of(fd) == address;
		if (*argv[i] == 'f')
			run_first(fd);
		else
			run_second(fd);
		close(fd);
	}
	puts(reused ? "reused" : "elsewhere");
	return 0;
}
