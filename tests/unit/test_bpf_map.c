// SPDX-License-Identifier: Apache-2.0
/* bpf(2) of kernels that are not here is this program's own syscall(). */
#include "compat/bpf_map.h"
#include "tests/unit/unit.h"

#include <linux/bpf.h>
#include <stdarg.h>
#include <sys/syscall.h>

static struct {
	int flagged, plain; /* answers to BPF_OBJ_GET, with BPF_F_RDONLY and without: a descriptor or -errno */
	uint32_t entries;   /* places of the map, every other is used */
	uint32_t broken;    /* the first place that cannot be deleted: EBUSY */
	unsigned int calls, deleted;
} kernel;

static int answer(int cmd, const union bpf_attr *attr)
{
	uint32_t key;

	kernel.calls++;
	switch (cmd) {
	case BPF_OBJ_GET:
		ck_assert_str_eq((const char *)(uintptr_t)attr->pathname, "/pinned");
		ck_assert(!attr->file_flags || attr->file_flags == BPF_F_RDONLY);
		return attr->file_flags ? kernel.flagged : kernel.plain;
	case BPF_MAP_LOOKUP_ELEM:
		ck_assert_uint_eq(attr->map_fd, 7);
		memcpy(&key, (const void *)(uintptr_t)attr->key, sizeof(key));
		if (key != 42)
			return -ENOENT;
		memcpy((void *)(uintptr_t)attr->value, "yes", 4);
		return 0;
	case BPF_MAP_DELETE_ELEM:
		ck_assert_uint_eq(attr->map_fd, 7);
		memcpy(&key, (const void *)(uintptr_t)attr->key, sizeof(key));
		if (key >= kernel.broken)
			return -EBUSY;
		if (key % 2)
			return -ENOENT;
		kernel.deleted++;
		return key < kernel.entries ? 0 : -EINVAL;
	}
	return -EINVAL;
}

long syscall(long nr, ...)
{
	union bpf_attr *attr;
	va_list ap;
	int cmd, rc;

	va_start(ap, nr);
	cmd = va_arg(ap, int);
	attr = va_arg(ap, union bpf_attr *);
	va_end(ap);
	ck_assert_int_eq(nr, SYS_bpf);
	rc = answer(cmd, attr);
	if (rc >= 0)
		return rc;
	errno = -rc;
	return -1;
}

static const struct {
	int flagged, plain, want;
	unsigned int calls;
} pinned[] = {
	{ 5, -EFAULT, 5, 1 },
	{ -EINVAL, 6, 6, 2 }, /* before 4.15 */
	{ -EINVAL, -EINVAL, -EINVAL, 2 },
	{ -EINVAL, -EPERM, -EPERM, 2 },
	{ -EPERM, 6, -EPERM, 1 },
	{ -EACCES, 6, -EACCES, 1 },
	{ -ENOENT, 6, -ENOENT, 1 },
	{ -ENOSYS, 6, -ENOSYS, 1 },
	{ -EMFILE, 6, -EMFILE, 1 },
};

START_TEST(test_pinned)
{
	kernel.calls = 0;
	kernel.flagged = pinned[_i].flagged;
	kernel.plain = pinned[_i].plain;
	ck_assert_int_eq(kernel_open_pinned_map("/pinned"), pinned[_i].want);
	ck_assert_uint_eq(kernel.calls, pinned[_i].calls);
}
END_TEST

START_TEST(test_lookup)
{
	uint32_t key = 42;
	char value[4] = "";

	ck_assert_int_eq(kernel_map_lookup(7, &key, value), 0);
	ck_assert_str_eq(value, "yes");
	key = 41;
	ck_assert_int_eq(kernel_map_lookup(7, &key, value), -ENOENT);
}
END_TEST

/* A map for @nr entries has @places. */
static const struct {
	uint32_t nr, places, broken;
	int want;
} stacks[] = {
	{ 1, 1, UINT32_MAX, 0 }, { 2, 2, UINT32_MAX, 0 },         { 3, 4, UINT32_MAX, 0 },
	{ 5, 8, UINT32_MAX, 0 }, { 16384, 16384, UINT32_MAX, 0 }, { 16385, 32768, UINT32_MAX, 0 },
	{ 0, 1, UINT32_MAX, 0 }, { 16, 16, 0, -EBUSY },           { 16, 16, 7, -EBUSY },
	{ 16, 16, 15, -EBUSY },  { 9, 16, 12, -EBUSY },
};

START_TEST(test_stacks)
{
	kernel.calls = kernel.deleted = 0;
	kernel.entries = stacks[_i].places;
	kernel.broken = stacks[_i].broken;
	ck_assert_int_eq(kernel_clear_stack_map(7, stacks[_i].nr), stacks[_i].want);
	if (!stacks[_i].want) {
		ck_assert_uint_eq(kernel.calls, stacks[_i].places);
		ck_assert_uint_eq(kernel.deleted, (stacks[_i].places + 1) / 2);
	} else {
		ck_assert_uint_eq(kernel.calls, stacks[_i].broken + 1);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("bpf_map");
	TCase *tc = tcase_create("bpf_map");

	tcase_add_loop_test(tc, test_pinned, 0, ARRAY_SIZE(pinned));
	tcase_add_test(tc, test_lookup);
	tcase_add_loop_test(tc, test_stacks, 0, ARRAY_SIZE(stacks));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
