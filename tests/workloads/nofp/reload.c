// SPDX-License-Identifier: Apache-2.0
/*
 * reload [SECONDS] - opens a library, calls its functions, each of which is bound at its first call, and closes the
 * library again, so that the mappings change all the time.
 */
#include "tests/workloads/nofp/nofp.h"

#include <dlfcn.h>

static NOIPA uint64_t reload(void)
{
	void *plugin = dlopen("$ORIGIN/libplugin.so", RTLD_LAZY);
	uint64_t (*first)(uint64_t);
	uint64_t sum;

	first = plugin ? (uint64_t(*)(uint64_t))dlsym(plugin, "plugin_0") : NULL;
	if (!first)
		workload_die("cannot open the plugin");
	sum = first(3);
	dlclose(plugin);
	return sum;
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	expect("START;main;reload");
	workload_ready();
	while (!workload_stop)
		workload_sink += reload();
	return 0;
}
