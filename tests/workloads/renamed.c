// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -Wl,--build-id
/*
 * renamed - another build of the workload named: the same code at the same addresses, with other names.
 *
 * Expected: ...;main;renamed_outer;renamed_inner.
 */
#define named_outer renamed_outer
#define named_inner renamed_inner
#include "named.c"
