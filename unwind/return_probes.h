/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Return addresses that a uretprobe has replaced. While a probed function runs, its return address on the stack is that
 * of the kernel's code in [uprobes]; only the kernel has the original. Since 6.11 it puts the originals into callchains
 * (fixup_uretprobe_trampoline_entries(), kernel/events/callchain.c), which it walks by frame pointers: so we know the
 * originals for functions that keep a frame pointer.
 */
#ifndef UNWIND_RETURN_PROBES_H
#define UNWIND_RETURN_PROBES_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct return_probes - the input, from a sample.
 * @ips:   @nr user addresses of its callchain, leaf first
 * @fp:    the frame pointer from which the kernel walked
 * @code:  the address in [uprobes] to which probed functions return
 * @stack: @size bytes, copied from @sp on; changed
 */
struct return_probes {
	const uint64_t *ips;
	size_t nr;
	uint64_t fp, code, sp;
	void *stack;
	size_t size;
};

/**
 * return_probes_restore() - put the original return addresses into the copy of the stack. Changes nothing unless the
 * other return addresses along the frame pointers are those of the callchain. Return: how many were restored; 0: the
 * copy is unchanged.
 */
size_t return_probes_restore(const struct return_probes *p);

#endif
