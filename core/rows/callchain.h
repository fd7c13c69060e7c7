/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Make the two stacks of a sample from raw callchains. Only this file knows how the kernel's data for a BPF program
 * differs from that in a ring buffer:
 *
 * - PERF_CONTEXT_ markers (values >= (u64)-4095, include/uapi/linux/perf_event.h) are not addresses. Each part of a
 *   ring callchain begins with one; since 5.9 bpf_get_stackid() returns them too, on events with PERF_SAMPLE_CALLCHAIN.
 * - A zero return address ends a stack: the stack map cannot hold one, a ring callchain can.
 * - A process can put a marker's value on its own stack as a return address. Such a value ends the user stack, it never
 *   begins another one.
 * - In a ring callchain, kernels limit both stacks together; bpf_get_stackid() before 5.9 limits each stack alone.
 *   callchain_limit() limits both stacks together, whatever their source, and marks the stacks that were cut.
 */
#ifndef CORE_ROWS_CALLCHAIN_H
#define CORE_ROWS_CALLCHAIN_H

#include "core/rows/rows.h"

#include <stdint.h>

struct host;

/*
 * Addresses that profile requests for a whole sample. This is two below the default kernel.perf_event_max_stack (127),
 * to leave room for the markers of both stacks: since 5.9 bpf_get_stackid() may take its stack from the sample's
 * callchain, and since 6.18 both stacks together, with their markers, get no more entries than that setting. The last
 * requested address is never shown: its presence proves that a stack was cut.
 */
#define CALLCHAIN_ASKED 125

/** callchain_asked() - CALLCHAIN_ASKED, or less if the host's kernel.perf_event_max_stack is below 127; at least 2. */
unsigned int callchain_asked(const struct host *host);

/**
 * callchain_split() - cut a ring callchain at its markers.
 * @ips:    @nr entries as in PERF_SAMPLE_CALLCHAIN
 * @kernel,@user: out, pointing into @ips. STACK_NONE when their marker is absent. @user is STACK_MISSED when the kernel
 *                deferred it: see callchain_cookie()
 *
 * Guest and other markers' parts belong to no stack and are dropped.
 */
void callchain_split(const uint64_t *ips, uint64_t nr, struct stack *kernel, struct stack *user);

/**
 * callchain_cookie() - the cookie of a user part that the kernel deferred (compat/perf_deferred.h).
 * @ips: @nr entries, for which callchain_split() set @user to STACK_MISSED
 * Return: the cookie; 0: the chain ends before it.
 */
uint64_t callchain_cookie(const uint64_t *ips, uint64_t nr);

/**
 * callchain_leaf() - make the stacks of a sample without a callchain: only the interrupted address.
 * @ip:   borrowed by the stack
 * @mode: PERF_RECORD_MISC_KERNEL or _USER; in any other mode (a guest's), the address belongs to no stack
 * @kernel,@user: only the one that has the address is written
 */
void callchain_leaf(const uint64_t *ip, unsigned int mode, struct stack *kernel, struct stack *user);

/**
 * callchain_entry() - make a taken stack that points into @ips: an entry of a stack map with @nr addresses, zero
 * padded, or a deferred callchain.
 */
void callchain_entry(const uint64_t *ips, uint64_t nr, struct stack *out);

/**
 * callchain_limit() - apply the limit to both stacks of a sample.
 * @asked: see callchain_asked(); @asked - 1 addresses are kept, the kernel's first
 *
 * A taken stack without addresses counts as truncated if the limit left no room for any, otherwise it is STACK_NONE.
 */
void callchain_limit(unsigned int asked, struct stack *kernel, struct stack *user);

#endif
