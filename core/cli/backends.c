// SPDX-License-Identifier: Apache-2.0
#include "core/cli/backends.h"

const struct way ways_here[] = {
	{ "bpf", &counter_bpf, &source_rings },
	{ "perfring", NULL, &source_rings },
	{ .name = NULL },
};

const struct way ways_recorded[] = {
	{ .name = "recording", .source = &source_recording },
	{ .name = NULL },
};
