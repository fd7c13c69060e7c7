// SPDX-License-Identifier: Apache-2.0
/*
 * vfork [SECONDS] - children that work on their parent's stack before they exec.
 */
#include "tests/workloads/nofp/nofp.h"

/* Work so long that less than 1 % of the samples are in the exec after it, which has no stack any more. */
static NOIPA void child_work(void)
{
	spin_iterations(40000000);
}

static NOIPA void in_child(const char *program)
{
	child_work();
	execl(program, program, (char *)NULL);
	_exit(127);
}

static NOIPA void spawn(const char *program)
{
	pid_t child = vfork();

	if (child == 0)
		in_child(program);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		workload_die("cannot have a child");
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	expect("START;main;spawn;in_child;child_work");
	expect("START;main;spawn");
	workload_ready();
	while (!workload_stop)
		spawn("/bin/true");
	return 0;
}
