// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Find the kernel's name of an address, in the form of its own stack traces. BPF_PROG_TEST_RUN runs this program; it is
 * attached to nothing. It needs bpf_snprintf(), which exists since 5.13, so it may also use global data (5.2).
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/layout.h"

char answer[LAYOUT_ANSWER_LEN];

SEC("raw_tp")
int name_address(struct bpf_raw_tracepoint_args *ctx)
{
	static const char format[] = "%pS";
	__u64 addr = ctx->args[0];

	/* Fails if too many programs print at once. */
	if (bpf_snprintf(answer, sizeof(answer), format, &addr, sizeof(addr)) < 0)
		answer[0] = 0;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
