// SPDX-License-Identifier: Apache-2.0
/*
 * cold [SECONDS] - works in code that the compiler considers unlikely: in parts of functions that were moved away from
 * the rest, with rules that begin in the middle of a frame, and behind calls that end their function because the callee
 * does not return.
 */
#include "tests/workloads/nofp/nofp.h"

#include <setjmp.h>

static jmp_buf back;

static __attribute__((noinline, cold)) void unlikely(uint64_t a)
{
	workload_sink += a;
	spin_iterations(200000);
}

static NOIPA uint64_t rarely(uint64_t a, uint64_t b)
{
	uint64_t c = a * b, d = a + b, e = a ^ b;

	if (__builtin_expect(b != 0, 0)) {
		unlikely(c);
		unlikely(d);
		workload_sink ^= c + d * e;
	}
	return c + d + e;
}

static NOIPA __attribute__((noreturn)) void never_returns(uint64_t a)
{
	volatile uint64_t area[8] = { a };

	workload_sink += rarely(area[0], 7);
	longjmp(back, 1);
}

static NOIPA void last_call(uint64_t a)
{
	never_returns(a + 1);
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	expect("START;main;last_call;never_returns;rarely(\\.cold)?;unlikely");
	workload_ready();
	while (!workload_stop)
		if (!setjmp(back))
			last_call(workload_sink);
	return 0;
}
