/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the libFuzzer targets. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Check that @holds; the fuzzer keeps inputs for which it does not. */
static inline void check(bool holds)
{
	if (!holds)
		abort();
}

#endif
