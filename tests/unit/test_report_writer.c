// SPDX-License-Identifier: Apache-2.0
/* The calls that writers get: their order, their state, named frames. */
#include "core/report/report.h"
#include "tests/demangle_here.h"
#include "tests/unit/unit.h"

#include <inttypes.h>

static const unsigned char id[] = { 0xab, 0xcd };

enum { MAIN = 1, NAMELESS, MADE, HOT, KERNEL };

static uint64_t asked;

/* Like the resolver: the next call overwrites names and files. */
static void name_it(uint64_t addr, struct symbol *out)
{
	static char name[64], file[64];
	static const struct symbol symbols[] = {
		[MAIN] = { "_ZN3app4mainEv", 0x10, "app", "app.c", 40, .build_id = id, .build_id_size = sizeof(id) },
		[NAMELESS] = { NULL, 0, "libfoo.so", .build_id = id, .build_id_size = 1 },
		[MADE] = { "made f", 1, "//anon", .jit = true },
		[HOT] = { "hot", 2, "app", "app.c", 50 },
		[KERNEL] = { "vfs_read", 0xff, "kernel" },
		[KERNEL + 1] = { NULL, 0, "kernel" },
	};

	asked = addr;
	*out = symbols[addr];
	snprintf(name, sizeof(name), "%s", out->name ? out->name : "");
	snprintf(file, sizeof(file), "%s", out->file ? out->file : "");
	out->name = out->name ? name : NULL;
	out->file = out->file ? file : NULL;
}

static void name_kernel(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	(void)ctx;
	(void)is_return;
	name_it(addr, out);
}

static void name_user(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		      struct symbol *out)
{
	(void)ctx;
	(void)pid;
	(void)comm;
	(void)image;
	(void)is_return;
	name_it(addr, out);
}

static size_t name_inlined(void *ctx, const struct symbol **out)
{
	static const struct symbol inlined = { "inner", 0, "app", "inner.h", 3, true };

	(void)ctx;
	*out = &inlined;
	return asked == HOT;
}

static const struct report_names world = { NULL, name_kernel, name_user, name_inlined, NULL, demangle_here };

/* A writer that records all calls. */
struct state {
	unsigned int rows, fails;
};

static void spy_label(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *f)
{
	static const char kinds[][8] = { "kernel", "user", "inlined", "jit", "unknown", "script", "marker" };
	char text[256];
	unsigned int i;
	int len = snprintf(text, sizeof(text), "%s %" PRIx64 " %s+%" PRIx64 " %s %s:%u ", kinds[f->kind], f->address,
			   f->name ? f->name : "?", f->offset, f->module ? f->module : "?", f->file ? f->file : "?",
			   f->line);

	(void)cfg;
	for (i = 0; i < f->build_id_size; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "%02x", f->build_id[i]);
	textbuf_put(b, text, (size_t)len);
}

static int spy_begin(struct report_output *o, const struct report_about *about)
{
	struct state *s = calloc(1, sizeof(*s));

	ck_assert_ptr_nonnull(s);
	o->state = s;
	fprintf(o->out, "begin %s\n", about->header ? about->header : "-");
	return 0;
}

static void spy_interval(struct report_output *o, const struct report_interval *interval)
{
	fprintf(o->out, "interval %u %.1f\n", interval->number, interval->seconds);
}

static int spy_row(struct report_output *o, const struct report_row *row)
{
	struct textbuf again = { 0 };
	struct state *s = o->state;
	size_t i;

	if (s->fails)
		return -ENOMEM;
	s->rows++;
	fprintf(o->out, "row %.*s %d", (int)row->comm.len, row->comm.bytes, row->pid);
	if (row->tid)
		fprintf(o->out, "/%d", row->tid);
	fputc('\n', o->out);
	for (i = 0; i < row->nr; i++) {
		again.len = 0;
		spy_label(&again, NULL, row->frames[i]);
		ck_assert_uint_eq(again.len, row->texts[i].len);
		ck_assert_int_eq(memcmp(again.bytes, row->texts[i].bytes, again.len), 0);
		fprintf(o->out, "  %.*s\n", (int)again.len, again.bytes);
	}
	fprintf(o->out, "  %" PRIu64 "\n", row->value);
	free(again.bytes);
	return 0;
}

static int spy_end(struct report_output *o, bool whole)
{
	struct state *s = o->state;

	if (whole)
		fprintf(o->out, "end %u\n", s->rows);
	free(s);
	o->state = NULL;
	return 0;
}

static const struct report_writer spy = {
	.name = "spy",
	.delimiter = "===",
	.semicolon = ';',
	.prints_pid = true,
	.structured = true,
	.label = spy_label,
	.begin = spy_begin,
	.interval = spy_interval,
	.row = spy_row,
	.end = spy_end,
};

static void add(struct rows *t, const uint64_t *user, uint32_t nr, const uint64_t *kernel, uint32_t nr_kernel,
		uint64_t value)
{
	const struct row_key key = {
		.comm = "app",
		.pid = 7,
		.kernel = { kernel, nr_kernel, nr_kernel ? STACK_TAKEN : STACK_NONE, false },
		.user = { user, nr, nr ? STACK_TAKEN : STACK_MISSED, nr == 1 },
	};

	ck_assert_int_eq(rows_add(t, &key, value, value), 0);
}

static struct rows *make(void)
{
	struct rows *t = rows_new();

	ck_assert_ptr_nonnull(t);
	add(t, (uint64_t[]){ HOT, MADE, NAMELESS, MAIN }, 4, (uint64_t[]){ KERNEL + 1, KERNEL }, 2, 3);
	add(t, (uint64_t[]){ MAIN }, 1, NULL, 0, 2);
	add(t, NULL, 0, NULL, 0, 1);
	return t;
}

#define ROWS                                                                                                           \
	"row app 7\n"                                                                                                  \
	"  marker 0 off-cpu+0 ? ?:0 \n"                                                                                \
	"  marker 0 [Missed User Stack]+0 ? ?:0 \n"                                                                    \
	"  1\n"                                                                                                        \
	"row app 7\n"                                                                                                  \
	"  marker 0 off-cpu+0 ? ?:0 \n"                                                                                \
	"  marker 0 [truncated]+0 ? ?:0 \n"                                                                            \
	"  user 1 " MAIN_NAME "+10 app app.c:40 abcd\n"                                                                \
	"  2\n"                                                                                                        \
	"row app 7\n"                                                                                                  \
	"  marker 0 off-cpu+0 ? ?:0 \n"                                                                                \
	"  user 1 " MAIN_NAME "+10 app app.c:40 abcd\n"                                                                \
	"  unknown 2 ?+0 libfoo.so ?:0 ab\n"                                                                           \
	"  jit 3 made f+1 //anon ?:0 \n"                                                                               \
	"  user 4 hot+2 app app.c:50 \n"                                                                               \
	"  inlined 4 inner+0 app inner.h:3 \n"                                                                         \
	"  marker 0 ===+0 ? ?:0 \n"                                                                                    \
	"  kernel 5 vfs_read+ff kernel ?:0 \n"                                                                         \
	"  kernel 6 ?+0 kernel ?:0 \n"                                                                                 \
	"  3\n"

#ifdef HAVE_IBERTY
#define MAIN_NAME "app::main"
#else
#define MAIN_NAME "_ZN3app4mainEv"
#endif

/* Two intervals. */
START_TEST(test_spy)
{
	const struct report_cfg cfg = { .delimited = true, .inlined = true };
	struct rows *t = make();
	const struct report_part part = { .rows = t, .names = &world, .root = "off-cpu", .weight = 1 };
	struct report_output o;
	struct err err = { 0 };
	char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);

	ck_assert_int_eq(report_begin(&o, out, &spy, &(struct report_about){ .header = "Sampling" }, &err), 0);
	ck_assert_str_eq(got, "begin Sampling\n");
	report_interval(&o, 1, 0.5);
	ck_assert_int_eq(report_rows(&o, &part, 1, &cfg, &err), 0);
	report_interval(&o, 2, 1);
	ck_assert_int_eq(report_rows(&o, &part, 1, &cfg, &err), 0);
	ck_assert_int_eq(report_end(&o, true, &err), 0);
	ck_assert_int_eq(report_end(&o, false, &err), 0); /* only once */
	fclose(out);
	ck_assert_str_eq(got, "begin Sampling\ninterval 1 0.5\n" ROWS "interval 2 1.0\n" ROWS "end 6\n");
	free(got);
	rows_free(t);
}
END_TEST

/* Rows by process: separate, in order, and written with their ids, unless the form prints no ids. */
static const struct {
	bool prints_pid;
	const char *want;
} processes[] = {
	{ true, "row app 7\n  marker 0 [Missed User Stack]+0 ? ?:0 \n  1\n"
		"row app 8\n  marker 0 [Missed User Stack]+0 ? ?:0 \n  1\n"
		"row app 9\n  marker 0 [Missed User Stack]+0 ? ?:0 \n  1\n" },
	{ false, "row app 0\n  marker 0 [Missed User Stack]+0 ? ?:0 \n  3\n" },
};

START_TEST(test_processes)
{
	struct report_writer form = spy;
	const struct report_cfg cfg = { .form = &form };
	struct row_key key = { .comm = "app", .user.state = STACK_MISSED };
	struct rows *t = rows_new();
	const struct report_part part = { .rows = t, .names = &world, .weight = 1 };
	struct report_output o;
	struct err err = { 0 };
	char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);
	int i;

	form.begin = NULL;
	form.prints_pid = processes[_i].prints_pid;
	for (i = 0; i < 3; i++) {
		key.pid = (pid_t[]){ 9, 7, 8 }[i];
		ck_assert_int_eq(rows_add(t, &key, 1, 1), 0);
	}
	ck_assert_int_eq(report_begin(&o, out, &form, NULL, &err), 0);
	o.state = calloc(1, sizeof(struct state));
	ck_assert_int_eq(report_rows(&o, &part, 1, &cfg, &err), 0);
	ck_assert_int_eq(report_end(&o, false, &err), 0);
	fclose(out);
	ck_assert_str_eq(got, processes[_i].want);
	free(got);
	rows_free(t);
}
END_TEST

START_TEST(test_fails)
{
	const struct report_cfg cfg = { .form = &spy };
	struct rows *t = make();
	const struct report_part part = { .rows = t, .names = &world, .weight = 1 };
	struct report_output o;
	struct err err = { 0 };
	char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);

	ck_assert_int_eq(report_begin(&o, out, &spy, NULL, &err), 0);
	((struct state *)o.state)->fails = 1;
	ck_assert_int_eq(report_rows(&o, &part, 1, &cfg, &err), -ENOMEM);
	ck_assert_int_eq(err.code, -ENOMEM);
	ck_assert_int_eq(report_end(&o, false, &err), 0);
	ck_assert_ptr_null(o.state);
	fclose(out);
	ck_assert_str_eq(got, "begin -\n");
	free(got);
	rows_free(t);
}
END_TEST

/* The empty lines and headers of a run: with a report that is no interval, with one interval, and with three. */
static const struct {
	const char *form;
	unsigned int first, last;
	const char *want;
} headed[] = {
	{ "text", 0, 0, "Sampling\n\n" },
	{ "text", 1, 1, "Sampling\n\nInterval 1, 1.500 secs\n\n" },
	{ "text", 1, 3,
	  "Sampling\n\nInterval 1, 1.500 secs\n\n\nInterval 2, 1.500 secs\n\n\nInterval 3, 1.500 secs\n\n" },
	{ "folded", 0, 0, "" },
	{ "folded", 1, 1, "" },
	{ "folded", 1, 3, "\n\n" },
};

START_TEST(test_headed)
{
	struct report_output o;
	struct err err = { 0 };
	char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);
	unsigned int i;

	ck_assert_int_eq(report_begin(&o, out, report_form(headed[_i].form),
				      &(struct report_about){ .header = "Sampling" }, &err),
			 0);
	for (i = headed[_i].first; i <= headed[_i].last; i++) {
		report_interval(&o, i, 1.5);
		ck_assert_int_eq(report_rows(&o, NULL, 0, &(struct report_cfg){ 0 }, &err), 0);
	}
	ck_assert_int_eq(report_end(&o, true, &err), 0);
	fclose(out);
	ck_assert_str_eq(got, headed[_i].want);
	free(got);
}
END_TEST

START_TEST(test_forms)
{
	ck_assert_ptr_eq(report_form("text"), &report_text);
	ck_assert_ptr_eq(report_form("folded"), &report_folded);
	ck_assert_ptr_null(report_form("fold"));
	ck_assert_ptr_null(report_form(""));
#define NAMED(form) ck_assert_str_eq(report_##form.name, #form);
	REPORT_FORMS(NAMED)
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_writer");
	TCase *tc = tcase_create("report_writer");

	tcase_add_test(tc, test_spy);
	tcase_add_loop_test(tc, test_processes, 0, (int)ARRAY_SIZE(processes));
	tcase_add_test(tc, test_fails);
	tcase_add_loop_test(tc, test_headed, 0, ARRAY_SIZE(headed));
	tcase_add_test(tc, test_forms);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
