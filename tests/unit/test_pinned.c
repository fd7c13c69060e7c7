// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"
#include "core/tasks/pinned.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

static char *top;
static char path[512];

static void setup(void)
{
	top = unit_tmpdir();
	snprintf(path, sizeof(path), "%s/map", top);
}

static void teardown(void)
{
	umount2(top, MNT_DETACH);
	unit_rmdir(top);
}

static void refused(const char *file, int rc)
{
	struct pinned *p = (struct pinned *)file;
	int fds = unit_open_fds();
	struct err err = { 0 };

	ck_assert_int_eq(pinned_open(&p, &host_here, file, &err), rc);
	ck_assert_ptr_null(p);
	ck_assert_ptr_nonnull(strstr(err.msg, file));
	ck_assert_int_eq(unit_open_fds(), fds);
}

START_TEST(test_refused)
{
	refused(path, -ENOENT);
	unit_write(top, "map", "", 0);
	refused(path, -EINVAL);
	refused(top, -EINVAL);
	refused("/dev/null", -EINVAL);
	refused("/dev/null/x", -ENOTDIR);
	pinned_close(NULL);
}
END_TEST

static int bpf(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* A map pinned at @path in a file system of its own. Return: its descriptor; -1: this host does not permit it. */
static int pin(uint32_t type, uint32_t key_size, uint32_t value_size)
{
	union bpf_attr attr;
	int fd;

	if (unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	    mount("bpf", top, "bpf", 0, NULL))
		return -1;
	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key_size;
	attr.value_size = value_size;
	attr.max_entries = 16;
	fd = bpf(BPF_MAP_CREATE, &attr);
	if (fd < 0)
		return -1;
	memset(&attr, 0, sizeof(attr));
	attr.pathname = (uint64_t)(uintptr_t)path;
	attr.bpf_fd = (uint32_t)fd;
	ck_assert_int_eq(bpf(BPF_OBJ_PIN, &attr), 0);
	return fd;
}

static const struct {
	uint32_t type, key_size;
} strange[] = {
	{ BPF_MAP_TYPE_ARRAY, 4 },    { BPF_MAP_TYPE_HASH, 4 },        { BPF_MAP_TYPE_HASH, 16 },
	{ BPF_MAP_TYPE_LRU_HASH, 8 }, { BPF_MAP_TYPE_PERCPU_HASH, 8 },
};

START_TEST(test_strange)
{
	int fd = pin(strange[_i].type, strange[_i].key_size, 8);

	if (fd < 0)
		return;
	refused(path, -EINVAL);
	close(fd);
}
END_TEST

/* A program without standard input may get the map as descriptor 0. */
START_TEST(test_first_descriptor)
{
	int fd = pin(BPF_MAP_TYPE_HASH, 8, 8), input;
	struct pinned *p;
	struct err err;

	if (fd < 0)
		return;
	input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	ck_assert_int_ge(input, 0);
	close(STDIN_FILENO);
	ck_assert_int_eq(pinned_open(&p, &host_here, path, &err), 0);
	ck_assert_int_eq(pinned_fd(p), STDIN_FILENO);
	pinned_close(p);
	ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
	ck_assert_int_eq(dup2(input, STDIN_FILENO), STDIN_FILENO);
	close(input);
	close(fd);
}
END_TEST

static void change(int fd, uint64_t id, bool has)
{
	char value[64] = "";
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	attr.key = (uint64_t)(uintptr_t)&id;
	attr.value = has ? (uint64_t)(uintptr_t)value : 0;
	ck_assert_int_eq(bpf(has ? BPF_MAP_UPDATE_ELEM : BPF_MAP_DELETE_ELEM, &attr), 0);
}

static void check_has(struct pinned *p, uint64_t id, uint64_t time, bool has, bool unsure)
{
	bool got = false;

	ck_assert_int_eq(pinned_has(p, id, time, &got), has);
	ck_assert_int_eq(got, unsure);
}

static const uint32_t value_sizes[] = { 1, 8, 64 };

/* The answer comes later than the sample; if the map may have changed since the sample, the answer is not sure. */
START_TEST(test_has)
{
	int fd = pin(BPF_MAP_TYPE_HASH, 8, value_sizes[_i]);
	uint64_t before = now_ns(), between, after;
	struct pinned *p;
	struct err err;

	if (fd < 0)
		return;
	ck_assert_int_eq(pinned_open(&p, &host_here, path, &err), 0);
	ck_assert_int_ge(pinned_fd(p), 0);
	change(fd, UINT64_MAX, true);
	change(fd, 1, true);
	check_has(p, 1, before, true, true);
	check_has(p, 2, before, false, true);
	check_has(p, UINT64_MAX, before, true, true);
	between = now_ns() + 1;
	check_has(p, 1, between, true, false);
	check_has(p, 2, between, false, false);
	check_has(p, 1, before, true, true);
	check_has(p, 1, 0, true, true);
	change(fd, 1, false);
	change(fd, 2, true);
	check_has(p, 1, between, true, false); /* looked up later */
	check_has(p, 1, 0, false, true);
	check_has(p, 1, between, false, true);
	after = now_ns() + 1;
	check_has(p, 1, after, false, false);
	check_has(p, 2, after, true, true); /* not seen before */
	check_has(p, 2, UINT64_MAX, true, false);
	check_has(p, UINT64_MAX, between, true, false);
	pinned_close(p);
	close(fd);
}
END_TEST

/* Only an id with both answers is in doubt. */
START_TEST(test_told)
{
	int fd = pin(BPF_MAP_TYPE_HASH, 8, 8);
	struct pinned *p;
	struct err err;

	if (fd < 0)
		return;
	ck_assert_int_eq(pinned_open(&p, &host_here, path, &err), 0);
	change(fd, 1, true);
	pinned_told(p, 1, true); /* before the first look */
	check_has(p, 1, now_ns(), true, true);
	check_has(p, 2, now_ns(), false, true);
	pinned_told(p, 1, true);
	pinned_told(p, 2, true);
	pinned_told(p, 2, true);
	check_has(p, 1, UINT64_MAX, true, false);
	check_has(p, 2, UINT64_MAX, false, false); /* wrong, and the same each time */
	pinned_told(p, 1, false);
	check_has(p, 1, UINT64_MAX, true, true);
	check_has(p, 2, UINT64_MAX, false, false);
	pinned_told(p, 1, false);
	check_has(p, 1, 1, true, true);
	pinned_close(p);
	close(fd);
}
END_TEST

/* More ids than are remembered. */
START_TEST(test_many)
{
	int fd = pin(BPF_MAP_TYPE_HASH, 8, 8);
	bool unsure = false;
	struct pinned *p;
	struct err err;
	uint64_t id;

	if (fd < 0)
		return;
	ck_assert_int_eq(pinned_open(&p, &host_here, path, &err), 0);
	change(fd, 77, true);
	for (id = 1; id <= 70000; id++)
		ck_assert_int_eq(pinned_has(p, id, UINT64_MAX, &unsure), id == 77);
	ck_assert(!unsure);
	pinned_close(p);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pinned");
	TCase *t = tcase_create("pinned");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_refused);
	tcase_add_loop_test(t, test_strange, 0, ARRAY_SIZE(strange));
	tcase_add_test(t, test_first_descriptor);
	tcase_add_loop_test(t, test_has, 0, ARRAY_SIZE(value_sizes));
	tcase_add_test(t, test_told);
	tcase_add_test(t, test_many);
	suite_add_tcase(s, t);
	return unit_main(s);
}
