// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -static
#include "tests/workloads/calls.c"
