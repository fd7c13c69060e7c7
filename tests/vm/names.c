// SPDX-License-Identifier: Apache-2.0
/* Names of the kernel's addresses: from /proc/kallsyms, and from the kernel itself. */
#include "tests/vm/checks.h"
#include "tests/vm/host.h"
#include "tests/vm/run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Check one of this many kernel functions: to check all of them takes half a minute under emulation. */
#define ONE_OF "16"

/* bpf_snprintf() exists since 5.13. */
static bool can_ask(void)
{
	char *end;
	unsigned long major = strtoul(host_release(), &end, 10), minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	return major > 5 || (major == 5 && minor >= 13);
}

static void check_all_names(const char *when, bool modules)
{
	FILE *f = popen("./name_all " ONE_OF " 2>&1", "r");
	char said[4096];
	size_t len;
	int status;

	if (!f)
		die("popen");
	len = fread(said, 1, sizeof(said) - 1, f);
	said[len] = 0;
	status = pclose(f);
	if (!can_ask()) {
		tap_ok(WEXITSTATUS(status) == 2, "names %s: the kernel gives no names", when);
		return;
	}
	if (!tap_ok(!status, "names %s: the same in both ways", when))
		tap_text("name_all", said);
	tap_ok(!strstr(said, " 0 of BPF"), "names %s: some of BPF programs", when);
	tap_ok(!strstr(said, " 0 of modules") == modules, "names %s: %s of modules", when, modules ? "some" : "none");
	tap_line("figure: %s names %s: %s", host_release(), when, said);
}

void check_names(void)
{
	struct run r;

	/* So that BPF programs exist. */
	run_start(&r, NULL, "-v -F 49 600");
	tap_ok(run_await_sampling(&r), "names: profile runs");
	check_all_names("without modules", false);
	if (!access("module.ko", R_OK)) {
		tap_ok(!system("insmod ./module.ko"), "names: a module is loaded");
		check_all_names("with a module", true);
		tap_ok(!system("rmmod tcp_vegas"), "names: and unloaded");
		check_all_names("without it", false);
	} else {
		tap_skip("names: a module", "the kernel's package has none");
	}
	kill(r.pid, SIGINT);
	run_end(&r);
	run_free(&r);
}
