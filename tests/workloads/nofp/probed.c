// SPDX-License-Identifier: Apache-2.0
/* probed - see probed.h: without frame pointers. */
#include "tests/workloads/probed.h"
