/* SPDX-License-Identifier: Apache-2.0 */
/* What libFuzzer targets share. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What has to be so; the fuzzer keeps the input of which it is not. */
static inline void check(bool holds)
{
	if (!holds)
		abort();
}

#endif
