// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -s
#include "tests/workloads/nofp/plain.c"
