// SPDX-License-Identifier: Apache-2.0
/*
 * fault [SECONDS] - handles a signal that the first instruction of a function raises. The address of this instruction
 * is not a return address, and the address before it belongs to another function.
 */
#include "tests/workloads/nofp/nofp.h"

#include <ucontext.h>

void faults(void);

/* The function before has another frame: an unwinder that subtracts 1 from the address would use its rules. */
__asm__(".text\n"
	".type before, @function\n"
	"before:\n"
	"	.cfi_startproc\n"
	"	sub $1000, %rsp\n"
	"	.cfi_def_cfa_offset 1008\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	".size before, . - before\n"
	".type faults, @function\n"
	"faults:\n"
	"	.cfi_startproc\n"
	"	ud2\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size faults, . - faults\n");

static NOIPA void handler_work(void)
{
	spin_iterations(500000);
}

static NOIPA void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	handler_work();
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static NOIPA void provoke(void)
{
	faults();
	workload_sink++;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	workload_live(argc, argv);
	if (sigaction(SIGILL, &sa, NULL))
		workload_die("cannot handle a signal");
	expect("START;main;provoke;faults;TRAMPOLINE;on_fault;handler_work");
	expect("START;main;provoke");
	workload_ready();
	while (!workload_stop)
		provoke();
	return 0;
}
