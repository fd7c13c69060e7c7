// SPDX-License-Identifier: Apache-2.0
/*
 * steps STEPS SIGNAL PROGRAM [ARGUMENT...] - compare the stack at each instruction of a program with its calls.
 *
 * It runs the first thread of the program one instruction at a time, and keeps a list of the calls that have not
 * returned, so that the callers are known whatever the unwind rules say. After the program's first write to standard
 * output, it unwinds a copy of the stack of 16 KiB, as a sample has one, at each of STEPS instructions. It sends
 * SIGUSR1 whenever the program has executed SIGNAL instructions outside of its signal handler; 0: never.
 *
 * It prints "steps: N", "signals: N", "wrong: N", and for each instruction that had a wrong stack, "# TIMES
 * FILE+ADDRESS: found N frames, want N, at N": the first wrong stack there, and how many frames of it are right.
 * ADDRESS is the address in the file.
 */
#include "core/files/vdso.h"
#include "core/host/host.h"
#include "core/tasks/mapping.h"
#include "core/tasks/proc.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAPPINGS = 64, CALLS = 1024, PLACES = 256, COPY_BYTES = 16384, INSTRUCTION_MAX = 15 };

/** struct call - a call that has not returned. @slot: the address of its return address */
struct call {
	uint64_t slot, ret;
};

/** struct place - an instruction that had wrong stacks, and the numbers of frames of the first one */
struct place {
	uint64_t ip, times;
	size_t found, want, right;
};

static struct {
	pid_t pid;
	int memory;
	struct mapping maps[MAPPINGS];
	struct mapped_file files[MAPPINGS];
	struct rules *rules[MAPPINGS];
	size_t nr_maps;
	struct call calls[CALLS];
	size_t nr_calls;
	struct place places[PLACES];
	size_t nr_places;
	uint64_t steps, signals, wrong;
	bool in_handler;
} self;

static void die(const char *what)
{
	fprintf(stderr, "steps: %s: %s\n", what, strerror(errno));
	if (self.pid > 0)
		kill(self.pid, SIGKILL);
	exit(1);
}

static struct rules *open_rules(const char *path)
{
	struct rules *r = NULL;
	struct elf_file file;
	int fd = -1, rc;

	if (!strcmp(path, "[vdso]")) {
		rc = vdso_open(&file);
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		rc = fd < 0 ? -errno : elf_file_open(&file, fd);
	}
	if (fd >= 0)
		close(fd);
	if (!rc)
		rules_open(&file, &ELF_FILE_NONE, &r);
	return r;
}

static int add_mapping(void *ctx, const struct proc_map *m)
{
	size_t i = self.nr_maps;

	(void)ctx;
	if (!m->exec || (m->path[0] != '/' && strcmp(m->path, "[vdso]")) || i == MAPPINGS)
		return 0;
	self.files[i].path = strdup(m->path);
	self.maps[i] = (struct mapping){ .start = m->start, .end = m->end, .pgoff = m->pgoff };
	self.maps[i].file = &self.files[i];
	self.rules[i] = open_rules(m->path);
	self.nr_maps++;
	return 0;
}

static void read_mappings(void)
{
	while (self.nr_maps)
		rules_close(self.rules[--self.nr_maps]);
	if (proc_maps(&host_here, self.pid, add_mapping, NULL))
		die("cannot read the mappings");
}

static const struct mapping *find_mapping(void *ctx, uint64_t addr)
{
	size_t i;

	(void)ctx;
	for (i = 0; i < self.nr_maps; i++)
		if (addr >= self.maps[i].start && addr < self.maps[i].end)
			return &self.maps[i];
	return NULL;
}

static struct rules *find_rules(void *ctx, const struct mapping *m)
{
	(void)ctx;
	return self.rules[m - self.maps];
}

static int read_copy(void *ctx, uint64_t addr, void *to, size_t len)
{
	return unwind_copy_read(ctx, addr, to, len);
}

static void dwarf_regs(const struct user_regs_struct *regs, struct unwind_regs *out)
{
	const uint64_t in_order[ARCH_NR_REGS] = { regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi, regs->rdi,
						  regs->rbp, regs->rsp, regs->r8,  regs->r9,  regs->r10, regs->r11,
						  regs->r12, regs->r13, regs->r14, regs->r15, regs->rip };

	out->have = (1U << ARCH_NR_REGS) - 1;
	memcpy(out->r, in_order, sizeof(in_order));
}

static void note_wrong(uint64_t ip, const struct unwind_result *found, size_t right)
{
	size_t i;

	self.wrong++;
	for (i = 0; i < self.nr_places && self.places[i].ip != ip; i++)
		;
	if (i == PLACES)
		return;
	if (i == self.nr_places)
		self.places[self.nr_places++] = (struct place){ ip, 0, found->nr, self.nr_calls + 1, right };
	self.places[i].times++;
}

/* Compare the stack at @regs with the list of calls. */
static void compare(const struct user_regs_struct *regs)
{
	static char bytes[COPY_BYTES];
	static uint64_t ips[UNWIND_MAX_FRAMES];
	const ssize_t len = pread(self.memory, bytes, sizeof(bytes), (off_t)regs->rsp);
	struct unwind_copy copy = { bytes, regs->rsp, len > 0 ? (size_t)len : 0, UINT64_MAX };
	const struct unwind_memory memory = { &copy, read_copy };
	const struct unwind_mappings mappings = { NULL, find_mapping };
	const struct unwind_files files = { NULL, find_rules };
	struct unwind_result found = { .ips = ips, .cap = UNWIND_MAX_FRAMES };
	struct unwind_regs start;
	size_t right = 1;

	dwarf_regs(regs, &start);
	unwind_walk(&start, &memory, &mappings, &files, &found);
	self.steps++;
	while (right < found.nr && right <= self.nr_calls && ips[right] == self.calls[self.nr_calls - right].ret)
		right++;
	if (right != found.nr || right != self.nr_calls + 1 || found.end != UNWIND_ROOT)
		note_wrong(regs->rip, &found, right);
}

/* Skip the prefixes of an instruction. */
static const uint8_t *opcode(const uint8_t *code)
{
	while (*code == 0xf2 || *code == 0xf3 || *code == 0x3e || *code == 0x66 || *code == 0x67 || *code >> 4 == 4)
		code++;
	return code;
}

static bool is_syscall(const uint8_t *code)
{
	return code[0] == 0x0f && code[1] == 0x05;
}

static void add_call(uint64_t slot, uint64_t ret)
{
	if (self.nr_calls == CALLS)
		die("too many calls");
	self.calls[self.nr_calls++] = (struct call){ slot, ret };
}

static uint64_t read_word(uint64_t addr)
{
	uint64_t word;

	if (pread(self.memory, &word, sizeof(word), (off_t)addr) != sizeof(word))
		die("cannot read the stack");
	return word;
}

/* The kernel has started the signal handler, which returns to the trampoline, which returns to the program. */
static void follow_signal(const struct user_regs_struct *before, const struct user_regs_struct *after)
{
	self.in_handler = true;
	self.signals++;
	add_call(UINT64_MAX, before->rip | UNWIND_EXACT);
	add_call(after->rsp, read_word(after->rsp));
}

/* Note the calls and returns that the instruction @code made. */
static void follow(const uint8_t *code, const struct user_regs_struct *before, const struct user_regs_struct *after)
{
	const uint8_t *op = opcode(code);
	bool indirect = *op == 0xff, call = *op == 0xe8 || (indirect && (op[1] >> 3 & 7) == 2);
	bool jump = indirect && (op[1] >> 3 & 7) == 4, ret = *op == 0xc3 || *op == 0xc2;

	if (before->rip == after->rip)
		return;
	if (call)
		add_call(after->rsp, read_word(after->rsp));
	/* longjmp() returns from several calls. */
	if (ret || jump)
		while (self.nr_calls && self.calls[self.nr_calls - 1].slot < after->rsp)
			self.nr_calls--;
	if (is_syscall(code) && self.nr_calls && self.calls[self.nr_calls - 1].ret == (after->rip | UNWIND_EXACT)) {
		self.nr_calls--;
		self.in_handler = false;
	}
}

static void wait_stopped(void)
{
	int status;

	if (waitpid(self.pid, &status, 0) != self.pid || !WIFSTOPPED(status))
		die("the program has ended");
	if (WSTOPSIG(status) != SIGTRAP)
		die("the program got a signal");
}

static void get_regs(struct user_regs_struct *regs)
{
	if (ptrace(PTRACE_GETREGS, self.pid, NULL, regs))
		die("cannot read registers");
}

static void start(char **argv)
{
	char path[64];

	self.pid = fork();
	if (self.pid < 0)
		die("cannot fork");
	if (!self.pid) {
		personality(ADDR_NO_RANDOMIZE);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			execv(argv[0], argv);
		_exit(127);
	}
	wait_stopped();
	ptrace(PTRACE_SETOPTIONS, self.pid, NULL, PTRACE_O_EXITKILL);
	snprintf(path, sizeof(path), "/proc/%d/mem", self.pid);
	self.memory = open(path, O_RDONLY | O_CLOEXEC);
	if (self.memory < 0)
		die(path);
}

static void print_places(void)
{
	const struct place *p;
	const struct mapping *m;
	uint64_t addr;

	for (p = self.places; p < self.places + self.nr_places; p++) {
		m = find_mapping(NULL, p->ip);
		addr = p->ip;
		if (m && self.rules[m - self.maps])
			rules_address(self.rules[m - self.maps], p->ip - m->start + m->pgoff, &addr);
		printf("# %" PRIu64 " %s+0x%" PRIx64 ": found %zu frames, want %zu, at %zu\n", p->times,
		       m ? m->file->path : "?", addr, p->found, p->want, p->right);
	}
}

int main(int argc, char **argv)
{
	uint8_t code[INSTRUCTION_MAX + 1];
	struct user_regs_struct before, after;
	uint64_t steps, every, outside = 0;
	int sig;

	if (argc < 4) {
		fprintf(stderr, "steps: STEPS SIGNAL PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	steps = strtoull(argv[1], NULL, 10);
	every = strtoull(argv[2], NULL, 10);
	start(argv + 3);
	get_regs(&before);
	while (self.steps < steps) {
		if (self.nr_maps)
			compare(&before);
		memset(code, 0, sizeof(code));
		if (pread(self.memory, code, INSTRUCTION_MAX, (off_t)before.rip) <= 0)
			die("cannot read an instruction");
		if (is_syscall(code) && before.rax == SYS_write && before.rdi == STDOUT_FILENO && !self.nr_maps)
			read_mappings();
		outside += self.nr_maps && !self.in_handler;
		sig = every && !self.in_handler && outside == every ? SIGUSR1 : 0;
		if (ptrace(PTRACE_SINGLESTEP, self.pid, NULL, (long)sig))
			die("cannot step");
		wait_stopped();
		get_regs(&after);
		if (sig)
			follow_signal(&before, &after);
		else
			follow(code, &before, &after);
		outside = sig ? 0 : outside;
		before = after;
	}
	printf("steps: %" PRIu64 "\nsignals: %" PRIu64 "\nwrong: %" PRIu64 "\n", self.steps, self.signals, self.wrong);
	print_places();
	kill(self.pid, SIGKILL);
	return 0;
}
