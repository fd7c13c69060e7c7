// SPDX-License-Identifier: Apache-2.0
#include "tests/vm/report.h"

#include <stdlib.h>
#include <string.h>

/* Split the row at @p: *@len is its text without the value. Return: the value. @next: the rest. */
static uint64_t row_at(const char *p, size_t *len, const char **next)
{
	size_t line = strcspn(p, "\n"), i = line;

	while (i > 0 && p[i - 1] != ' ')
		i--;
	*len = i ? i - 1 : 0;
	*next = p + line + (p[line] == '\n');
	return i ? strtoull(p + i, NULL, 10) : 0;
}

uint64_t report_samples(const char *folded, const char *prefix, const char *part)
{
	const char *p, *next, *at;
	uint64_t sum = 0, value;
	size_t len;

	for (p = folded; *p; p = next) {
		value = row_at(p, &len, &next);
		at = strstr(p, part);
		if (!strncmp(p, prefix, strlen(prefix)) && at && at + strlen(part) <= p + len)
			sum += value;
	}
	return sum;
}

/* The text after "name: " at the beginning of a line. */
static const char *line_of(const struct run *r, const char *name)
{
	size_t len = strlen(name);
	const char *p;

	for (p = r->err; *p; p += strcspn(p, "\n"), p += *p == '\n')
		if (!strncmp(p, name, len) && !strncmp(p + len, ": ", 2))
			return p + len + 2;
	return NULL;
}

uint64_t report_book(const struct run *r, const char *name)
{
	const char *p = line_of(r, name);

	return p ? strtoull(p, NULL, 10) : UINT64_MAX;
}

const char *report_word(const struct run *r, const char *name)
{
	static char word[512];
	const char *p = line_of(r, name);

	snprintf(word, sizeof(word), "%.*s", p ? (int)strcspn(p, "\n") : 0, p ? p : "");
	return word;
}

static bool books_balance(const struct run *r)
{
	return report_book(r, "samples_taken") == report_book(r, "samples_counted_in_kernel") +
							  report_book(r, "samples_counted_from_ring") +
							  report_book(r, "samples_filtered") &&
	       !report_book(r, "samples_lost") && !report_book(r, "samples_unaccounted");
}

static bool intervals_balance(const struct run *r)
{
	return report_book(r, "intervals_begun") == report_book(r, "intervals_counted") +
							    report_book(r, "intervals_filtered") +
							    report_book(r, "intervals_open") &&
	       !report_book(r, "intervals_lost") && !report_book(r, "intervals_unaccounted");
}

bool check_ran(const struct run *r, const char *name)
{
	bool of_intervals = line_of(r, "intervals_begun");
	bool ran = !r->status && (of_intervals ? intervals_balance(r) : books_balance(r));

	tap_ok(ran, "%s: exit status 0, the stats balance, nothing is lost", name);
	if (!ran) {
		tap_line("profile %s: exit status %d", r->args, r->status);
		tap_text("stderr", r->err);
		if (r->status == 3)
			tap_text("what differs", r->out);
	}
	return ran;
}

/* True if all parts between '|' are in @text. */
static bool has_all(const char *text, const char *parts)
{
	for (; *parts; parts += strcspn(parts, "|"), parts += *parts == '|')
		if (!memmem(text, strlen(text), parts, strcspn(parts, "|")))
			return false;
	return true;
}

void check_failed(const struct run *r, const char *name, const char *parts)
{
	bool ok = r->status == 1 && has_all(r->err, parts);

	tap_ok(ok, "%s: exit status 1 and the cause", name);
	if (!ok) {
		tap_line("profile %s: exit status %d; wanted: %s", r->args, r->status, parts);
		tap_text("stderr", r->err);
	}
}

static struct stack_row *find_row(struct stack_rows *s, const char *stack, size_t len)
{
	struct stack_row *row;
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (strlen(s->rows[i].stack) == len && !memcmp(s->rows[i].stack, stack, len))
			return &s->rows[i];
	s->rows = realloc(s->rows, (s->nr + 1) * sizeof(*s->rows));
	row = s->rows ? &s->rows[s->nr++] : NULL;
	if (row)
		*row = (struct stack_row){ .stack = strndup(stack, len) };
	if (!row || !row->stack)
		die("realloc");
	return row;
}

void report_user_stacks(const char *folded, const char *prefix, struct stack_rows *out)
{
	const char *p, *next, *kernel;
	struct stack_row *row;
	uint64_t value;
	size_t len;

	*out = (struct stack_rows){ NULL, 0, 0 };
	for (p = folded; *p; p = next) {
		value = row_at(p, &len, &next);
		if (strncmp(p, prefix, strlen(prefix)))
			continue;
		kernel = memmem(p, len, ";-;", 3);
		row = find_row(out, p, kernel ? (size_t)(kernel - p) : len);
		row->in_kernel |= kernel != NULL;
		row->samples += value;
		out->samples += value;
	}
}

void stack_rows_free(struct stack_rows *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		free(s->rows[i].stack);
	free(s->rows);
}
