// SPDX-License-Identifier: Apache-2.0
#include "core/files/build_ids.h"
#include "tests/unit/elf_image.h"

#include <limits.h>

#define ID20 "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14"
#define ID_Z "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

static const struct {
	const char *bytes;
	size_t size, kept; /* 0: refused */
} ids[] = {
	{ ID20, 20, 20 },     { ID20, 16, 16 },      { ID20, 1, 1 },         { "\x01\0\x03\0\0\0", 6, 3 },
	{ "\0\0\x03", 3, 3 }, { ID20, 0, 0 },        { ID20 "\x15", 21, 0 }, { ID20 "\0", 21, 0 },
	{ ID20 ID20, 40, 0 }, { ID20, SIZE_MAX, 0 }, { ID20, 256, 0 },       { ID20, 276, 0 },
	{ ID_Z, 20, 0 },      { ID_Z, 1, 0 },        { ID_Z, 21, 0 },
};

START_TEST(test_set)
{
	struct build_id id = { 7, "xxxxxxx" }, again;

	ck_assert_int_eq(build_id_set(&id, ids[_i].bytes, ids[_i].size), ids[_i].kept != 0);
	ck_assert_uint_eq(id.size, ids[_i].kept);
	ck_assert_mem_eq(id.bytes, ids[_i].bytes, ids[_i].kept);
	again = id;
	ck_assert_int_eq(build_id_equal(&id, &again), ids[_i].kept != 0);
}
END_TEST

START_TEST(test_hex)
{
	struct build_id id = { 0 };
	char hex[2 * BUILD_ID_MAX + 1] = "x";

	build_id_hex(&id, hex);
	ck_assert_str_eq(hex, "");
	ck_assert(build_id_set(&id, "\x0f\xa0\x01\0", 4));
	build_id_hex(&id, hex);
	ck_assert_str_eq(hex, "0fa001");
	ck_assert(build_id_set(&id, ID20, 20));
	build_id_hex(&id, hex);
	ck_assert_str_eq(hex, "0102030405060708090a0b0c0d0e0f1011121314");
}
END_TEST

static const struct {
	const char *a, *b;
	size_t na, nb;
	bool equal;
} pairs[] = {
	{ ID20, ID20, 20, 20, true },    { "abc\0\0", "abc", 5, 3, true }, /* as older recordings write it */
	{ ID20, ID20, 20, 19, false },   { "abc", "abd", 3, 3, false },         { "abc", "ab", 3, 2, false },
	{ "\0abc", "abc", 4, 3, false }, { ID_Z, ID_Z, 20, 20, false },         { "", "", 0, 0, false },
	{ "a", "", 1, 0, false },        { ID20 "x", ID20 "x", 21, 21, false },
};

#define LONGEST "000102030405060708090a0b0c0d0e0f10111213"

static const struct {
	const char *hex, *same; /* NULL: not a build id */
} texts[] = {
	{ "ab", "ab" },         { "AB00", NULL },      { "0012", "0012" }, { LONGEST, LONGEST }, { "", NULL },
	{ "a", NULL },          { "abc", NULL },       { "a ", NULL },     { " a", NULL },       { "0x", NULL },
	{ "ab-", NULL },        { "ab cd", NULL },     { "+1", NULL },     { "zz", NULL },       { "abzz", NULL },
	{ LONGEST "14", NULL }, { LONGEST "1", NULL }, { "ab00", "ab" },   { "0000", NULL },
};

START_TEST(test_parse)
{
	char hex[2 * BUILD_ID_MAX + 1];
	struct build_id id;

	memset(&id, 0xff, sizeof(id));
	ck_assert(build_id_parse(&id, texts[_i].hex) == !!texts[_i].same);
	build_id_hex(&id, hex);
	ck_assert_str_eq(hex, texts[_i].same ? texts[_i].same : "");
}
END_TEST

START_TEST(test_equal)
{
	struct build_id a, b;

	build_id_set(&a, pairs[_i].a, pairs[_i].na);
	build_id_set(&b, pairs[_i].b, pairs[_i].nb);
	ck_assert_int_eq(build_id_equal(&a, &b), pairs[_i].equal);
	ck_assert_int_eq(build_id_equal(&b, &a), pairs[_i].equal);
}
END_TEST

struct note {
	uint32_t type;
	const char *name;
	uint32_t name_len;
	const char *desc;
	uint32_t desc_len;
};

#define GNU(desc, len)                                                                                                 \
	{                                                                                                              \
		NT_GNU_BUILD_ID, "GNU", 4, desc, len                                                                   \
	}

static const struct {
	struct note notes[3];
	const char *found; /* NULL: none */
	size_t size;
} files[] = {
	{ { GNU(ID20, 20) }, ID20, 20 },
	{ { GNU("abcdefgh", 8) }, "abcdefgh", 8 },
	{ { GNU("abc", 3) }, "abc", 3 },
	{ { GNU("abc\0\0", 5) }, "abc", 3 },
	{ { { NT_GNU_ABI_TAG, "GNU", 4, ID20, 16 }, GNU("abc", 3) }, "abc", 3 },
	{ { { NT_GNU_BUILD_ID, "Linux", 6, "xyz", 3 }, { 0x100, "Linux", 6, "", 0 }, GNU("abc", 3) }, "abc", 3 },
	{ { { 1, "", 0, "", 0 }, GNU("abc", 3) }, "abc", 3 },
	{ { { 1, "five5", 5, "1", 1 }, { 1, "s", 1, "12345", 5 }, GNU("abc", 3) }, "abc", 3 },
	{ { GNU("first", 5), GNU("second", 6) }, "first", 5 },
	{ { GNU(ID_Z, 20), GNU("abc", 3) }, "abc", 3 },
	{ { GNU(ID20 "x", 21), GNU("abc", 3) }, "abc", 3 },
	{ { GNU("", 0), GNU("abc", 3) }, "abc", 3 },
	{ { GNU("", 0) }, NULL, 0 },
	{ { GNU(ID_Z, 20) }, NULL, 0 },
	{ { GNU(ID20 "x", 21) }, NULL, 0 },
	{ { GNU(ID20 ID20, 40) }, NULL, 0 },
	{ { { NT_GNU_BUILD_ID, "GNU", 3, ID20, 20 } }, NULL, 0 },
	{ { { NT_GNU_BUILD_ID, "GNU\0", 5, ID20, 20 } }, NULL, 0 },
	{ { { NT_GNU_BUILD_ID, "gnu", 4, ID20, 20 } }, NULL, 0 },
	{ { { NT_GNU_BUILD_ID, "", 0, ID20, 20 } }, NULL, 0 },
	{ { { NT_GNU_ABI_TAG, "GNU", 4, ID20, 20 } }, NULL, 0 },
	{ { { NT_GNU_PROPERTY_TYPE_0, "GNU", 4, ID20, 16 } }, NULL, 0 },
	{ { { 0x03000000, "GNU", 4, ID20, 20 } }, NULL, 0 },
};

/* Exactly these bytes, so that a sanitizer finds each read beyond them. */
static bool parse(const void *bytes, size_t len, uint64_t align, struct build_id *id)
{
	unsigned char *copy = malloc(len ? len : 1);
	bool found;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, len);
	found = build_id_of_notes(copy, len, align, id);
	free(copy);
	return found;
}

START_TEST(test_notes)
{
	static const struct {
		size_t align;
		uint64_t said;
	} forms[] = { { 4, 4 }, { 4, 1 }, { 4, 0 }, { 4, UINT64_MAX }, { 8, 8 } };
	unsigned char bytes[512];
	struct build_id id;
	size_t i, n, len;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		for (n = len = 0; n < 3 && files[_i].notes[n].name; n++) {
			const struct note *note = &files[_i].notes[n];

			len += image_note(bytes + len, ELFDATA2LSB, forms[i].align, note->type, note->name,
					  note->name_len, note->desc, note->desc_len);
		}
		id = (struct build_id){ 9, "xxxxxxxxx" };
		ck_assert_int_eq(parse(bytes, len, forms[i].said, &id), files[_i].found != NULL);
		ck_assert_uint_eq(id.size, files[_i].size);
		ck_assert_mem_eq(id.bytes, files[_i].found ? files[_i].found : "", files[_i].size);
	}
}
END_TEST

/* Any lengths: of the name, of the description, of a note before the build id. */
static const struct {
	uint32_t name_len, desc_len;
	bool found;
} lengths[] = {
	{ 4, 4, true },
	{ 3, 4, true },
	{ 4, 1, true },
	{ 0, 8, true }, /* it ends at the same place */
	{ 4, 0, false },
	{ 0, 0, false },
	{ 4, 5, false },
	{ 5, 4, false },
	{ 4, UINT32_MAX, false },
	{ UINT32_MAX, 4, false },
	{ UINT32_MAX, UINT32_MAX, false },
	{ UINT32_MAX - 2, 4, false },
	{ UINT32_MAX - 15, 4, false },
	{ 4, UINT32_MAX - 15, false },
	{ 0x80000000, 0x80000000, false },
	{ 0x10000, 4, false },
	{ 4, 0x10000, false },
};

START_TEST(test_lengths)
{
	const uint32_t name_len = lengths[_i].name_len, desc_len = lengths[_i].desc_len;
	unsigned char bytes[128];
	struct build_id id;
	size_t len;

	len = image_note(bytes, ELFDATA2LSB, 4, 0xabc, "GNU", 4, "desc", 4);
	len += image_note(bytes + len, ELFDATA2LSB, 4, NT_GNU_BUILD_ID, "GNU", 4, "id", 2);
	memcpy(bytes, &name_len, 4);
	memcpy(bytes + 4, &desc_len, 4);
	ck_assert_int_eq(parse(bytes, len, 4, &id), lengths[_i].found);
	ck_assert_uint_eq(id.size, lengths[_i].found ? 2 : 0);
}
END_TEST

START_TEST(test_cut)
{
	unsigned char bytes[128];
	struct build_id id;
	size_t len, n;

	len = image_note(bytes, ELFDATA2LSB, 4, NT_GNU_ABI_TAG, "GNU", 4, "desc", 4);
	len += image_note(bytes + len, ELFDATA2LSB, 4, NT_GNU_BUILD_ID, "GNU", 4, "abcdefg", 7);
	for (n = 0; n < len - 1; n++) {
		ck_assert(!parse(bytes, n, 4, &id));
		ck_assert_uint_eq(id.size, 0);
	}
	ck_assert(parse(bytes, n, 4, &id)); /* without the last padding */
	ck_assert(parse(bytes, len, 4, &id));
	ck_assert_uint_eq(id.size, 7);
	len = image_note(bytes, ELFDATA2MSB, 4, NT_GNU_BUILD_ID, "GNU", 4, "abcdefg", 7);
	ck_assert(!parse(bytes, len, 4, &id));
}
END_TEST

static struct build_ids *b;

static void setup(void)
{
	b = build_ids_new();
	ck_assert_ptr_nonnull(b);
}

static void teardown(void)
{
	build_ids_free(b);
}

static const struct {
	const char *path, *id;
	size_t size;
	int rc;
} adds[] = {
	{ "/usr/bin/a", ID20, 20, 0 }, { "[kernel.kallsyms]", "a", 1, 0 }, { "\033[0m", "a", 1, 0 },
	{ "", ID20, 20, -EINVAL },     { "/a", ID20, 0, -EINVAL },         { "/a", ID20 "x", 21, -EINVAL },
	{ "/a", ID_Z, 20, -EINVAL },   { "/a", ID20, SIZE_MAX, -EINVAL },
};

START_TEST(test_add)
{
	const struct build_id *id;

	ck_assert_ptr_null(build_ids_find(b, adds[_i].path));
	ck_assert_int_eq(build_ids_add(b, adds[_i].path, adds[_i].id, adds[_i].size), adds[_i].rc);
	id = build_ids_find(b, adds[_i].path);
	ck_assert_int_eq(id != NULL, !adds[_i].rc);
	if (id) {
		ck_assert_uint_eq(id->size, adds[_i].size);
		ck_assert_mem_eq(id->bytes, adds[_i].id, adds[_i].size);
	}
	ck_assert_ptr_null(build_ids_find(b, "/usr/bin/"));
	ck_assert_ptr_null(build_ids_find(b, "/usr/bin/ab"));
	ck_assert_ptr_null(build_ids_find(NULL, adds[_i].path));
}
END_TEST

START_TEST(test_long_path)
{
	char path[PATH_MAX + 1];

	memset(path, 'x', sizeof(path));
	path[PATH_MAX] = 0;
	ck_assert_int_eq(build_ids_add(b, path, "a", 1), -EINVAL);
	ck_assert_ptr_null(build_ids_find(b, path));
	path[PATH_MAX - 1] = 0;
	ck_assert_int_eq(build_ids_add(b, path, "a", 1), 0);
	ck_assert_ptr_nonnull(build_ids_find(b, path));
}
END_TEST

START_TEST(test_contradiction)
{
	const struct build_id *id;

	ck_assert_int_eq(build_ids_add(b, "/a", "one", 3), 0);
	ck_assert_int_eq(build_ids_add(b, "/a", "one\0\0", 5), 0);
	ck_assert_int_eq(build_ids_add(b, "/a", ID_Z, 20), -EINVAL);
	id = build_ids_find(b, "/a");
	ck_assert_ptr_nonnull(id);
	ck_assert_uint_eq(id->size, 3);
	ck_assert_int_eq(build_ids_add(b, "/a", "two", 3), 0);
	ck_assert_int_eq(build_ids_add(b, "/b", "one", 3), 0);
	ck_assert_uint_eq(build_ids_find(b, "/a")->size, 0);
	/* a path that had two ids stays without one, even if one of them comes again */
	ck_assert_int_eq(build_ids_add(b, "/a", "one", 3), 0);
	ck_assert_uint_eq(build_ids_find(b, "/a")->size, 0);
	ck_assert_uint_eq(build_ids_find(b, "/b")->size, 3);
}
END_TEST

/* More paths, or longer ones together, than any recording has: there is a limit, and earlier paths stay. */
START_TEST(test_bounds)
{
	static char path[PATH_MAX];
	unsigned int i;
	int rc = 0;

	memset(path, 'x', sizeof(path) - 1);
	for (i = 0; !rc; i++) {
		ck_assert_uint_lt(i, 1u << 20);
		path[_i ? 4000 : 12] = 0;
		snprintf(path, 9, "%08x", i);
		path[8] = 'x';
		rc = build_ids_add(b, path, &(uint32_t){ i + 1 }, 4);
	}
	ck_assert_int_eq(rc, -E2BIG);
	ck_assert_ptr_null(build_ids_find(b, path));
	memcpy(path, "00000000", 8);
	ck_assert_ptr_nonnull(build_ids_find(b, path));
	ck_assert_int_eq(build_ids_add(b, path, "\x01", 1), 0);
	ck_assert_uint_eq(build_ids_find(b, path)->size, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("build_ids");
	TCase *tc = tcase_create("build_ids");

	tcase_add_test(tc, test_hex);
	tcase_add_loop_test(tc, test_parse, 0, ARRAY_SIZE(texts));
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_set, 0, ARRAY_SIZE(ids));
	tcase_add_loop_test(tc, test_equal, 0, ARRAY_SIZE(pairs));
	tcase_add_loop_test(tc, test_notes, 0, ARRAY_SIZE(files));
	tcase_add_loop_test(tc, test_lengths, 0, ARRAY_SIZE(lengths));
	tcase_add_test(tc, test_cut);
	tcase_add_loop_test(tc, test_add, 0, ARRAY_SIZE(adds));
	tcase_add_test(tc, test_long_path);
	tcase_add_test(tc, test_contradiction);
	tcase_add_loop_test(tc, test_bounds, 0, 2);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
