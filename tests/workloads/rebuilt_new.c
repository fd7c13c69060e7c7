// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -no-pie
#define BUILD_WORK new_build_work
#include "rebuilt_old.c"
