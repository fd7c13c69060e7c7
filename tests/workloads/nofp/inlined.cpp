// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -fno-omit-frame-pointer
/* Functions inlined into each other, four levels deep, two calls of one function on different lines. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define INLINE static inline __attribute__((always_inline))

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

static __attribute__((noinline)) void outer(uint64_t rounds)
{
	work::Queue<uint64_t> q = { rounds };

	q.drain();
	sink = sink + 1;
}

int main()
{
	puts("ready");
	fflush(stdout);
	for (;;)
		outer(100000);
}
