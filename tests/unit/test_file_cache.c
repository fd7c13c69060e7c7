// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"
#include "core/files/file_cache.h"
#include "core/files/mapped_files.h"
#include "core/files/recorded.h"
#include "core/files/vdso.h"
#include "core/host/host.h"
#include "core/tasks/tasks.h"
#include "tests/unit/elf_image.h"

#include <unistd.h>

struct entry {
	struct cached_file in;
	size_t mine;
};

static char *dir, *root;
static struct host host;
static struct recorded origin;
static struct mapped_files_cfg cfg;
static struct tasks *tasks;
static struct file_cache cache;

static void setup(void)
{
	dir = unit_tmpdir();
	ck_assert_int_ge(asprintf(&root, "%s/host", dir), 0);
	host = (struct host){ .proc = dir, .sys = dir };
	cfg = (struct mapped_files_cfg){ .host = &host, .root = root };
	tasks = tasks_new(&host);
	ck_assert_ptr_nonnull(tasks);
	file_cache_init(&cache, &cfg, tasks, sizeof(struct entry), UINT64_MAX);
}

static void teardown(void)
{
	file_cache_clear(&cache);
	tasks_free(tasks);
	free(root);
	unit_rmdir(dir);
}

static struct entry *get(const char *path)
{
	const struct mapped_file file = { .path = path };
	struct entry *e = file_cache_get(&cache, &file);

	/* The next call has another file at the address of @file. */
	memset(cache.hints, 0, sizeof(cache.hints));
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(e->in.file.path, path);
	return e;
}

/* More files than hints: each keeps its own data, for any mapping of it. */
START_TEST(test_entries)
{
	static struct mapped_file files[3 * FILE_CACHE_HINTS];
	static char paths[3 * FILE_CACHE_HINTS][8];
	struct entry *e;
	uint64_t used = 0;
	size_t i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < ARRAY_SIZE(files); i++) {
			snprintf(paths[i], sizeof(paths[i]), "/%zu", i);
			files[i].path = paths[i];
			e = file_cache_get(&cache, &files[i]);
			ck_assert_ptr_nonnull(e);
			ck_assert_str_eq(e->in.file.path, paths[i]);
			ck_assert_uint_eq(e->mine, !round || (round == 2 && i % 3 == 0) ? 0 : i + 1);
			ck_assert_uint_gt(e->in.used, used);
			used = e->in.used;
			e->mine = i + 1;
			if (i % 2)
				ck_assert_ptr_eq(file_cache_get(&cache, &files[i]), e);
		}
		ck_assert_uint_eq(cache.files.nr, ARRAY_SIZE(files));
		for (i = 0; i < ARRAY_SIZE(files) && round == 1; i += 3)
			file_cache_delete(&cache, file_cache_get(&cache, &files[i]));
	}
	paths[1][1] = 'x'; /* the cache's own copy does not change */
	e = get("/1");
	ck_assert_uint_eq(e->mine, 2);
}
END_TEST

/* Some processes are tried, each once, and after a while some others. */
START_TEST(test_tries)
{
	struct cached_file *cf = &get("/a")->in;
	int pid;

	for (pid = 1; pid < 5; pid++) {
		ck_assert(file_cache_wants(&cache, cf, pid));
		ck_assert(!file_cache_wants(&cache, cf, pid));
		file_cache_tried(&cache, cf, -ENOENT);
	}
	ck_assert(!file_cache_wants(&cache, cf, 5));
	cache.again_ns = NSEC_PER_SEC;
	ck_assert(!file_cache_wants(&cache, cf, 5));
	cf->tried_ns -= NSEC_PER_SEC;
	ck_assert(!file_cache_wants(&cache, cf, 4));
	for (pid = 5; pid < 9; pid++)
		ck_assert(file_cache_wants(&cache, cf, pid));
	ck_assert(!file_cache_wants(&cache, cf, 9));
	cached_file_renew(cf);
	ck_assert(file_cache_wants(&cache, cf, 8));
}
END_TEST

/* The result of a try: is the same process tried again, another one, another one in a recording? */
static const struct {
	int rc;
	bool same, other, recorded, mismatched;
} results[] = {
	{ 0, false, true, true, false },         { -ENOENT, false, true, false, false },
	{ -ESTALE, false, true, false, true },   { -EIO, false, true, false, false },
	{ -ENOMEM, false, true, false, false },  { -ENOEXEC, false, false, false, false },
	{ -EINVAL, false, false, false, false }, { -ETIME, false, false, false, false },
	{ -EFBIG, false, false, false, false },  { -EMFILE, true, true, true, false },
	{ -ENFILE, true, true, true, false },
};

START_TEST(test_results)
{
	struct cached_file *cf;
	bool recorded;

	for (recorded = false;; recorded = true) {
		cf = &get(recorded ? "/b" : "/a")->in;
		cfg.recorded = recorded ? &origin : NULL;
		ck_assert(file_cache_wants(&cache, cf, 1));
		file_cache_tried(&cache, cf, results[_i].rc);
		ck_assert_int_eq(cf->mismatched, results[_i].mismatched);
		ck_assert_uint_eq(cache.nr_mismatched, results[_i].mismatched);
		ck_assert_int_eq(file_cache_wants(&cache, cf, 1), results[_i].same);
		ck_assert_int_eq(file_cache_wants(&cache, cf, 2), recorded ? results[_i].recorded : results[_i].other);
		cached_file_renew(cf);
		ck_assert(file_cache_wants(&cache, cf, 1));
		file_cache_tried(&cache, cf, 0);
		ck_assert_uint_eq(cache.nr_mismatched, 0);
		if (recorded)
			break;
	}
}
END_TEST

/* Files that the cache has dropped still count as mismatched, files that are missing now do not. */
START_TEST(test_mismatched)
{
	file_cache_tried(&cache, &get("/a")->in, -ESTALE);
	file_cache_tried(&cache, &get("/b")->in, -ESTALE);
	file_cache_tried(&cache, &get("/a")->in, -ENOENT);
	ck_assert_uint_eq(cache.nr_mismatched, 1);
	file_cache_clear(&cache);
	ck_assert_uint_eq(cache.nr_mismatched, 1);
	ck_assert_uint_eq(cache.files.nr, 0);
}
END_TEST

START_TEST(test_memory)
{
	ck_assert(!file_cache_wants(&cache, &get("//anon")->in, 1));
	ck_assert(!file_cache_wants(&cache, &get("anon_inode:[x]")->in, 1));
	ck_assert(!file_cache_wants(&cache, &get("[heap]")->in, 1));
	ck_assert(file_cache_wants(&cache, &get("[vdso]")->in, 1));
}
END_TEST

START_TEST(test_open)
{
	const struct mapping any = { 0x1000, 0x2000, 0, NULL };
	struct image im;
	struct elf_file f;

	image_build(&im, ELFCLASS64, ELFDATA2LSB, NULL, 0, NULL, 0);
	unit_write(dir, "5/root/bin/a", im.bytes, im.len);
	unit_write(dir, "5/root/bin/b", im.bytes, 20);
	ck_assert_int_eq(file_cache_open(&cache, &get("/bin/a")->in, 4, &f, NULL), -ENOENT);
	ck_assert_int_eq(file_cache_open(&cache, &get("/bin/b")->in, 5, &f, NULL), -ENOEXEC);
	ck_assert_int_eq(file_cache_open(&cache, &get("/bin/a")->in, 5, &f, NULL), 0);
	ck_assert_uint_eq(f.bytes.size, im.len);
	ck_assert(cached_file_serves(&get("/bin/a")->in, &any));
	elf_file_release(&f);
	image_release(&im);
}
END_TEST

static void link_file(const char *from, const char *to)
{
	char old[4096], new[4096];

	snprintf(old, sizeof(old), "%s/%s", dir, from);
	snprintf(new, sizeof(new), "%s/%s", dir, to);
	ck_assert_int_eq(link(old, new), 0);
}

/* Open @path. Return: the twin that is found. */
static struct cached_file *twin_of(const char *path)
{
	struct cached_file *twin;
	struct elf_file f;

	ck_assert_int_eq(file_cache_open(&cache, &get(path)->in, 5, &f, &twin), 0);
	if (!twin)
		elf_file_release(&f);
	return twin;
}

/* Another name of a file finds the data of the file, until that is dropped, or the file was written to. */
START_TEST(test_twin)
{
	struct cached_file *first;
	struct image im;

	image_build(&im, ELFCLASS64, ELFDATA2LSB, NULL, 0, NULL, 0);
	unit_write(dir, "5/root/bin/a", im.bytes, im.len);
	unit_write(dir, "5/root/bin/other", im.bytes, im.len);
	link_file("5/root/bin/a", "5/root/bin/b");
	get("/bin/b"); /* adding entries may move the others: not after this */
	get("/bin/other");
	first = &get("/bin/a")->in;
	ck_assert_ptr_null(twin_of("/bin/a"));
	ck_assert_ptr_null(twin_of("/bin/b"));
	first->shares = true;
	ck_assert_ptr_eq(twin_of("/bin/b"), first);
	ck_assert_ptr_null(twin_of("/bin/a"));
	ck_assert_ptr_null(twin_of("/bin/other"));
	cached_file_renew(first);
	ck_assert_ptr_null(twin_of("/bin/b"));
	first->shares = true;
	image_put(&im, "", 1);
	unit_write(dir, "5/root/bin/a", im.bytes, im.len);
	ck_assert_ptr_null(twin_of("/bin/b"));
	image_release(&im);
}
END_TEST

/* A file of another user is foreign, but only as long as it can be opened. */
START_TEST(test_foreign)
{
	struct cached_file *cf = &get("/a")->in;
	struct elf_file f;
	char path[4096];

	unit_write(dir, "host/a", "x", 1);
	snprintf(path, sizeof(path), "%s/a", root);
	ck_assert_int_eq(file_cache_open(&cache, cf, 4, &f, NULL), -ENOEXEC);
	ck_assert(!cf->foreign);
	if (chown(path, geteuid() + 1, (gid_t)-1)) /* without root */
		return;
	ck_assert_int_eq(file_cache_open(&cache, cf, 4, &f, NULL), -ENOEXEC);
	ck_assert(cf->foreign);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(file_cache_open(&cache, cf, 4, &f, NULL), -ENOENT);
	ck_assert(!cf->foreign);
}
END_TEST

/* Our vDSO instead of theirs, if it has the same size. */
START_TEST(test_vdso)
{
	struct cached_file *cf = &get("[vdso]")->in;
	struct mapping m = { 1ULL << 40, 0, 0, NULL };
	struct elf_file f;

	if (file_cache_open(&cache, cf, 4, &f, NULL)) /* in valgrind */
		return;
	ck_assert_int_eq(f.bytes.fd, -1);
	m.end = m.start + f.bytes.size;
	ck_assert(cached_file_serves(cf, &m));
	m.end++;
	ck_assert(!cached_file_serves(cf, &m));
	elf_file_release(&f);
	origin = (struct recorded){ .boot = BOOT_OTHER };
	cfg.recorded = &origin;
	ck_assert_int_eq(file_cache_open(&cache, cf, 4, &f, NULL), -ENOEXEC);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("file_cache");
	TCase *tc = tcase_create("file_cache");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_entries);
	tcase_add_test(tc, test_tries);
	tcase_add_loop_test(tc, test_results, 0, ARRAY_SIZE(results));
	tcase_add_test(tc, test_mismatched);
	tcase_add_test(tc, test_memory);
	tcase_add_test(tc, test_open);
	tcase_add_test(tc, test_twin);
	tcase_add_test(tc, test_foreign);
	tcase_add_test(tc, test_vdso);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
