// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -static-pie
#include "tests/workloads/nofp/plain.c"
