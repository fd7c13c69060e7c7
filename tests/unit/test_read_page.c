// SPDX-License-Identifier: Apache-2.0
/* Reading the data of a page: rows, frames and facts; damage, cuts, and numbers that are out of range. */
#include "core/formats/base64.h"
#include "core/formats/gzip.h"
#include "core/formats/page_data.h"
#include "core/formats/read.h"
#include "tests/unit/unit.h"

#include <sys/mman.h>

#define FRAMES  7
#define STRINGS "work\nmain\nread\nlibc.so.6\n0102aa\na.c\n0x1234\nvfs_read\nkernel\n-\n[libfoo.so]\nprog\nidle\n"

enum { NONE, WORK, MAIN, READ, LIBC, ID, FILE_A, ADDRESS, VFS_READ, KERNEL, DASH, LIBFOO, PROG, IDLE };

#define HEAD(unit, more)                                                                                               \
	"{\"unit\":\"" unit "\",\"before\":-1,\"columns\":[{},{}],\"cpus\":4,\"per_second\":100," more                 \
	"\"facts\":[[\"Kernel\",\"6.1\"],[\"Host\",\"h1\"],[\"Event\",\"cpu-clock\"],[1,\"Host\"],[\"Backend\",7],"    \
	"[\"Backend\",\"bpf\"],[\"Unwinder\",\"fp\"],[\"Time\",\"2026-01-02 03:04:05 UTC\"]]}"

/* Everything in the order of the data; see page_data.h. */
struct block {
	uint64_t nr, nr_values, nr_frames, nr_fresh;
	uint64_t dropped[3], added[3], sums[3], columns[4], values[4], places[8], fresh[8];
};

struct page {
	uint64_t nr_frames, frames[PAGE_FRAME_COLUMNS][FRAMES];
	uint64_t followers[FRAMES + 1], nodes;
	struct block blocks[2];
	uint64_t end;
};

/*
 * Frame 0 is the task, and the last one is another. The stacks: work;main;read, work;main;read;-;vfs_read,
 * work;main;[libfoo.so]; in a second block work;main, with values in both columns, and idle.
 */
static const struct page good = {
	.nr_frames = FRAMES,
	.frames = {
		{ PAGE_TASK, PAGE_USER, PAGE_USER, PAGE_KERNEL, PAGE_MARKER, PAGE_UNKNOWN, PAGE_TASK },
		{ 0, 0, 7, 0, 0, 0, 0 },
		{ WORK, MAIN, READ, VFS_READ, DASH, LIBFOO, IDLE },
		{ NONE, PROG, LIBC, KERNEL, NONE, NONE, NONE },
		{ NONE, NONE, ID, NONE, NONE, NONE, NONE },
		{ NONE, NONE, FILE_A, NONE, NONE, NONE, NONE },
		{ NONE, NONE, ADDRESS, NONE, NONE, NONE, NONE },
	},
	.followers = { 1, 2, 1, 0, 1, 0, 0, 2 },
	.nodes = 9,
	.blocks = {
		{ .nr = 3, .nr_values = 3, .nr_frames = 6, .nr_fresh = 6,
		  .dropped = { 0, 0, 3 }, .added = { 3, 2, 1 }, .sums = { 1, 1, 1 },
		  .columns = { 0, 1, 0 }, .values = { 5, 3, 200 },
		  .places = { 0, 0, 0, 0, 0, 0 }, .fresh = { 0, 1, 2, 4, 3, 5 } },
		{ .nr = 2, .nr_values = 3, .nr_frames = 3, .nr_fresh = 1,
		  .dropped = { 3, 2 }, .added = { 2, 1 }, .sums = { 2, 1 },
		  .columns = { 0, 1, 0 }, .values = { 4, 6, 1 },
		  .places = { 1, 1, 0 }, .fresh = { 6 } },
	},
};

/* ---- writing */

static struct {
	char v[8192];
	size_t nr;
} data;

static void put(const void *bytes, size_t len)
{
	ck_assert_uint_le(data.nr + len, sizeof(data.v));
	memcpy(data.v + data.nr, bytes, len);
	data.nr += len;
}

static void put_number(uint64_t n)
{
	char bytes[PAGE_NUMBER_MAX];

	put(bytes, page_number(n, bytes));
}

static void put_numbers(const uint64_t *n, size_t nr)
{
	for (; nr; nr--)
		put_number(*n++);
}

static void put_text(const char *text)
{
	put_number(strlen(text));
	put(text, strlen(text));
}

/* With the numbers of items of the good block, whatever the block says. */
static void put_block(const struct block *b, const struct block *sizes)
{
	size_t i;

	put_numbers(&b->nr, 4);
	put_numbers(b->dropped, sizes->nr);
	put_numbers(b->added, sizes->nr);
	put_numbers(b->sums, sizes->nr);
	put_numbers(b->columns, sizes->nr_values);
	put_numbers(b->values, sizes->nr_values);
	put_numbers(b->places, sizes->nr_frames);
	for (i = 0; i < sizes->nr_fresh; i++)
		put(&(const char){ (char)b->fresh[i] }, 1);
}

static void make(const char *head, const struct page *p)
{
	size_t i;

	data.nr = 0;
	put(PAGE_MAGIC, strlen(PAGE_MAGIC));
	put_text(head);
	put_text(STRINGS);
	put_number(p->nr_frames);
	put_numbers(p->frames[0], PAGE_FRAME_COLUMNS * FRAMES);
	put_numbers(p->followers, FRAMES + 1);
	put_number(p->nodes);
	for (i = 0; i < ARRAY_SIZE(p->blocks); i++)
		put_block(&p->blocks[i], &good.blocks[i]);
	put_number(p->end);
}

static void to_base64(void *to, const void *bytes, size_t len)
{
	base64_put(to, bytes, len);
}

/* The page: a name before the data that begins like it, then @data in @pieces of base64, then more. */
static char *page_of(size_t *len)
{
	static struct gzip_writer gzip;
	struct base64_writer base64 = { 0 };
	char *page = NULL;

	base64.out = open_memstream(&page, len);
	fputs("<!DOCTYPE html><script id=\"da<script id=\"data\" type=\"text/plain\">", base64.out);
	ck_assert_int_eq(gzip_begin(&gzip, to_base64, &base64), 0);
	gzip_put(&gzip, data.v, data.nr);
	gzip_end(&gzip);
	base64_end(&base64);
	fputs("</script>and more", base64.out);
	fclose(base64.out);
	return page;
}

/* ---- reading */

static struct read_about about;
static struct err err;

/* Return: the report as @form; NULL: it cannot be read, see @err. */
static char *read_bytes(const char *bytes, size_t len, const struct report_writer *form, const struct report_cfg *cfg)
{
	static const struct read_cfg wanted = { .delimited = true };
	int fd = memfd_create("page", MFD_CLOEXEC), rc;
	struct report_output o;
	struct infile *in;
	struct report *r;
	char path[64], *text = NULL;
	size_t size = 0;
	FILE *out;

	ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = (struct err){ 0 };
	about = (struct read_about){ 0 };
	ck_assert_msg(!infile_open(path, &in, &err), "%s", err.msg);
	close(fd);
	ck_assert_int_eq(report_new(form, cfg, &r, &err), 0);
	rc = read_page(in, r, &wanted, &about, &err);
	infile_close(in);
	ck_assert_int_eq(rc, err.code);
	if (!rc) {
		out = open_memstream(&text, &size);
		ck_assert(!report_begin(&o, out, form, NULL, NULL) && !report_print(r, &o, NULL, NULL) &&
			  !report_end(&o, true, NULL));
		fclose(out);
	}
	report_free(r);
	return text;
}

static char *read_data(const struct report_writer *form, const struct report_cfg *cfg)
{
	size_t len;
	char *page = page_of(&len), *text = read_bytes(page, len, form, cfg);

	free(page);
	return text;
}

static const struct report_cfg folded = { .delimited = true };

static const char all_rows[] = "idle 1\nwork;main;read;-;vfs_read 3\nwork;main;read 5\nwork;main 10\n"
			       "work;main;[libfoo.so] 200\n";

START_TEST(test_whole)
{
	char *text;

	make(HEAD("samples", ""), &good);
	text = read_data(&report_folded, &folded);
	ck_assert_msg(text, "%s", err.msg);
	ck_assert_str_eq(text, all_rows);
	free(text);
	ck_assert(about.unit_told);
	ck_assert_int_eq((int)about.unit, (int)UNIT_SAMPLES);
	ck_assert_uint_eq(about.period_ns, 10000000);
	ck_assert_uint_eq(about.samples, 219);
	ck_assert_str_eq(about.facts.host, "h1");
	ck_assert_str_eq(about.facts.kernel, "6.1");
	ck_assert_str_eq(about.facts.event, "cpu-clock");
	ck_assert_str_eq(about.facts.backend, "bpf");
	ck_assert_str_eq(about.facts.unwinder, "fp");
	ck_assert_uint_eq(about.facts.cpus, 4);
	ck_assert_int_eq(about.facts.time, 1767323045);
	read_about_release(&about);
}
END_TEST

/* Module, build id, address and line of a frame. */
START_TEST(test_frames)
{
	static const char *const parts[] = {
		"{\"name\":\"read\",\"kind\":\"user\",\"module\":\"libc.so.6\",\"build_id\":\"0102aa\",",
		"\"address\":\"0x1234\",\"file\":\"a.c\",\"line\":7}",
		"{\"name\":\"main\",\"kind\":\"user\",\"module\":\"prog\"}",
		"{\"name\":\"vfs_read\",\"kind\":\"kernel\",\"module\":\"kernel\"}",
		"\"kind\":\"unknown\",\"module\":\"libfoo.so\"}",
	};
	char *text;
	size_t i;

	make(HEAD("samples", ""), &good);
	text = read_data(&report_json, &folded);
	ck_assert_msg(text, "%s", err.msg);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		ck_assert_msg(strstr(text, parts[i]), "%s is not in %s", parts[i], text);
	free(text);
	read_about_release(&about);
}
END_TEST

static const struct {
	const char *head;
	const char *said; /* NULL: it can be read */
	enum report_unit unit;
	uint64_t period_ns;
} heads[] = {
	{ HEAD("us", ""), NULL, UNIT_USEC, 0 },
	{ HEAD("hours", ""), NULL, UNIT_SAMPLES, 10000000 },
	{ "{\"unit\":\"samples\",\"before\":-1,\"columns\":[1,2],\"per_second\":0.5}", NULL, UNIT_SAMPLES, 0 },
	{ "{\"unit\":\"samples\",\"before\":-1,\"columns\":[1,2],\"per_second\":1}", NULL, UNIT_SAMPLES, 1000000000 },
	{ "{\"unit\":\"samples\",\"before\":0,\"columns\":[1,2]}",
	  "it compares two reports, which cannot be read as one", 0, 0 },
	{ "{\"unit\":\"samples\",\"columns\":[1,2]}", "it compares two reports, which cannot be read as one", 0, 0 },
	{ "{\"unit\":\"samples\",\"before\":-1,\"columns\":[]}", "its data has no such head", 0, 0 },
	{ "{\"unit\":\"samples\",\"before\":-1}", "its data has no such head", 0, 0 },
	{ "{\"unit\":1,\"before\":-1,\"columns\":[1,2]}", "its data has no such head", 0, 0 },
	{ "[]", "its data has no head", 0, 0 },
	{ "{", "its data has no head", 0, 0 },
	{ "", "its data has no head", 0, 0 },
};

START_TEST(test_heads)
{
	char *text;

	make(heads[_i].head, &good);
	text = read_data(&report_folded, &folded);
	if (heads[_i].said) {
		ck_assert_ptr_null(text);
		ck_assert_msg(strstr(err.msg, heads[_i].said), "%s", err.msg);
	} else {
		ck_assert_msg(text, "%s", err.msg);
		ck_assert_int_eq((int)about.unit, (int)heads[_i].unit);
		ck_assert_uint_eq(about.period_ns, heads[_i].period_ns);
		/* Values of other units than samples are no numbers of intervals. */
		ck_assert_uint_eq(about.samples, heads[_i].unit == UNIT_SAMPLES ? 219 : 0);
	}
	free(text);
	read_about_release(&about);
}
END_TEST

/* A number of the good page is replaced by another one. */
#define AT(member) (offsetof(struct page, member) / sizeof(uint64_t))

static const struct {
	const char *what;
	size_t at;
	uint64_t value;
	const char *said; /* NULL: it can be read */
} numbers[] = {
	{ "more frames", AT(nr_frames), FRAMES + 1, "" },
	{ "fewer frames", AT(nr_frames), FRAMES - 1, "" },
	{ "no frames", AT(nr_frames), 0, "" },
	{ "too many frames", AT(nr_frames), (16 << 20) + 1, "has a number that is out of range" },
	{ "no such kind", AT(frames[0][1]), PAGE_KINDS, "has a number that is out of range" },
	{ "a task within a stack", AT(frames[0][1]), PAGE_TASK,
	  "has a stack without a task, or a task within a stack" },
	{ "a stack without a task", AT(frames[0][0]), PAGE_USER,
	  "has a stack without a task, or a task within a stack" },
	{ "the largest line", AT(frames[1][2]), UINT32_MAX, NULL },
	{ "a line too large", AT(frames[1][2]), (uint64_t)UINT32_MAX + 1, "has a number that is out of range" },
	{ "no name", AT(frames[2][1]), 0, NULL },
	{ "the last string", AT(frames[3][2]), IDLE, NULL },
	{ "no such name", AT(frames[2][1]), IDLE + 1, "has a number that is out of range" },
	{ "no such module", AT(frames[3][1]), IDLE + 1, "has a number that is out of range" },
	{ "no such build id", AT(frames[4][1]), IDLE + 1, "has a number that is out of range" },
	{ "no build id, but a name", AT(frames[4][1]), MAIN, NULL },
	{ "no such source file", AT(frames[5][1]), IDLE + 1, "has a number that is out of range" },
	{ "no such address", AT(frames[6][1]), IDLE + 1, "has a number that is out of range" },
	{ "fewer followers", AT(followers[1]), 1, "has a number that is out of range" },
	{ "more followers", AT(followers[1]), FRAMES, NULL },
	{ "more followers than frames", AT(followers[1]), FRAMES + 1, "has a number that is out of range" },
	{ "fewer beginnings", AT(followers[FRAMES]), 1, "has a number that is out of range" },
	{ "any number of nodes", AT(nodes), UINT64_MAX, NULL },
	{ "no blocks", AT(blocks[0].nr), 0, "has more than it says" },
	{ "too many stacks", AT(blocks[0].nr), (16 << 20) + 1, "has a number that is out of range" },
	{ "fewer values", AT(blocks[0].nr_values), 2, "has a wrong number of values" },
	{ "more values", AT(blocks[0].nr_values), 4, "has a wrong number of values" },
	{ "too many nodes", AT(blocks[0].nr_frames), (16 << 20) + 1, "has a number that is out of range" },
	{ "more new frames than nodes", AT(blocks[0].nr_fresh), 7, "has a number that is out of range" },
	{ "more dropped than there are", AT(blocks[0].dropped[1]), 4, "has a number that is out of range" },
	{ "all dropped", AT(blocks[1].dropped[1]), 3, "" },
	{ "none added", AT(blocks[0].added[2]), 0, "has a number that is out of range" },
	{ "fewer added", AT(blocks[0].added[1]), 1, "has a number that is out of range" },
	{ "more added", AT(blocks[0].added[2]), 2, "has a wrong number of frames" },
	{ "more values than columns", AT(blocks[0].sums[0]), 3, "has a number that is out of range" },
	{ "another column", AT(blocks[0].columns[0]), 1, NULL },
	{ "no such column", AT(blocks[0].columns[0]), 2, "has a number that is out of range" },
	{ "a column too far", AT(blocks[1].columns[1]), 2, "has a number that is out of range" },
	{ "a column too far from the first", AT(blocks[1].columns[0]), 1, "has a number that is out of range" },
	{ "no such follower", AT(blocks[1].places[1]), 3, "has a number that is out of range" },
	{ "a follower too early", AT(blocks[0].places[1]), 1, "has a number that is out of range" },
	{ "no new frame left", AT(blocks[1].places[1]), 0, "" },
	{ "a new frame left", AT(blocks[1].places[2]), 1, "" },
	{ "no such frame", AT(blocks[1].fresh[0]), FRAMES, "has a number that is out of range" },
	{ "something behind the end", AT(end), 1, "" },
};

START_TEST(test_numbers)
{
	struct page p = good;
	char *text;

	memcpy((uint64_t *)(void *)&p + numbers[_i].at, &numbers[_i].value, sizeof(uint64_t));
	make(HEAD("samples", ""), &p);
	text = read_data(&report_folded, &folded);
	ck_assert_msg(!numbers[_i].said == !!text, "%s: %s", numbers[_i].what, err.msg);
	if (numbers[_i].said)
		ck_assert_msg(strstr(err.msg, ": its data ") && strstr(err.msg, numbers[_i].said), "%s: %s",
			      numbers[_i].what, err.msg);
	free(text);
	read_about_release(&about);
}
END_TEST

/* Sums that do not fit stay at the largest value. */
START_TEST(test_large_values)
{
	struct page p = good;
	char *text;

	p.blocks[1].values[0] = p.blocks[1].values[1] = UINT64_MAX;
	make(HEAD("samples", ""), &p);
	text = read_data(&report_folded, &folded);
	ck_assert_msg(text, "%s", err.msg);
	ck_assert_msg(strstr(text, "work;main 18446744073709551615\n"), "%s", text);
	free(text);
	read_about_release(&about);
}
END_TEST

/* A number of too many bits, instead of the number of frames. */
static const struct {
	const char *bytes;
	size_t len;
	const char *said;
} large[] = {
	{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, "has a number that is out of range" },
	{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, "has a number that is too large" },
	{ "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11, "has a number that is too large" },
};

START_TEST(test_large_numbers)
{
	data.nr = 0;
	put(PAGE_MAGIC, strlen(PAGE_MAGIC));
	put_text(HEAD("samples", ""));
	put_text(STRINGS);
	put(large[_i].bytes, large[_i].len);
	ck_assert_ptr_null(read_data(&report_folded, &folded));
	ck_assert_msg(strstr(err.msg, large[_i].said), "%s", err.msg);
	read_about_release(&about);
}
END_TEST

/* However little of the data there is: it is refused. */
START_TEST(test_cut_data)
{
	size_t whole;

	make(HEAD("samples", ""), &good);
	for (whole = data.nr; data.nr; data.nr--) {
		char *text = read_data(&report_folded, &folded);

		ck_assert_int_eq(text != NULL, data.nr == whole);
		if (!text)
			ck_assert_msg(strstr(err.msg, "ends too early"), "%zu bytes: %s", data.nr, err.msg);
		free(text);
		read_about_release(&about);
	}
}
END_TEST

/* The same for the page. A page that ends within its data, or behind all of it: only the second is whole. */
START_TEST(test_cut_page)
{
	size_t len, end, cut;
	char *page, *text;

	make(HEAD("samples", ""), &good);
	page = page_of(&len);
	end = (size_t)(strstr(page, "</script>") - page);
	while (page[end - 1] == '=')
		end--;
	for (cut = 0; cut <= len; cut++) {
		text = read_bytes(page, cut, &report_folded, &folded);
		ck_assert_int_eq(text != NULL, cut >= end);
		if (text)
			ck_assert_str_eq(text, all_rows);
		else
			ck_assert_msg(strstr(err.msg, "a page without the data of a profile") ||
					      strstr(err.msg, "its data ends "),
				      "%zu bytes: %s", cut, err.msg);
		free(text);
		read_about_release(&about);
	}
	free(page);
}
END_TEST

/* Each character of the data is changed: this is never the same report, and the checksum shows damage at the latest. */
START_TEST(test_damage)
{
	size_t len, at, end;
	char *page, *text, old;

	make(HEAD("samples", ""), &good);
	page = page_of(&len);
	at = (size_t)(strstr(page, "text/plain\">") + strlen("text/plain\">") - page);
	end = (size_t)(strstr(page, "</script>") - page) - 6; /* zlib does not check the last four bytes, a length */
	for (; at < end; at++) {
		old = page[at];
		page[at] = old == 'A' ? 'B' : 'A';
		text = read_bytes(page, len, &report_folded, &folded);
		ck_assert_msg(!text || !strcmp(text, all_rows), "at %zu: %s", at, text);
		free(text);
		read_about_release(&about);
		page[at] = old;
	}
	free(page);
}
END_TEST

START_TEST(test_other_version)
{
	make(HEAD("samples", ""), &good);
	data.v[5]++;
	ck_assert_ptr_null(read_data(&report_folded, &folded));
	ck_assert_msg(strstr(err.msg, "its data is of another version"), "%s", err.msg);
	read_about_release(&about);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("read_page");
	TCase *t = tcase_create("page");

	tcase_add_test(t, test_whole);
	tcase_add_test(t, test_frames);
	tcase_add_loop_test(t, test_heads, 0, ARRAY_SIZE(heads));
	tcase_add_loop_test(t, test_numbers, 0, ARRAY_SIZE(numbers));
	tcase_add_test(t, test_large_values);
	tcase_add_loop_test(t, test_large_numbers, 0, ARRAY_SIZE(large));
	tcase_add_test(t, test_cut_data);
	tcase_add_test(t, test_cut_page);
	tcase_add_test(t, test_damage);
	tcase_add_test(t, test_other_version);
	suite_add_tcase(s, t);
	return unit_main(s);
}
