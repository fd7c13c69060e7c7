// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -Wa,--gdwarf-cie-version=3
/*
 * column [SECONDS] - a leaf whose rules say that the return address is in register 2^30: libunwind indexes its tables
 * with that number. Compilers do not write such rules.
 */
/* No other function has this column, so the leaf has a CIE of its own. */
#define LEAF_RULES ".cfi_return_column 0x40000000"
#include "tests/workloads/nofp/ruled_leaf.h"
