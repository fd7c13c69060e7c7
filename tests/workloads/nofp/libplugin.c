// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -Wl,-z,lazy
/*
 * The workloads plugin and reload open this library.
 */
#include <stdint.h>

uint64_t plugin_run(uint64_t (*back)(uint64_t), uint64_t a);
uint64_t plugin_0(uint64_t a);
uint64_t plugin_1(uint64_t a);
uint64_t plugin_2(uint64_t a);
uint64_t plugin_3(uint64_t a);
uint64_t plugin_4(uint64_t a);
uint64_t plugin_5(uint64_t a);
uint64_t plugin_6(uint64_t a);
uint64_t plugin_7(uint64_t a);

/* Call back into the program. */
uint64_t plugin_run(uint64_t (*back)(uint64_t), uint64_t a)
{
	return back(a) * a + back(a + 1);
}

/* Each call in a newly opened library is bound first, inside the calls before it. */
#define CALL(name, next)                                                                                               \
	uint64_t name(uint64_t a)                                                                                      \
	{                                                                                                              \
		return next(a) * a + 1;                                                                                \
	}

uint64_t plugin_7(uint64_t a)
{
	return a + 1;
}

CALL(plugin_6, plugin_7)
CALL(plugin_5, plugin_6)
CALL(plugin_4, plugin_5)
CALL(plugin_3, plugin_4)
CALL(plugin_2, plugin_3)
CALL(plugin_1, plugin_2)
CALL(plugin_0, plugin_1)
