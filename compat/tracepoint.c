// SPDX-License-Identifier: Apache-2.0
#include "compat/tracepoint.h"

#include "compat/tracefs.h"
#include "core/base/begins.h"
#include "core/base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A record is at most a page of the trace buffer; its first bytes are the same for all events: common_type to
 * common_pid.
 */
enum { RECORD_BYTES = 4096, COMMON_BYTES = 8, NESTED = 32 /* parentheses */ };

static int parse_sum(const char **s, unsigned int depth, uint64_t *out);
static int parse_or(const char **s, unsigned int depth, uint64_t *out);

static void skip_blanks(const char **s)
{
	*s += strspn(*s, " ");
}

/* Skip blanks, and @word if it follows. Return true if it did. */
static bool take_word(const char **s, const char *word)
{
	size_t len = strlen(word);

	skip_blanks(s);
	if (strncmp(*s, word, len))
		return false;
	*s += len;
	return true;
}

static int parse_value(const char **s, unsigned int depth, uint64_t *out)
{
	int rc;

	if (!depth)
		return -EINVAL;
	if (take_word(s, "(")) {
		rc = parse_or(s, depth - 1, out);
		return rc ? rc : take_word(s, ")") ? 0 : -EINVAL;
	}
	if (take_word(s, "0x"))
		return parse_digits(s, 16, UINT64_MAX, out);
	return parse_digits(s, 10, UINT64_MAX, out);
}

static int parse_sum(const char **s, unsigned int depth, uint64_t *out)
{
	uint64_t more;
	int rc = parse_value(s, depth, out);

	while (!rc) {
		bool minus = take_word(s, "-");

		if (!minus && !take_word(s, "+"))
			return 0;
		rc = parse_value(s, depth, &more);
		if (!rc && (minus ? __builtin_sub_overflow(*out, more, out) : __builtin_add_overflow(*out, more, out)))
			rc = -ERANGE;
	}
	return rc;
}

static int parse_shift(const char **s, unsigned int depth, uint64_t *out)
{
	uint64_t by;
	int rc = parse_sum(s, depth, out);

	while (!rc && take_word(s, "<<")) {
		rc = parse_sum(s, depth, &by);
		if (rc)
			break;
		if (by > 63 || *out << by >> by != *out)
			return -ERANGE;
		*out <<= by;
	}
	return rc;
}

/*
 * A constant expression of C with numbers, |, <<, + and -. The text has the definitions of the kernel's macros in place
 * of their names: TASK_REPORT_MAX is ((((0x00000000 | 0x00000001 | ...) + 1) << 1).
 */
static int parse_or(const char **s, unsigned int depth, uint64_t *out)
{
	uint64_t more;
	int rc = parse_shift(s, depth, out);

	while (!rc && take_word(s, "|")) {
		rc = parse_shift(s, depth, &more);
		if (!rc)
			*out |= more;
	}
	return rc;
}

/* The value at *@s, if it is one bit; else 0. */
static uint64_t parse_bit(const char **s)
{
	uint64_t value;

	if (parse_or(s, NESTED, &value) || !value || value & (value - 1))
		return 0;
	return value;
}

/* Find "{ 0x00000010, "X" }" of __print_flags() for each letter of a dead thread. */
static uint64_t find_dead(const char *s)
{
	uint64_t bit, dead = 0;

	while ((s = strchr(s, '{'))) {
		s++;
		bit = parse_bit(&s);
		if (!bit || !take_word(&s, ",") || !take_word(&s, "\""))
			continue;
		/* until 4.13, "x" is TASK_DEAD */
		if (*s && strchr("XZx", *s) && s[1] == '"')
			dead |= bit;
	}
	return dead;
}

/* Find "REC->prev_state & 1024 ? "+" : """, where 1024 is an expression. The name occurs earlier, without the rest. */
static uint64_t find_preempted(const char *s)
{
	static const char state[] = "REC->prev_state";
	uint64_t bit;

	while ((s = strstr(s, state))) {
		s += strlen(state);
		if (!take_word(&s, "&"))
			continue;
		bit = parse_bit(&s);
		if (bit && take_word(&s, "?") && take_word(&s, "\"+\""))
			return bit;
	}
	return 0;
}

/*
 * Parse "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n" (f_show(), kernel/trace/trace_events.c; with
 * "signed" since 2.6.33).
 * @decl: out: the declaration, @len bytes. Return: 0, -EBADMSG
 */
static int parse_field(const char *line, const char **decl, size_t *len, struct tracepoint_field *out)
{
	static const struct {
		const char *before;
		uint64_t max;
	} numbers[] = { { ";\toffset:", RECORD_BYTES }, { ";\tsize:", RECORD_BYTES }, { ";\tsigned:", 1 } };
	uint64_t n[ARRAY_SIZE(numbers)];
	size_t i;

	*decl = line + strlen("\tfield:");
	*len = strcspn(*decl, ";\n");
	line = *decl + *len;
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (!begins(line, numbers[i].before))
			return -EBADMSG;
		line += strlen(numbers[i].before);
		if (parse_digits(&line, 10, numbers[i].max, &n[i]))
			return -EBADMSG;
	}
	if (strncmp(line, ";\n", 2))
		return -EBADMSG;
	*out = (struct tracepoint_field){ .at = (uint32_t)n[0], .size = (uint32_t)n[1] };
	return 0;
}

/* True if "char prev_comm[16]", @len bytes, declares @name. */
static bool declares(const char *decl, size_t len, const char *name)
{
	size_t namelen = strlen(name), end = 0;

	while (end < len && decl[end] != '[')
		end++;
	return end > namelen && decl[end - namelen - 1] == ' ' && !memcmp(decl + end - namelen, name, namelen);
}

static const char *next_line(const char *line)
{
	line = strchr(line, '\n');
	return line ? line + 1 : NULL;
}

/* Find the only field @name, in the lines before @end. */
static int find_field(const char *text, const char *end, const char *name, uint32_t size, struct tracepoint_field *out)
{
	struct tracepoint_field field, found = { 0 };
	const char *line, *decl;
	size_t len;

	for (line = text; line && line < end; line = next_line(line)) {
		if (!begins(line, "\tfield:"))
			continue;
		if (parse_field(line, &decl, &len, &field))
			return -EBADMSG;
		if (!declares(decl, len, name))
			continue;
		if (found.size)
			return -EBADMSG;
		found = field;
		if (field.size != size || field.at < COMMON_BYTES || field.at + field.size > RECORD_BYTES)
			return -EBADMSG;
	}
	if (!found.size)
		return -EBADMSG;
	*out = found;
	return 0;
}

static bool overlap(const struct tracepoint_field *a, const struct tracepoint_field *b)
{
	return a->at < b->at + b->size && b->at < a->at + a->size;
}

int sched_switch_parse(const char *text, struct sched_switch *out)
{
	struct sched_switch s = { .id = out->id };
	const struct {
		const char *name;
		uint32_t size;
		struct tracepoint_field *field;
	} fields[] = {
		{ "prev_comm", 16, &s.prev_comm },
		{ "prev_pid", 4, &s.prev_pid },
		{ "prev_state", 8, &s.prev_state }, /* a long; we do not trace 32-bit kernels */
		{ "next_pid", 4, &s.next_pid },
	};
	const char *print = strstr(text, "\nprint fmt:");
	const char *end = print ? print : text + strlen(text);
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (find_field(text, end, fields[i].name, fields[i].size, fields[i].field))
			return -EBADMSG;
		for (j = 0; j < i; j++)
			if (overlap(fields[i].field, fields[j].field))
				return -EBADMSG;
	}
	if (print) {
		s.dead = find_dead(print);
		s.preempted = find_preempted(print);
	}
	*out = s;
	return 0;
}

bool sched_switch_is_usual(const struct sched_switch *s)
{
	return s->prev_comm.at == 8 && s->prev_pid.at == 24 && s->prev_state.at == 32 && s->next_pid.at == 56;
}

/* Only kernels 4.* may shift prev_state. If our sleeps do not show whether this one does, believe the format. */
static void look_at_shift(const struct host *host, struct sched_switch *s)
{
	char release[8];

	if (host_read(host->proc, "sys/kernel/osrelease", release, sizeof(release)) < 0 || strncmp(release, "4.", 2) ||
	    sched_switch_shift(s) != 1)
		return;
	s->state_shift = 1;
	s->dead <<= 1;
}

#define EXIT_STATES 0x30 /* EXIT_DEAD, EXIT_ZOMBIE: include/linux/sched.h */

static int parse_event(const struct tracefs_event *event, struct sched_switch *out)
{
	const char *id = event->id;
	int rc = parse_digits(&id, 10, UINT32_MAX, &out->id);

	if (rc || !out->id || strcmp(id, "\n"))
		return -EBADMSG;
	return sched_switch_parse(event->format, out);
}

int sched_switch_find(const struct host *host, struct sched_switch *out, struct err *err)
{
	struct tracefs_event *event = malloc(sizeof(*event));
	struct sched_switch parsed = { 0 };
	int rc;

	if (!event)
		return err_sys(err, -ENOMEM, "cannot read the tracepoint sched:sched_switch");
	rc = tracefs_read(host, event, err);
	if (!rc && parse_event(event, &parsed))
		rc = err_set(err, -EBADMSG, "the tracepoint sched:sched_switch has a format that is not known");
	free(event);
	if (rc)
		return rc;
	/* If the text was not understood: these two are the same on all kernels since 2.6. */
	if (!parsed.dead)
		parsed.dead = EXIT_STATES;
	look_at_shift(host, &parsed);
	*out = parsed;
	return 0;
}
