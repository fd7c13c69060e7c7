// SPDX-License-Identifier: Apache-2.0
/* probed - see probed.h: with frame pointers. */
#include "tests/workloads/probed.h"
