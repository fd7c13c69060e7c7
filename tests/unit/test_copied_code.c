// SPDX-License-Identifier: Apache-2.0
/* Find the file whose code a process has copied to memory. The process is this one, the file its executable. */
#include "core/files/copied_code.h"
#include "core/files/open_files.h"
#include "core/host/host.h"
#include "core/tasks/proc.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PAGE 4096ULL

static struct mapped_files_cfg cfg;
static char path[PATH_MAX];
static struct mapped_file file;
static struct mapping text;

static int find_text(void *ctx, const struct proc_map *m)
{
	uint64_t here = (uint64_t)(uintptr_t)find_text;

	(void)ctx;
	if (here < m->start || here >= m->end)
		return 0;
	snprintf(path, sizeof(path), "%s", m->path);
	file = (struct mapped_file){ .path = path, .maj = m->maj, .min = m->min, .ino = m->ino };
	text = (struct mapping){ m->start, m->end, m->pgoff, &file };
	return 1;
}

static void setup(void)
{
	cfg = (struct mapped_files_cfg){ .host = &host_here, .root = "/" };
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* the worker reads the memory of its parent */
	cfg.open_files = open_files_new(&host_here, "/", OPEN_FILES_MS);
	ck_assert_ptr_nonnull(cfg.open_files);
	ck_assert_int_eq(proc_maps(&host_here, getpid(), find_text, NULL), 1);
}

static void teardown(void)
{
	open_files_free(cfg.open_files);
}

static const struct mapped_file anon = { .path = "//anon" };

/* The page of find_text(), as if it were anonymous memory. */
static struct mapping page(void)
{
	uint64_t start = (uint64_t)(uintptr_t)find_text & ~(PAGE - 1);

	return (struct mapping){ start, start + PAGE, 0, &anon };
}

static int find(const struct mapping *m, const struct mapping *near, struct mapping *out)
{
	struct mapping pieces[4];
	int nr = copied_code_find(&cfg, getpid(), m, near, pieces, 4);

	if (nr > 0)
		*out = pieces[0];
	return nr;
}

START_TEST(test_same)
{
	struct mapping m = page(), found;

	ck_assert_int_eq(find(&m, &text, &found), 1);
	ck_assert_uint_eq(found.start, m.start);
	ck_assert_uint_eq(found.end, m.end);
	ck_assert_uint_eq(found.pgoff, m.start - text.start + text.pgoff);
	ck_assert_ptr_eq(found.file, &file);
}
END_TEST

/* The memory extends beyond the code of the file, on both sides. */
START_TEST(test_larger)
{
	struct mapping m = { text.start - PAGE, text.end + PAGE, 0, &anon }, found;

	ck_assert_int_eq(find(&m, &text, &found), 1);
	ck_assert_uint_eq(found.start, text.start);
	ck_assert_uint_eq(found.end, text.end);
	ck_assert_uint_eq(found.pgoff, text.pgoff);
}
END_TEST

/* The mapping says that the file's code is a page higher than it is: the bytes in memory there differ. */
START_TEST(test_other)
{
	struct mapping m = page(), found, moved = text;

	moved.start += PAGE;
	moved.end += PAGE;
	m.start += PAGE;
	m.end += PAGE;
	ck_assert_int_eq(find(&m, &moved, &found), 0);
}
END_TEST

/* The file has no code at these addresses. */
START_TEST(test_elsewhere)
{
	struct mapping m = page(), found;

	m.start += 1ULL << 40;
	m.end += 1ULL << 40;
	ck_assert_int_eq(find(&m, &text, &found), 0);
}
END_TEST

START_TEST(test_no_elf)
{
	static const char plain[] = "/etc/passwd";
	struct mapped_file other = { .path = plain };
	struct mapping m = page(), near = text, found;

	near.file = &other;
	ck_assert_int_eq(find(&m, &near, &found), 0);
}
END_TEST

START_TEST(test_unreadable)
{
	struct mapping m = page(), pieces[4];
	struct mapped_files_cfg without = cfg;

	ck_assert_int_eq(copied_code_find(&cfg, INT_MAX, &m, &text, pieces, 4), -ESRCH);
	without.open_files = NULL;
	ck_assert_int_eq(copied_code_find(&without, getpid(), &m, &text, pieces, 4), -ENOTSUP);
	file.ino++;
	ck_assert_int_eq(copied_code_find(&cfg, getpid(), &m, &text, pieces, 4), -ESTALE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("copied_code");
	TCase *t = tcase_create("copied_code");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_same);
	tcase_add_test(t, test_larger);
	tcase_add_test(t, test_other);
	tcase_add_test(t, test_elsewhere);
	tcase_add_test(t, test_no_elf);
	tcase_add_test(t, test_unreadable);
	suite_add_tcase(s, t);
	return unit_main(s);
}
