// SPDX-License-Identifier: Apache-2.0
#include "core/cli/debug_package.h"
#include "tests/unit/unit.h"

static const struct {
	const char *text; /* contents of os-release */
	enum distribution is;
} releases[] = {
	{ "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\n",
	  DISTRIBUTION_DEB },
	{ "NAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\nID=ubuntu\nID_LIKE=debian\n", DISTRIBUTION_DEB },
	{ "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", DISTRIBUTION_DEB },
	{ "NAME=\"Fedora Linux\"\nID=fedora\nVERSION_ID=40\n", DISTRIBUTION_RPM_DNF },
	{ "ID=fedora\nVERSION_ID=7\n", DISTRIBUTION_RPM_DNF },
	{ "NAME=\"Red Hat Enterprise Linux\"\nID=\"rhel\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"9.4\"\n",
	  DISTRIBUTION_RPM_DNF },
	{ "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"8.9\"\n", DISTRIBUTION_RPM_DNF },
	{ "ID=\"rhel\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"7.9\"\n", DISTRIBUTION_RPM_YUM },
	{ "ID=\"centos\"\nID_LIKE=\"rhel fedora\"\nVERSION_ID=\"7\"\n", DISTRIBUTION_RPM_YUM },
	{ "ID=\"ol\"\nVERSION_ID=\"7.9\"\nID_LIKE=\"fedora\"\n", DISTRIBUTION_RPM_YUM },
	{ "ID=\"ol\"\nVERSION_ID=\"70\"\nID_LIKE=\"fedora\"\n", DISTRIBUTION_RPM_DNF },
	{ "ID=\"amzn\"\nID_LIKE=\"centos rhel fedora\"\nVERSION_ID=\"2\"\n", DISTRIBUTION_RPM_YUM },
	{ "ID=\"amzn\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"2023\"\n", DISTRIBUTION_RPM_DNF },
	{ "ID=arch\n", DISTRIBUTION_ARCH },
	{ "ID=manjaro\nID_LIKE=arch\n", DISTRIBUTION_ARCH },
	{ "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\nVERSION_ID=\"15.6\"\n", DISTRIBUTION_SUSE },
	{ "ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n", DISTRIBUTION_SUSE },
	{ "ID='sles'\nVERSION_ID='15.5'\n", DISTRIBUTION_SUSE },
	{ "ID=debian", DISTRIBUTION_DEB },            /* the newline is cut */
	{ "ID=arch\nID=debian\n", DISTRIBUTION_DEB }, /* as the shell reads it */
	{ "ID=own\nID_LIKE=\"other  debian arch\"\n", DISTRIBUTION_DEB },
	{ "ID=own\nID_LIKE=debian", DISTRIBUTION_DEB },
	/* hostile, or unknown */
	{ "", DISTRIBUTION_UNKNOWN },
	{ "\n\n\n", DISTRIBUTION_UNKNOWN },
	{ "ID", DISTRIBUTION_UNKNOWN },
	{ "ID=", DISTRIBUTION_UNKNOWN },
	{ "ID=\n", DISTRIBUTION_UNKNOWN },
	{ "ID=\"", DISTRIBUTION_UNKNOWN },
	{ "ID='\"", DISTRIBUTION_UNKNOWN },
	{ "ID=\"\"\nID_LIKE=\"\"\n", DISTRIBUTION_UNKNOWN },
	{ "ID_LIKE=\"   \"\n", DISTRIBUTION_UNKNOWN },
	{ "ID=\"debian'\n", DISTRIBUTION_UNKNOWN },
	{ "ID=debian;reboot\n", DISTRIBUTION_UNKNOWN },
	{ "ID=$(reboot)\n", DISTRIBUTION_UNKNOWN },
	{ "ID=Debian\n", DISTRIBUTION_UNKNOWN },
	{ "ID=debia\n", DISTRIBUTION_UNKNOWN },
	{ "ID=debian2\n", DISTRIBUTION_UNKNOWN },
	{ " ID=debian\n", DISTRIBUTION_UNKNOWN },
	{ "# ID=debian\n", DISTRIBUTION_UNKNOWN },
	{ "VARIANT_ID=debian\n", DISTRIBUTION_UNKNOWN },
	{ "IDX=debian\n", DISTRIBUTION_UNKNOWN },
	{ "NAME=\"\nID=debian\n", DISTRIBUTION_DEB },
	{ "ID=alpine\nVERSION_ID=3.20\n", DISTRIBUTION_UNKNOWN },
	{ "\177ELF\001\002\003", DISTRIBUTION_UNKNOWN },
	{ "ID=debian\033[2J\n", DISTRIBUTION_UNKNOWN },
};

START_TEST(test_release)
{
	ck_assert_int_eq(distribution_of(releases[_i].text), releases[_i].is);
}
END_TEST

#define HEX     "5dc767c02e183bb92c91cd56be96c493d8255f86"
#define GENERIC "use --debug-dir with a directory that has it, or keep the symbols: strip --strip-debug"

static const struct {
	struct debug_package p;
	const char *text;
} packages[] = {
	{ { "/usr/bin/gzip", HEX, true, 0, DISTRIBUTION_DEB },
	  "install it: find-dbgsym-packages --install /usr/bin/gzip, which is in debian-goodies and needs the debug "
	  "archive in apt's sources" },
	{ { "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", HEX, true, 0, DISTRIBUTION_DEB },
	  "install it: find-dbgsym-packages --install /usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30, which is in "
	  "debian-goodies and needs the debug archive in apt's sources" },
	{ { "/usr/lib/x86_64-linux-gnu/libc.so.6", HEX, true, 0, DISTRIBUTION_DEB },
	  "install it: apt-get install libc6-dbg" },
	{ { "/lib/x86_64-linux-gnu/ld-2.31.so", HEX, false, 185, DISTRIBUTION_DEB },
	  "install it in its container: apt-get install libc6-dbg; then use --debug-dir=/proc/185/root/usr/lib/debug" },
	{ { "/usr/bin/gzip", HEX, true, 0, DISTRIBUTION_RPM_DNF },
	  "install it: dnf debuginfo-install \"$(rpm -qf /usr/bin/gzip)\"" },
	{ { "/bin/gzip", HEX, true, 0, DISTRIBUTION_RPM_YUM },
	  "install it: debuginfo-install \"$(rpm -qf /bin/gzip)\"" },
	{ { "/usr/bin/gzip", HEX, true, 0, DISTRIBUTION_SUSE },
	  "install it: zypper install -C \"debuginfo(build-id)=" HEX "\"" },
	{ { "/usr/bin/gzip", HEX, true, 0, DISTRIBUTION_ARCH },
	  "install it: debuginfod-find debuginfo " HEX " prints the path of a copy, to be linked there" },
	{ { "/usr/bin/gzip", HEX, false, 185, DISTRIBUTION_DEB },
	  "install it in its container: find-dbgsym-packages --install /usr/bin/gzip, which is in debian-goodies and "
	  "needs the debug archive in apt's sources; then "
	  "use "
	  "--debug-dir=/proc/185/root/usr/lib/debug" },
	{ { "/lib64/libc.so.6", HEX, false, 185, DISTRIBUTION_SUSE },
	  "install it in its container: zypper install -C \"debuginfo(build-id)=" HEX
	  "\"; then use --debug-dir=/proc/185/root/usr/lib/debug" },
	{ { "/usr/bin/gzip", HEX, true, 0, DISTRIBUTION_UNKNOWN }, GENERIC },
	{ { "/usr/bin/gzip", HEX, false, 185, DISTRIBUTION_UNKNOWN }, GENERIC },
	{ { "/usr/bin/gzip", HEX, false, 0, DISTRIBUTION_DEB }, GENERIC },
	/* not from a package */
	{ { "/opt/x/bin/x", HEX, true, 0, DISTRIBUTION_DEB }, GENERIC },
	{ { "/usr/local/bin/x", HEX, true, 0, DISTRIBUTION_DEB }, GENERIC },
	{ { "/srv/bin/x", HEX, true, 0, DISTRIBUTION_RPM_DNF }, GENERIC },
	{ { "/usr", HEX, true, 0, DISTRIBUTION_DEB }, GENERIC },
	{ { "/binary", HEX, true, 0, DISTRIBUTION_DEB }, GENERIC },
	{ { "/usr/local/x", HEX, false, 185, DISTRIBUTION_DEB }, GENERIC },
	{ { "", HEX, true, 0, DISTRIBUTION_DEB }, GENERIC },
	/* not a single word for a shell */
	{ { "/usr/bin/a b", HEX, true, 0, DISTRIBUTION_DEB }, GENERIC },
	{ { "/usr/bin/$(reboot)", HEX, true, 0, DISTRIBUTION_DEB }, GENERIC },
	{ { "/usr/bin/`reboot`", HEX, true, 0, DISTRIBUTION_RPM_DNF }, GENERIC },
	{ { "/usr/bin/;reboot", HEX, true, 0, DISTRIBUTION_RPM_YUM }, GENERIC },
	{ { "/usr/bin/'", HEX, true, 0, DISTRIBUTION_DEB }, GENERIC },
	{ { "/usr/bin/\"", HEX, false, 185, DISTRIBUTION_DEB }, GENERIC },
	{ { "/usr/bin/a\nb", HEX, true, 0, DISTRIBUTION_DEB }, GENERIC },
	{ { "/usr/bin/\033[2J", HEX, true, 0, DISTRIBUTION_DEB }, GENERIC },
	{ { "/usr/bin/\xc3\xa4", HEX, true, 0, DISTRIBUTION_DEB }, GENERIC },
	{ { "/usr/bin/*", HEX, true, 0, DISTRIBUTION_SUSE }, GENERIC },
};

START_TEST(test_package)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(f);
	debug_package_print(f, &packages[_i].p);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_str_eq(text, packages[_i].text);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("debug_package");
	TCase *t = tcase_create("debug_package");

	tcase_add_loop_test(t, test_release, 0, ARRAY_SIZE(releases));
	tcase_add_loop_test(t, test_package, 0, ARRAY_SIZE(packages));
	suite_add_tcase(s, t);
	return unit_main(s);
}
