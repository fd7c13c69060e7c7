// SPDX-License-Identifier: Apache-2.0
#define PLUGIN_WORK blue_plugin_work
#include "libred.c"
