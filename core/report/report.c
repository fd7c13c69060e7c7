// SPDX-License-Identifier: Apache-2.0
/*
 * Turn rows into text in four steps: name each distinct frame once, turn each row into labels and merge equal rows,
 * sort, print. A printed row refers to two label sequences (user and kernel), which rows share.
 */
#include "core/report/report.h"

#include "core/base/saturate.h"
#include "core/report/labeller.h"
#include "core/report/printed.h"
#include "core/report/stacks.h"
#include "core/tasks/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 8192 /* so many rows wait while the names in their stacks are demangled */

struct task {
	struct task_image of;
	uint32_t label;   /* of its comm */
	uint32_t cgroup;  /* label, or HASH_NONE */
	uint32_t nr_rows; /* number of its rows in the current part */
};

static const struct intern_kind task_kind = INTERN_BYTES(struct task, of);

struct report {
	struct labeller labeller;
	struct report_stacks stacks;
	struct printed_rows printed;
	struct printed_row *waiting; /* BATCH */
	size_t nr_waiting;
	/* for the current part */
	const struct report_part *part;
	uint32_t root, input; /* labels, or HASH_NONE */
	struct intern_table tasks;
	/* for the current task */
	struct quality quality;
};

void report_free(struct report *r)
{
	if (!r)
		return;
	intern_release(&r->tasks);
	free(r->waiting);
	printed_release(&r->printed);
	stacks_release(&r->stacks);
	labeller_release(&r->labeller);
	free(r);
}

static int report_init(struct report *r)
{
	int rc;

	r->stacks.labeller = &r->labeller;
	r->printed.labels = &r->labeller.labels;
	r->waiting = malloc(BATCH * sizeof(*r->waiting));
	rc = r->waiting ? stacks_init(&r->stacks) : -ENOMEM;
	if (rc)
		return rc;
	return labeller_marker(&r->labeller, r->labeller.form->delimiter, report_folded.delimiter,
			       &r->printed.delimiter);
}

/* If reports are compared, a row has values of both: leave out the cgroup and the input, which may differ. */
static bool prints_origin(const struct report *r)
{
	return r->labeller.form->prints_origin && !r->labeller.cfg->compared;
}

static int begin_part(struct report *r, const struct report_part *part)
{
	int rc;

	r->labeller.names = part->names;
	rc = stacks_begin_part(&r->stacks, rows_nr_stacks(part->rows), part->from_schedule);
	r->stacks.finds_incomplete = part->quality && part->quality->by_fp;
	r->part = part;
	r->root = r->input = HASH_NONE;
	intern_release(&r->tasks);
	if (!rc && part->root)
		rc = labeller_marker(&r->labeller, part->root, part->root, &r->root);
	if (!rc && part->input && prints_origin(r))
		rc = labeller_text(&r->labeller, part->input, &r->input);
	return rc;
}

static int find_cgroup(struct report *r, struct task *task)
{
	struct tasks *tasks = r->labeller.names->tasks;
	const char *cgroup =
		tasks && prints_origin(r) ? tasks_cgroup(tasks, task->of.key.pid, task->of.key.comm) : NULL;

	task->cgroup = HASH_NONE;
	return cgroup ? labeller_text(&r->labeller, cgroup, &task->cgroup) : 0;
}

static int find_task(struct report *r, const struct row *in, uint32_t *pos)
{
	struct task_image key = { .key.pid = in->key.pid, .image = in->key.image };
	struct task *task;
	bool is_new;

	memcpy(key.key.comm, in->key.comm, COMM_LEN);
	task = intern(&r->tasks, &task_kind, &key, &is_new);
	if (!task)
		return -ENOMEM;
	task->nr_rows++;
	*pos = (uint32_t)(task - (struct task *)r->tasks.v);
	if (!is_new)
		return 0;
	return labeller_text(&r->labeller, key.key.comm, &task->label) ? -ENOMEM : find_cgroup(r, task);
}

/* Merge the waiting rows by their labels, which are known now. */
static int add_waiting(struct report *r)
{
	size_t i;
	int rc = labeller_settle(&r->labeller);

	for (i = 0; i < r->nr_waiting && !rc; i++)
		rc = printed_add(&r->printed, &r->waiting[i]);
	r->nr_waiting = 0;
	return rc;
}

static void set_values(struct printed_row *row, uint64_t value, uint64_t times, bool before)
{
	row->value = before ? 0 : value;
	row->times = before ? 0 : times;
	row->before = before ? value : 0;
	row->times_before = before ? times : 0;
}

static int add_row(struct report *r, const struct task *task, size_t i)
{
	const struct labels *labels = &r->labeller.labels;
	struct printed_row *row = &r->waiting[r->nr_waiting];
	struct added_stacks stacks;
	struct row in;
	uint64_t value;
	int rc;

	rows_get(r->part->rows, i, &in);
	rc = stacks_add(&r->stacks, &in, &stacks);
	if (rc)
		return rc;
	row->user = stacks.user;
	row->kernel = stacks.kernel;
	if (stacks.reused && r->part->reused)
		*r->part->reused += in.times;
	value = mul_or_max(in.value, r->part->weight);
	if (in.key.user.nr || in.key.user.state == STACK_MISSED)
		quality_count(&r->quality, stacks.flaws, value, in.times);
	set_values(row, value, in.times, r->part->before);
	row->comm = task->label;
	row->cgroup = task->cgroup;
	row->input = r->input;
	row->root = r->root;
	row->pid = r->labeller.form->prints_pid ? in.key.pid : 0;
	row->tid = 0;
	row->delimited = r->labeller.cfg->delimited && in.key.user.state == STACK_TAKEN &&
			 in.key.kernel.state == STACK_TAKEN && labels_seq(labels, row->user)->nr &&
			 labels_seq(labels, row->kernel)->nr;
	return ++r->nr_waiting == BATCH ? add_waiting(r) : 0;
}

static int add_task(struct report *r, const struct task *task, const uint32_t *rows)
{
	uint32_t i;
	int rc = 0;

	stacks_begin_task(&r->stacks, &task->of);
	r->quality = (struct quality){ 0 };
	for (i = 0; !rc && i < task->nr_rows; i++)
		rc = add_row(r, task, rows[i]);
	return rc || !r->part->quality ? rc : report_quality_add(r->part->quality, &task->of.key, &r->quality);
}

/* Find the task of each row, then sort the rows by task. @order: out: all row numbers */
static int order_by_task(struct report *r, uint32_t *order, uint32_t nr)
{
	uint32_t *task_of = malloc((nr + 1) * sizeof(*task_of)), *next = NULL, i, at = 0;
	const struct task *tasks;
	struct row in;
	int rc = task_of ? 0 : -ENOMEM;

	for (i = 0; !rc && i < nr; i++) {
		rows_get(r->part->rows, i, &in);
		rc = find_task(r, &in, &task_of[i]);
	}
	tasks = r->tasks.v;
	if (!rc)
		next = malloc((r->tasks.nr + 1) * sizeof(*next));
	if (!rc && !next)
		rc = -ENOMEM;
	for (i = 0; !rc && i < r->tasks.nr; at += tasks[i++].nr_rows)
		next[i] = at;
	for (i = 0; !rc && i < nr; i++)
		order[next[task_of[i]]++] = i;
	free(task_of);
	free(next);
	return rc;
}

static int add_part(struct report *r, const struct report_part *part)
{
	size_t nr = rows_nr(part->rows), at = 0, i;
	uint32_t *order = malloc((nr + 1) * sizeof(*order));
	const struct task *tasks;
	int rc = order ? begin_part(r, part) : -ENOMEM;

	if (!rc)
		rc = order_by_task(r, order, (uint32_t)nr);
	tasks = r->tasks.v;
	for (i = 0; !rc && i < r->tasks.nr; at += tasks[i++].nr_rows)
		rc = add_task(r, &tasks[i], order + at);
	free(order);
	return rc ? rc : add_waiting(r);
}

int report_new(const struct report_writer *form, const struct report_cfg *cfg, struct report **out, struct err *err)
{
	struct report *r = calloc(1, sizeof(*r));
	int rc = -ENOMEM;

	if (r) {
		r->labeller.cfg = cfg;
		r->labeller.form = form;
		rc = report_init(r);
	}
	if (rc) {
		report_free(r);
		return err_sys(err, rc, "cannot make the report");
	}
	*out = r;
	return 0;
}

int report_add(struct report *r, const struct report_part *part, struct err *err)
{
	int rc = add_part(r, part);

	return rc ? err_sys(err, rc, "cannot make the report") : 0;
}

void report_forget_names(struct report *r)
{
	labeller_forget_names(&r->labeller);
	stacks_forget_kernel(&r->stacks);
}

int report_label(struct report *r, const char *text, uint32_t *label)
{
	return labeller_text(&r->labeller, text, label);
}

int report_frame(struct report *r, const struct report_frame *frame, uint32_t *label)
{
	return labeller_named(&r->labeller, frame, label);
}

uint32_t report_delimiter(const struct report *r)
{
	return r->printed.delimiter;
}

int report_add_named(struct report *r, const struct report_named *named)
{
	const struct report_writer *form = r->labeller.form;
	uint64_t unit = r->labeller.cfg->unit;
	struct printed_row row = {
		.comm = named->comm,
		.cgroup = prints_origin(r) ? named->cgroup : HASH_NONE,
		.input = prints_origin(r) ? named->input : HASH_NONE,
		.root = HASH_NONE,
		.pid = form->prints_pid ? named->pid : 0,
		.tid = form->prints_tid ? named->tid : 0,
	};
	int rc = labels_add_seq(&r->labeller.labels, named->labels, named->nr, &row.user);

	if (!rc)
		rc = labels_add_seq(&r->labeller.labels, NULL, 0, &row.kernel);
	if (rc)
		return rc;
	/* Values read from files are in the printed unit, and all values are divided by it at the end: multiply. */
	set_values(&row, mul_or_max(named->value, unit ? unit : 1), named->times, named->before);
	return printed_add(&r->printed, &row);
}

static int write_row(void *ctx, const struct report_row *row)
{
	struct report_output *o = ctx;
	int rc;

	errno = 0;
	rc = o->form->row(o, row);
	return rc ? rc : report_failed(o->out);
}

struct report_sums report_sums(const struct report *r)
{
	const struct printed_row *rows = r->printed.table.v;
	struct report_sums sums = { 0 };
	size_t i;

	for (i = 0; i < r->printed.table.nr; i++) {
		sums.now += (double)rows[i].value;
		sums.before += (double)rows[i].before;
	}
	return sums;
}

static void find_scale(const struct report *r, struct report_output *o)
{
	struct report_sums sums = { 0 };

	if (o->cfg->compared && !o->cfg->absolute)
		sums = report_sums(r);
	o->scale = sums.before > 0 ? sums.now / sums.before : 1;
}

static int write_rows(struct report *r, struct report_output *o)
{
	int rc;

	flockfile(o->out);
	rc = printed_each(&r->printed, write_row, o);
	if (!rc)
		rc = report_flush(o->out);
	funlockfile(o->out);
	return rc;
}

int report_each(struct report *r, int (*fn)(void *ctx, const struct report_row *row), void *ctx)
{
	return printed_each(&r->printed, fn, ctx);
}

int report_print(struct report *r, struct report_output *o, const struct report_counts *counts, struct err *err)
{
	static const struct report_counts unknown;
	int rc;

	o->cfg = r->labeller.cfg;
	printed_divide(&r->printed, o->cfg->unit);
	printed_sort(&r->printed);
	find_scale(r, o);
	rc = write_rows(r, o);
	if (!rc && o->form->counts)
		rc = o->form->counts(o, counts ? counts : &unknown);
	if (!rc)
		rc = report_flush(o->out);
	return rc ? err_sys(err, rc, "cannot write the report") : 0;
}

int report_rows(struct report_output *o, const struct report_part *parts, size_t nr, const struct report_cfg *cfg,
		struct err *err)
{
	struct report *r = NULL;
	size_t i;
	int rc = report_new(o->form, cfg, &r, err);

	for (i = 0; i < nr && !rc; i++)
		rc = report_add(r, &parts[i], err);
	if (!rc)
		rc = report_print(r, o, NULL, err);
	report_free(r);
	return rc;
}

int report_begin(struct report_output *o, FILE *out, const struct report_writer *form, const struct report_about *about,
		 struct err *err)
{
	static const struct report_about unknown;
	int rc;

	*o = (struct report_output){ .out = out, .form = form };
	rc = form->begin ? form->begin(o, about ? about : &unknown) : 0;
	if (!rc)
		rc = report_flush(out);
	return rc ? err_sys(err, rc, "cannot write the report") : 0;
}

void report_interval(struct report_output *o, unsigned int number, double seconds)
{
	const struct report_interval interval = { number, seconds };

	if (o->form->interval)
		o->form->interval(o, &interval);
}

int report_end(struct report_output *o, bool whole, struct err *err)
{
	const struct report_writer *form = o->form;
	int rc = form && form->end ? form->end(o, whole) : 0;

	o->form = NULL;
	if (form && whole && !rc)
		rc = report_flush(o->out);
	return rc ? err_sys(err, rc, "cannot write the report") : 0;
}

int report_write(FILE *out, const struct rows *rows, const struct report_names *names, const struct report_cfg *cfg,
		 struct err *err)
{
	const struct report_part part = {
		.rows = rows, .names = names, .weight = 1, .from_schedule = cfg->from_schedule
	};
	struct report_output o;
	int rc = report_begin(&o, out, cfg->form, NULL, err);

	if (!rc)
		rc = report_rows(&o, &part, 1, cfg, err);
	if (rc)
		report_end(&o, false, NULL);
	else
		rc = report_end(&o, true, err);
	return rc;
}
