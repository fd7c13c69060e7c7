// SPDX-License-Identifier: Apache-2.0
#include "core/base/faults.h"

_Thread_local struct faults faults;
