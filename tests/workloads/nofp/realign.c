// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -Wno-vla
/*
 * realign [SECONDS] - callers that align their stack themselves: for a local variable, with arguments on the stack
 * (which gcc then finds through a register that the rules follow), and with frames of variable size.
 */
#include "tests/workloads/nofp/nofp.h"

struct vector {
	uint64_t x[8];
} __attribute__((aligned(64)));

static NOIPA void leaf(struct vector *v)
{
	/* Vary the length: samples come in even steps, and would favour one caller. */
	static uint64_t length;

	v->x[1]++;
	length = (length + 60013) % 200000;
	spin_iterations(100000 + length);
}

static NOIPA uint64_t aligned_local(uint64_t a)
{
	struct vector v = { { a } };

	leaf(&v);
	return v.x[0] + v.x[1];
}

static NOIPA uint64_t aligned_arguments(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
					uint64_t g, uint64_t h)
{
	struct vector v = { { a, b, c, d, e, f } };

	leaf(&v);
	return v.x[1] + g + h + aligned_local(g ^ h);
}

static NOIPA uint64_t aligned_variable(size_t len, ...)
{
	volatile char area[len];
	struct vector v = { { len } };
	va_list args;

	va_start(args, len);
	area[len - 1] = 1;
	leaf(&v);
	v.x[0] += aligned_arguments(len, 1, 2, 3, 4, 5, va_arg(args, uint64_t), (uint64_t)area[len - 1]);
	va_end(args);
	return v.x[0];
}

int main(int argc, char **argv)
{
	size_t len = 0;

	workload_live(argc, argv);
	expect("START;main;aligned_variable;aligned_arguments;(aligned_local;)?leaf");
	expect("START;main;aligned_variable;leaf");
	workload_ready();
	while (!workload_stop) {
		len = (len + 13) % 500;
		workload_sink += aligned_variable(len + 1, workload_sink);
	}
	return 0;
}
