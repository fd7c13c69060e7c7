// SPDX-License-Identifier: Apache-2.0
#include "compat/kernel.h"

#include <string.h>
#include <sys/utsname.h>

bool kernel_release_bpf_taints(const char *release)
{
	return !strncmp(release, "3.10.0-", 7) && strstr(release, ".el7");
}

bool kernel_bpf_taints(void)
{
	struct utsname u;

	return !uname(&u) && kernel_release_bpf_taints(u.release);
}
