// SPDX-License-Identifier: Apache-2.0
#include "core/cli/debug_package.h"

#include "core/base/begins.h"
#include "core/base/err.h"
#include "core/files/recorded.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OS_RELEASE_MAX 16384 /* read at most so many bytes; real files have less than 1 KiB */

/*
 * Read os-release below the root of process @pid, 0: of the host. Links are not followed, and /etc/os-release usually
 * is a link to /usr/lib/os-release: try that file first.
 */
static enum distribution read_distribution(const struct mapped_files_cfg *files, pid_t pid)
{
	char text[OS_RELEASE_MAX];
	struct stat st;
	ssize_t len;
	int fd = process_file_open(files, pid, "usr/lib/os-release", &st);

	if (fd < 0)
		fd = process_file_open(files, pid, "etc/os-release", &st);
	if (fd < 0)
		return DISTRIBUTION_UNKNOWN;
	len = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	text[len > 0 ? len : 0] = 0;
	return distribution_of(text);
}

static bool is_of_host(const struct mapped_files_cfg *files, const struct mapped_file *file)
{
	struct stat st;
	int fd = process_file_open(files, 0, file->path, &st);

	if (fd >= 0)
		close(fd);
	return fd >= 0 && (!file->ino || st.st_ino == file->ino);
}

/* A recording of another host or boot does not show which packages are here. */
void debug_package_find(const struct mapped_files_cfg *files, const struct mapped_file *file, pid_t pid,
			struct debug_package *p)
{
	bool elsewhere = files->recorded && files->recorded->boot != BOOT_SAME;

	p->of_host = !elsewhere && is_of_host(files, file);
	p->pid = files->recorded || p->of_host ? 0 : pid;
	if (p->of_host || p->pid)
		p->distribution = read_distribution(files, p->pid);
}

static bool is_packaged(const char *path)
{
	return (begins(path, "/usr/") && !begins(path, "/usr/local/") && !begins(path, "/usr/src/")) ||
	       begins(path, "/bin/") || begins(path, "/sbin/") || begins(path, "/lib/") || begins(path, "/lib64/");
}

static bool is_word(const char *path)
{
	return !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-")];
}

/*
 * Debian's debug file of the C library is in libc6-dbg, a package of the main archive, not in a -dbgsym package of the
 * debug archive.
 */
static bool is_glibc(const char *path)
{
	static const char *const names[] = { "libc.so.",   "libc-2.",  "libm.so.", "libm-2.",
					     "libpthread", "ld-linux", "ld-2." };
	const char *slash = strrchr(path, '/');
	size_t i;

	for (i = 0; slash && i < ARRAY_SIZE(names); i++)
		if (begins(slash + 1, names[i]))
			return true;
	return false;
}

static void print_command(FILE *out, const struct debug_package *p)
{
	switch (p->distribution) {
	case DISTRIBUTION_DEB:
		if (is_glibc(p->path))
			fprintf(out, "apt-get install libc6-dbg");
		else
			fprintf(out,
				"find-dbgsym-packages --install %s, which is in debian-goodies and needs the debug "
				"archive in apt's sources",
				p->path);
		break;
	case DISTRIBUTION_RPM_DNF:
		fprintf(out, "dnf debuginfo-install \"$(rpm -qf %s)\"", p->path);
		break;
	case DISTRIBUTION_RPM_YUM:
		fprintf(out, "debuginfo-install \"$(rpm -qf %s)\"", p->path);
		break;
	case DISTRIBUTION_SUSE:
		fprintf(out, "zypper install -C \"debuginfo(build-id)=%s\"", p->hex);
		break;
	case DISTRIBUTION_ARCH:
		fprintf(out, "debuginfod-find debuginfo %s prints the path of a copy, to be linked there", p->hex);
		break;
	case DISTRIBUTION_UNKNOWN:
		break;
	}
}

void debug_package_print(FILE *out, const struct debug_package *p)
{
	bool packaged = p->distribution != DISTRIBUTION_UNKNOWN && is_packaged(p->path) && is_word(p->path);

	if (p->of_host && packaged) {
		fprintf(out, "install it: ");
		print_command(out, p);
	} else if (p->pid && packaged) {
		fprintf(out, "install it in its container: ");
		print_command(out, p);
		fprintf(out, "; then use --debug-dir=/proc/%d/root/usr/lib/debug", p->pid);
	} else {
		fprintf(out, "use --debug-dir with a directory that has it, or keep the symbols: strip --strip-debug");
	}
}
