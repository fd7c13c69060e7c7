// SPDX-License-Identifier: Apache-2.0
/* Tables of tasks and functions. In a comparison: what changed. */
#include "core/report/forms.h"
#include "core/report/functions.h"

#include "core/base/percent.h"
#include "core/base/saturate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MODULE_MAX 24 /* longer module names are cut to so many columns */

struct top_task {
	struct text_ref comm;
	uint64_t value;
};

static const struct intern_kind task_kind = INTERN_TEXT(struct top_task, comm);

/* Everything but @about belongs to the current report. */
struct top {
	struct report_about about; /* without the texts */
	struct functions functions;
	struct intern_table tasks;
	uint64_t kernel; /* value of the rows whose leaf is in the kernel */
	unsigned int interval;
};

static void forget_report(struct top *t)
{
	intern_release_copies(&t->tasks, &task_kind);
	functions_release(&t->functions);
	t->kernel = 0;
}

/* The label that distinguishes functions: name, module and kind. */
static void top_label(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *frame)
{
	const char kind = (char)('0' + frame->kind);

	(void)cfg;
	report_frame_name(b, frame, report_top.semicolon);
	textbuf_put(b, &kind, 1);
	if (frame->module)
		textbuf_name(b, frame->module, report_top.semicolon);
}

static int top_begin(struct report_output *o, const struct report_about *about)
{
	struct top *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->about = (struct report_about){ .cpus = about->cpus, .period_ns = about->period_ns, .unit = about->unit };
	o->state = t;
	if (about->header)
		fprintf(o->out, "%s\n", about->header);
	return 0;
}

static void top_interval(struct report_output *o, const struct report_interval *interval)
{
	struct top *t = o->state;

	t->interval = interval->number;
	if (interval->number)
		fprintf(o->out, "\nInterval %u, %.3f secs\n", interval->number, interval->seconds);
}

static int add_task(struct top *t, const struct report_row *row)
{
	bool is_new;
	struct top_task *task = intern(&t->tasks, &task_kind, &row->comm, &is_new);

	if (!task)
		return -ENOMEM;
	task->value = add_or_max(task->value, row->value);
	return 0;
}

static int top_row(struct report_output *o, const struct report_row *row)
{
	struct top *t = o->state;
	int rc = add_task(t, row);

	if (row->nr && row->frames[row->nr - 1]->kind == REPORT_FRAME_KERNEL)
		t->kernel = add_or_max(t->kernel, row->value);
	t->functions.by_module = !o->cfg->compared;
	return rc ? rc : functions_add(&t->functions, row);
}

static int by_value(const void *pa, const void *pb)
{
	const struct top_task *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	return strcmp(a->comm.bytes, b->comm.bytes);
}

/* How many CPUs were busy for @value; negative: not known. */
static double cpus_of(const struct top *t, const struct report_counts *counts, uint64_t value)
{
	double ns = t->about.unit == UNIT_USEC ? 1e3 : (double)t->about.period_ns;

	return ns > 0 && counts->seconds > 0 ? (double)value * ns / 1e9 / counts->seconds : -1;
}

static size_t shown_of(const struct report_output *o, size_t nr)
{
	return o->cfg->limit && o->cfg->limit < nr ? o->cfg->limit : nr;
}

static void print_others(FILE *out, size_t nr, const char *of)
{
	if (nr)
		fprintf(out, "%10s  and %zu more %s%s (--limit)\n", "", nr, of, nr > 1 ? "s" : "");
}

static void print_tasks(struct report_output *o, const struct report_counts *counts)
{
	struct top *t = o->state;
	uint64_t all = t->functions.now.self.value;
	struct top_task *tasks = t->tasks.v;
	size_t nr = shown_of(o, t->tasks.nr), i;

	if (t->tasks.nr)
		qsort(tasks, t->tasks.nr, sizeof(*tasks), by_value);
	fprintf(o->out, "\n%8s  %6s  %10s  %s\n", "%", "CPUs", report_unit_name(t->about.unit), "task");
	for (i = 0; i < nr; i++) {
		double cpus = cpus_of(t, counts, tasks[i].value);
		char busy[32] = "-";

		if (cpus >= 0)
			snprintf(busy, sizeof(busy), "%.2f", cpus);
		fprintf(o->out, "%8.2f  %6s  %10" PRIu64 "  %s\n", percent_of(tasks[i].value, all), busy,
			tasks[i].value, tasks[i].comm.bytes);
	}
	print_others(o->out, t->tasks.nr - nr, "task");
}

static int by_self(const struct function *a, const struct function *b, void *ctx)
{
	const uint64_t x[] = { a->now.self.value, a->now.total.value }, y[] = { b->now.self.value, b->now.total.value };
	const bool *by_total = ctx;

	if (x[*by_total] != y[*by_total])
		return x[*by_total] < y[*by_total] ? 1 : -1;
	return x[!*by_total] == y[!*by_total] ? 0 : x[!*by_total] < y[!*by_total] ? 1 : -1;
}

/* The columns that a text fills: bytes that do not continue a UTF-8 character. */
static size_t columns_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* The number of bytes in the first @columns columns of @s. */
static int bytes_in(const char *s, size_t columns)
{
	const char *at = s;

	for (; *at; at++)
		if (((unsigned char)*at & 0xc0) != 0x80 && !columns--)
			break;
	return (int)(at - s);
}

static size_t module_column(const struct function **shown, size_t nr)
{
	size_t most = strlen("module"), columns, i;

	for (i = 0; i < nr; i++) {
		columns = columns_of(shown[i]->module);
		if (columns > most)
			most = columns < MODULE_MAX ? columns : MODULE_MAX;
	}
	return most;
}

/*
 * Print the end of a line: module and name, cut to the width of the terminal. @column: columns for the module
 * @used: columns before these
 */
static void print_name(const struct report_output *o, const char *module, const char *name, size_t column, size_t used)
{
	size_t modules = columns_of(module), left = SIZE_MAX;
	bool cut;

	if (o->cfg->width)
		left = o->cfg->width > used + column + 12 ? o->cfg->width - used - column - 2 : 10;
	cut = columns_of(name) > left;
	fprintf(o->out, "%.*s%*s  %.*s%s\n", bytes_in(module, column), module,
		(int)(modules < column ? column - modules : 0), "", bytes_in(name, cut ? left - 2 : left), name,
		cut ? ".." : "");
}

/* Leave out functions with value 0. Return: how many are left. */
static size_t that_ran(const struct function **sorted, size_t nr, bool by_total)
{
	while (nr && !sorted[nr - 1]->now.total.value)
		nr--;
	while (!by_total && nr && !sorted[nr - 1]->now.self.value)
		nr--;
	return nr;
}

static int print_functions(struct report_output *o)
{
	struct top *t = o->state;
	const struct functions *f = &t->functions;
	bool by_total = o->cfg->by_total;
	const struct function **sorted = functions_sorted(f, by_self, &by_total);
	size_t all, nr, column, i;

	if (!sorted)
		return -ENOMEM;
	all = that_ran(sorted, f->table.nr, by_total);
	nr = shown_of(o, all);
	column = module_column(sorted, nr);
	fprintf(o->out, "\n%8s  %8s  %10s  %-*s  %s\n", "self %", "total %", report_unit_name(t->about.unit),
		(int)column, "module", "function");
	for (i = 0; i < nr; i++) {
		const struct function_side *one = &sorted[i]->now;

		fprintf(o->out, "%8.2f  %8.2f  %10" PRIu64 "  ", percent_of(one->self.value, f->now.self.value),
			percent_of(one->total.value, f->now.self.value), by_total ? one->total.value : one->self.value);
		print_name(o, sorted[i]->module, sorted[i]->name, column, 32);
	}
	print_others(o->out, all - nr, "function");
	free(sorted);
	return 0;
}

static int by_change(const struct function *a, const struct function *b, void *ctx)
{
	const struct report_output *o = ctx;
	const struct top *t = o->state;
	struct function_change x, y;
	double dx, dy;

	functions_change(&t->functions, a, o->cfg->by_total, o->cfg->absolute, &x);
	functions_change(&t->functions, b, o->cfg->by_total, o->cfg->absolute, &y);
	dx = x.change < 0 ? -x.change : x.change;
	dy = y.change < 0 ? -y.change : y.change;
	return (dx < dy) - (dx > dy);
}

/* If self values are compared, leave out functions that only call others. Return: how many are left. */
static size_t that_count(const struct function **sorted, size_t nr, bool by_total)
{
	size_t kept = 0, i;

	for (i = 0; i < nr; i++)
		if (by_total || sorted[i]->now.self.value || sorted[i]->before.self.value)
			sorted[kept++] = sorted[i];
	return kept;
}

static int print_changes(struct report_output *o)
{
	struct top *t = o->state;
	const struct functions *f = &t->functions;
	const struct function **sorted = functions_sorted(f, by_change, o);
	size_t all, nr, column, i;
	struct function_change c;

	if (!sorted)
		return -ENOMEM;
	all = that_count(sorted, f->table.nr, o->cfg->by_total);
	nr = shown_of(o, all);
	column = module_column(sorted, nr);
	fprintf(o->out, "\n%8s  %8s  %8s  %8s     %-*s  %s\n", "before %", "after %", "change", "noise", (int)column,
		"module", "function");
	for (i = 0; i < nr; i++) {
		functions_change(f, sorted[i], o->cfg->by_total, o->cfg->absolute, &c);
		fprintf(o->out, "%8.2f  %8.2f  %+8.2f  %8.2f  %c  ", c.before, c.now, c.change, c.noise,
			c.change > c.noise    ? '+'
			: c.change < -c.noise ? '-'
					      : ' ');
		print_name(o, sorted[i]->module, sorted[i]->name, column, 43);
	}
	print_others(o->out, all - nr, "function");
	free(sorted);
	fprintf(o->out,
		"\n%" PRIu64 " %s before, %" PRIu64
		" after. Changes are in points%s; + and - are beyond what chance does.\n",
		f->before.self.value, report_unit_name(t->about.unit), f->now.self.value,
		o->cfg->absolute ? ", of all before" : "");
	return 0;
}

static void print_summary(const struct report_output *o, const struct report_counts *counts)
{
	const struct top *t = o->state;
	uint64_t all = t->functions.now.self.value;
	FILE *out = o->out;

	fprintf(out, "\n%.1f %% in the kernel, %.1f %% in programs", percent_of(t->kernel, all),
		percent_of(all - t->kernel, all));
	if (counts->due)
		fprintf(out, "; CPUs were idle for %.1f %%", percent_of(counts->due - counts->taken, counts->due));
	fputc('\n', out);
	if (!counts->known)
		return;
	fprintf(out, "%.1f %% of the user stacks are incomplete, %.1f %% lack names\n",
		report_share_percent(&counts->incomplete), report_share_percent(&counts->unnamed));
	fprintf(out, "%" PRIu64 " %s counted, %" PRIu64 " lost\n", counts->counted,
		counts->intervals ? "intervals" : "samples", counts->lost);
}

static int top_counts(struct report_output *o, const struct report_counts *counts)
{
	struct top *t = o->state;
	int rc;

	if (o->cfg->compared) {
		rc = print_changes(o);
	} else {
		print_tasks(o, counts);
		rc = print_functions(o);
		print_summary(o, counts);
	}
	forget_report(t);
	return rc;
}

static int top_end(struct report_output *o, bool whole)
{
	(void)whole;
	if (o->state)
		forget_report(o->state);
	free(o->state);
	o->state = NULL;
	return 0;
}

const struct report_writer report_top = {
	.name = "top",
	.delimiter = "-",
	.semicolon = ';',
	.structured = true,
	.compares = true,
	.names_only = true,
	.label = top_label,
	.begin = top_begin,
	.interval = top_interval,
	.row = top_row,
	.counts = top_counts,
	.end = top_end,
};
