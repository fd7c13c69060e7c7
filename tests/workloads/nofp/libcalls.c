// SPDX-License-Identifier: Apache-2.0
/*
 * Functions that are called through procedure linkage tables.
 */
#include <stdint.h>

uint64_t call_0(uint64_t a);
uint64_t call_1(uint64_t a);
uint64_t call_2(uint64_t a);
uint64_t call_3(uint64_t a);

uint64_t call_0(uint64_t a)
{
	return a + 1;
}

uint64_t call_1(uint64_t a)
{
	return a * 3;
}

uint64_t call_2(uint64_t a)
{
	return a ^ 7;
}

/* These calls go through the procedure linkage table of this library. */
uint64_t call_3(uint64_t a)
{
	return call_0(a) + call_1(a);
}
