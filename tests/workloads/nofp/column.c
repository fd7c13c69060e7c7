// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -Wa,--gdwarf-cie-version=3
/*
 * column [SECONDS] - a leaf whose rules say that the return address is in register 2^30: libunwind indexes its tables
 * with that. There are no such rules in what compilers write.
 */
/* Of this function alone: it has a CIE of its own then. */
#define LEAF_RULES ".cfi_return_column 0x40000000"
#include "tests/workloads/nofp/ruled_leaf.h"
