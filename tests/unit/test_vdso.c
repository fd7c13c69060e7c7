// SPDX-License-Identifier: Apache-2.0
#include "core/files/build_ids.h"
#include "core/files/elf_file.h"
#include "core/files/mapped_files.h"
#include "core/files/recorded.h"
#include "core/files/vdso.h"
#include "core/host/host.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/unit.h"

#include <asm/prctl.h>
#include <errno.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct mapped_file vdso = { .path = "[vdso]" };
static char *dir;
static struct host host;
static struct build_ids *table;
static struct recorded origin;
static struct mapped_files_cfg cfg;

static void setup(void)
{
	dir = unit_tmpdir();
	host = (struct host){ .proc = dir, .sys = dir };
	table = build_ids_new();
	ck_assert_ptr_nonnull(table);
	origin = (struct recorded){ .build_ids = table };
	cfg = (struct mapped_files_cfg){ .host = &host, .recorded = &origin };
}

static void teardown(void)
{
	build_ids_free(table);
	unit_rmdir(dir);
}

START_TEST(test_image)
{
	const unsigned char *own = (const unsigned char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR); /* NULL in valgrind */
	struct elf_file f;

	ck_assert_int_eq(vdso_open(&f), own ? 0 : -ENOENT);
	if (!own)
		return;
	ck_assert_uint_ge(f.bytes.size, 4096);
	ck_assert_uint_eq(f.bytes.size % 4096, 0);
	ck_assert_mem_eq(f.bytes.memory, own, f.bytes.size);
	elf_file_release(&f);
}
END_TEST

/* This process has a vDSO, so the kernel refuses another one with EEXIST, if it has one for 32-bit processes. */
static bool has_vdso32(void)
{
	return getauxval(AT_SYSINFO_EHDR) && syscall(SYS_arch_prctl, ARCH_MAP_VDSO_32, 0x10000000UL) < 0 &&
	       errno == EEXIST;
}

static const struct mapped_file of_32_bits = { .path = VDSO32 };

START_TEST(test_image_of_32_bits)
{
	struct elf_file f, again;

	if (!has_vdso32()) {
		ck_assert_int_eq(vdso_open_mapped(&of_32_bits, &f), -ENOEXEC);
		return;
	}
	ck_assert_int_eq(vdso_open_mapped(&of_32_bits, &f), 0);
	ck_assert_int_eq(f.class, ELFCLASS32);
	ck_assert_int_eq(f.machine, EM_386);
	ck_assert_uint_eq(f.bytes.size % 4096, 0);
	ck_assert_int_eq(vdso_open_mapped(&of_32_bits, &again), 0);
	ck_assert_uint_eq(again.bytes.size, f.bytes.size);
	ck_assert_mem_eq(again.bytes.memory, f.bytes.memory, f.bytes.size);
	elf_file_release(&again);
	elf_file_release(&f);
	/* Ours is still there. */
	ck_assert_int_eq(vdso_open_mapped(&vdso, &f), 0);
	ck_assert_int_eq(f.class, ELFCLASS64);
	elf_file_release(&f);
}
END_TEST

static void write_notes(const char *id)
{
	unsigned char bytes[128];

	if (id)
		unit_write(dir, "kernel/notes", bytes,
			   image_note(bytes, ELFDATA2LSB, 4, NT_GNU_BUILD_ID, "GNU", 4, id, (uint32_t)strlen(id)));
}

static void tell(const char *path, const char *id)
{
	if (id)
		ck_assert_int_eq(build_ids_add(table, path, id, strlen(id)), 0);
}

/* The recording's kernel and vDSO, and the running ones. */
static const struct {
	const char *kernel, *running, *vdso;
	enum recorded_boot boot;
	bool ours;
} rows[] = {
	{ "abc", "abc", NULL, BOOT_UNKNOWN, true },      { "abc", "abc", NULL, BOOT_SAME, true },
	{ "abc", "abc", NULL, BOOT_OTHER, true }, /* booted again */
	{ NULL, "abc", NULL, BOOT_SAME, true },          { "abc", NULL, NULL, BOOT_SAME, true },
	{ NULL, NULL, NULL, BOOT_SAME, true },           { "abc", "xyz", NULL, BOOT_SAME, false },
	{ "abc", "xyz", NULL, BOOT_UNKNOWN, false },     { "abc", "xyz", NULL, BOOT_OTHER, false },
	{ "abc", "ab", NULL, BOOT_SAME, false },         { "abc", NULL, NULL, BOOT_UNKNOWN, false },
	{ "abc", NULL, NULL, BOOT_OTHER, false },        { NULL, "abc", NULL, BOOT_UNKNOWN, false },
	{ NULL, "abc", NULL, BOOT_OTHER, false },        { NULL, NULL, NULL, BOOT_UNKNOWN, false },
	{ NULL, NULL, NULL, BOOT_OTHER, false },         { "abc", "abc", "not ours", BOOT_SAME, false },
	{ "abc", "abc", "not ours", BOOT_OTHER, false },
};

START_TEST(test_recorded)
{
	write_notes(rows[_i].running);
	tell(BUILD_ID_KERNEL, rows[_i].kernel);
	tell("[vdso]", rows[_i].vdso);
	origin.boot = rows[_i].boot;
	ck_assert_int_eq(vdso_is_ours(&cfg, &vdso), rows[_i].ours);
	/* Without a recording, whatever the ids. */
	cfg.recorded = NULL;
	ck_assert(vdso_is_ours(&cfg, &vdso));
}
END_TEST

/* Two contradicting build ids prove nothing, nor does the kernel's id then. */
START_TEST(test_contradiction)
{
	write_notes("abc");
	tell(BUILD_ID_KERNEL, "abc");
	tell("[vdso]", "one");
	tell("[vdso]", "two");
	origin.boot = BOOT_SAME;
	ck_assert(!vdso_is_ours(&cfg, &vdso));
}
END_TEST

static const struct mapped_file *const kinds[] = { &vdso, &of_32_bits };

/* The vDSO's own build id, in the mapping or in the table, proves that it is ours, on any kernel. */
START_TEST(test_own)
{
	struct mapped_file file = *kinds[_i];
	struct build_id id;
	struct elf_file f;

	if (vdso_open_mapped(&file, &f)) /* in valgrind, and see test_image_of_32_bits */
		return;
	id = f.build_id;
	elf_file_release(&f);
	if (!id.size)
		return;
	write_notes("abc");
	tell(BUILD_ID_KERNEL, "xyz");
	origin.boot = BOOT_OTHER;
	ck_assert(!vdso_is_ours(&cfg, kinds[_i]));
	memcpy(file.build_id, id.bytes, id.size);
	file.build_id_size = id.size;
	ck_assert(vdso_is_ours(&cfg, &file));
	file.build_id[0] ^= 1;
	ck_assert(!vdso_is_ours(&cfg, &file));
	ck_assert_int_eq(build_ids_add(table, file.path, id.bytes, id.size), 0);
	ck_assert(vdso_is_ours(&cfg, kinds[_i]));
	ck_assert(!vdso_is_ours(&cfg, kinds[!_i])); /* of the other path nothing is known */
	ck_assert(!vdso_is_ours(&cfg, &file));      /* the mapping's own id comes first */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vdso");
	TCase *tc = tcase_create("vdso");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_image);
	tcase_add_test(tc, test_image_of_32_bits);
	tcase_add_loop_test(tc, test_recorded, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, test_contradiction);
	tcase_add_loop_test(tc, test_own, 0, ARRAY_SIZE(kinds));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
