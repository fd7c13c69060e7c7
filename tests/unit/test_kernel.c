// SPDX-License-Identifier: Apache-2.0
#include "core/host/host.h"
#include "core/host/kernel.h"
#include "core/host/pidns.h"
#include "tests/unit/unit.h"

#include <sched.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>

static const struct {
	const char *release;
	bool taints, stale, withholds; /* the last two are about registers */
} releases[] = {
	{ "3.10.0-1160.el7.x86_64", true, true, true },
	{ "3.10.0-1160.119.1.el7.x86_64", true, true, true },
	{ "3.10.0-1160.rt56.1131.el7.x86_64", true, true, true },
	{ "3.10.0-123.el7.centos.plus.x86_64", true, true, true },
	{ "3.10.0", false, true, true },
	{ "3.10.0-", false, true, true },
	{ "3.10.0-1160", false, true, true },
	{ "3.10.0.el7", false, true, true },
	{ "3.10.0-514.el6.x86_64", false, true, true },
	{ "3.10.108-1.el7.elrepo.x86_64", false, true, true }, /* a mainline kernel, which has no bpf(2) */
	{ "3.10.1-1160.el7.x86_64", false, true, true },
	{ "13.10.0-1160.el7.x86_64", false, false, false },
	{ "4.14.0-115.el7a.0.1.aarch64", false, false, true },
	{ "4.18.0-553.el8_10.x86_64", false, false, true },
	{ "5.4.17-2136.el7uek.x86_64", false, false, false },
	{ "6.1.0-18-amd64", false, false, false },
	{ "3.19.8", false, true, true },
	{ "3", false, false, false },
	{ "30.1.0", false, false, false },
	{ "4.0.0", false, false, true },
	{ ".el7", false, false, false },
	{ "", false, false, false },
	{ "4.19.0-27-amd64", false, false, false },
	{ "4.18", false, false, true },
};

START_TEST(test_releases)
{
	ck_assert_int_eq(kernel_release_bpf_taints(releases[_i].release), releases[_i].taints);
	ck_assert_int_eq(kernel_release_registers_may_be_stale(releases[_i].release), releases[_i].stale);
	ck_assert_int_eq(kernel_release_withholds_registers(releases[_i].release), releases[_i].withholds);
}
END_TEST

static const struct {
	const char *release;
	bool has;
} fast_paths[] = {
	{ "3.10.0-1160.el7.x86_64", true },    { "4.4.178", true }, { "4.14.67", true },         { "4.15.0", false },
	{ "4.18.0-553.el8_10.x86_64", false }, { "5.10", false },   { "6.1.0-18-amd64", false }, { "", false },
};

START_TEST(test_fast_path)
{
	ck_assert_int_eq(kernel_release_has_fast_path(fast_paths[_i].release), fast_paths[_i].has);
}
END_TEST

static const struct {
	const char *release;
	bool locks;
} locking[] = {
	{ "3.10.0-1160.el7.x86_64", true },
	{ "4.19.108", true },
	{ "5.4.286", true },
	{ "5.10.0-28-amd64\n", true },
	{ "5.10", true },
	{ "0.99", true },
	{ "5.11.0", false },
	{ "5.100.1", false },
	{ "6.1.0-18-amd64\n", false },
	{ "10.2", false },
	{ "50.4", false },
	{ "", false },
	{ "5", false },
	{ "5.", false },
	{ "5.x", false },
	{ "5.-1", false },
	{ "5. 4", false },
	{ "5-4", false },
	{ ".4", false },
	{ " 5.4", false },
	{ "-5.4", false },
	{ "+5.4", false },
	{ "v5.4", false },
	{ "99999999999999999999999.1", false },
	{ "5.99999999999999999999999", false },
};

START_TEST(test_locking)
{
	ck_assert_int_eq(kernel_release_locks_maps(locking[_i].release), locking[_i].locks);
}
END_TEST

/* NULL: no such file. */
static const struct {
	const char *osrelease, *cap_last_cap, *max_stack;
	bool locks, perfmon;
	unsigned int deepest;
} hosts[] = {
	{ NULL, NULL, NULL, false, true, 127 },
	{ "", "", "", false, true, 127 },
	{ "x\n", "x\n", "x\n", false, true, 127 },
	{ "3.10.0-1160.el7.x86_64\n", "36\n", NULL, true, false, 127 },
	{ "4.9.115\n", "37\n", "127\n", true, false, 127 },
	{ "5.8.0\n", "39\n", "60\n", true, true, 60 },
	{ "6.18.0\n", "40\n", "655360\n", false, true, 655360 },
	{ "6.18.0\n", "38\n", "0\n", false, false, 0 },
	{ "6.18.0\n", "-1\n", "-1\n", false, false, 0 },
	{ "6.18.0\n", "40\n", "99999999999\n", false, true, INT32_MAX },
	{ "6.18.0\n", "40\n", "127 1\n", false, true, 127 },
};

static void write_setting(const char *top, const char *name, const char *text)
{
	if (text)
		unit_write(top, name, text, strlen(text));
}

START_TEST(test_hosts)
{
	char *top = unit_tmpdir();
	const struct host host = { .proc = top, .sys = top };

	write_setting(top, "sys/kernel/osrelease", hosts[_i].osrelease);
	write_setting(top, "sys/kernel/cap_last_cap", hosts[_i].cap_last_cap);
	write_setting(top, "sys/kernel/perf_event_max_stack", hosts[_i].max_stack);
	ck_assert_int_eq(kernel_locks_maps(&host), hosts[_i].locks);
	ck_assert_int_eq(kernel_has_perfmon(&host), hosts[_i].perfmon);
	ck_assert_uint_eq(kernel_max_stack(&host), hosts[_i].deepest);
	unit_rmdir(top);
}
END_TEST

static const struct {
	const char *version;
	bool cuts;
} builders[] = {
	{ NULL, true },
	{ "", true },
	{ "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld)\n",
	  false },
	{ "Linux version 6.18.0 (b@h) (gcc (GCC) 15.3.0, GNU ld (GNU Binutils) 2.46) #1 SMP\n", false },
	{ "Linux version 5.15.0 (b@h) (Android clang version 12.0.5, LLD 12.0.5) #1 SMP\n", true },
	{ "Linux version 6.9.0 (clang@build) (gcc 13) #1 SMP\n", false },
};

START_TEST(test_builders)
{
	char *top = unit_tmpdir();
	const struct host host = { .proc = top, .sys = top };

	write_setting(top, "version", builders[_i].version);
	ck_assert_int_eq(kernel_cuts_names(&host), builders[_i].cuts);
	unit_rmdir(top);
}
END_TEST

START_TEST(test_this_host)
{
	struct utsname u;

	ck_assert_int_eq(uname(&u), 0);
	ck_assert_int_eq(kernel_bpf_taints(&host_here), kernel_release_bpf_taints(u.release));
}
END_TEST

/* Return: the exit status of @fn in a child process. */
static int in_child(int (*fn)(void))
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (!pid)
		_exit(fn());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

enum { AS_EXPECTED, NOT_SO, REFUSED };

/* /proc still belongs to the outer namespace. */
static int look_inside(void)
{
	struct pidns ns = { 0 };
	struct stat st;

	if (!pidns_here(&ns) || stat("/proc/self/ns/pid", &st))
		return NOT_SO;
	return ns.ino == st.st_ino && ns.dev == st.st_dev && pidns_proc_is_foreign() ? AS_EXPECTED : NOT_SO;
}

static int enter_and_look(void)
{
	return unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID) ? REFUSED : in_child(look_inside);
}

START_TEST(test_pid_namespace)
{
	struct pidns ns = { 77, 77 };
	char name[64] = "";

	ck_assert_int_gt(readlink("/proc/self/ns/pid", name, sizeof(name) - 1), 0);
	ck_assert_int_eq(pidns_here(&ns), strcmp(name, "pid:[4026531836]") != 0);
	ck_assert_int_eq(pidns_here(NULL), strcmp(name, "pid:[4026531836]") != 0);
	if (!strcmp(name, "pid:[4026531836]"))
		ck_assert_uint_eq(ns.ino, 77);
	ck_assert(!pidns_proc_is_foreign());
	ck_assert_int_ne(in_child(enter_and_look), NOT_SO);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kernel");
	TCase *tc = tcase_create("kernel");

	tcase_add_loop_test(tc, test_releases, 0, ARRAY_SIZE(releases));
	tcase_add_loop_test(tc, test_fast_path, 0, ARRAY_SIZE(fast_paths));
	tcase_add_loop_test(tc, test_locking, 0, ARRAY_SIZE(locking));
	tcase_add_loop_test(tc, test_hosts, 0, ARRAY_SIZE(hosts));
	tcase_add_loop_test(tc, test_builders, 0, ARRAY_SIZE(builders));
	tcase_add_test(tc, test_this_host);
	tcase_add_test(tc, test_pid_namespace);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
