// SPDX-License-Identifier: Apache-2.0
#include "tests/workloads/calls.c"
