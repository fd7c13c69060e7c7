// SPDX-License-Identifier: Apache-2.0
/*
 * A page for a browser: a template, made of page.html, with its data inside, compressed and in base64. The format of
 * the data is in core/formats/page_data.h, which the reader shares.
 */
#include "core/formats/base64.h"
#include "core/formats/frame_table.h"
#include "core/formats/gzip.h"
#include "core/formats/json_text.h"
#include "core/formats/page_data.h"
#include "core/formats/page_stacks.h"
#include "core/formats/tree.h"

#include "core/base/err.h"
#include "core/base/grow.h"
#include "core/base/strings.h"
#include "core/report/forms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const char page_template[];
extern const size_t page_template_size;
/* clang-format off */
__asm__(".pushsection .rodata\n"
	"	.global page_template, page_template_size\n"
	"page_template:\n"
	"	.incbin \"core/formats/page.template\"\n"
	"0:	.balign 8\n"
	"page_template_size:\n"
	"	.quad 0b - page_template\n"
	".popsection\n");
/* clang-format on */

/* Numbers of strings; for optional strings plus one, and 0 for none. */
struct page_frame {
	enum page_kind kind;
	uint32_t name, module, build_id, address;
};

/* @counts: of all reports together */
struct page {
	json_t *head, *facts, *columns;
	struct frame_table table;
	struct page_frame *frames;
	size_t cap_frames;
	struct strings strings;
	struct tree tree;
	struct page_stacks stacks;
	struct report_counts counts;
	unsigned int interval;
	uint32_t *stack; /* scratch, like the next ones */
	size_t cap_stack;
	struct textbuf text;
	/* output */
	struct gzip_writer gzip;
	struct base64_writer base64;
	int failed; /* the -errno of a failed write */
};

/* The label distinguishes functions, not addresses in them: a graph has one box for each function. */
static void page_label(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *frame)
{
	const char kind = cfg->compared ? 'f' : (char)('0' + frame->kind);
	uint64_t start = report_frame_start(frame);

	textbuf_put(b, &kind, 1);
	report_frame_name(b, frame, report_html.semicolon);
	/* The program may have been built again, and not each format has kinds and modules. */
	if (cfg->compared)
		return;
	textbuf_put(b, "\n", 1);
	if (frame->module)
		textbuf_name(b, frame->module, report_html.semicolon);
	textbuf_put(b, (const char *)&start, sizeof(start));
	report_frame_build_id(b, frame);
}

/* ---- the head */

static int add_fact(struct page *p, const char *name, const char *text)
{
	json_t *value;

	if (!text || !*text)
		return 0;
	value = json_of_name(text);
	return value && !json_array_append_new(p->facts, json_pack("[so]", name, value)) ? 0 : -ENOMEM;
}

static int add_time(struct page *p, int64_t when)
{
	time_t at = (time_t)when;
	struct tm utc;
	char text[64] = "";

	if (when && gmtime_r(&at, &utc))
		strftime(text, sizeof(text), PAGE_TIME, &utc);
	return add_fact(p, "Time", text);
}

static int add_facts(struct page *p, const struct report_about *about)
{
	const struct {
		const char *name, *text;
	} facts[] = {
		{ "Host", about->host },   { "Kernel", about->kernel },   { "Command", about->command },
		{ "Event", about->event }, { "Backend", about->backend }, { "Unwinder", about->unwinder },
	};
	size_t i;
	int rc = 0;

	for (i = 0; i < ARRAY_SIZE(facts) && !rc; i++)
		rc = add_fact(p, facts[i].name, facts[i].text);
	return rc ? rc : add_time(p, about->time);
}

static double per_second(const struct report_about *about)
{
	if (about->unit == UNIT_USEC)
		return 1e6;
	return about->period_ns ? 1e9 / (double)about->period_ns : 0;
}

/* After a value that is NULL, json_pack() keeps a reference to each array. */
static int begin_head(struct page *p, const struct report_about *about)
{
	json_t *title = json_of_name(about->header ? about->header : "Stacks");

	p->facts = json_array();
	p->columns = json_array();
	if (title && p->facts && p->columns)
		p->head = json_pack("{ss sO ss sO sO sI sf}", "tool", about->tool ? about->tool : "profile", "title",
				    title, "unit", report_unit_name(about->unit), "facts", p->facts, "columns",
				    p->columns, "cpus", (json_int_t)about->cpus, "per_second", per_second(about));
	json_decref(title);
	return p->head ? add_facts(p, about) : -ENOMEM;
}

static void page_free(struct page *p)
{
	strings_release(&p->strings);
	frame_table_release(&p->table);
	tree_release(&p->tree);
	page_stacks_release(&p->stacks);
	gzip_release(&p->gzip);
	json_decref(p->head);
	json_decref(p->facts);
	json_decref(p->columns);
	free(p->frames);
	free(p->stack);
	free(p->text.bytes);
	free(p);
}

static int page_begin(struct report_output *o, const struct report_about *about)
{
	struct page *p = calloc(1, sizeof(*p));

	o->state = p;
	return p ? begin_head(p, about) : -ENOMEM;
}

static void page_interval(struct report_output *o, const struct report_interval *interval)
{
	struct page *p = o->state;

	p->interval = interval->number;
	frame_table_begin(&p->table);
}

/* ---- rows */

/* The number of the text in p->text from @at on. */
static int text_number(struct page *p, size_t at, uint32_t *id)
{
	bool is_new;

	textbuf_put(&p->text, "", 1);
	return p->text.failed ? -ENOMEM : strings_add(&p->strings, p->text.bytes + at, id, &is_new);
}

static enum page_kind kind_of(const struct report_frame *frame)
{
	bool off = frame->kind == REPORT_FRAME_MARKER && frame->name && !strcmp(frame->name, "off-cpu");

	return off ? PAGE_OFF_CPU : page_kind_of(frame->kind);
}

static int add_frame(struct page *p, uint32_t nr, const struct page_frame *frame)
{
	struct page_frame *frames = grow(p->frames, &p->cap_frames, nr, 1, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	p->frames = frames;
	frames[nr] = *frame;
	return 0;
}

/* The number of the text in p->text, plus one: 0 stands for none. */
static int optional_number(struct page *p, uint32_t *id)
{
	int rc = text_number(p, 0, id);

	*id += !rc;
	return rc;
}

static int set_module(struct page *p, const struct report_frame *from, struct page_frame *frame)
{
	p->text.len = 0;
	if (!from->module)
		return 0;
	textbuf_name(&p->text, from->module, report_html.semicolon);
	return optional_number(p, &frame->module);
}

static int set_build_id(struct page *p, const struct report_frame *from, struct page_frame *frame)
{
	p->text.len = 0;
	if (!from->build_id_size)
		return 0;
	report_frame_build_id(&p->text, from);
	return optional_number(p, &frame->build_id);
}

static int set_address(struct page *p, const struct report_frame *from, struct page_frame *frame)
{
	char text[19];

	p->text.len = 0;
	if (!report_frame_start(from))
		return 0;
	textbuf_put(&p->text, text, (size_t)snprintf(text, sizeof(text), "0x%" PRIx64, report_frame_start(from)));
	return optional_number(p, &frame->address);
}

static int new_frame(struct page *p, uint32_t nr, const struct report_frame *from, bool compared)
{
	struct page_frame frame = { .kind = kind_of(from) };
	int rc;

	p->text.len = 0;
	report_frame_name(&p->text, from, report_html.semicolon);
	rc = text_number(p, 0, &frame.name);
	if (!rc)
		rc = set_module(p, from, &frame);
	if (!rc && !compared)
		rc = set_build_id(p, from, &frame);
	if (!rc && !compared)
		rc = set_address(p, from, &frame);
	return rc ? rc : add_frame(p, nr, &frame);
}

/* In a comparison, a frame stands for all frames with its name: it has a module only if all of them agree. */
static int agree_on_module(struct page *p, uint32_t nr, const struct report_frame *from)
{
	struct page_frame also = { 0 };
	int rc = p->frames[nr].module ? set_module(p, from, &also) : 0;

	if (!rc && p->frames[nr].module != also.module)
		p->frames[nr].module = 0;
	return rc;
}

/* The task is the first node of a stack. */
static int find_task(struct page *p, const struct text_ref *comm, uint32_t *nr)
{
	struct page_frame frame = { .kind = PAGE_TASK };
	bool is_new;
	int rc;

	p->text.len = 0;
	textbuf_put(&p->text, "t", 1);
	textbuf_put(&p->text, comm->bytes, comm->len);
	if (p->text.failed)
		return -ENOMEM;
	rc = frame_table_find(&p->table, &(struct text_ref){ p->text.bytes, p->text.len }, nr, &is_new);
	if (rc || !is_new)
		return rc;
	rc = text_number(p, 1, &frame.name);
	return rc ? rc : add_frame(p, *nr, &frame);
}

static int find_stack(struct page *p, const struct report_row *row, bool compared)
{
	uint32_t *stack = grow(p->stack, &p->cap_stack, 0, row->nr + 1, sizeof(*stack));
	bool is_new;
	size_t i;
	int rc;

	if (!stack)
		return -ENOMEM;
	p->stack = stack;
	rc = find_task(p, &row->comm, &stack[0]);
	for (i = 0; i < row->nr && !rc; i++) {
		rc = frame_table_add(&p->table, row, i, &stack[i + 1], &is_new);
		if (!rc && is_new)
			rc = new_frame(p, stack[i + 1], row->frames[i], compared);
		else if (!rc && compared)
			rc = agree_on_module(p, stack[i + 1], row->frames[i]);
	}
	return rc;
}

static int page_row(struct report_output *o, const struct report_row *row)
{
	struct page *p = o->state;
	uint32_t column = (uint32_t)json_array_size(p->columns);
	int rc = find_stack(p, row, o->cfg->compared);

	if (!rc)
		rc = tree_add(&p->tree, p->stack, row->nr + 1, column, row->value);
	if (!rc && o->cfg->compared)
		rc = tree_add(&p->tree, p->stack, row->nr + 1, column + 1, row->before);
	return rc;
}

/* ---- the end of a report, and of all */

static int add_column(struct page *p, double seconds)
{
	json_t *column = p->interval ? json_pack("{sI sf}", "number", (json_int_t)p->interval, "seconds", seconds)
				     : json_pack("{sf}", "seconds", seconds);

	return column && !json_array_append_new(p->columns, column) ? 0 : -ENOMEM;
}

static int page_counts(struct report_output *o, const struct report_counts *counts)
{
	struct page *p = o->state;
	json_int_t before = -1;
	int rc = add_column(p, counts->seconds);

	report_counts_add(&p->counts, counts);
	if (!rc && o->cfg->compared) {
		before = (json_int_t)json_array_size(p->columns);
		rc = add_column(p, 0);
	}
	if (!rc && (json_object_set_new(p->head, "before", json_integer(before)) ||
		    json_object_set_new(p->head, "absolute", json_boolean(o->cfg->absolute))))
		rc = -ENOMEM;
	return rc;
}

static int add_count_facts(struct page *p)
{
	const struct report_counts *c = &p->counts;
	char text[200];

	if (c->known)
		snprintf(text, sizeof(text),
			 "taken %" PRIu64 ", counted %" PRIu64 ", lost %" PRIu64
			 "; %.1f %% of the user stacks incomplete, %.1f %% without names",
			 c->taken, c->counted, c->lost, report_share_percent(&c->incomplete),
			 report_share_percent(&c->unnamed));
	else
		snprintf(text, sizeof(text), "counted %" PRIu64, c->counted);
	return add_fact(p, "Counted", text);
}

static void put_number(struct page *p, uint64_t n)
{
	char bytes[PAGE_NUMBER_MAX];

	gzip_put(&p->gzip, bytes, page_number(n, bytes));
}

static void put_text(struct page *p, const char *text)
{
	size_t len = strlen(text);

	put_number(p, len);
	gzip_put(&p->gzip, text, len);
}

static int put_head(struct page *p)
{
	char *head;

	if (add_count_facts(p))
		return -ENOMEM;
	head = json_dumps(p->head, JSON_COMPACT);
	if (!head)
		return -ENOMEM;
	gzip_put(&p->gzip, PAGE_MAGIC, strlen(PAGE_MAGIC));
	put_text(p, head);
	free(head);
	return 0;
}

static void put_strings(struct page *p)
{
	size_t len = 0, i;

	for (i = 0; i < strings_nr(&p->strings); i++)
		len += strlen(strings_get(&p->strings, (uint32_t)i)) + 1;
	put_number(p, len);
	for (i = 0; i < strings_nr(&p->strings); i++) {
		const char *text = strings_get(&p->strings, (uint32_t)i);

		gzip_put(&p->gzip, text, strlen(text));
		gzip_put(&p->gzip, "\n", 1);
	}
}

static uint32_t frame_number(const struct page_frame *f, int column)
{
	switch (column) {
	case 0:
		return f->kind;
	case 2:
		return f->name + 1;
	case 3:
		return f->module;
	case 4:
		return f->build_id;
	case 6:
		return f->address;
	default:
		return 0; /* line, file */
	}
}

static void put_frames(struct page *p)
{
	size_t i;
	int column;

	put_number(p, p->table.frames.nr);
	for (column = 0; column < PAGE_FRAME_COLUMNS; column++)
		for (i = 0; i < p->table.frames.nr; i++)
			put_number(p, frame_number(&p->frames[i], column));
}

static int by_name(uint32_t a, uint32_t b, void *ctx)
{
	const struct page *p = ctx;
	int c = strcmp(strings_get(&p->strings, p->frames[a].name), strings_get(&p->strings, p->frames[b].name));

	return c ? c : (a > b) - (a < b);
}

static int put_data(struct page *p)
{
	int rc = put_head(p);

	if (rc)
		return rc;
	put_strings(p);
	put_frames(p);
	p->stacks = (struct page_stacks){ .gzip = &p->gzip, .nr_frames = p->table.frames.nr };
	return page_stacks_put(&p->stacks, &p->tree, by_name, p);
}

/* Escape text for HTML. */
static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("<>&\"'", *text))
			fprintf(out, "&#%d;", *text);
		else
			fputc(*text, out);
	}
}

static void put_compressed(void *ctx, const void *bytes, size_t len)
{
	struct page *p = ctx;

	errno = 0;
	base64_put(&p->base64, bytes, len);
	if (!p->failed)
		p->failed = report_failed(p->base64.out);
}

static int write_data(struct page *p, FILE *out)
{
	int rc = gzip_begin(&p->gzip, put_compressed, p);

	if (rc)
		return rc;
	p->base64 = (struct base64_writer){ .out = out };
	rc = put_data(p);
	if (!rc) {
		gzip_end(&p->gzip);
		base64_end(&p->base64);
	}
	return rc ? rc : p->failed;
}

static int write_page(struct page *p, FILE *out)
{
	const char *end = page_template + page_template_size;
	const char *title = memmem(page_template, page_template_size, PAGE_TITLE, strlen(PAGE_TITLE));
	const char *data = memmem(title, (size_t)(end - title), PAGE_DATA, strlen(PAGE_DATA));
	int rc;

	errno = 0;
	fwrite(page_template, 1, (size_t)(title - page_template), out);
	put_escaped(out, json_string_value(json_object_get(p->head, "title")));
	title += strlen(PAGE_TITLE);
	fwrite(title, 1, (size_t)(data - title), out);
	p->failed = report_failed(out);
	rc = write_data(p, out);
	data += strlen(PAGE_DATA);
	fwrite(data, 1, (size_t)(end - data), out);
	return rc ? rc : report_failed(out);
}

static int page_end(struct report_output *o, bool whole)
{
	struct page *p = o->state;
	int rc = whole ? write_page(p, o->out) : 0;

	if (p)
		page_free(p);
	o->state = NULL;
	return rc;
}

static const char *const page_suffixes[] = { ".html", ".htm", NULL };

const struct report_writer report_html = {
	.name = "html",
	.suffixes = page_suffixes,
	.delimiter = "-",
	.semicolon = ';',
	.structured = true,
	.compares = true,
	.names_only = true,
	.label = page_label,
	.begin = page_begin,
	.interval = page_interval,
	.row = page_row,
	.counts = page_counts,
	.end = page_end,
};
