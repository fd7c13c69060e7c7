// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "core/base/number.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/resource.h>
#include <sys/stat.h>

void unit_mark(const char *file, int line)
{
	static int nr;

	if (nr < 1000) {
		nr++;
		(_mark_point)(file, line);
	}
}

int unit_main(Suite *s)
{
	SRunner *sr = srunner_create(s);
	int failed;

	srunner_set_tap(sr, "-");
	srunner_run_all(sr, CK_SILENT);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}

char *unit_tmpdir(void)
{
	const char *base = getenv("TMPDIR");
	char *dir;

	ck_assert_int_ge(asprintf(&dir, "%s/fleetprof-unit-XXXXXX", base ? base : "/tmp"), 0);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	return dir;
}

void unit_write(const char *dir, const char *name, const void *data, size_t len)
{
	char path[4096];
	char *slash;
	int fd;

	ck_assert_int_lt(snprintf(path, sizeof(path), "%s/%s", dir, name), (int)sizeof(path));
	for (slash = strchr(path + strlen(dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	close(fd);
}

uint64_t unit_inode(const char *dir, const char *name)
{
	char path[8192];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_int_eq(lstat(path, &st), 0);
	return st.st_ino;
}

ssize_t unit_failing_write(void *calls, const char *buf, size_t len)
{
	(void)buf;
	(void)len;
	++*(int *)calls;
	errno = EIO;
	return 0;
}

/* Go on if this fails: the files of a cgroup cannot be removed, but go with it. */
static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

void unit_rmdir(char *dir)
{
	nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(dir);
}

bool unit_below_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

int unit_times(int often)
{
	return unit_below_valgrind() ? (often + 9) / 10 : often;
}

struct host unit_host(const char *top)
{
	static char proc[512], sys[512];

	snprintf(proc, sizeof(proc), "%s/proc", top);
	snprintf(sys, sizeof(sys), "%s/sys", top);
	return (struct host){ .proc = proc, .sys = sys };
}

unsigned int unit_open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *e;
	unsigned int nr = 0;
	struct rlimit limit;
	const char *name;
	uint64_t fd;

	ck_assert_ptr_nonnull(d);
	/* A test may have its own getrlimit(), so call prlimit(). Valgrind's descriptors are beyond the limit. */
	ck_assert_int_eq(prlimit(0, RLIMIT_NOFILE, NULL, &limit), 0);
	while ((e = readdir(d))) {
		name = e->d_name;
		nr += !parse_digits(&name, 10, UINT64_MAX, &fd) && fd < limit.rlim_cur;
	}
	closedir(d);
	return nr - 1; /* the directory's own descriptor */
}

rlim_t unit_limit_files(rlim_t nr)
{
	struct rlimit limit;
	rlim_t before;

	/* A test may have its own getrlimit() and setrlimit(). */
	ck_assert_int_eq(prlimit(0, RLIMIT_NOFILE, NULL, &limit), 0);
	before = limit.rlim_cur;
	limit.rlim_cur = nr < limit.rlim_max ? nr : limit.rlim_max;
	ck_assert_int_eq(prlimit(0, RLIMIT_NOFILE, &limit, NULL), 0);
	return before;
}

rlim_t unit_leave_files(unsigned int room)
{
	int limit;

	for (limit = 0; room || fcntl(limit, F_GETFD) >= 0; limit++)
		room -= fcntl(limit, F_GETFD) < 0;
	return unit_limit_files((rlim_t)limit);
}
