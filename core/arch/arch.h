/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The properties of the processor that the program needs. Only the header of an architecture names a register; all
 * other files use the names below (tests/lint/layers checks it).
 *
 * A second architecture is one file, core/arch/NAME.h, with a line for it at the end of this one. The file defines:
 *
 * Registers, by their DWARF numbers:
 *   arch_regs             unsigned integer type with a bit for each register
 *   ARCH_NR_REGS          their number; rules for registers with this number or a higher one are skipped
 *   ARCH_FP, ARCH_SP, ARCH_IP   frame pointer, stack pointer, instruction pointer
 *   ARCH_RESULT           the register in which a system call returns its result
 *   ARCH_RA               column of the return address in call frame information
 *
 * Registers of a sample, by the numbers in the kernel's asm/perf_regs.h:
 *   ARCH_PERF_REGS        mask for PERF_SAMPLE_REGS_USER: everything that call frame information may refer to
 *   arch_perf_regs[]      the perf number of each DWARF number
 *   ARCH_PERF_SAVED       mask of the registers that functions preserve, without the frame pointer
 *
 * Stacks:
 *   struct arch_frame     what the frame pointer points to: members fp and ret, the caller's frame pointer and the
 *                         return address. The caller's stack pointer is the address behind the structure.
 *   ARCH_SIGNAL_REGS      bytes from the stack pointer of a signal trampoline to the saved registers
 *   arch_signal_regs[]    DWARF numbers of these, in the order in which they are saved
 *   arch_codes[]          see struct arch_code
 *   ARCH_USER_BITS        no user address has this bit, or one above it
 *
 * Code:
 *   ARCH_CALL_MAX, arch_call_decode()   recognizes a call by the bytes in front of its return address
 *   ARCH_PROLOGUE_MAX, arch_prologue_decode()   reads the size of a frame from the first bytes of its function
 *
 * Files:
 *   ARCH_ELF_MACHINE      e_machine
 *   ARCH_ELF_JUMP_SLOT, ARCH_ELF_GLOB_DAT, ARCH_ELF_IRELATIVE   types of relocations that fill slots of a PLT
 *   ARCH_PLT_ENTRY_MAX    bytes of the largest PLT entry
 *   arch_plt_decode()     recognizes an entry
 *
 * The kernel:
 *   arch_entry_stale()    ARCH_STALE_*: the user's registers that the kernel's entry code has not saved if the named
 *                         function is the outermost kernel function of a callchain
 *   ARCH_PERF_PUSHED      mask of the registers of a sample whose value may be a return address that a call in that
 *                         entry code has pushed
 *   ARCH_AUDIT            AUDIT_ARCH_* of its system calls
 *   arch_fstat()          calls fstat(2), whatever libc does for fstat(3); returns 0 or -errno
 *   ARCH_ADD_IS_BARRIER   true: in a BPF program, an atomic addition whose result is unused is a full memory barrier.
 *                         The kernel promises a barrier only if the result is used, which needs 5.12.
 *   arch_map_vdso32()     maps the vDSO of 32-bit processes into this process, which has unmapped its own; returns 0 or
 *                         -errno
 *
 * EM_*, R_* and AUDIT_ARCH_* come from <elf.h> and <linux/audit.h>, which the files that use them include.
 *
 * The code assumes 64 bits, little endian, and a stack that grows down. One file is not enough for a processor whose
 * call does not push the return address (step_entry() in unwind/walk.c reads it from the stack), nor for one whose
 * ARCH_ADD_IS_BARRIER is false (the programs in bpf/ then need another barrier; until they have it, backend-bpf refuses
 * to work).
 */
#ifndef CORE_ARCH_ARCH_H
#define CORE_ARCH_ARCH_H

#include <stdint.h>

_Static_assert(sizeof(void *) == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "64 bits, little endian");

#define ARCH_BIT(reg) ((arch_regs)1 << (reg))
#define ARCH_PAGE     4096ULL /* bytes of the smallest page, on each architecture */

/**
 * struct arch_code - instructions by which the unwinder recognizes code that has no rules.
 * @pushed: how many bytes the return address is above the stack pointer; ARCH_CODE_SIGNAL: this is a signal trampoline;
 *          ARCH_CODE_CLONE: behind a system call that makes a thread. The new thread has 0 in ARCH_RESULT, and no
 *          caller; in the calling thread, the return address is on top of the stack
 * @before: how many of the bytes are in front of the instruction pointer
 * @bytes:  @nr of them; ARCH_CODE_ANY matches any
 */
struct arch_code {
	uint8_t pushed, before, nr;
	uint16_t bytes[12];
};

/* User registers that perf reports with the values of an earlier entry into the kernel. Bits. */
#define ARCH_STALE_SAVED 1u /* those that functions save, and the frame pointer, which the kernel uses for its walk */
#define ARCH_STALE_SP    2u /* the stack pointer, where the copy of the stack begins */
#define ARCH_STALE_IP    4u /* the instruction pointer, and all other registers */

#define ARCH_CODE_SIGNAL UINT8_MAX
#define ARCH_CODE_CLONE  (UINT8_MAX - 1)
#define ARCH_CODE_ANY    0x100

#if defined(__x86_64__) && defined(__LP64__)
#include "core/arch/x86_64.h"
#else
#error "no header in core/arch/ describes this architecture"
#endif

#endif
