// SPDX-License-Identifier: Apache-2.0
/*
 * names [SECONDS] - a method of a template, in a namespace.
 *
 * Expected: ...;net::Pool<int>::take as leaf.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

static volatile bool stop;

namespace net
{
template <typename T> class Pool
{
      public:
	__attribute__((noinline)) void take(const std::string &name, uint64_t n)
	{
		volatile uint64_t result;
		uint64_t x = name.size();

		while (n--)
			x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		result = x;
		(void)result;
	}
};
} // namespace net

int main(int argc, char **argv)
{
	net::Pool<int> pool;

	alarm(argc > 1 ? static_cast<unsigned int>(std::atoi(argv[1])) : 60);
	std::puts("ready");
	std::fflush(stdout);
	while (!stop)
		pool.take("pool", 1000000);
	return 0;
}
