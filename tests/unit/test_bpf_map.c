// SPDX-License-Identifier: Apache-2.0
/* This program's own syscall() imitates bpf(2) of other kernels. */
#include "compat/bpf_map.h"
#include "tests/unit/unit.h"

#include <linux/bpf.h>
#include <stdarg.h>
#include <sys/syscall.h>

static struct {
	int flagged, plain; /* answers to BPF_OBJ_GET, with BPF_F_RDONLY and without: a descriptor or -errno */
	uint32_t entries;   /* places in the map; every other one is used */
	uint32_t broken;    /* the first place that cannot be deleted: EBUSY */
	unsigned int calls, deleted;
	int batch;           /* answer to BPF_MAP_LOOKUP_BATCH: 0, or as an older kernel -errno */
	uint32_t bucket;     /* number of entries that the kernel only returns together */
	uint32_t bad_at;     /* the entry that cannot be read: EFAULT */
	uint32_t batches;    /* calls */
} kernel;

/* Entry @i of the hash map. */
struct entry {
	uint32_t key[2];
	uint64_t value;
};

static struct entry entry_of(uint32_t i)
{
	return (struct entry){ { 7 * i + 1, i }, 3 * (uint64_t)i };
}

/* Return keys and values of whole buckets, as many as there is room for. */
static int answer_batch(union bpf_attr *attr)
{
	uint32_t at = 0, nr = 0, i;

	kernel.batches++;
	if (kernel.batch)
		return kernel.batch;
	if (attr->batch.in_batch)
		memcpy(&at, (const void *)(uintptr_t)attr->batch.in_batch, sizeof(at));
	while (at < kernel.entries) {
		if (nr + kernel.bucket > attr->batch.count) {
			if (nr)
				break;
			return -ENOSPC;
		}
		for (i = 0; i < kernel.bucket && at < kernel.entries; i++, at++, nr++) {
			struct entry e = entry_of(at);

			if (at == kernel.bad_at)
				return -EFAULT;
			memcpy((char *)(uintptr_t)attr->batch.keys + nr * sizeof(e.key), e.key, sizeof(e.key));
			memcpy((char *)(uintptr_t)attr->batch.values + nr * sizeof(e.value), &e.value, sizeof(e.value));
		}
	}
	attr->batch.count = nr;
	memcpy((void *)(uintptr_t)attr->batch.out_batch, &at, sizeof(at));
	return at < kernel.entries ? 0 : -ENOENT;
}

/* After a key that does not exist comes the first one. */
static int answer_next_key(const union bpf_attr *attr)
{
	uint32_t key[2];
	struct entry e;

	memcpy(key, (const void *)(uintptr_t)attr->key, sizeof(key));
	e = entry_of(key[1] == UINT32_MAX ? 0 : key[1] + 1);
	if (e.key[1] >= kernel.entries)
		return -ENOENT;
	memcpy((void *)(uintptr_t)attr->next_key, e.key, sizeof(e.key));
	return 0;
}

static int answer_entry(const union bpf_attr *attr)
{
	uint32_t key[2];
	struct entry e;

	memcpy(key, (const void *)(uintptr_t)attr->key, sizeof(key));
	e = entry_of(key[1]);
	ck_assert_uint_eq(key[0], e.key[0]);
	memcpy((void *)(uintptr_t)attr->value, &e.value, sizeof(e.value));
	return key[1] == kernel.bad_at ? -EFAULT : 0;
}

static int answer(int cmd, union bpf_attr *attr)
{
	uint32_t key;

	kernel.calls++;
	if (kernel.bucket && cmd == BPF_MAP_LOOKUP_ELEM)
		return answer_entry(attr);
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
	case BPF_MAP_LOOKUP_BATCH:
		return answer_batch(attr);
	case BPF_MAP_GET_NEXT_KEY:
		return answer_next_key(attr);
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

/* A map for @nr entries has room for @places. */
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

static const struct {
	uint32_t entries, bucket;
	int batch;
	uint32_t bad_at, stop_at;
	int want;
} walks[] = {
	{ 0, 1, 0, UINT32_MAX, UINT32_MAX, 0 },
	{ 1, 1, 0, UINT32_MAX, UINT32_MAX, 0 },
	{ 255, 1, 0, UINT32_MAX, UINT32_MAX, 0 },
	{ 256, 1, 0, UINT32_MAX, UINT32_MAX, 0 },
	{ 257, 1, 0, UINT32_MAX, UINT32_MAX, 0 },
	{ 10000, 7, 0, UINT32_MAX, UINT32_MAX, 0 },
	{ 10000, 3000, 0, UINT32_MAX, UINT32_MAX, 0 }, /* more room is needed */
	{ 10000, 7, 0, 5000, UINT32_MAX, -EFAULT },
	{ 10000, 7, 0, UINT32_MAX, 5000, -ENOMEM },
	{ 0, 1, -EINVAL, UINT32_MAX, UINT32_MAX, 0 },
	{ 1000, 1, -EINVAL, UINT32_MAX, UINT32_MAX, 0 },
	{ 1000, 1, -E2BIG, UINT32_MAX, UINT32_MAX, 0 },
	{ 1000, 1, -EINVAL, 500, UINT32_MAX, -EFAULT },
	{ 1000, 1, -EINVAL, UINT32_MAX, 500, -ENOMEM },
};

struct walked {
	uint32_t nr, stop_at;
};

static int see(void *ctx, const void *key, const void *value)
{
	struct walked *w = ctx;
	struct entry e = entry_of(w->nr);

	ck_assert_mem_eq(key, e.key, sizeof(e.key));
	ck_assert_mem_eq(value, &e.value, sizeof(e.value));
	return w->nr++ == w->stop_at ? -ENOMEM : 0;
}

/* Each entry is returned once. A new kernel gets one call for many entries. */
START_TEST(test_walk)
{
	struct walked w = { .stop_at = walks[_i].stop_at };

	kernel.calls = kernel.batches = 0;
	kernel.entries = walks[_i].entries;
	kernel.bucket = walks[_i].bucket;
	kernel.batch = walks[_i].batch;
	kernel.bad_at = walks[_i].bad_at;
	ck_assert_int_eq(kernel_map_walk(7, sizeof(entry_of(0).key), sizeof(uint64_t), see, &w), walks[_i].want);
	if (!walks[_i].want)
		ck_assert_uint_eq(w.nr, walks[_i].entries);
	ck_assert_uint_ge(w.nr, walks[_i].bad_at == UINT32_MAX ? 0 : walks[_i].bad_at - 256);
	if (walks[_i].batch)
		ck_assert_uint_eq(kernel.batches, 1);
	else
		ck_assert_uint_le(kernel.calls, 10 + walks[_i].entries / 100);
	kernel.bucket = 0;
}
END_TEST

int main(void)
{
	Suite *s = suite_create("bpf_map");
	TCase *tc = tcase_create("bpf_map");

	tcase_add_loop_test(tc, test_pinned, 0, ARRAY_SIZE(pinned));
	tcase_add_test(tc, test_lookup);
	tcase_add_loop_test(tc, test_stacks, 0, ARRAY_SIZE(stacks));
	tcase_add_loop_test(tc, test_walk, 0, ARRAY_SIZE(walks));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
