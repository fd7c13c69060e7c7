// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -fno-omit-frame-pointer -no-pie
/*
 * Functions inlined into each other, two calls of one function on different lines. Not position-independent, so that
 * the tests know the addresses.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define INLINE inline __attribute__((always_inline))

static volatile uint64_t sink;

INLINE void innermost(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		sink = sink * 3 + i;
}

namespace work
{
template <typename T> struct Queue {
	T rounds;

	INLINE void take(T n)
	{
		innermost(n);
	}
	__attribute__((always_inline)) void drain()
	{
		take(rounds);
		take(rounds * 2);
	}
};
}

static __attribute__((noipa)) void done()
{
	sink = sink + 1;
}

/* It calls a function, so it has a frame. */
static __attribute__((noipa)) void outer(uint64_t rounds)
{
	work::Queue<uint64_t> q = { rounds };

	q.drain();
	done();
}

int main()
{
	puts("ready");
	fflush(stdout);
	for (;;)
		outer(100000);
}
