// SPDX-License-Identifier: Apache-2.0
/*
 * throw [SECONDS] - throws exceptions all the time, through frames with and without something to clean up: most samples
 * are inside the unwinder of the C++ runtime.
 */
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#define NOIPA __attribute__((noipa)) /* see nofp.h */

static volatile unsigned long sink;
static volatile int stop;

namespace
{

struct guard {
	NOIPA ~guard()
	{
		sink = sink + 1;
	}
};

} // namespace

extern "C" {

static NOIPA int fails(int n)
{
	if (n)
		throw n;
	return 1;
}

static NOIPA int passes(int n)
{
	return fails(n) + 1;
}

static NOIPA int cleans_up(int n)
{
	guard one;

	return passes(n) + 1;
}

static NOIPA int outer(int n)
{
	guard one, two;

	return cleans_up(n) + 1;
}

static NOIPA int serve(int n)
{
	try {
		return outer(n);
	} catch (int thrown) {
		return thrown;
	}
}
}

int main(int argc, char **argv)
{
	alarm(argc > 1 ? static_cast<unsigned int>(std::atoi(argv[1])) : 60);
	std::puts("expect: START;main");
	std::puts("ready");
	std::fflush(stdout);
	while (!stop)
		sink = sink + static_cast<unsigned long>(serve(1));
	return 0;
}
