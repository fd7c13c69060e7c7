// SPDX-License-Identifier: Apache-2.0
/* Forms for other programs, and reading reports back. */
#include "tests/unit/failing_memory.h"
#include "tests/unit/unit.h"

#include "core/formats/profile.pb-c.h"
#include "core/formats/read.h"
#include "core/report/report.h"

#include <inttypes.h>
#include <zlib.h>

static char *dir;

static void setup(void)
{
	dir = unit_tmpdir();
}

static void teardown(void)
{
	unit_rmdir(dir);
}

/* A row; its frames end with the first one without name and kind. */
struct test_row {
	const char *comm;
	pid_t pid, tid;
	uint64_t value, times;
	struct report_frame frames[8];
};

#define KERNEL(n) .name = n, .kind = REPORT_FRAME_KERNEL, .module = "kernel", .address = 0xffffffff81000010
#define MARKER(n) .name = n, .kind = REPORT_FRAME_MARKER
#define USER(n, a)                                                                                                     \
	.name = n, .kind = REPORT_FRAME_USER, .module = "app", .address = 0x7f0000001000 + (a), .file_address = a

static const unsigned char id[] = { 0xab, 0, 0x12 };

static const struct test_row rows[] = {
	{ "app",
	  7,
	  8,
	  5,
	  5,
	  { { USER("main", 0x10), .build_id = id, .build_id_size = 3, .file = "a.c", .line = 3 },
	    { USER("hot", 0x20), .file = "a.c", .line = 12 },
	    { .name = "std::vector<int, std::less<char> >::at(int) const",
	      .kind = REPORT_FRAME_INLINED,
	      .module = "app",
	      .file = "vec;tor.h",
	      .line = 4,
	      .address = 1,
	      .file_address = 0x20 },
	    { .name = "innermost", .kind = REPORT_FRAME_INLINED, .file_address = 0x20 },
	    { MARKER("-") },
	    { KERNEL("vfs_read") },
	    { .name = "nf_hook", .kind = REPORT_FRAME_KERNEL, .module = "nf_tables" } } },
	{ "app",
	  7,
	  9,
	  4,
	  4,
	  { { USER("main", 0x10), .build_id = id, .build_id_size = 3, .file = "a.c", .line = 3 },
	    { USER("main", 0x10), .build_id = id, .build_id_size = 3, .file = "a.c", .line = 3 } } },
	{ "java",
	  1 << 30,
	  0,
	  3,
	  9,
	  { { MARKER("off-cpu") },
	    { MARKER("[truncated]") },
	    { .name = "Lmain;::run", .kind = REPORT_FRAME_JIT, .module = "//anon", .address = 5 },
	    { .name = "[stub]", .kind = REPORT_FRAME_JIT, .address = 6 },
	    { .name = "py_function", .kind = REPORT_FRAME_FUNCTION } } },
	{ "nameless",
	  1,
	  1,
	  2,
	  2,
	  { { .module = "libx.so",
	      .kind = REPORT_FRAME_UNKNOWN,
	      .has_function = true,
	      .function = 0x4300,
	      .address = 9 },
	    { .module = "libx.so", .kind = REPORT_FRAME_UNKNOWN, .address = 10 },
	    { .module = "[vdso]", .kind = REPORT_FRAME_UNKNOWN, .address = 11 },
	    { .module = "//anon", .kind = REPORT_FRAME_UNKNOWN, .anonymous = true, .address = 12 },
	    { .kind = REPORT_FRAME_UNKNOWN, .address = UINT64_MAX - 5000 },
	    { .kind = REPORT_FRAME_KERNEL, .module = "kernel", .address = UINT64_MAX - 9 },
	    { .kind = REPORT_FRAME_KERNEL, .address = UINT64_MAX - 9 } } },
	{ "a;b \xff\x01\n\"\\",
	  2,
	  2,
	  1,
	  1,
	  {
		  { USER("</script>\xe2\x80\xa8 \"q\" \\ ;x; 12", 1) },
		  { USER("\xf0\x9f\x94\xa5\xc2\x85 tab\t", 2) },
		  { USER("_[k]", 3) },
	  } },
	{ "", 3, 3, 7, 7, { { MARKER("[Missed User Stack]") }, { KERNEL("schedule") } } },
	{ "idle", 0, 0, 6, 6, { { MARKER("[Missed User Stack]") }, { MARKER("[Missed Kernel Stack]") } } },
	{ "none", 4, 4, INT64_MAX, INT64_MAX, { { 0 } } },
};

static size_t nr_frames(const struct test_row *row)
{
	size_t nr = 0;

	while (nr < ARRAY_SIZE(row->frames) && (row->frames[nr].name || row->frames[nr].kind))
		nr++;
	return nr;
}

static void add(struct report *r, const struct test_row *row)
{
	uint32_t labels[ARRAY_SIZE(row->frames)];
	struct report_named named = {
		.pid = row->pid,
		.tid = row->tid,
		.value = row->value,
		.times = row->times,
		.labels = labels,
		.cgroup = HASH_NONE,
		.input = HASH_NONE,
	};

	ck_assert_int_eq(report_label(r, row->comm, &named.comm), 0);
	for (; named.nr < nr_frames(row); named.nr++) {
		labels[named.nr] = report_delimiter(r);
		if (!row->frames[named.nr].name || strcmp(row->frames[named.nr].name, "-") != 0)
			ck_assert_int_eq(report_frame(r, &row->frames[named.nr], &labels[named.nr]), 0);
	}
	ck_assert_int_eq(report_add_named(r, &named), 0);
}

/* Write rows in a form, in @nr reports. */
static char *write_rows(const struct report_writer *form, const struct report_about *about, const struct test_row *v,
			size_t nr, unsigned int reports, size_t *len)
{
	const struct report_cfg cfg = { .annotations = true };
	const struct report_counts counts = { .taken = 8, .counted = 7, .lost = 1, .seconds = 1.5, .known = true };
	struct report_output o;
	char *got = NULL;
	FILE *out = open_memstream(&got, len);
	struct report *r;
	unsigned int i;
	size_t k;

	ck_assert_int_eq(report_begin(&o, out, form, about, NULL), 0);
	for (i = 0; i < reports; i++) {
		report_interval(&o, reports > 1 ? i + 1 : 0, 1.5);
		ck_assert_int_eq(report_new(form, &cfg, &r, NULL), 0);
		for (k = 0; k < nr; k++)
			add(r, &v[k]);
		ck_assert_int_eq(report_print(r, &o, &counts, NULL), 0);
		report_free(r);
	}
	ck_assert_int_eq(report_end(&o, true, NULL), 0);
	fclose(out);
	return got;
}

static struct infile *open_bytes(const void *bytes, size_t len)
{
	static char path[4096];
	struct infile *in;
	struct err err;

	unit_write(dir, "in", bytes, len);
	snprintf(path, sizeof(path), "%s/in", dir);
	ck_assert_msg(!infile_open(path, &in, &err), "%s", err.msg);
	return in;
}

/* Read @in and write it to @out in form @to. @about: out: its numbers stay, its texts do not. Return: 0; -errno */
static int rewrite(struct infile *in, const struct report_writer *to, const struct read_cfg *cfg,
		   const struct report_cfg *form, const struct report_about *facts, FILE *out, struct read_about *about,
		   struct err *err)
{
	struct report_output o;
	struct report *r;
	int rc;

	*about = (struct read_about){ 0 };
	*err = (struct err){ 0 };
	rc = report_new(to, form, &r, err);
	if (!rc) {
		rc = read_report(in, r, cfg, about, err);
		if (!rc) {
			rc = report_begin(&o, out, to, facts, err);
			rc = rc ? rc : report_print(r, &o, NULL, err);
			if (rc)
				report_end(&o, false, NULL);
			else
				rc = report_end(&o, true, err);
		}
		read_about_release(about);
		report_free(r);
	}
	return rc;
}

/* Read @bytes and write them in form @to. NULL: an error. */
static char *read_as(const struct report_writer *to, const void *bytes, size_t len, const struct read_cfg *cfg,
		     const struct report_cfg *form, struct read_about *about, size_t *got_len, struct err *err)
{
	struct infile *in = open_bytes(bytes, len);
	char *got;
	FILE *out = open_memstream(&got, got_len);
	int rc = rewrite(in, to, cfg, form, NULL, out, about, err);

	ck_assert_int_eq(rc, err->code);
	fclose(out);
	infile_close(in);
	if (!rc)
		return got;
	free(got);
	return NULL;
}

/* The same, as folded text. */
static char *read_bytes(const void *bytes, size_t len, const struct read_cfg *cfg, const struct report_cfg *form,
			struct read_about *about, struct err *err)
{
	size_t got_len;

	return read_as(&report_folded, bytes, len, cfg, form, about, &got_len, err);
}

static const struct {
	const struct report_writer *form;
	struct report_about about;
	unsigned int reports;
} round_trips[] = {
	{ &report_json, { .tool = "profile" }, 1 },
	{ &report_json, { .unit = UNIT_USEC, .period_ns = 1000, .off_cpu = true, .host = "h\n" }, 1 },
	{ &report_pprof, { .tool = "profile" }, 1 },
	{ &report_pprof, { .period_ns = 20408163, .command = "profile -F 49", .time = 1800000000 }, 1 },
	{ &report_pprof, { .unit = UNIT_USEC, .off_cpu = true, .event = "sched" }, 1 },
	{ &report_pprof, { .unit = UNIT_USEC, .period_ns = 20408163, .off_cpu = true }, 1 },
	{ &report_pprof, { .period_ns = 1 }, 3 },
	{ &report_json, { .period_ns = 1 }, 3 },
};

/* Rows that are written, read and written as folded stacks are equal to rows written so at once. */
START_TEST(test_round_trip)
{
	const struct report_cfg annotated = { .annotations = true };
	const struct read_cfg all = { .delimited = true };
	unsigned int reports = round_trips[_i].reports;
	/* In microseconds, the largest number does not fit into nanoseconds. */
	size_t nr = ARRAY_SIZE(rows) - (round_trips[_i].about.unit == UNIT_USEC || reports > 1), len, i;
	struct test_row times[ARRAY_SIZE(rows)];
	struct read_about about;
	uint64_t sum = 0;
	struct err err;
	char *written = write_rows(round_trips[_i].form, &round_trips[_i].about, rows, nr, reports, &len);
	char *got = read_bytes(written, len, &all, &annotated, &about, &err), *want;

	ck_assert_msg(got, "%s", err.msg);
	memcpy(times, rows, sizeof(times));
	for (i = 0; i < nr; i++) {
		times[i].value *= reports;
		sum += round_trips[_i].form == &report_pprof && !round_trips[_i].about.unit ? times[i].value
											    : rows[i].times * reports;
	}
	want = write_rows(&report_folded, NULL, times, nr, 1, &len);
	ck_assert_str_eq(got, want);
	ck_assert_uint_eq(about.unit, round_trips[_i].about.unit);
	ck_assert(about.unit_told);
	ck_assert_uint_eq(about.period_ns, round_trips[_i].about.period_ns);
	ck_assert_uint_eq(about.samples, sum);
	free(written);
	free(got);
	free(want);
}
END_TEST

/* JSON and pprof keep cgroups and input files, which distinguish rows. */
START_TEST(test_origin)
{
	static const char text[] =
		"{\"fleetprof\":1,\"unit\":\"samples\"}\n"
		"{\"comm\":\"c\",\"value\":1,\"times\":1,\"frames\":[]}\n"
		"{\"comm\":\"c\",\"cgroup\":\"/a\",\"value\":1,\"times\":1,\"frames\":[]}\n"
		"{\"comm\":\"c\",\"cgroup\":\"/b\",\"input\":\"a\",\"value\":1,\"times\":1,\"frames\":[]}\n"
		"{\"comm\":\"c\",\"cgroup\":\"/b\",\"input\":\"b\",\"value\":1,\"times\":1,\"frames\":[]}\n"
		"{\"comm\":\"c\",\"cgroup\":\"/b\",\"value\":2,\"times\":2,\"frames\":[]}\n"
		"{\"comm\":\"c\",\"cgroup\":\"/b\",\"input\":\"x\",\"value\":3,\"times\":3,\"frames\":[]}\n"
		"{\"comm\":\"c\",\"input\":\"y;\",\"value\":4,\"times\":4,\"frames\":[]}\n"
		"{\"counts\":{\"seconds\":0.0}}\n";
	const struct report_writer *form = _i ? &report_pprof : &report_json;
	const struct report_cfg plain = { 0 };
	const struct read_cfg all = { 0 }, named = { .input = "z" };
	struct read_about about;
	size_t len;
	struct err err;
	/* Rows with the same value in another order, and with empty labels, which count as none. */
	static const char shuffled[] = "{\"fleetprof\":1,\"unit\":\"samples\"}\n"
				       "{\"comm\":\"c\",\"cgroup\":\"/b\",\"input\":\"b\",\"value\":1,\"frames\":[]}\n"
				       "{\"comm\":\"c\",\"cgroup\":\"/b\",\"input\":\"a\",\"value\":1,\"frames\":[]}\n"
				       "{\"comm\":\"c\",\"cgroup\":\"/b\",\"input\":\"\",\"value\":1,\"frames\":[]}\n"
				       "{\"comm\":\"c\",\"cgroup\":\"/a\",\"value\":1,\"frames\":[]}\n"
				       "{\"comm\":\"c\",\"cgroup\":\"\",\"input\":\"\",\"value\":1,\"frames\":[]}\n"
				       "{\"comm\":\"c\",\"cgroup\":\"/b\",\"value\":1,\"frames\":[]}\n"
				       "{\"comm\":\"c\",\"cgroup\":\"/b\",\"input\":\"x\",\"value\":3,\"frames\":[]}\n"
				       "{\"comm\":\"c\",\"input\":\"y;\",\"value\":4,\"frames\":[]}\n";
	char *got = read_as(&report_json, shuffled, strlen(shuffled), &all, &plain, &about, &len, &err), *again;

	ck_assert_msg(got, "%s", err.msg);
	ck_assert_str_eq(strchr(got, '\n'), strchr(text, '\n'));
	again = read_as(form, got, len, &all, &plain, &about, &len, &err);
	free(got);
	got = read_as(&report_json, again, len, &all, &plain, &about, &len, &err);
	ck_assert_msg(got, "%s", err.msg);
	ck_assert_str_eq(strchr(got, '\n'), strchr(text, '\n'));
	free(again);
	again = read_as(&report_json, got, strlen(got), &named, &plain, &about, &len, &err);
	ck_assert_ptr_nonnull(strstr(again, "{\"comm\":\"c\",\"cgroup\":\"/a\",\"input\":\"z\",\"value\":1,"));
	ck_assert_ptr_nonnull(strstr(again, "\"input\":\"x\",\"value\":3,"));
	free(again);
	again = read_as(&report_folded, got, strlen(got), &named, &plain, &about, &len, &err);
	ck_assert_str_eq(again, "c 13\n");
	free(again);
	free(got);
}
END_TEST

/* 100000 names: one of 64 KiB, and one that is longer. */
START_TEST(test_many_names)
{
	const struct report_writer *form = _i ? &report_pprof : &report_json;
	const struct report_cfg plain = { 0 };
	const struct read_cfg all = { 0 };
	size_t nr = (size_t)unit_times(100000), len, i;
	struct test_row *v = calloc(nr, sizeof(*v));
	char *names = calloc(nr, 32), *long_name = malloc(100000), *written, *got, *want;
	struct read_about about;
	struct err err;

	ck_assert(v && names && long_name);
	for (i = 0; i < nr; i++) {
		snprintf(names + 32 * i, 32, "name %zu", i);
		v[i] = (struct test_row){
			"c", 1, 1,
			1,   1, { { .name = names + 32 * i, .kind = REPORT_FRAME_USER, .module = "m", .address = i } }
		};
	}
	memset(long_name, 'x', 99999);
	long_name[99999] = 0;
	v[0].frames[0].name = long_name;
	v[1].frames[0].name = long_name + 99999 - 65536;
	written = write_rows(form, NULL, v, nr, 1, &len);
	got = read_bytes(written, len, &all, &plain, &about, &err);
	ck_assert_msg(got, "%s", err.msg);
	want = write_rows(&report_folded, NULL, v, nr, 1, &len);
	ck_assert(!strcmp(got, want));
	free(v);
	free(names);
	free(long_name);
	free(written);
	free(got);
	free(want);
}
END_TEST

#define STACKS                                                                                                         \
	"app;main;read;-;vfs_read;[truncated] 4\n"                                                                     \
	"app;off-cpu;[truncated];[x.so+0x10];[unknown];[truncated];vfs_read_[k] 3\n"                                   \
	"bpp;[Missed User Stack];vfs_read_[k] 2\n"                                                                     \
	"cpp;main;[Missed Kernel Stack] 1\n"

static const struct {
	struct read_cfg cfg;
	bool annotated;
	const char *text, *want;
} folded[] = {
	{ { 0 }, false, "a 1\n", "a 1\n" },
	{ { 0 }, false, "a 1", "a 1\n" },
	{ { 0 }, false, "\n \r\na;b;c 2\r\na;b;c \t 3  \n\na;b 1\n", "a;b 1\na;b;c 5\n" },
	{ { 0 }, false, "a b;c d e 1\n", "a b;c d e 1\n" },
	{ { 0 }, false, "a;b 1.5\na;c 1.4\na;d 0.5\na;e 2.\na;f 0.49\na;g 0\n", "a;c 1\na;d 1\na;b 2\na;e 2\n" },
	{ { 0 }, false, "a;b 3 5\na;c 1 0\na;d 0 2\n", "a;d 2\na;b 5\n" },
	{ { 0 }, false, "a 3 5\na;c 1\n", "a;c 1\na 3 5\n" },
	{ { 0 }, false, "a;b 99999999999999999999\na;b 1\n", "a;b 18446744073709551615\n" },
	{ { 0 }, false, ";;b; 1\n", ";;b 1\n" },
	{ { 0 }, false, "a;- 1\na;b;- 2\na;-;b 3\n", "a;- 1\na;b;- 2\na;-;b 3\n" },
	{ { 0 }, true, "a;b_[k];c_[i];d_[j];_[k];e 1\n", "a;b_[k];c_[i];d_[j];_[k];e 1\n" },
	{ { .delimited = true }, true, "a;b;--;c;d 1\n", "a;b;-;c_[k];d_[k] 1\n" },
	{ { .delimited = true }, false, "a;b;c_[k];d_[k] 1\na;b_[k] 2\na;b 3\n", "a;b;-;c;d 1\na;b 5\n" },
	{ { 0 },
	  false,
	  STACKS,
	  "cpp;main;[Missed Kernel Stack] 1\nbpp;[Missed User Stack];vfs_read 2\n"
	  "app;off-cpu;[truncated];[x.so+0x10];[unknown];[truncated];vfs_read 3\n"
	  "app;main;read;vfs_read;[truncated] 4\n" },
	{ { .user_only = true, .delimited = true },
	  false,
	  STACKS,
	  "cpp;main 1\nbpp;[Missed User Stack] 2\napp;off-cpu;[truncated];[x.so+0x10];[unknown] 3\n"
	  "app;main;read;[truncated] 4\n" },
	{ { .kernel_only = true, .delimited = true },
	  false,
	  STACKS,
	  "cpp;[Missed Kernel Stack] 1\nbpp;vfs_read 2\napp;off-cpu;[truncated];vfs_read 3\napp;vfs_read 4\n" },
	{ { .comm = "app", .kernel_only = true },
	  false,
	  STACKS,
	  "app;off-cpu;[truncated];vfs_read 3\napp;vfs_read 4\n" },
	{ { .pids = (pid_t[]){ 1 }, .nr_pids = 1 }, false, STACKS, "" },
	{ { .cgroup = "/" }, false, STACKS, "" },
	/* Errors. */
	{ { 0 }, false, "a 1\na;b\n", "line 2 is no folded stack with a number at its end" },
	{ { 0 }, false, "12\n", "line 1 is no folded stack with a number at its end" },
	{ { 0 }, false, "a;b -1\n", "line 1 is no folded stack with a number at its end" },
	{ { 0 }, false, "a;b 1e5\n", "line 1 is no folded stack with a number at its end" },
	{ { 0 }, false, "a;b nan\n", "line 1 is no folded stack with a number at its end" },
	{ { 0 }, false, "\na;b 1 2\na;b 1\n", "line 3 has one number at its end, and the first line has two" },
};

START_TEST(test_folded)
{
	const struct report_cfg form = { .annotations = folded[_i].annotated };
	struct read_about about;
	struct err err;
	char *got = read_bytes(folded[_i].text, strlen(folded[_i].text), &folded[_i].cfg, &form, &about, &err);

	if (got)
		ck_assert_str_eq(got, folded[_i].want);
	else
		ck_assert_msg(strstr(err.msg, folded[_i].want) && *folded[_i].want, "%s", err.msg);
	ck_assert(!got || !about.unit_told);
	free(got);
}
END_TEST

/* Too deep, and too long. */
START_TEST(test_folded_limits)
{
	static const size_t lens[] = { 2 * 65536, 2 * 65537, (8 << 20) - 2, (8 << 20) + (1 << 17) };
	static const char *const want[] = { NULL, "has more than 65536 frames", NULL, "line 1 is longer than 8 MiB" };
	const struct report_cfg form = { 0 };
	const struct read_cfg all = { 0 };
	size_t len = lens[_i], i;
	char *text = malloc(len + 4), *got;
	struct read_about about;
	struct err err;

	text[0] = 'a';
	for (i = 0; i < len; i++)
		text[1 + i] = _i < 2 ? ";x"[i % 2] : 'x';
	memcpy(text + 1 + len, " 1\n", 3);
	got = read_bytes(text, len + 4, &all, &form, &about, &err);
	ck_assert_int_eq(!got, want[_i] != NULL);
	if (want[_i])
		ck_assert_msg(strstr(err.msg, want[_i]), "%s", err.msg);
	free(text);
	free(got);
}
END_TEST

#define HEAD "{\"fleetprof\":1,\"unit\":\"samples\",\"new\":[{}]}\n"
#define ROW  "{\"comm\":\"a\",\"pid\":1,\"tid\":2,\"cgroup\":\"/x/y\",\"value\":3,\"new\":null,\"frames\":["

static const struct {
	struct read_cfg cfg;
	const char *text, *want;
} json[] = {
	{ { 0 }, HEAD, "" },
	{ { 0 }, HEAD "\n" ROW "]}\n{\"counts\":{}}\n" HEAD ROW "]}", "a 6\n" },
	{ { 0 },
	  HEAD ROW "{\"name\":\"x\",\"kind\":\"user\",\"build_id\":\"00ff\",\"address\":\"0xffffffffffffffff\"}]}",
	  "a;x 3\n" },
	{ { .pids = (pid_t[]){ 1, 5 }, .nr_pids = 2, .cgroup = "/x", .comm = "a" }, HEAD ROW "]}", "a 3\n" },
	{ { .pids = (pid_t[]){ 2 }, .nr_pids = 1, .by_tid = true, .cgroup = "/x/y" }, HEAD ROW "]}", "a 3\n" },
	{ { .pids = (pid_t[]){ 2 }, .nr_pids = 1 }, HEAD ROW "]}", "" },
	{ { .cgroup = "/x/y/z" }, HEAD ROW "]}", "" },
	{ { .cgroup = "/x/" }, HEAD ROW "]}", "a 3\n" },
	{ { .comm = "ab" }, HEAD ROW "]}", "" },
	/* Errors. */
	{ { 0 }, "{\"$schema\":\n\"x\"}", "line 1 does not begin a report of fleetprof" },
	{ { 0 }, "{}", "line 1 does not begin a report of fleetprof" },
	{ { 0 }, "{\"fleetprof\":2}", "line 1 is of a newer version of this format" },
	{ { 0 }, "{\"fleetprof\":\"1\"}", "wrong or missing \"fleetprof\"" },
	{ { 0 }, "{\"fleetprof\":1}", "wrong or missing \"unit\"" },
	{ { 0 }, "{\"fleetprof\":1,\"unit\":\"s\"}", "wrong or missing \"unit\"" },
	{ { 0 }, HEAD "{\"fleetprof\":1,\"unit\":\"us\"}", "line 2 begins a report in another unit" },
	{ { 0 }, HEAD "[]", "line 2 is no JSON object" },
	{ { 0 }, HEAD "{\"comm\":", "line 2, byte " },
	{ { 0 }, HEAD ROW "]}{}", "line 2, byte " },
	{ { 0 }, HEAD "{\"comm\":\"\\ud800\"}", "line 2, byte " },
	{ { 0 }, HEAD "{\"comm\":\"a\",\"comm\":\"b\"}", "line 2, byte " },
	{ { 0 }, HEAD "{\"frames\":[]}", "line 2: a wrong or missing \"comm\"" },
	{ { 0 }, HEAD "{\"comm\":1,\"frames\":[]}", "wrong or missing \"comm\"" },
	{ { 0 }, HEAD "{\"comm\":\"a\",\"frames\":[]}", "wrong or missing \"value\"" },
	{ { 0 }, HEAD "{\"comm\":\"a\",\"value\":-1,\"frames\":[]}", "wrong or missing \"value\"" },
	{ { 0 }, HEAD "{\"comm\":\"a\",\"value\":1.5,\"frames\":[]}", "wrong or missing \"value\"" },
	{ { 0 }, HEAD "{\"comm\":\"a\",\"value\":NaN,\"frames\":[]}", "line 2, byte " },
	{ { 0 }, HEAD "{\"comm\":\"a\",\"value\":9223372036854775808,\"frames\":[]}", "line 2, byte " },
	{ { 0 }, HEAD "{\"comm\":\"a\",\"value\":1,\"times\":[],\"frames\":[]}", "wrong or missing \"times\"" },
	{ { 0 }, HEAD "{\"comm\":\"a\",\"value\":1,\"pid\":2147483648,\"frames\":[]}", "wrong or missing \"pid\"" },
	{ { 0 }, HEAD "{\"comm\":\"a\",\"value\":1,\"before\":2,\"frames\":[]}", "line 2 compares two reports" },
	{ { 0 }, HEAD "{\"comm\":\"a\",\"value\":1}", "wrong or missing \"frames\"" },
	{ { 0 }, HEAD ROW "1]}", "wrong or missing \"frames\"" },
	{ { 0 }, HEAD ROW "{\"kind\":\"user\"}]}", "wrong or missing \"name\"" },
	{ { 0 }, HEAD ROW "{\"name\":\"x\"}]}", "wrong or missing \"kind\"" },
	{ { 0 }, HEAD ROW "{\"name\":\"x\",\"kind\":\"users\"}]}", "wrong or missing \"kind\"" },
	{ { 0 }, HEAD ROW "{\"name\":\"x\",\"kind\":\"user\",\"address\":\"1\"}]}", "wrong or missing \"address\"" },
	{ { 0 }, HEAD ROW "{\"name\":\"x\",\"kind\":\"user\",\"address\":\"0x\"}]}", "wrong or missing \"address\"" },
	{ { 0 },
	  HEAD ROW "{\"name\":\"x\",\"kind\":\"user\",\"address\":\"0x10000000000000000\"}]}",
	  "wrong or missing \"address\"" },
	{ { 0 }, HEAD ROW "{\"name\":\"x\",\"kind\":\"user\",\"line\":4294967296}]}", "wrong or missing \"line\"" },
	{ { 0 }, HEAD ROW "{\"name\":\"x\",\"kind\":\"user\",\"build_id\":\"0\"}]}", "wrong or missing \"build_id\"" },
	{ { 0 }, HEAD ROW "{\"name\":\"x\",\"kind\":\"user\",\"build_id\":\"xy\"}]}", "wrong or missing \"build_id\"" },
	{ { 0 },
	  HEAD ROW "{\"name\":\"x\",\"kind\":\"user\",\"build_id\":\"000000000000000000000000000000000000000000\"}]}",
	  "wrong or missing \"build_id\"" },
};

START_TEST(test_json)
{
	const struct report_cfg form = { 0 };
	struct read_about about;
	struct err err;
	char *got = read_bytes(json[_i].text, strlen(json[_i].text), &json[_i].cfg, &form, &about, &err);

	if (got)
		ck_assert_str_eq(got, json[_i].want);
	else
		ck_assert_msg(strstr(err.msg, json[_i].want) && *json[_i].want, "%s", err.msg);
	free(got);
}
END_TEST

/* A form that does not print the tid merges the rows of threads; JSON keeps them apart. */
START_TEST(test_threads)
{
	static const struct test_row threads[] = {
		{ .comm = "a", .pid = 1, .tid = 2, .value = 3, .times = 3, .frames = { { USER("x", 1) } } },
		{ .comm = "a", .pid = 1, .tid = 3, .value = 4, .times = 4, .frames = { { USER("x", 1) } } },
		{ .comm = "a", .pid = 2, .tid = 3, .value = 5, .times = 5, .frames = { { USER("x", 1) } } },
	};
	const struct report_about about = { .tool = "profile", .version = "1" };
	size_t len;
	char *got = write_rows(&report_text, &about, threads, ARRAY_SIZE(threads), 1, &len);

	ck_assert_ptr_nonnull(strstr(got, "\n    -                a (1)\n        7\n"));
	ck_assert_ptr_nonnull(strstr(got, "\n    -                a (2)\n        5\n"));
	free(got);
	got = write_rows(&report_json, &about, threads, ARRAY_SIZE(threads), 1, &len);
	ck_assert_ptr_nonnull(strstr(got, "\"tid\":2,"));
	ck_assert_ptr_nonnull(strstr(got, "\"tid\":3,"));
	free(got);
}
END_TEST

START_TEST(test_json_depth)
{
	const struct report_cfg form = { 0 };
	const struct read_cfg all = { 0 };
	char *text = malloc(1000000);
	struct read_about about;
	struct err err;

	memset(text, '[', 1000000);
	memcpy(text, HEAD, strlen(HEAD));
	ck_assert_ptr_null(read_bytes(text, 1000000, &all, &form, &about, &err));
	ck_assert_msg(strstr(err.msg, "line 2, byte 2049: maximum parsing depth reached"), "%s", err.msg);
	free(text);
}
END_TEST

/* Profiles, field by field: the beginning is one with types samples/count and cpu/nanoseconds. */
#define S(text, len) "\x32" len text
#define BEGIN                                                                                                          \
	"\x0a\x04\x08\x01\x10\x02"                                                                                     \
	"\x0a\x04\x08\x03\x10\x04" S("", "\0") S("samples", "\x07") S("count", "\x05") S("cpu", "\x03")                \
		S("nanoseconds", "\x0b") S("f", "\x01") S("/bin/prog", "\x09") S("pid", "\x03") S("comm", "\x04")
#define FUNCTION "\x2a\x04\x08\x01\x10\x05"
#define LOCATION "\x22\x06\x08\x01\x22\x02\x08\x01"
#define SAMPLE   "\x12\x08\x0a\x01\x01\x12\x03\x02\x80\x01" /* twice, for 128 ns */
#define MAPPING  "\x1a\x04\x08\x01\x28\x06"
#define BYTES(s) s, sizeof(s) - 1

static const struct {
	struct read_cfg cfg;
	const char *bytes;
	size_t len;
	const char *want;
} pprof[] = {
	{ { 0 }, BYTES(BEGIN), "" },
	{ { 0 }, BYTES(BEGIN SAMPLE LOCATION FUNCTION), "[pprof];f 2\n" },
	{ { 0 }, BYTES(BEGIN SAMPLE LOCATION FUNCTION MAPPING), "prog;f 2\n" },
	{ { 0 }, BYTES(BEGIN SAMPLE "\x22\x02\x08\x01"), "[pprof];[unknown] 2\n" },
	{ { 0 }, BYTES(BEGIN SAMPLE "\x22\x04\x08\x01\x10\x01" MAPPING), "prog;[prog] 2\n" },
	{ { 0 },
	  BYTES(BEGIN "\x12\x02\x12\0"
		      "\x12\x04\x12\x02\x01\x01"),
	  "sample 1 has not a value for each type" },
	{ { 0 }, BYTES(BEGIN "\x12\x04\x12\x02\x01\x01"), "[pprof] 1\n" },
	{ { 0 }, BYTES(BEGIN "\x12\x0a\x12\x02\x01\x01\x1a\x04\x08\x08\x10\x05"), "f 1\n" },
	{ { .pids = (pid_t[]){ 9 }, .nr_pids = 1 },
	  BYTES(BEGIN "\x12\x0a\x12\x02\x01\x01\x1a\x04\x08\x07\x18\x09"),
	  "[pprof] 1\n" },
	{ { .pids = (pid_t[]){ 8 }, .nr_pids = 1 },
	  BYTES(BEGIN "\x12\x0a\x12\x02\x01\x01\x1a\x04\x08\x07\x18\x09"),
	  "" },
	/* Errors. */
	{ { 0 }, BYTES("\x0a\x01"), "what is at byte 0 is no field of a pprof profile" },
	{ { 0 }, BYTES("\x0a\x02\x08\x80"), "what is at byte 0 is no field" },
	{ { 0 }, BYTES("\x32\0\x0b"), "what is at byte 2 is no field" },
	{ { 0 }, BYTES("\x32\0\x48\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "what is at byte 2 is no field" },
	{ { 0 }, BYTES("\x32\0\x12\xff\xff\xff\xff\x0f"), "what is at byte 2 is no field" },
	{ { 0 }, BYTES("\x32\0\x08\x01"), "what is at byte 2 is no field" },
	{ { 0 }, BYTES("\x32\0\x30\x01"), "what is at byte 2 is no field" },
	{ { 0 }, BYTES("\x32\0"), "it has no value types" },
	{ { 0 }, BYTES(BEGIN FUNCTION FUNCTION), "has the id of another one" },
	{ { 0 }, BYTES(BEGIN LOCATION LOCATION), "has the id of another one" },
	{ { 0 }, BYTES(BEGIN MAPPING MAPPING), "has the id of another one" },
	{ { 0 }, BYTES(BEGIN "\x22\0"), "is no field" },
	{ { 0 }, BYTES(BEGIN SAMPLE), "a sample has location 1 which is missing" },
	{ { 0 }, BYTES(BEGIN SAMPLE LOCATION), "location 1 refers to something that is missing" },
	{ { 0 },
	  BYTES(BEGIN SAMPLE LOCATION "\x2a\x04\x08\x01\x10\x20"),
	  "location 1 refers to something that is missing" },
	{ { 0 },
	  BYTES(BEGIN SAMPLE LOCATION "\x2a\x0d\x08\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	  "location 1 refers to something that is missing" },
	{ { 0 }, BYTES(BEGIN SAMPLE "\x22\x04\x08\x01\x10\x09"), "location 1 refers to something that is missing" },
	{ { 0 },
	  BYTES(BEGIN "\x22\x11\x08\x01\x22\x0d\x08\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	  "is no field" },
	{ { 0 }, BYTES(BEGIN "\x1a\x04\x08\x01\x28\x20"), "mapping 1 has no name" },
	{ { 0 },
	  BYTES(BEGIN "\x12\x0d\x12\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"),
	  "sample 1 has a negative value" },
	{ { 0 }, BYTES(BEGIN "\x12\x02\x0a\x09"), "sample 1 is damaged" },
	{ { 0 }, BYTES(BEGIN "\x12\x02\x12\0" S("", "\x01")), "what is at byte" },
	{ { 0 }, BYTES(BEGIN "\x12\x0a\x12\x02\x01\x01\x1a\x04\x08\x08\x10\x55"), "sample 1 has a wrong label" },
	{ { 0 },
	  BYTES(BEGIN "\x12\x0e\x12\x02\x01\x01\x1a\x08\x08\x07\x18\x80\x80\x80\x80\x08"),
	  "sample 1 has a wrong label" },
};

START_TEST(test_pprof)
{
	const struct report_cfg form = { 0 };
	struct read_about about;
	struct err err;
	char *got = read_bytes(pprof[_i].bytes, pprof[_i].len, &pprof[_i].cfg, &form, &about, &err);

	if (got)
		ck_assert_str_eq(got, pprof[_i].want);
	else
		ck_assert_msg(strstr(err.msg, pprof[_i].want) && *pprof[_i].want, "%s", err.msg);
	free(got);
}
END_TEST

/* Parse a compressed profile. The caller frees it. */
static Pprof__Profile *parse_pprof(const void *bytes, size_t len)
{
	static unsigned char plain[64 << 10];
	z_stream z = {
		.next_in = (unsigned char *)bytes, .avail_in = (uInt)len, .next_out = plain, .avail_out = sizeof(plain)
	};

	ck_assert_int_eq(inflateInit2(&z, 16 + MAX_WBITS), Z_OK); /* 16: as gzip writes it */
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	return pprof__profile__unpack(NULL, z.total_out, plain);
}

/* The number that @sample has as @label; 0: none. */
static int64_t pprof_number(const Pprof__Profile *p, const Pprof__Sample *sample, const char *label)
{
	int64_t found = 0;
	size_t i;

	for (i = 0; i < sample->n_label; i++)
		if (!strcmp(p->string_table[sample->label[i]->key], label))
			found = sample->label[i]->num;
	return found;
}

/* Reports of the same program one after the other: each sample says of which one it is. */
START_TEST(test_pprof_intervals)
{
	const struct report_about about = { .period_ns = 1 };
	size_t reports = _i ? 3 : 1, len, i;
	char *written = write_rows(&report_pprof, &about, rows, 1, (unsigned int)reports, &len);
	Pprof__Profile *p = parse_pprof(written, len);

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->n_sample, reports);
	for (i = 0; i < reports; i++) {
		ck_assert_int_eq(pprof_number(p, p->sample[i], "pid"), rows[0].pid);
		ck_assert_int_eq(pprof_number(p, p->sample[i], "tid"), rows[0].tid);
		ck_assert_int_eq(pprof_number(p, p->sample[i], "interval"), reports > 1 ? (int64_t)i + 1 : 0);
	}
	pprof__profile__free_unpacked(p, NULL);
	free(written);
}
END_TEST

/* A message, with its padding (a field without meaning), may have 1 MiB. */
START_TEST(test_pprof_limit)
{
	enum { MOST = 1 << 20 };
	static const char begin[] = BEGIN SAMPLE LOCATION, function[] = "\x08\x01\x10\x05\x7a\xf8\xff\x3f";
	const struct report_cfg form = { 0 };
	const struct read_cfg all = { 0 };
	size_t head = sizeof(begin) - 1, len = MOST + _i;
	char *bytes = calloc(1, head + 8 + len), *at, *got;
	struct read_about about;
	struct err err;

	ck_assert_ptr_nonnull(bytes);
	at = mempcpy(bytes, begin, head);
	*at++ = '\x2a';
	*at++ = (char)(0x80 | _i);
	*at++ = (char)0x80;
	*at++ = '\x40';
	memcpy(at, function, sizeof(function) - 1);
	at[5] = (char)(at[5] + _i);
	got = read_bytes(bytes, (size_t)(at - bytes) + len, &all, &form, &about, &err);
	if (_i)
		ck_assert_msg(!got && strstr(err.msg, "is no field of a pprof profile"), "%s", got ? got : err.msg);
	else
		ck_assert_str_eq(got ? got : err.msg, "[pprof];f 2\n");
	free(got);
	free(bytes);
}
END_TEST

/* Data that the two text forms do not keep. */
static const struct test_row one[] = {
	{ "a\"b",
	  7,
	  8,
	  2,
	  2,
	  { { USER("main", 0x10), .build_id = id, .build_id_size = 3, .file = "a.c", .line = 3, .offset = 4 },
	    { KERNEL("x;y") } } },
	{ "",
	  7,
	  0,
	  1,
	  1,
	  { { USER("main", 0x10), .build_id = id, .build_id_size = 3, .file = "a.c", .line = 3, .offset = 4 },
	    { .kind = REPORT_FRAME_UNKNOWN } } },
};

START_TEST(test_json_text)
{
	const struct report_about about = { .tool = "profile",
					    .version = "1",
					    .kernel = "6\x01",
					    .event = "cpu-clock",
					    .time = 5,
					    .cpus = 2,
					    .period_ns = 10 };
	size_t len;
	char *got = write_rows(&report_json, &about, one, 2, 1, &len);

#define MAIN_JSON                                                                                                      \
	"{\"name\":\"main\",\"kind\":\"user\",\"module\":\"app\",\"build_id\":\"ab0012\",\"address\":\"0x10\","        \
	"\"offset\":\"0x4\",\"file\":\"a.c\",\"line\":3}"
	ck_assert_str_eq(got, "{\"fleetprof\":1,\"tool\":\"profile\",\"version\":\"1\",\"kernel\":\"6?\","
			      "\"event\":\"cpu-clock\",\"time\":5,\"cpus\":2,\"period_ns\":10,\"unit\":\"samples\"}\n"
			      "{\"comm\":\"\",\"pid\":7,\"value\":1,\"times\":1,\"frames\":[" MAIN_JSON
			      ",{\"name\":\"[unknown]\",\"kind\":\"unknown\"}]}\n"
			      "{\"comm\":\"a\\\"b\",\"pid\":7,\"tid\":8,\"value\":2,\"times\":2,\"frames\":[" MAIN_JSON
			      ",{\"name\":\"x;y\",\"kind\":\"kernel\",\"module\":\"kernel\","
			      "\"address\":\"0xffffffff81000010\"}]}\n"
			      "{\"counts\":{\"seconds\":1.5,\"taken\":8,\"counted\":7,\"lost\":1,"
			      "\"incomplete_percent\":0.0,\"unnamed_percent\":0.0}}\n");
	free(got);
}
END_TEST

START_TEST(test_speedscope_text)
{
	const struct report_about about = { .tool = "profile", .command = "profile -F \"49\"" };
	size_t len;
	char *got = write_rows(&report_speedscope, &about, one, 2, 2, &len);

#define PROFILE(n)                                                                                                     \
	"\n{\"type\":\"sampled\",\"name\":\"Interval " n ", 1.500 secs\",\"unit\":\"none\",\"samples\":["              \
	"\n[0,1,2],\n[3,1,4]],\n\"weights\":[1,2],\"startValue\":0,\"endValue\":3}"
	ck_assert_str_eq(got,
			 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
			 "\"exporter\":\"profile\",\"name\":\"profile -F \\\"49\\\"\",\n"
			 "\"profiles\":[" PROFILE("1") "," PROFILE(
				 "2") "],\n"
				      "\"shared\":{\"frames\":[\n{\"name\":\"\"},\n"
				      "{\"name\":\"main\",\"file\":\"a.c\",\"line\":3},\n{\"name\":\"[unknown]\"},\n"
				      "{\"name\":\"a\\\"b\"},\n{\"name\":\"x;y\"}]}}\n");
	free(got);
}
END_TEST

/* A program that was built again: if reports are compared, its frames are the same. */
START_TEST(test_labels_compared)
{
	static const struct report_writer *const compared[] = { &report_html, &report_json };
	const struct report_frame before = { .name = "f",
					     .kind = REPORT_FRAME_USER,
					     .module = "old",
					     .address = 16,
					     .build_id = (const uint8_t *)"a",
					     .build_id_size = 1 };
	const struct report_frame after = {
		.name = "f", .kind = REPORT_FRAME_FUNCTION, .module = "new", .address = 32
	};
	const struct report_frame other = { .name = "g", .kind = REPORT_FRAME_USER, .module = "old", .address = 16 };
	const struct report_frame *const frames[] = { &before, &after, &other };
	struct textbuf labels[2][3] = { 0 };
	size_t i, k;

	for (k = 0; k < 2; k++)
		for (i = 0; i < 3; i++)
			compared[_i]->label(&labels[k][i], &(struct report_cfg){ .compared = k }, frames[i]);
	for (k = 0; k < 2; k++) {
		const struct textbuf *l = labels[k];

		ck_assert_int_eq(l[0].len == l[1].len && !memcmp(l[0].bytes, l[1].bytes, l[0].len), k);
		ck_assert(l[0].len != l[2].len || memcmp(l[0].bytes, l[2].bytes, l[0].len));
	}
	for (k = 0; k < 2; k++)
		for (i = 0; i < 3; i++)
			free(labels[k][i].bytes);
}
END_TEST

/* A full disk at any time causes an error, and no leak. */
static const struct report_writer *const forms[] = { &report_pprof, &report_speedscope, &report_json, &report_html };

START_TEST(test_full)
{
	const struct report_cfg cfg = { 0 };
	struct report_output o;
	struct report *r;
	struct err err = { 0 };
	FILE *out = fopen("/dev/full", "w");
	size_t i;
	int rc;

	ck_assert_ptr_nonnull(out);
	setvbuf(out, NULL, _IOFBF, 256);
	rc = report_begin(&o, out, forms[_i], NULL, &err);
	ck_assert_int_eq(report_new(forms[_i], &cfg, &r, NULL), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		add(r, &rows[i]);
	if (!rc)
		rc = report_print(r, &o, NULL, &err);
	if (rc)
		ck_assert_int_eq(report_end(&o, false, NULL), 0);
	else
		rc = report_end(&o, true, &err);
	ck_assert_int_eq(rc, -ENOSPC);
	report_free(r);
	fclose(out);
}
END_TEST

/*
 * Read and write the bytes; the allocation after @nr fails, and with @then_all all later ones. @got: out: the caller
 * frees it; @failed: out: an allocation failed. Return: 0; -errno
 */
static int convert(const struct report_writer *to, const char *bytes, size_t len, size_t nr, bool then_all, char **got,
		   bool *failed)
{
	static const struct report_about facts = {
		.tool = "profile", .header = "a; b\n", .host = "h\n", .kernel = "6.1", .time = 1800000000
	};
	const struct report_cfg form = { .annotations = true };
	const struct read_cfg all = { .delimited = true };
	struct infile *in = open_bytes(bytes, len);
	struct read_about about;
	struct err err;
	size_t got_len;
	FILE *out = open_memstream(got, &got_len);
	int rc;

	memory_fail_after(nr, then_all);
	rc = rewrite(in, to, &all, &form, &facts, out, &about, &err);
	*failed = memory_restore();
	ck_assert_int_eq(rc, err.code);
	ck_assert(!rc || *err.msg);
	infile_close(in);
	fclose(out);
	return rc;
}

/* If any one allocation fails while a report is read and written, that is an error. */
static const struct {
	const struct report_writer *from, *to;
	bool then_all; /* later allocations fail, too */
} conversions[] = {
	{ &report_folded, &report_folded, false }, { &report_folded, &report_folded, true },
	{ &report_pprof, &report_pprof, false },   { &report_pprof, &report_pprof, true },
	{ &report_json, &report_json, false },     { &report_json, &report_json, true },
	{ &report_html, &report_html, false },     { &report_html, &report_html, true },
	{ &report_json, &report_text, false },     { &report_json, &report_speedscope, false },
	{ &report_json, &report_top, false },
};

START_TEST(test_no_memory)
{
	const struct report_writer *from = conversions[_i].from, *to = conversions[_i].to;
	const struct report_about about = { .tool = "profile", .period_ns = 1000 };
	size_t len, nr;
	char *written = write_rows(from, &about, rows, ARRAY_SIZE(rows) - 1, 1, &len), *want, *got;
	bool failed;

	ck_assert_int_eq(convert(to, written, len, SIZE_MAX, false, &want, &failed), 0);
	ck_assert(!failed);
	for (nr = 0, failed = true; failed; nr++) {
		int rc = convert(to, written, len, nr, conversions[_i].then_all, &got, &failed);

		ck_assert_msg(rc == (failed ? -ENOMEM : 0), "allocation %zu: %d", nr, rc);
		if (!rc)
			ck_assert_str_eq(got, want);
		free(got);
	}
	ck_assert_uint_gt(nr, 10);
	free(written);
	free(want);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("formats");
	TCase *tc = tcase_create("formats");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_round_trip, 0, (int)ARRAY_SIZE(round_trips));
	tcase_add_loop_test(tc, test_many_names, 0, 2);
	tcase_add_loop_test(tc, test_folded, 0, (int)ARRAY_SIZE(folded));
	tcase_add_loop_test(tc, test_folded_limits, 0, 4);
	tcase_add_loop_test(tc, test_json, 0, (int)ARRAY_SIZE(json));
	tcase_add_test(tc, test_threads);
	tcase_add_test(tc, test_json_depth);
	tcase_add_loop_test(tc, test_labels_compared, 0, 2);
	tcase_add_loop_test(tc, test_origin, 0, 2);
	tcase_add_loop_test(tc, test_pprof, 0, (int)ARRAY_SIZE(pprof));
	tcase_add_loop_test(tc, test_pprof_intervals, 0, 2);
	tcase_add_loop_test(tc, test_pprof_limit, 0, 2);
	tcase_add_test(tc, test_json_text);
	tcase_add_test(tc, test_speedscope_text);
	tcase_add_loop_test(tc, test_full, 0, (int)ARRAY_SIZE(forms));
	tcase_add_loop_test(tc, test_no_memory, 0, (int)ARRAY_SIZE(conversions));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
