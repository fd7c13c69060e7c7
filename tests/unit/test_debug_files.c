// SPDX-License-Identifier: Apache-2.0
#include "core/files/debug_files.h"
#include "core/files/mapped_files.h"
#include "core/host/host.h"
#include "tests/elf_parse.h"
#include "tests/unit/elf_sections.h"

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <zlib.h>

/* A process whose root is not the host's. */
#define PID    42
#define INSIDE "proc/42/root"
#define HOST   "host"
#define USER   "user"
#define ID     "\x0f\xab\x01\x02\x03\x04\x05\x06"
#define OTHER  "\x0f\xab\x01\x02\x03\x04\x05\x07"
#define BUILD  "/.build-id/0f/ab010203040506.debug"
#define LINK   "app.debug"

static char *dir, proc[4096], root[4096], user[4096];
static struct host host;
static struct mapped_files_cfg cfg;
static struct debug_files search;
static bool by_path;
static struct elf_symbols *es;
static bool with_info;  /* files have debug information */
static bool of_partial; /* their .symtab is partial */
static unsigned int fds_before;

static void setup(void)
{
	fds_before = unit_open_fds();
	dir = unit_tmpdir();
	snprintf(proc, sizeof(proc), "%s/proc", dir);
	snprintf(root, sizeof(root), "%s/" HOST, dir);
	snprintf(user, sizeof(user), "%s/" USER, dir);
	unit_write(dir, HOST "/any", "", 0);
	unit_write(dir, INSIDE "/any", "", 0);
	unit_write(dir, USER "/any", "", 0);
	host = (struct host){ .proc = proc, .sys = proc };
	cfg = (struct mapped_files_cfg){ .host = &host, .root = root, .debug_dir = user };
	search = (struct debug_files){ .mapped = &cfg };
	es = NULL;
	with_info = of_partial = false;
}

static void teardown(void)
{
	elf_symbols_free(es);
	ck_assert_uint_eq(unit_open_fds(), fds_before);
	unit_rmdir(dir);
}

/*
 * ---- files: code at TEXT_ADDR, with one function there, called @symbol (NULL: no .symtab), of build @id (NULL: none).
 * A partial .symtab has another function, and fewer symbols.
 */

static void make(struct image *im, const char *symbol, const char *id, const void *link, size_t link_len,
		 const void *inside, size_t inside_len)
{
	unsigned char note[64];
	char names[64] = "";
	size_t note_len = id ? image_note(note, ELFDATA2LSB, 4, NT_GNU_BUILD_ID, "GNU", 4, id, 8) : 0;
	const uint64_t addr = of_partial ? TEXT_ADDR + 32 : TEXT_ADDR;
	const Elf64_Sym sym[] = { { 0 }, { 1, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, 1, addr, 16 }, { 0 } };
	const struct section v[] = {
		{ ".text", { 0, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT_ADDR, .sh_size = 64 }, NULL },
		{ ".symtab",
		  { .sh_type = symbol ? SHT_SYMTAB : SHT_NULL,
		    .sh_size = of_partial ? 48 : sizeof(sym),
		    .sh_link = 3,
		    .sh_entsize = 24 },
		  sym },
		{ ".strtab", { .sh_type = SHT_STRTAB, .sh_size = sizeof(names) }, names },
		{ ".note", { .sh_type = SHT_NOTE, .sh_size = note_len, .sh_addralign = 4 }, note },
		{ ".gnu_debuglink", { .sh_type = link ? SHT_PROGBITS : SHT_NULL, .sh_size = link_len }, link },
		{ ".debug_info", { .sh_type = with_info ? SHT_PROGBITS : SHT_NULL, .sh_size = 1 }, "" },
		{ ".gnu_debugdata", { .sh_type = inside ? SHT_PROGBITS : SHT_NULL, .sh_size = inside_len }, inside },
	};

	snprintf(names + 1, sizeof(names) - 1, "%s", symbol ? symbol : "");
	sections_build(im, v, ARRAY_SIZE(v));
}

static void write_debug(const char *path, const char *symbol, const char *id)
{
	struct image im;

	make(&im, symbol, id, NULL, 0, NULL, 0);
	unit_write(dir, path, im.bytes, im.len);
	image_release(&im);
}

/* A program of build @id with symbol @own (NULL: none) and an embedded file with "inside". It links to LINK, with the
 * CRC of a file of @symbol and @of. */
static void parse_with(const char *own, const char *id, const char *symbol, const char *of)
{
	unsigned char link[16] = LINK, packed[4096];
	size_t packed_len = 0;
	struct image im;
	uint32_t crc;

	make(&im, symbol, of, NULL, 0, NULL, 0);
	crc = (uint32_t)crc32(0, im.bytes, (uInt)im.len);
	memcpy(link + 12, &crc, sizeof(crc));
	image_release(&im);
	make(&im, "inside", id, NULL, 0, NULL, 0);
	ck_assert_int_eq(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, im.bytes, im.len, packed, &packed_len,
						 sizeof(packed)),
			 LZMA_OK);
	image_release(&im);
	of_partial = own;
	make(&im, own, id, link, sizeof(link), packed, packed_len);
	of_partial = false;
	ck_assert_int_eq(elf_symbols_parse(im.bytes, im.len, &es), 0);
	image_release(&im);
}

static void parse_program(const char *id, const char *symbol, const char *of)
{
	parse_with(NULL, id, symbol, of);
}

static const char *name_at(uint64_t addr)
{
	struct elf_symbol s;

	return elf_symbols_find(es, addr, &s) ? s.name : "-";
}

static const char *name(void)
{
	return name_at(TEXT_ADDR);
}

/* ---- where debug files are found */

/* Debug files: each has its own symbol and build; the symbol "linked" marks the target of a link. */
static const struct {
	struct {
		const char *path, *symbol, *id;
	} files[3];
	const char *found;
} places[] = {
	{ { { USER BUILD, "user", ID }, { HOST "/usr/lib/debug" BUILD, "host", ID } }, "user" },
	{ { { HOST "/usr/lib/debug" BUILD, "host", ID }, { HOST "/usr/lib/debug/opt/app/" LINK, "linked", ID } },
	  "host" },
	{ { { USER "/opt/app/" LINK, "linked", ID } }, "linked" },
	{ { { HOST "/usr/lib/debug/opt/app/" LINK, "linked", ID } }, "linked" },
	{ { { INSIDE "/usr/lib/debug/opt/app/" LINK, "linked", ID } }, "linked" },
	{ { { INSIDE "/opt/app/" LINK, "linked", ID } }, "linked" },
	{ { { INSIDE "/opt/app/.debug/" LINK, "linked", ID } }, "linked" },
	{ { { HOST "/opt/app/" LINK, "linked", ID } }, "linked" },
	{ { { HOST "/opt/app/.debug/" LINK, "linked", ID } }, "linked" },
	/* the first has no symbols, or belongs to another build: use the next */
	{ { { USER BUILD, NULL, ID }, { HOST "/usr/lib/debug" BUILD, "host", ID } }, "host" },
	{ { { USER BUILD, "user", OTHER }, { HOST "/usr/lib/debug" BUILD, "host", ID } }, "host" },
	{ { { USER BUILD, "user", NULL }, { HOST "/usr/lib/debug" BUILD, "host", ID } }, "host" },
	{ { { HOST "/usr/lib/debug" BUILD, NULL, ID }, { INSIDE "/opt/app/" LINK, "linked", ID } }, "linked" },
	{ { { INSIDE "/opt/app/" LINK, "wrong", ID }, { INSIDE "/opt/app/.debug/" LINK, "linked", ID } }, "linked" },
	{ { { USER "/opt/app/" LINK, "wrong", ID }, { INSIDE "/opt/app/" LINK, "linked", ID } }, "linked" },
	/* no match */
	{ { { NULL } }, "inside" },
	{ { { USER BUILD, "user", OTHER }, { HOST "/usr/lib/debug" BUILD, "host", OTHER } }, "inside" },
	{ { { USER BUILD, NULL, ID }, { HOST "/usr/lib/debug" BUILD, NULL, ID } }, "inside" },
	{ { { USER "/usr/lib/debug" BUILD, "user", ID } }, "inside" },
	{ { { INSIDE "/usr/lib/debug" BUILD, "hostile", ID } }, "inside" },
	{ { { INSIDE BUILD, "hostile", ID } }, "inside" },
	{ { { INSIDE "/opt/app/" LINK, "linkee", ID } }, "inside" },
	{ { { INSIDE "/opt/app/" LINK, "linked", NULL } }, "inside" },
	{ { { INSIDE "/opt/app/" LINK, NULL, ID } }, "inside" },
	{ { { INSIDE "/opt/" LINK, "linked", ID } }, "inside" },
	{ { { INSIDE "/" LINK, "linked", ID } }, "inside" },
	{ { { USER "/" LINK, "linked", ID } }, "inside" },
	{ { { HOST "/usr/lib/debug/" LINK, "linked", ID } }, "inside" },
	{ { { INSIDE "/opt/app/app", "linked", ID } }, "inside" },
};

static void write_place_files(int place)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places[place].files) && places[place].files[i].path; i++)
		write_debug(places[place].files[i].path, places[place].files[i].symbol, places[place].files[i].id);
}

static const struct mapped_file program = { .path = "/opt/app/app", .ino = 77 };

START_TEST(test_place)
{
	write_place_files(_i);
	parse_program(ID, "linked", ID);
	ck_assert_int_eq(debug_files_add(&search, PID, &program, es, &by_path), 0);
	ck_assert_str_eq(name(), places[_i].found);
	ck_assert_int_eq(debug_files_add(&search, PID, &program, es, &by_path), 0); /* does not want more */
}
END_TEST

/* The same for a program that has a .symtab, with another symbol: its own name stays, and no file is looked for before
 * names are wanted. */
START_TEST(test_partial)
{
	bool found = strcmp(places[_i].found, "-") != 0;

	write_place_files(_i);
	parse_with("kept", ID, "linked", ID);
	ck_assert(!elf_symbols_wants_debug(es));
	ck_assert(!elf_symbols_want_names(es)); /* nothing was looked up yet */
	ck_assert_int_eq(debug_files_add(&search, PID, &program, es, &by_path), 0);
	ck_assert(by_path); /* it may be, later */
	ck_assert_str_eq(name(), "-");
	ck_assert_str_eq(name_at(TEXT_ADDR + 32), "kept");
	ck_assert(elf_symbols_want_names(es));
	ck_assert(elf_symbols_wants_debug(es));
	ck_assert_int_eq(debug_files_add(&search, PID, &program, es, &by_path), found ? 0 : -ENOENT);
	ck_assert_str_eq(name(), places[_i].found);
	ck_assert_str_eq(name_at(TEXT_ADDR + 32), "kept");
	ck_assert(!elf_symbols_want_names(es) && !elf_symbols_wants_debug(es));
}
END_TEST

/* A debug file with as many symbols as the program is skipped: the embedded file is used. */
START_TEST(test_whole)
{
	of_partial = true;
	write_debug(USER BUILD, "debug", ID);
	of_partial = false;
	parse_with("own", ID, "linked", NULL);
	ck_assert_str_eq(name_at(TEXT_ADDR + 32), "own");
	ck_assert(elf_symbols_want_names(es));
	ck_assert_int_eq(debug_files_add(&search, PID, &program, es, &by_path), 0);
	ck_assert_str_eq(name(), "inside");
	ck_assert_str_eq(name_at(TEXT_ADDR + 32), "own");
}
END_TEST

/* Debug information is used at once, names only when they are wanted. */
START_TEST(test_partial_info)
{
	with_info = true;
	write_debug(USER BUILD, "debug", ID);
	with_info = false;
	parse_with("kept", ID, "linked", ID);
	elf_symbols_want_lines(es);
	ck_assert(elf_symbols_wants_debug(es));
	ck_assert_int_eq(debug_files_add(&search, PID, &program, es, &by_path), 0);
	ck_assert_int_ge(elf_symbols_lines_fd(es), 0);
	ck_assert_str_eq(name(), "-");
	ck_assert(elf_symbols_want_names(es));
	ck_assert_int_eq(debug_files_add(&search, PID, &program, es, &by_path), 0);
	ck_assert_str_eq(name(), "debug");
	ck_assert_str_eq(name_at(TEXT_ADDR + 32), "kept");
	ck_assert_int_ge(elf_symbols_lines_fd(es), 0);
}
END_TEST

/*
 * Symbols and debug information of the program and of its debug file: what is taken from the second, and where debug
 * information is found.
 */
static const struct {
	struct {
		bool symbols, info;
	} program, debug;
	const char *name;
	const char *lines; /* NULL: nowhere */
} infos[] = {
	{ { true, true }, { true, true }, "program", INSIDE "/opt/app/app" },
	{ { true, false }, { true, true }, "program", USER BUILD },
	{ { true, false }, { false, true }, "program", USER BUILD },
	{ { true, false }, { true, false }, "program", NULL },
	{ { true, false }, { false, false }, "program", NULL },
	{ { true, true }, { false, false }, "program", INSIDE "/opt/app/app" },
	{ { false, false }, { true, true }, "debug", USER BUILD },
	{ { false, true }, { true, true }, "debug", INSIDE "/opt/app/app" },
	{ { false, false }, { true, false }, "debug", NULL },
	{ { false, false }, { false, true }, "-", NULL },
	{ { false, false }, { false, false }, "-", NULL },
	{ { false, true }, { false, false }, "-", INSIDE "/opt/app/app" },
};

START_TEST(test_info)
{
	bool wanted;
	char path[8192];
	struct stat st;
	int fd, rc;

	with_info = infos[_i].program.info;
	write_debug(INSIDE "/opt/app/app", infos[_i].program.symbols ? "program" : NULL, ID);
	with_info = infos[_i].debug.info;
	write_debug(USER BUILD, infos[_i].debug.symbols ? "debug" : NULL, ID);
	snprintf(path, sizeof(path), "%s/" INSIDE "/opt/app/app", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(elf_symbols_open(fd, &es), 0);
	close(fd);
	elf_symbols_want_lines(es);
	wanted = elf_symbols_wants_debug(es);
	ck_assert_int_eq(wanted, !infos[_i].program.symbols || !infos[_i].program.info);
	rc = debug_files_add(&search, PID, &program, es, &by_path);
	ck_assert(!rc || (wanted && rc == -ENOENT));
	ck_assert_str_eq(name(), infos[_i].name);
	fd = elf_symbols_lines_fd(es);
	ck_assert_int_eq(fd >= 0, infos[_i].lines != NULL);
	if (infos[_i].lines) {
		ck_assert_int_eq(fstat(fd, &st), 0);
		ck_assert_uint_eq(st.st_ino, unit_inode(dir, infos[_i].lines));
	}
}
END_TEST

/* Symbols are enough if no debug information is wanted. */
START_TEST(test_info_unwanted)
{
	write_debug(USER BUILD, "debug", ID);
	parse_program(ID, "linked", ID);
	ck_assert(elf_symbols_wants_debug(es));
	ck_assert_int_eq(debug_files_add(&search, PID, &program, es, &by_path), 0);
	ck_assert(!elf_symbols_wants_debug(es));
	elf_symbols_want_lines(es);
	ck_assert(elf_symbols_wants_debug(es));
	ck_assert_int_eq(elf_symbols_lines_fd(es), -1);
}
END_TEST

/* Zeros at the end of the id are in the file's name, but not in the known id. */
START_TEST(test_zeros)
{
	write_debug(USER "/.build-id/0f/ab010203000000.debug", "user", "\x0f\xab\x01\x02\x03\0\0\0");
	parse_program("\x0f\xab\x01\x02\x03\0\0\0", "linked", ID);
	ck_assert_int_eq(debug_files_add(&search, PID, &program, es, &by_path), 0);
	ck_assert_str_eq(name(), "user");
	ck_assert(!by_path);
}
END_TEST

/* Without a build id, the CRC is checked. */
START_TEST(test_no_build)
{
	write_debug(USER BUILD, "user", ID);
	write_debug(INSIDE "/opt/app/" LINK, "linked", _i ? NULL : ID);
	parse_program(NULL, "linked", NULL);
	cfg.debug_dir = NULL;
	ck_assert_int_eq(debug_files_add(&search, PID, &program, es, &by_path), 0);
	ck_assert_str_eq(name(), _i ? "linked" : "inside");
	ck_assert(by_path);
}
END_TEST

/* Something else at the path of the debug file is left alone, and does not block. */
static const struct {
	const char *path, *link; /* NULL: a FIFO */
	const char *found;
} others[] = {
	{ USER BUILD, NULL, "inside" },
	{ USER BUILD, "..", "inside" },
	{ USER BUILD, "/dev/null", "inside" },
	{ USER BUILD, "nowhere", "inside" },
	{ USER BUILD, "../../real", "linked" }, /* the user's own directory */
	{ INSIDE "/opt/app/" LINK, NULL, "inside" },
	{ INSIDE "/opt/app/" LINK, "/dev/null", "inside" },
	{ INSIDE "/opt/app/" LINK, "../../../../../user/real", "inside" },
	{ INSIDE "/opt/app/.debug", "../../../../../user", "inside" },
	{ HOST "/usr/lib/debug/opt", "../../../../user", "inside" },
};

START_TEST(test_other)
{
	char path[8192];
	char *slash;

	write_debug(USER "/real", "linked", ID);
	write_debug(USER "/" LINK, "linked", ID);
	write_debug(USER "/app/" LINK, "linked", ID);
	snprintf(path, sizeof(path), "%s", others[_i].path);
	slash = strrchr(path, '/');
	snprintf(slash, sizeof(path) - (size_t)(slash - path), "/any");
	unit_write(dir, path, "", 0);
	snprintf(path, sizeof(path), "%s/%s", dir, others[_i].path);
	ck_assert_int_eq(others[_i].link ? symlink(others[_i].link, path) : mkfifo(path, 0600), 0);
	parse_program(ID, "linked", ID);
	ck_assert_int_eq(debug_files_add(&search, PID, &program, es, &by_path), 0);
	ck_assert_str_eq(name(), others[_i].found);
}
END_TEST

/* Invalid paths. */
START_TEST(test_path)
{
	static const char *const paths[] = {
		"app", "", "/", "[vdso]", "//anon", "/opt/../opt/app/app", "/memfd:x/app"
	};
	char longest[5000] = "/opt/app/";
	struct mapped_file f = { .path = longest };

	memset(longest + strlen(longest), '/', sizeof(longest) - strlen(longest) - 1);
	if (_i < (int)ARRAY_SIZE(paths))
		f.path = paths[_i];
	write_debug(INSIDE "/opt/app/" LINK, "linked", ID);
	parse_program(ID, "linked", ID);
	ck_assert_int_eq(debug_files_add(&search, PID, &f, es, &by_path), 0);
	ck_assert_str_eq(name(), "inside");
}
END_TEST

/* A file that only some users may read is not read on behalf of a program. */
START_TEST(test_private)
{
	static const struct {
		const char *where;
		mode_t mode;
		bool read;
	} files[] = {
		{ INSIDE "/opt/app/" LINK, 0604, true },
		{ INSIDE "/opt/app/" LINK, 0600, false },
		{ INSIDE "/opt/app/" LINK, 0660, false },
		{ INSIDE "/opt/app/.debug/" LINK, 0640, false },
		{ HOST "/usr/lib/debug/opt/app/" LINK, 0640, false },
		{ USER "/opt/app/" LINK, 0600, true },
	};
	char path[8192];

	write_debug(files[_i].where, "linked", ID);
	snprintf(path, sizeof(path), "%s/%s", dir, files[_i].where);
	ck_assert_int_eq(chmod(path, files[_i].mode), 0);
	parse_program(ID, "linked", ID);
	ck_assert_int_eq(debug_files_add(&search, PID, &program, es, &by_path), 0);
	ck_assert_str_eq(name(), files[_i].read ? "linked" : "inside");
}
END_TEST

START_TEST(test_too_much)
{
	char path[8192];

	write_debug(INSIDE "/opt/app/" LINK, "linked", ID);
	parse_program(ID, "linked", ID);
	if (_i) {
		search.crc_read = 8ull << 30;
	} else {
		snprintf(path, sizeof(path), "%s/" INSIDE "/opt/app/" LINK, dir);
		ck_assert_int_eq(truncate(path, (1 << 30) + 1), 0);
	}
	ck_assert_int_eq(debug_files_add(&search, PID, &program, es, &by_path), 0);
	ck_assert_str_eq(name(), "inside");
	ck_assert_uint_eq(search.crc_read, _i ? 8ull << 30 : 0);
}
END_TEST

/* ---- .gnu_debuglink */

#define N255                                                                                                           \
	"012345678901234567890123456789012345678901234567890123456789012"                                              \
	"012345678901234567890123456789012345678901234567890123456789012"                                              \
	"012345678901234567890123456789012345678901234567890123456789012"                                              \
	"012345678901234567890123456789012345678901234567890123456789012abc"

static const struct {
	const char *bytes;
	size_t len;
	const char *name; /* NULL: none */
} links[] = {
	{ "abc\0\1\2\3\4", 8, "abc" },
	{ "a\0\0\0\1\2\3\4", 8, "a" },
	{ "abcd\0\0\0\0\1\2\3\4", 12, "abcd" },
	{ "abc\0\1\2\3\4more", 12, "abc" },
	{ "...\0\1\2\3\4", 8, "..." },
	{ N255 "\0\1\2\3\4", 260, N255 },
	{ "", 0, NULL },
	{ "abc", 3, NULL },
	{ "abc\0", 4, NULL },
	{ "abc\0\1\2\3", 7, NULL },
	{ "abcd\0\1\2\3\4", 9, NULL },
	{ "abcdefgh", 8, NULL },
	{ "\0\0\0\0\1\2\3\4", 8, NULL },
	{ ".\0\0\0\1\2\3\4", 8, NULL },
	{ "..\0\0\1\2\3\4", 8, NULL },
	{ "a/b\0\1\2\3\4", 8, NULL },
	{ "/ab\0\1\2\3\4", 8, NULL },
	{ "../a\0\0\0\0\1\2\3\4", 12, NULL },
	{ "ab/\0\1\2\3\4", 8, NULL },
	{ N255 "d\0\0\0\0\1\2\3\4", 264, NULL },
	{ N255 N255, 510, NULL },
};

START_TEST(test_link)
{
	const char *found = "untouched";
	uint32_t crc = 7;
	struct image im;

	make(&im, NULL, NULL, links[_i].bytes, links[_i].len, NULL, 0);
	ck_assert_int_eq(elf_symbols_parse(im.bytes, im.len, &es), 0);
	image_release(&im);
	ck_assert_int_eq(elf_symbols_debuglink(es, &found, &crc), links[_i].name != NULL);
	ck_assert_str_eq(found, links[_i].name ? links[_i].name : "untouched");
	ck_assert_uint_eq(crc, links[_i].name ? 0x04030201 : 7);
}
END_TEST

/* ---- .gnu_debugdata */

/* The embedded file, with byte @at changed, without its last @cut bytes, and with @pad zeros in it. */
static const struct {
	size_t at, cut, pad;
	lzma_check check;
	uint32_t preset;
	int rc;
} insides[] = {
	{ 0, 0, 0, LZMA_CHECK_CRC32, 6, 0 },          { 0, 0, 0, LZMA_CHECK_CRC64, 0, 0 },
	{ 0, 0, 0, LZMA_CHECK_NONE, 8, 0 },           { 0, 0, 100000, LZMA_CHECK_CRC32, 6, 0 },
	{ 0, 0, 60 << 20, LZMA_CHECK_CRC32, 0, 0 },   { 0, 0, 64 << 20, LZMA_CHECK_CRC32, 0, -E2BIG },
	{ 0, 0, 0, LZMA_CHECK_CRC32, 9, 0 },          { 0, 0, 0, LZMA_CHECK_CRC32, 9 | LZMA_PRESET_EXTREME, 0 },
	{ 1, 0, 0, LZMA_CHECK_CRC32, 6, -EBADMSG },   { 7, 0, 0, LZMA_CHECK_CRC32, 6, -EBADMSG },
	{ 13, 0, 0, LZMA_CHECK_CRC32, 6, -EBADMSG },  { 60, 0, 0, LZMA_CHECK_CRC32, 6, -EBADMSG },
	{ 0, 1, 0, LZMA_CHECK_CRC32, 6, -EBADMSG },   { 0, 20, 0, LZMA_CHECK_CRC32, 6, -EBADMSG },
	{ 0, 100, 0, LZMA_CHECK_CRC32, 6, -EBADMSG }, { 0, 20, 100000, LZMA_CHECK_CRC32, 6, -EBADMSG },
};

START_TEST(test_inside)
{
	size_t cap, len = 0;
	unsigned char *packed;
	struct image im, file;
	int rc;

	make(&im, "inside", NULL, NULL, 0, NULL, 0);
	im.bytes = realloc(im.bytes, im.len + insides[_i].pad);
	ck_assert_ptr_nonnull(im.bytes);
	memset(im.bytes + im.len, 0, insides[_i].pad);
	cap = lzma_stream_buffer_bound(im.len + insides[_i].pad);
	packed = malloc(cap);
	ck_assert_ptr_nonnull(packed);
	ck_assert_int_eq(lzma_easy_buffer_encode(insides[_i].preset, insides[_i].check, NULL, im.bytes,
						 im.len + insides[_i].pad, packed, &len, cap),
			 LZMA_OK);
	image_release(&im);
	if (insides[_i].at)
		packed[insides[_i].at] ^= 0x55;
	ck_assert_uint_gt(len, insides[_i].cut);
	make(&file, NULL, NULL, NULL, 0, packed, len - insides[_i].cut);
	free(packed);
	ck_assert_int_eq(elf_symbols_parse(file.bytes, file.len, &es), 0);
	image_release(&file);
	rc = elf_symbols_add_inside(es);
	ck_assert_int_eq(rc, insides[_i].rc);
	ck_assert_str_eq(name(), rc ? "-" : "inside");
	/* A large file counts even if it is useless. */
	if (insides[_i].pad > 1 << 20)
		ck_assert_uint_gt(elf_symbols_read(es), 1 << 20);
}
END_TEST

/* Correctly compressed, but with invalid contents. */
START_TEST(test_inside_broken)
{
	unsigned char bytes[] = "not an ELF file", packed[256];
	size_t len = 0, size = _i ? sizeof(bytes) : 0;
	struct image im;

	ck_assert_int_eq(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, bytes, size, packed, &len, sizeof(packed)),
			 LZMA_OK);
	make(&im, NULL, NULL, NULL, 0, packed, len);
	ck_assert_int_eq(elf_symbols_parse(im.bytes, im.len, &es), 0);
	image_release(&im);
	ck_assert_int_eq(elf_symbols_add_inside(es), -ENOEXEC);
	ck_assert_int_eq(elf_symbols_add_inside(es), -ENOEXEC);
	ck_assert_str_eq(name(), "-");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("debug_files");
	TCase *tc = tcase_create("debug_files");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_place, 0, ARRAY_SIZE(places));
	tcase_add_loop_test(tc, test_partial, 0, ARRAY_SIZE(places));
	tcase_add_test(tc, test_whole);
	tcase_add_test(tc, test_partial_info);
	tcase_add_loop_test(tc, test_info, 0, ARRAY_SIZE(infos));
	tcase_add_test(tc, test_info_unwanted);
	tcase_add_test(tc, test_zeros);
	tcase_add_loop_test(tc, test_no_build, 0, 2);
	tcase_add_loop_test(tc, test_other, 0, ARRAY_SIZE(others));
	tcase_add_loop_test(tc, test_path, 0, 8);
	tcase_add_loop_test(tc, test_private, 0, 6);
	tcase_add_loop_test(tc, test_too_much, 0, 2);
	tcase_add_loop_test(tc, test_link, 0, ARRAY_SIZE(links));
	tcase_add_loop_test(tc, test_inside, 0, ARRAY_SIZE(insides));
	tcase_add_loop_test(tc, test_inside_broken, 0, 2);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
