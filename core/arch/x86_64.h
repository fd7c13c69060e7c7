/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: core/arch/arch.h describes each name. "psABI" is the System V ABI, AMD64 supplement 1.0. */
#ifndef CORE_ARCH_X86_64_H
#define CORE_ARCH_X86_64_H

#include <asm/perf_regs.h>
#include <asm/prctl.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- registers: psABI 3.6.2. rip has no number: we use that of the return address, which is rip of the caller */

typedef uint32_t arch_regs;

#define ARCH_NR_REGS 17
#define ARCH_RESULT  0 /* rax */
#define ARCH_FP      6 /* rbp */
#define ARCH_SP      7 /* rsp */
#define ARCH_RA      16
#define ARCH_IP      ARCH_RA

/* ---- registers of a sample */

/* rax to rip and r8 to r15. */
#define ARCH_PERF_REGS                                                                                                 \
	(((2ULL << PERF_REG_X86_IP) - (1ULL << PERF_REG_X86_AX)) |                                                     \
	 ((2ULL << PERF_REG_X86_R15) - (1ULL << PERF_REG_X86_R8)))

static const uint8_t arch_perf_regs[ARCH_NR_REGS] = {
	PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,  PERF_REG_X86_SI,  PERF_REG_X86_DI,
	PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11,
	PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15, PERF_REG_X86_IP,
};

/*
 * psABI 3.2.1. If the task is in the kernel, perf_get_regs_user() (arch/x86/kernel/perf_regs.c) reports -1 as rbx
 * and r12 to r15: until 5.10 always, later in an NMI. Before 4.19 it reports -1 as rbp, too.
 */
#define ARCH_PERF_SAVED                                                                                                \
	(1ULL << PERF_REG_X86_BX | 1ULL << PERF_REG_X86_R12 | 1ULL << PERF_REG_X86_R13 | 1ULL << PERF_REG_X86_R14 |    \
	 1ULL << PERF_REG_X86_R15)

/* ---- stacks */

/* psABI 3.2.2. In the outermost frame rbp is 0 (3.4.1). */
struct arch_frame {
	uint64_t fp, ret;
};

/* struct sigcontext (arch/x86/include/uapi/asm/sigcontext.h): r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip */
static const uint8_t arch_signal_regs[] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16 };

#define ARCH_SIGNAL_REGS 40 /* uc_mcontext in struct ucontext, to which rsp points (asm-generic/ucontext.h) */

static const struct arch_code arch_codes[] = {
	/* mov $__NR_rt_sigreturn,%rax; syscall: in C libraries without rules for it */
	{ ARCH_CODE_SIGNAL, 0, 9, { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 } },
	{ ARCH_CODE_SIGNAL, 7, 9, { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 } },
	/* behind syscall, while rt_sigreturn runs: the rules do not cover this address, to which nothing returns */
	{ ARCH_CODE_SIGNAL, 9, 9, { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 } },
	/* PLT (psABI 5.2; only GNU ld makes rules for it): push the index; jump to its beginning */
	{ 8, 5, 6, { 0x68, ARCH_CODE_ANY, ARCH_CODE_ANY, ARCH_CODE_ANY, ARCH_CODE_ANY, 0xe9 } },
	{ 8, 5, 7, { 0x68, ARCH_CODE_ANY, ARCH_CODE_ANY, ARCH_CODE_ANY, ARCH_CODE_ANY, 0xf2, 0xe9 } },
	{ 0, 0, 6, { 0x68, ARCH_CODE_ANY, ARCH_CODE_ANY, ARCH_CODE_ANY, ARCH_CODE_ANY, 0xe9 } },
	{ 0, 0, 7, { 0x68, ARCH_CODE_ANY, ARCH_CODE_ANY, ARCH_CODE_ANY, ARCH_CODE_ANY, 0xf2, 0xe9 } },
	/* the beginning: push the link map; jump to the dynamic linker */
	{ 16, 6, 8, { 0xff, 0x35, ARCH_CODE_ANY, ARCH_CODE_ANY, ARCH_CODE_ANY, ARCH_CODE_ANY, 0xff, 0x25 } },
	{ 8, 0, 8, { 0xff, 0x35, ARCH_CODE_ANY, ARCH_CODE_ANY, ARCH_CODE_ANY, ARCH_CODE_ANY, 0xff, 0x25 } },
	/* jump through the GOT */
	{ 0, 0, 3, { 0xf2, 0xff, 0x25 } },
	{ 0, 0, 2, { 0xff, 0x25 } },
	/* endbr64: the first instruction of the target of an indirect call, in a PLT or in _init of crti.o */
	{ 0, 0, 4, { 0xf3, 0x0f, 0x1e, 0xfa } },
	/* _init goes on with sub $8,%rsp */
	{ 0, 4, 8, { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08 } },
	{ 8, 8, 8, { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08 } },
	/* the same without endbr64, in front of mov ...(%rip),%rax; _fini goes on with add $8,%rsp */
	{ 0, 0, 7, { 0x48, 0x83, 0xec, 0x08, 0x48, 0x8b, 0x05 } },
	{ 8, 4, 7, { 0x48, 0x83, 0xec, 0x08, 0x48, 0x8b, 0x05 } },
	{ 0, 0, 8, { 0x48, 0x83, 0xec, 0x08, 0x48, 0x83, 0xc4, 0x08 } },
	{ 8, 4, 8, { 0x48, 0x83, 0xec, 0x08, 0x48, 0x83, 0xc4, 0x08 } },
	/*
	 * clone() and clone3() of glibc: their rules leave out the system call and the instructions behind it:
	 * syscall; test %rax,%rax; jl error; je thread; ret
	 */
	{ 0, 0, 10, { 0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, ARCH_CODE_ANY, 0x74, ARCH_CODE_ANY, 0xc3 } },
	{ ARCH_CODE_CLONE, 2, 10, { 0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, ARCH_CODE_ANY, 0x74, ARCH_CODE_ANY, 0xc3 } },
	{ ARCH_CODE_CLONE, 5, 10, { 0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, ARCH_CODE_ANY, 0x74, ARCH_CODE_ANY, 0xc3 } },
	{ ARCH_CODE_CLONE, 7, 10, { 0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, ARCH_CODE_ANY, 0x74, ARCH_CODE_ANY, 0xc3 } },
	{ ARCH_CODE_CLONE, 9, 10, { 0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, ARCH_CODE_ANY, 0x74, ARCH_CODE_ANY, 0xc3 } },
};

/*
 * Addresses have 48 bits, with five page table levels 57, and the upper half of them is the kernel's
 * (arch/x86/x86_64/mm.rst). So user addresses are below 2^56, and none has bit 57 or a higher one.
 */
#define ARCH_USER_BITS 57

/* ---- code */

#define ARCH_CALL_MAX 7 /* bytes of the longest call, without prefixes */

/* True if @code is the opcode and the rest of a call through a register or memory (0xff /2) of @len bytes. */
static inline bool arch_is_indirect_call(const uint8_t *code, size_t len)
{
	unsigned int mod = code[1] >> 6, rm = code[1] & 7;
	size_t size = 2;

	if (code[0] != 0xff || (code[1] >> 3 & 7) != 2)
		return false;
	if (mod != 3 && rm == 4) {
		/* A SIB byte. It is not decoded: its base may be a register, or a displacement of 4 bytes instead. */
		size += 1 + (!mod && len == 7 ? 4 : 0);
	}
	if (mod == 1)
		size += 1;
	else if (mod == 2 || (!mod && rm == 5))
		size += 4;
	return size == len;
}

/*
 * True if the instruction in front of @addr is a call. @code: the ARCH_CALL_MAX bytes before @addr. *@target: the
 * function, if the call is direct; 0: it is indirect.
 */
static inline bool arch_call_decode(const uint8_t *code, uint64_t addr, uint64_t *target)
{
	int32_t to;
	size_t len;

	*target = 0;
	if (code[ARCH_CALL_MAX - 5] == 0xe8) {
		memcpy(&to, code + ARCH_CALL_MAX - 4, sizeof(to));
		*target = addr + (uint64_t)(int64_t)to;
		return true;
	}
	for (len = 2; len <= ARCH_CALL_MAX; len++)
		if (arch_is_indirect_call(code + ARCH_CALL_MAX - len, len))
			return true;
	return false;
}

/* ---- files */

#define ARCH_ELF_MACHINE   EM_X86_64
#define ARCH_ELF_JUMP_SLOT R_X86_64_JUMP_SLOT
#define ARCH_ELF_GLOB_DAT  R_X86_64_GLOB_DAT
#define ARCH_ELF_IRELATIVE R_X86_64_IRELATIVE

#define ARCH_PLT_ENTRY_MAX 16

/*
 * True if the @len bytes at @code, at address @addr, are [endbr64] [mov number, %r11d] [bnd] jmp *slot(%rip). If not,
 * it is the first entry of .plt, or one whose second half is in .plt.sec. @size: out, in any case: the distance to the
 * next entry, or, if this is not known, 8, which divides all sizes.
 */
static inline bool arch_plt_decode(const unsigned char *code, size_t len, uint64_t addr, uint32_t *size, uint64_t *slot)
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	bool marked = len >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64));
	size_t at = marked ? sizeof(endbr64) : 0;
	int32_t to;

	/* 8: an entry that only jumps, and is not marked as a target of indirect jumps */
	*size = marked ? ARCH_PLT_ENTRY_MAX : 8;
	if (at + 6 <= len && code[at] == 0x41 && code[at + 1] == 0xbb)
		at += 6;
	at += at < len && code[at] == 0xf2;
	if (len < at + 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&to, code + at + 2, sizeof(to));
	at += 6;
	*slot = addr + at + (uint64_t)(int64_t)to;
	/* push: the slot is bound at the first call */
	if (at < len && code[at] == 0x68)
		*size = ARCH_PLT_ENTRY_MAX;
	return true;
}

#define ARCH_PROLOGUE_MAX 64 /* bytes that are looked at */

/* True for mov or xor between two registers that does not change rsp. @op: behind the REX prefix, if there is one */
static inline bool arch_is_move(const uint8_t *code, const uint8_t *op)
{
	bool loads = op[0] == 0x8b;
	unsigned int to = loads ? op[1] >> 3 & 7 : op[1] & 7, more = op == code ? 0 : *code & (loads ? 4 : 1);

	return (loads || op[0] == 0x89 || op[0] == 0x31) && op[1] >= 0xc0 && (to != 4 || more);
}

/*
 * True if this instruction may change rsp by an unknown number: arithmetic with an immediate (the caller handles sub
 * itself), lea or mov to rsp, or sub of a register.
 */
static inline bool arch_moves_sp(const uint8_t *code)
{
	uint8_t op = code[1], to = code[2];

	if ((code[0] & 0xf8) != 0x48 || code[0] & 1)
		return false;
	if (op == 0x83 || op == 0x81)
		return (to & 0xc7) == 0xc4;
	if (op == 0x8d || op == 0x8b)
		return (to & 0x38) == 0x20 && !(code[0] & 4);
	return (op == 0x89 || op == 0x29) && (to & 0xc7) == 0xc4;
}

/*
 * Decode the first bytes of a function that keeps a frame pointer: how far is its stack pointer below the frame pointer
 * when it calls another function? [endbr64] push %rbp; mov %rsp,%rbp; then pushes, moves between registers and a
 * sub $size,%rsp, for which compilers also write add $-128,%rsp. At a call rsp must be a multiple of 16 (psABI 3.2.2),
 * and rbp is one.
 * Return: 2: *@size is known; 1: no sub came before another instruction or the end, so the frame may be larger; 0:
 * nothing is known
 */
static inline int arch_prologue_decode(const uint8_t *code, size_t len, uint64_t *size)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa }, begin[] = { 0x55, 0x48, 0x89, 0xe5 };
	size_t at = len >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)) ? sizeof(endbr64) : 0;
	bool whole = false;
	uint32_t imm;

	if (len < at + sizeof(begin) || memcmp(code + at, begin, sizeof(begin)))
		return 0;
	*size = 0;
	for (at += sizeof(begin); at + 7 <= len;) {
		size_t rex = (code[at] & 0xf0) == 0x40;
		const uint8_t *op = code + at + rex;

		if ((*op & 0xf8) == 0x50) {
			*size += 8;
			at += rex + 1;
		} else if (arch_is_move(code + at, op)) {
			at += rex + 2;
		} else if (code[at] == 0x48 && op[0] == 0x83 && op[1] == 0xec && op[2] < 0x80) {
			*size += op[2];
			whole = true;
			break;
		} else if (code[at] == 0x48 && op[0] == 0x83 && op[1] == 0xc4 && op[2] == 0x80) {
			*size += 128;
			whole = true;
			break;
		} else if (code[at] == 0x48 && op[0] == 0x81 && op[1] == 0xec) {
			memcpy(&imm, op + 2, sizeof(imm));
			*size += imm;
			whole = true;
			break;
		} else if (arch_moves_sp(code + at)) {
			return 0;
		} else {
			break;
		}
	}
	return *size % 16 ? 0 : 1 + whole;
}

/* ---- the kernel */

/*
 * The entry code of old kernels (arch/x86/kernel/entry_64.S before 4.2, then arch/x86/entry/entry_64.S) does not write
 * all of struct pt_regs, so perf reports values that an earlier entry has left there. @name is the outermost kernel
 * function of a callchain; @interrupted: it is the only function, and was interrupted.
 *
 * - system_call_fastpath, sysret_careful, auditsys, sysret_audit, before 4.1: a system call that is not traced. The rsp
 *   of the user is in a per-CPU variable. rbx, rbp and r12 to r15 are not saved, and struct pt_regs is not complete:
 *   when the entry code then calls a function, the return address is where rbx or rbp would be. RHEL 7 (3.10.0-1160)
 *   saves these six, but not rsp.
 * - retint_careful, before 4.1: user code is preempted. As above, a return address is where rbx or rbp would be, and
 *   the six are not saved; rsp is right.
 * - entry_SYSCALL_64_fastpath, until the fast path was removed (4.15, 4.14.18, 4.9.81): rsp is saved, the six are not.
 * - system_call_after_swapgs, entry_SYSCALL_64_after_swapgs: nothing has been saved yet, but interrupts are on.
 */
static inline unsigned int arch_entry_stale(const char *name, bool interrupted)
{
	if (!strcmp(name, "system_call_fastpath") || !strcmp(name, "sysret_careful") || !strcmp(name, "auditsys") ||
	    !strcmp(name, "sysret_audit"))
		return ARCH_STALE_SP | ARCH_STALE_SAVED;
	if (!strcmp(name, "entry_SYSCALL_64_fastpath") || !strcmp(name, "retint_careful"))
		return ARCH_STALE_SAVED;
	if (interrupted &&
	    (!strcmp(name, "system_call_after_swapgs") || !strcmp(name, "entry_SYSCALL_64_after_swapgs")))
		return ARCH_STALE_SP | ARCH_STALE_SAVED | ARCH_STALE_IP;
	return 0;
}

/* Calls of the entry code push return addresses where rbx or rbp would be, see arch_entry_stale(). perf's numbers. */
#define ARCH_PERF_PUSHED (1ULL << PERF_REG_X86_BX | 1ULL << PERF_REG_X86_BP)

/* x32 processes have the same AUDIT_ARCH_*: only their system calls have other numbers. */
#define ARCH_AUDIT AUDIT_ARCH_X86_64

static inline int arch_fstat(int fd, void *st)
{
	long rc;

	__asm__ volatile("syscall" : "=a"(rc) : "0"((long)SYS_fstat), "D"((long)fd), "S"(st) : "rcx", "r11", "memory");
	return (int)rc;
}

/*
 * For an atomic addition whose result is unused, BPF's JIT (arch/x86/net/bpf_jit_comp.c) and its interpreter both use
 * an instruction with the prefix LOCK, which orders all loads and stores (Intel SDM, volume 3: "Loads and Stores Are
 * Not Reordered with Locked Instructions").
 */
#define ARCH_ADD_IS_BARRIER true

#ifndef ARCH_MAP_VDSO_32 /* Linux 4.9 */
#define ARCH_MAP_VDSO_32 0x2002
#endif

/*
 * do_arch_prctl_64() (arch/x86/kernel/process_64.c), with CONFIG_CHECKPOINT_RESTORE, since 4.9. On success it returns
 * the size of the vDSO.
 */
static inline int arch_map_vdso32(void)
{
	return syscall(SYS_arch_prctl, ARCH_MAP_VDSO_32, 0x10000000UL) < 0 ? -errno : 0;
}

#endif
