// SPDX-License-Identifier: Apache-2.0
/* libFuzzer target for read_pprof(). Input: the file. */
#include "tests/fuzz/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_report(read_pprof, data, size);
	return 0;
}
