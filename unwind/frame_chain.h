/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame pointer of a sample that does not have it, from the callchain that the kernel has walked with it.
 *
 * Before 4.19 arch/x86/kernel/perf_regs.c says -1 of rbx, rbp and r12-r15 where a task is in the kernel; the kernel's own
 * walk of the same sample begins with its rbp all the same (perf_callchain_user(), arch/x86/events/core.c): the return
 * address behind each frame pointer is in the callchain, and both are in the copy of the stack.
 */
#ifndef UNWIND_FRAME_CHAIN_H
#define UNWIND_FRAME_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * frame_chain_find() - the address in the stack from which frame pointers lead through all of a callchain.
 * @ips, @nr:     user addresses, that of the sample first
 * @stack, @size: copied from @sp on, in bytes
 * @fp:           out: set where true is returned
 * Return: false: there is none, as far as bounded work tells. Of several it is the lowest: what is below the stack
 * pointer is over, and a callchain of limited length fits each of a recursion's frames but the last ones.
 */
bool frame_chain_find(const uint64_t *ips, size_t nr, uint64_t sp, const void *stack, size_t size, uint64_t *fp);

#endif
