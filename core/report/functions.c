// SPDX-License-Identifier: Apache-2.0
#include "core/report/functions.h"

#include "core/base/percent.h"
#include "core/base/saturate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct known_frame {
	const struct report_frame *frame;
	uint32_t function;
};

static const struct intern_kind frame_kind = INTERN_BYTES(struct known_frame, frame);

/* The key is a struct textbuf with the name and the module, both zero-terminated. */
static const char *module_in(const char *text)
{
	return text + strlen(text) + 1;
}

static uint64_t hash_name(const void *key)
{
	const struct textbuf *text = key;

	return hash_bytes(text->bytes, strlen(text->bytes), 0);
}

static uint64_t hash_both(const void *key)
{
	const struct textbuf *text = key;

	return hash_bytes(text->bytes, text->len, 0);
}

static bool same_name(const void *have, const void *key)
{
	const struct textbuf *text = key;

	return !strcmp(*(const char *const *)have, text->bytes);
}

static bool same_both(const void *have, const void *key)
{
	const struct textbuf *text = key;

	return same_name(have, key) && !strcmp(module_in(*(const char *const *)have), module_in(text->bytes));
}

static bool copy_both(void *to, const void *key)
{
	const struct textbuf *text = key;
	char *copy = malloc(text->len);

	*(const char **)to = copy;
	return copy && memcpy(copy, text->bytes, text->len);
}

/* [functions.by_module] */
static const struct intern_kind function_kinds[] = {
	INTERN_COPIED(struct function, name, hash_name, same_name, copy_both),
	INTERN_COPIED(struct function, name, hash_both, same_both, copy_both),
};

void functions_release(struct functions *f)
{
	intern_release_copies(&f->table, &function_kinds[f->by_module]);
	intern_release(&f->frames);
	free(f->text.bytes);
	*f = (struct functions){ .by_module = f->by_module };
}

static int find_function(struct functions *f, const struct report_frame *frame, uint32_t *pos)
{
	struct function *one;
	bool is_new;

	f->text.len = 0;
	report_frame_name(&f->text, frame, ';');
	textbuf_put(&f->text, "", 1);
	if (frame->module)
		textbuf_name(&f->text, frame->module, ';');
	textbuf_put(&f->text, "", 1);
	if (f->text.failed)
		return -ENOMEM;
	one = intern(&f->table, &function_kinds[f->by_module], &f->text, &is_new);
	if (!one)
		return -ENOMEM;
	*pos = (uint32_t)(one - (struct function *)f->table.v);
	if (is_new) {
		one->module = module_in(one->name);
		one->kind = frame->kind;
	}
	return 0;
}

static int function_of(struct functions *f, const struct report_frame *frame, struct function **out)
{
	bool is_new;
	struct known_frame *known = intern(&f->frames, &frame_kind, &frame, &is_new);
	int rc = known ? 0 : -ENOMEM;

	if (!rc && is_new)
		rc = find_function(f, frame, &known->function);
	if (!rc)
		*out = (struct function *)f->table.v + known->function;
	return rc;
}

static void add_to(struct function_sum *sum, uint64_t value, uint64_t times)
{
	sum->value = add_or_max(sum->value, value);
	sum->variance += (double)value * (double)value / (double)(times ? times : 1);
}

static void add_total(struct function_side *side, uint64_t value, uint64_t times)
{
	add_to(&side->total, value, times);
}

static void add_self(struct function_side *side, uint64_t value, uint64_t times)
{
	add_to(&side->self, value, times);
	side->samples = add_or_max(side->samples, times);
}

int functions_add(struct functions *f, const struct report_row *row)
{
	struct function *one;
	size_t i;
	int rc;

	f->nr_rows++;
	add_self(&f->now, row->value, row->times);
	add_self(&f->before, row->before, row->times_before);
	for (i = 0; i < row->nr; i++) {
		if (row->frames[i]->kind == REPORT_FRAME_MARKER && i + 1 < row->nr)
			continue;
		rc = function_of(f, row->frames[i], &one);
		if (rc)
			return rc;
		if (one->row != f->nr_rows) {
			add_total(&one->now, row->value, row->times);
			add_total(&one->before, row->before, row->times_before);
		}
		one->row = f->nr_rows;
		if (i + 1 == row->nr) {
			add_self(&one->now, row->value, row->times);
			add_self(&one->before, row->before, row->times_before);
		}
	}
	return 0;
}

static double one_sample(const struct function_side *side)
{
	double n = side->samples ? (double)side->samples : 1;

	return 1 / (n * n);
}

/* The variance of the share that @sum has of all values of @side; the share is a fraction of 1. */
static double share_variance(const struct function_sum *sum, const struct function_side *side)
{
	const struct function_sum *all = &side->self;
	double p, total = (double)all->value;

	if (!all->value)
		return 0;
	p = (double)sum->value / total;
	return one_sample(side) +
	       ((1 - p) * (1 - p) * sum->variance + p * p * (all->variance - sum->variance)) / (total * total);
}

void functions_change(const struct functions *f, const struct function *one, bool by_total, bool absolute,
		      struct function_change *out)
{
	const struct function_sum *now = by_total ? &one->now.total : &one->now.self;
	const struct function_sum *before = by_total ? &one->before.total : &one->before.self;
	const struct function_sum *all_now = absolute ? &f->before.self : &f->now.self;
	double all = (double)f->before.self.value, variance;

	if (absolute)
		variance = all > 0 ? (now->variance + before->variance) / (all * all) + one_sample(&f->before) : 0;
	else
		variance = share_variance(now, &f->now) + share_variance(before, &f->before);
	out->before = percent_of(before->value, f->before.self.value);
	out->now = percent_of(now->value, all_now->value);
	out->change = out->now - out->before;
	out->noise = 100.0 * NOISE_DEVIATIONS * sqrt(variance);
}

struct sorting {
	int (*cmp)(const struct function *a, const struct function *b, void *ctx);
	void *ctx;
};

/* Sort equal functions by name and module, so that the order of rows does not matter. */
static int compare(const void *a, const void *b, void *ctx)
{
	const struct function *x = *(const struct function *const *)a, *y = *(const struct function *const *)b;
	const struct sorting *s = ctx;
	int c = s->cmp ? s->cmp(x, y, s->ctx) : 0;

	if (!c)
		c = strcmp(x->name, y->name);
	return c ? c : strcmp(x->module, y->module);
}

const struct function **functions_sorted(const struct functions *f,
					 int (*cmp)(const struct function *a, const struct function *b, void *ctx),
					 void *ctx)
{
	const struct function **sorted = malloc((f->table.nr + 1) * sizeof(*sorted));
	struct sorting s = { cmp, ctx };
	size_t i;

	for (i = 0; sorted && i < f->table.nr; i++)
		sorted[i] = (const struct function *)f->table.v + i;
	if (sorted)
		qsort_r(sorted, f->table.nr, sizeof(*sorted), compare, &s);
	return sorted;
}
