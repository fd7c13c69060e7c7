// SPDX-License-Identifier: Apache-2.0
/*
 * Rows to text, in four steps: name each distinct frame once, turn each row into labels and merge rows with
 * equal ones, sort, print. A printed row refers to two label sequences (user and kernel), which rows share.
 */
#include "core/report/report.h"

#include "core/base/saturate.h"
#include "core/report/labeller.h"
#include "core/report/printed.h"
#include "core/report/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 8192 /* rows that wait until the names in their stacks are demangled */

struct task {
	struct task_key key;
	uint32_t label;   /* of its comm */
	uint32_t nr_rows; /* of the input */
};

static const struct intern_kind task_kind = INTERN_BYTES(struct task, key);

struct report {
	const struct report_part *part; /* at hand */
	struct labeller labeller;
	struct report_stacks stacks;
	struct printed_rows printed;
	struct printed_row *waiting; /* BATCH */
	size_t nr_waiting;
	/* of the part */
	uint32_t root; /* label, or HASH_NONE */
	struct intern_table tasks;
};

static void report_release(struct report *r)
{
	intern_release(&r->tasks);
	free(r->waiting);
	printed_release(&r->printed);
	stacks_release(&r->stacks);
	labeller_release(&r->labeller);
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

static int begin_part(struct report *r, const struct report_part *part)
{
	int rc = stacks_begin_part(&r->stacks, rows_nr_stacks(part->rows), part->from_schedule);

	r->part = part;
	r->root = HASH_NONE;
	intern_release(&r->tasks);
	if (!rc && part->root)
		rc = labeller_marker(&r->labeller, part->root, part->root, &r->root);
	return rc;
}

static int find_task(struct report *r, const struct row *in, uint32_t *pos)
{
	struct task_key key = { .pid = in->key.pid };
	struct task *task;
	bool is_new;

	memcpy(key.comm, in->key.comm, COMM_LEN);
	task = intern(&r->tasks, &task_kind, &key, &is_new);
	if (!task)
		return -ENOMEM;
	task->nr_rows++;
	*pos = (uint32_t)(task - (struct task *)r->tasks.v);
	return is_new ? labeller_comm(&r->labeller, key.comm, &task->label) : 0;
}

/* Rows merge by their labels, which are known now. */
static int add_waiting(struct report *r)
{
	size_t i;
	int rc = labeller_settle(&r->labeller);

	for (i = 0; i < r->nr_waiting && !rc; i++)
		rc = printed_add(&r->printed, &r->waiting[i]);
	r->nr_waiting = 0;
	return rc;
}

static int add_row(struct report *r, const struct task *task, size_t i)
{
	const struct labels *labels = &r->labeller.labels;
	struct printed_row *row = &r->waiting[r->nr_waiting];
	struct row in;
	int rc;

	rows_get(r->part->rows, i, &in);
	rc = stacks_add(&r->stacks, &in, &row->user, &row->kernel);
	if (rc)
		return rc;
	row->value = mul_or_max(in.value, r->part->weight);
	row->comm = task->label;
	row->root = r->root;
	row->pid = r->labeller.form->prints_pid ? in.key.pid : 0;
	row->tid = r->labeller.form->prints_pid ? in.key.tid : 0;
	row->delimited = r->labeller.cfg->delimited && in.key.user.state == STACK_TAKEN &&
			 in.key.kernel.state == STACK_TAKEN && labels_seq(labels, row->user)->nr &&
			 labels_seq(labels, row->kernel)->nr;
	return ++r->nr_waiting == BATCH ? add_waiting(r) : 0;
}

static int add_task(struct report *r, const struct task *task, const uint32_t *rows)
{
	uint32_t i;
	int rc = 0;

	stacks_begin_task(&r->stacks, &task->key);
	for (i = 0; !rc && i < task->nr_rows; i++)
		rc = add_row(r, task, rows[i]);
	return rc;
}

/* Find the task of each row, then put rows in the order of their tasks: @order has room for them all. */
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
	return rc;
}

int report_rows(struct report_output *o, const struct report_part *parts, size_t nr, const struct report_names *names,
		const struct report_cfg *cfg, struct err *err)
{
	struct report r = { .labeller = { .names = names, .cfg = cfg, .form = o->form } };
	size_t i;
	int rc = report_init(&r);

	for (i = 0; i < nr && !rc; i++)
		rc = add_part(&r, &parts[i]);
	if (!rc)
		rc = add_waiting(&r);
	if (rc) {
		err_sys(err, rc, "cannot make the report");
	} else {
		printed_divide(&r.printed, cfg->unit);
		printed_sort(&r.printed);
		rc = printed_write(&r.printed, o);
		if (rc)
			err_sys(err, rc, "cannot write the report");
	}
	report_release(&r);
	return rc;
}

int report_begin(struct report_output *o, FILE *out, const struct report_writer *form, const char *header,
		 struct err *err)
{
	int rc;

	*o = (struct report_output){ .out = out, .form = form };
	rc = form->begin ? form->begin(o, header) : 0;
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
	const struct report_part part = { .rows = rows, .weight = 1, .from_schedule = cfg->from_schedule };
	struct report_output o;
	int rc = report_begin(&o, out, cfg->form, NULL, err);

	if (!rc)
		rc = report_rows(&o, &part, 1, names, cfg, err);
	if (rc)
		report_end(&o, false, NULL);
	else
		rc = report_end(&o, true, err);
	return rc;
}
