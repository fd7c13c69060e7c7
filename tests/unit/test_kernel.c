// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "compat/kernel.h"

#include <sys/utsname.h>

static const struct {
	const char *release;
	bool taints;
} releases[] = {
	{ "3.10.0-1160.el7.x86_64", true },
	{ "3.10.0-1160.119.1.el7.x86_64", true },
	{ "3.10.0-1160.rt56.1131.el7.x86_64", true },
	{ "3.10.0-123.el7.centos.plus.x86_64", true },
	{ "3.10.0", false },
	{ "3.10.0-", false },
	{ "3.10.0-1160", false },
	{ "3.10.0.el7", false },
	{ "3.10.0-514.el6.x86_64", false },
	{ "3.10.108-1.el7.elrepo.x86_64", false }, /* a mainline kernel, which has no bpf(2) */
	{ "3.10.1-1160.el7.x86_64", false },
	{ "13.10.0-1160.el7.x86_64", false },
	{ "4.14.0-115.el7a.0.1.aarch64", false },
	{ "4.18.0-553.el8_10.x86_64", false },
	{ "5.4.17-2136.el7uek.x86_64", false },
	{ "6.1.0-18-amd64", false },
	{ ".el7", false },
	{ "", false },
};

START_TEST(test_releases)
{
	ck_assert_int_eq(kernel_release_bpf_taints(releases[_i].release), releases[_i].taints);
}
END_TEST

START_TEST(test_this_host)
{
	struct utsname u;

	ck_assert_int_eq(uname(&u), 0);
	ck_assert_int_eq(kernel_bpf_taints(), kernel_release_bpf_taints(u.release));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kernel");
	TCase *tc = tcase_create("kernel");

	tcase_add_loop_test(tc, test_releases, 0, ARRAY_SIZE(releases));
	tcase_add_test(tc, test_this_host);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
