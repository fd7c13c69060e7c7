// SPDX-License-Identifier: Apache-2.0
/* Lines of this program itself, of copies of it that are cut or changed, and of files that are no ELF files. */
#include "core/files/elf_inflate.h"
#include "core/symbols/lines.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define INLINE static inline __attribute__((always_inline))

enum { AT_INNER, CALL_INNER, CALL_MIDDLE, AT_OUTER, AT_OTHER, CALL_OTHER };

/* The lines of outer() and of its inlined callees, known after it has run; and labels in its code. */
static unsigned int line_of[8];
static int fds_before;
extern const char mark_inner[], mark_outer[], mark_other[];

/* clang-format off */
INLINE void innermost(void)
{
	line_of[AT_INNER] = __LINE__; asm volatile(".globl mark_inner\nmark_inner: nop");
}

INLINE void middle(void)
{
	line_of[CALL_INNER] = __LINE__; innermost();
}

INLINE void other(void)
{
	line_of[AT_OTHER] = __LINE__; asm volatile(".globl mark_other\nmark_other: nop");
}

static __attribute__((noinline)) void outer(void)
{
	line_of[CALL_MIDDLE] = __LINE__; middle();
	line_of[AT_OUTER] = __LINE__; asm volatile(".globl mark_outer\nmark_outer: nop");
	line_of[CALL_OTHER] = __LINE__; other();
}
/* clang-format on */

static int first_object(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1;
}

static uint64_t address_of(const char *mark)
{
	uint64_t bias = 0;

	dl_iterate_phdr(first_object, &bias);
	return (uint64_t)(uintptr_t)mark - bias;
}

static struct lines *lines;
static int exe;

static void setup(void)
{
	fds_before = unit_open_fds();
	exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(exe, 0);
	lines = lines_new(LINES_INLINED | LINES_SOURCE, 0);
	ck_assert_ptr_nonnull(lines);
	outer();
}

static void teardown(void)
{
	lines_free(lines);
	close(exe);
	ck_assert_int_eq(unit_open_fds(), fds_before);
	/* A worker that is killed under valgrind may take longer to end than the wait. */
	if (!unit_below_valgrind())
		ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}

static uint32_t add_file(void)
{
	int64_t file = lines_add_file(lines);

	ck_assert_int_ge(file, 0);
	return (uint32_t)file;
}

/* "innermost 7, middle 8, - 9": names and lines. */
static const char *find(uint32_t file, int fd, uint64_t addr)
{
	static char text[64 * LINES_FRAMES];
	const struct lines_frame *f;
	size_t nr = lines_find(lines, file, fd, addr, &f), i, len = 0;

	text[0] = 0;
	for (i = 0; i < nr; i++) {
		ck_assert(f[i].file == NULL || !strcmp(f[i].file, "test_lines.c"));
		ck_assert_int_eq(f[i].name == NULL, i + 1 == nr);
		len += (size_t)snprintf(text + len, 64, "%s%s %u", i ? ", " : "", f[i].name ? f[i].name : "-",
					f[i].line);
	}
	return text;
}

static const char *expect(const char *fmt, unsigned int a, unsigned int b, unsigned int c)
{
	static char text[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), fmt, a, b, c);
#pragma GCC diagnostic pop
	return text;
}

static void assert_works(uint32_t file, int fd)
{
	ck_assert_str_eq(find(file, fd, address_of(mark_inner)),
			 expect("innermost %u, middle %u, - %u", line_of[AT_INNER], line_of[CALL_INNER],
				line_of[CALL_MIDDLE]));
	ck_assert_str_eq(find(file, fd, address_of(mark_outer)), expect("- %u", line_of[AT_OUTER], 0, 0));
	ck_assert_str_eq(find(file, fd, address_of(mark_other)),
			 expect("other %u, - %u", line_of[AT_OTHER], line_of[CALL_OTHER], 0));
}

START_TEST(test_self)
{
	uint32_t file = add_file();
	struct err why;

	assert_works(file, exe);
	assert_works(file, exe);
	ck_assert(!lines_skipped(lines, &why));
	ck_assert_str_eq(find(file, exe, 0), "");
	ck_assert_str_eq(find(file, exe, UINT64_MAX), "");
	ck_assert_str_eq(find(file, exe, address_of((const char *)&line_of)), "");
}
END_TEST

/* Unwanted results are left out. */
START_TEST(test_wanted)
{
	uint32_t file;

	lines_free(lines);
	lines = lines_new(LINES_INLINED, 0);
	file = add_file();
	ck_assert_str_eq(find(file, exe, address_of(mark_inner)), "innermost 0, middle 0, - 0");
	lines_free(lines);
	lines = lines_new(LINES_SOURCE, 0);
	file = add_file();
	ck_assert_str_eq(find(file, exe, address_of(mark_inner)), expect("- %u", line_of[AT_INNER], 0, 0));
}
END_TEST

/* More files than can be open at a time, and then all again. */
START_TEST(test_many_files)
{
	uint32_t files[40];
	int i, round;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < 40; i++) {
			files[i] = add_file();
			ck_assert_uint_eq(files[i], (unsigned int)i);
			assert_works(files[i], exe);
		}
		for (i = 39; i >= 0; i--) {
			ck_assert_str_eq(find(files[i], exe, address_of(mark_outer) + 1),
					 find(files[0], exe, address_of(mark_outer) + 1));
		}
		lines_forget(lines);
	}
	lines_renew(lines);
}
END_TEST

/* ---- copies */

static char *read_exe(size_t *len)
{
	struct stat st;
	char *bytes;

	ck_assert_int_eq(fstat(exe, &st), 0);
	bytes = malloc((size_t)st.st_size);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_int_eq(pread(exe, bytes, (size_t)st.st_size, 0), st.st_size);
	*len = (size_t)st.st_size;
	return bytes;
}

static int copy_of(const void *bytes, size_t len)
{
	int fd = memfd_create("copy", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
	return fd;
}

START_TEST(test_cut)
{
	static const unsigned int percent[] = { 0, 1, 10, 30, 50, 70, 90, 99 };
	size_t len, i;
	char *bytes = read_exe(&len);

	for (i = 0; i < ARRAY_SIZE(percent); i++) {
		int fd = copy_of(bytes, len / 100 * percent[i]);
		uint32_t file = add_file();

		ck_assert_str_eq(find(file, fd, address_of(mark_inner)), "");
		ck_assert_str_eq(find(file, fd, address_of(mark_outer)), "");
		close(fd);
	}
	free(bytes);
	assert_works(add_file(), exe);
}
END_TEST

/* If a file shrinks while it is open, reading it may kill the reader. */
START_TEST(test_shrinks)
{
	uint32_t file = add_file(), good = add_file();
	size_t len;
	char *bytes = read_exe(&len);
	int fd = copy_of(bytes, len);

	free(bytes);
	assert_works(file, fd);
	assert_works(good, exe);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	find(file, fd, address_of(mark_inner) + 1);
	find(file, fd, address_of(mark_outer) + 1);
	find(file, fd, address_of((const char *)(uintptr_t)lines_find));
	assert_works(file, fd); /* the answer is remembered */
	close(fd);
	ck_assert_str_ne(find(good, exe, address_of(mark_inner) + 1), "");
	assert_works(add_file(), exe);
}
END_TEST

START_TEST(test_no_files)
{
	static const char text[] = "#!/bin/sh\n", elf[] = "\177ELF\2\1\1";
	int fds[] = { copy_of("", 0),
		      copy_of(text, sizeof(text)),
		      copy_of(elf, sizeof(elf)),
		      open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		      open("/dev/null", O_RDONLY | O_CLOEXEC),
		      open("/dev/zero", O_RDONLY | O_CLOEXEC),
		      -1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		ck_assert_str_eq(find(add_file(), fds[i], address_of(mark_inner)), "");
		if (fds[i] >= 0)
			close(fds[i]);
	}
	assert_works(add_file(), exe);
}
END_TEST

/* The sections with the wanted data: their places in the file. */
struct part {
	size_t at, len;
};

static size_t debug_parts(struct part *parts, size_t max)
{
	Elf *elf;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names, nr = 0;

	elf_version(EV_CURRENT);
	elf = elf_begin(exe, ELF_C_READ, NULL);
	ck_assert_ptr_nonnull(elf);
	ck_assert_int_eq(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn)) && nr < max) {
		const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && !strncmp(name, ".debug_", 7) && sh.sh_size)
			parts[nr++] = (struct part){ sh.sh_offset, sh.sh_size };
	}
	elf_end(elf);
	return nr;
}

/* For any contents: an answer or none, in time, and the next file is read. */
START_TEST(test_changed)
{
	struct part parts[16];
	size_t len, nr = debug_parts(parts, ARRAY_SIZE(parts)), i;
	char *bytes = read_exe(&len), *changed = malloc(len);
	int round;

	ck_assert_ptr_nonnull(changed);
	ck_assert_uint_ge(nr, 4);
	srand((unsigned int)_i + 1);
	for (round = 0; round < 8; round++) {
		const struct lines_frame *f;
		uint32_t file = add_file();
		int fd;

		memcpy(changed, bytes, len);
		for (i = 0; i < (size_t)1 << round; i++) {
			const struct part *p = &parts[(size_t)rand() % nr];

			changed[p->at + (size_t)rand() % p->len] = (char)rand();
		}
		fd = copy_of(changed, len);
		lines_find(lines, file, fd, address_of(mark_inner), &f);
		lines_find(lines, file, fd, address_of(mark_outer), &f);
		lines_find(lines, file, fd, address_of((const char *)(uintptr_t)lines_find), &f);
		close(fd);
	}
	free(bytes);
	free(changed);
	assert_works(add_file(), exe);
}
END_TEST

/* ---- compressed sections */

#ifdef HAVE_ZSTD

/* Append @len bytes to *@bytes, which has *@size. Return: where they are. */
static size_t append(char **bytes, size_t *size, const void *what, size_t len)
{
	size_t at = (*size + 7) & ~(size_t)7;

	*bytes = realloc(*bytes, at + len);
	ck_assert_ptr_nonnull(*bytes);
	memset(*bytes + *size, 0, at - *size);
	memcpy(*bytes + at, what, len);
	*size = at + len;
	return at;
}

/* Compress a section with the header @ch, whose ch_size 0 stands for the right one. */
static void compress_section(char **bytes, size_t *size, Elf64_Shdr *sh, Elf64_Chdr ch)
{
	size_t cap = ZSTD_compressBound(sh->sh_size), len;
	char *out = malloc(cap);

	ck_assert_ptr_nonnull(out);
	len = ZSTD_compress(out, cap, *bytes + sh->sh_offset, sh->sh_size, 1);
	ck_assert(!ZSTD_isError(len));
	ch.ch_size = ch.ch_size ? ch.ch_size : sh->sh_size;
	sh->sh_offset = append(bytes, size, &ch, sizeof(ch));
	*size = sh->sh_offset + sizeof(ch); /* the stream follows the header, whatever its length is */
	*bytes = realloc(*bytes, *size + len);
	ck_assert_ptr_nonnull(*bytes);
	memcpy(*bytes + *size, out, len);
	*size += len;
	sh->sh_size = sizeof(ch) + len;
	sh->sh_flags |= SHF_COMPRESSED;
	free(out);
}

/* A copy of this program whose debug sections are compressed with zstd; or only the one called @only, if not NULL. */
static int compressed_copy(const char *only, Elf64_Chdr ch)
{
	size_t size, i, at;
	char *bytes = read_exe(&size);
	Elf64_Ehdr e;
	Elf64_Shdr names, sh;
	int fd;

	memcpy(&e, bytes, sizeof(e));
	memcpy(&names, bytes + e.e_shoff + e.e_shstrndx * sizeof(sh), sizeof(names));
	for (i = 0; i < e.e_shnum; i++) {
		const char *name;

		at = e.e_shoff + i * sizeof(sh);
		memcpy(&sh, bytes + at, sizeof(sh));
		name = bytes + names.sh_offset + sh.sh_name;
		if (strncmp(name, ".debug_", 7) != 0 || (only && strcmp(name, only) != 0))
			continue;
		compress_section(&bytes, &size, &sh, ch);
		memcpy(bytes + at, &sh, sizeof(sh));
	}
	fd = copy_of(bytes, size);
	free(bytes);
	return fd;
}

START_TEST(test_zstd)
{
	int fd = compressed_copy(NULL, (Elf64_Chdr){ .ch_type = ELFCOMPRESS_ZSTD, .ch_addralign = 1 });
	uint32_t file = add_file();
	struct err why;

	assert_works(file, fd);
	ck_assert(!lines_skipped(lines, &why));
	close(fd);
	assert_works(add_file(), exe);
}
END_TEST

/* Wrong headers of a section, and the reason in the warning about the file; NULL: no warning. */
static const struct {
	const char *section;
	uint32_t type;
	uint64_t size;
	const char *why;
} bad_headers[] = {
	{ ".debug_info", 3, 0, "it is compressed in an unknown way" },
	{ ".debug_line", UINT32_MAX, 0, "it is compressed in an unknown way" },
	{ ".debug_info", ELFCOMPRESS_ZSTD, 1, NULL },
	{ ".debug_info", ELFCOMPRESS_ZSTD, 50 << 20, NULL },
	{ ".debug_info", ELFCOMPRESS_ZSTD, 1ULL << 40, NULL },
	{ ".debug_info", ELFCOMPRESS_ZSTD, UINT64_MAX, NULL },
	{ ".debug_info", ELFCOMPRESS_ZLIB, 0, NULL },
};

START_TEST(test_bad_header)
{
	Elf64_Chdr ch = { .ch_type = bad_headers[_i].type, .ch_size = bad_headers[_i].size, .ch_addralign = 1 };
	int fd = compressed_copy(bad_headers[_i].section, ch);
	char want[256];
	struct err why;

	ck_assert_str_eq(find(add_file(), fd, address_of(mark_inner)), "");
	ck_assert_int_eq(lines_skipped(lines, &why), bad_headers[_i].why != NULL);
	snprintf(want, sizeof(want), "the debug information of 1 files was not read: %s", bad_headers[_i].why);
	if (bad_headers[_i].why)
		ck_assert_str_eq(why.msg, want);
	close(fd);
	assert_works(add_file(), exe);
}
END_TEST

#endif

START_TEST(test_free)
{
	lines_free(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lines");
	TCase *tc = tcase_create("lines");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_self);
	tcase_add_test(tc, test_wanted);
	tcase_add_test(tc, test_many_files);
	tcase_add_test(tc, test_cut);
	tcase_add_test(tc, test_shrinks);
	tcase_add_test(tc, test_no_files);
	tcase_add_loop_test(tc, test_changed, 0, 8);
#ifdef HAVE_ZSTD
	tcase_add_test(tc, test_zstd);
	tcase_add_loop_test(tc, test_bad_header, 0, ARRAY_SIZE(bad_headers));
#endif
	tcase_add_test(tc, test_free);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
