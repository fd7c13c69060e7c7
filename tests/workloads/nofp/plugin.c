// SPDX-License-Identifier: Apache-2.0
/*
 * plugin [SECONDS] - opens a library with dlopen(3), and calls a function in it that calls back into the program.
 */
#include "tests/workloads/nofp/nofp.h"

#include <dlfcn.h>

static NOIPA uint64_t leaf(uint64_t a)
{
	spin_iterations(200000);
	return a;
}

static NOIPA uint64_t called_back(uint64_t a)
{
	return leaf(a) + 1;
}

int main(int argc, char **argv)
{
	void *plugin = dlopen("$ORIGIN/libplugin.so", RTLD_NOW);
	uint64_t (*run)(uint64_t(*)(uint64_t), uint64_t);

	workload_live(argc, argv);
	run = plugin ? (uint64_t(*)(uint64_t(*)(uint64_t), uint64_t))dlsym(plugin, "plugin_run") : NULL;
	if (!run)
		workload_die("cannot open the plugin");
	expect("START;main;plugin_run;called_back;leaf");
	workload_ready();
	while (!workload_stop)
		workload_sink += run(called_back, workload_sink);
	return 0;
}
