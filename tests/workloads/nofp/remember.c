// SPDX-License-Identifier: Apache-2.0
/*
 * remember [SECONDS] - a leaf whose rules remember more states than our unwinder keeps; libunwind keeps any number.
 * Compilers write one or two.
 */
#define LEAF_RULES ".rept 17\n.cfi_remember_state\n.endr"
#include "tests/workloads/nofp/ruled_leaf.h"
