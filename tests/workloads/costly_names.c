// SPDX-License-Identifier: Apache-2.0
/*
 * costly_names [SECONDS] - calls 300 functions in turn. libiberty needs some tenths of a second to demangle each of
 * their C++ names: each T_I doubles the time. The names have no readable form.
 *
 * Expected: ...;main;_ZN4A1..cvT_IT_I... and so on.
 */
#include "workload.h"

#define THREE  "T_IT_IT_I"
#define COSTLY THREE THREE THREE THREE THREE THREE THREE "T_IT_I"

#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X, n)                                                                                                  \
	TEN(X, n##0)                                                                                                   \
	TEN(X, n##1) TEN(X, n##2) TEN(X, n##3) TEN(X, n##4) TEN(X, n##5) TEN(X, n##6) TEN(X, n##7) TEN(X, n##8)        \
		TEN(X, n##9)
#define ALL(X) HUNDRED(X, 1) HUNDRED(X, 2) HUNDRED(X, 3)

/* Each function does something else, because the compiler would merge equal ones. */
#define FUNCTION(n)                                                                                                    \
	static void f##n(void) __asm__("_ZN4A" #n "cvT_I" COSTLY "iEv");                                               \
	static NOINLINE void f##n(void)                                                                                \
	{                                                                                                              \
		spin_iterations(20000 + 8 * n);                                                                        \
	}
#define POINTER(n) f##n,

ALL(FUNCTION)

int main(int argc, char **argv)
{
	static void (*const functions[])(void) = { ALL(POINTER) };
	size_t i;

	workload_live(argc, argv);
	workload_ready();
	while (!workload_stop)
		for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
			functions[i]();
	return 0;
}
