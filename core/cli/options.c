// SPDX-License-Identifier: Apache-2.0
#include "core/cli/options.h"

#include "core/base/clock.h"
#include "core/base/printable.h"
#include "core/cli/options_table.h"
#include "core/cli/suggest.h"
#include "core/report/forms.h"
#include "core/report/writer.h"
#include "core/session/ways.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

const char *tool_name(enum tool tool)
{
	return tool == TOOL_PROFILE ? "profile" : "offcputime";
}

static const struct opt_table *table_of(enum tool tool)
{
	return tool == TOOL_PROFILE ? &options_of_profile : &options_of_offcputime;
}

/* getopt_long() returns LONG_FORM + I for the long form of row I. These values are above every letter. */
#define LONG_FORM 256

/* @code: the value from getopt_long() for an option of @t. Return: its row. */
static size_t row_of(const struct opt_table *t, int code)
{
	size_t i = 0;

	if (code >= LONG_FORM)
		return (size_t)(code - LONG_FORM);
	while (t->rows[i]->letter != code)
		i++;
	return i;
}

/** struct spec - a table in the form for getopt_long(). */
struct spec {
	char letters[2 + 2 * OPT_ROWS_MAX + 1];
	struct option longs[OPT_ROWS_MAX + 1];
};

static void spec_init(struct spec *s, const struct opt_table *t)
{
	const struct opt *opt;
	char *l = s->letters;
	size_t i;

	*s = (struct spec){ 0 };
	/* '-': return words in their order, as options numbered 1; ':': report a missing argument as ':'. */
	*l++ = '-';
	*l++ = ':';
	for (i = 0; i < t->nr; i++) {
		opt = t->rows[i];
		s->longs[i].name = opt->name;
		s->longs[i].has_arg = opt->arg ? required_argument : no_argument;
		s->longs[i].val = LONG_FORM + (int)i;
		if (!opt->letter)
			continue;
		*l++ = opt->letter;
		if (opt->arg)
			*l++ = ':';
	}
}

/*
 * getopt_long() accepts any unique beginning of a long name. If it is not unique, list the names that begin with @word.
 */
static int unknown_long(const struct parse *p, const char *word)
{
	size_t len = strcspn(word, "="), used = 0, i;
	int shown = len > 200 ? 200 : (int)len;
	char which[256] = "";
	const char *name, *near;

	for (i = 0; i < p->table->nr && used < sizeof(which); i++) {
		name = p->table->rows[i]->name;
		if (!strncmp(name, word + 2, len - 2))
			used += snprintf(which + used, sizeof(which) - used, "%s--%s", used ? ", " : "", name);
	}
	if (used)
		return err_set(p->err, -EINVAL, "option '%.*s' is ambiguous (%s)", shown, word, which);
	near = suggest_long(p->table, word + 2, len - 2);
	if (near)
		return err_set(p->err, -EINVAL, "unknown option '%.*s' (is it --%s?)", shown, word, near);
	return err_set(p->err, -EINVAL, "unknown option '%.*s'", shown, word);
}

/* @word: the argument for which getopt_long() returned '?' */
static int unknown_option(const struct parse *p, const char *word)
{
	if (optopt >= LONG_FORM)
		return err_set(p->err, -EINVAL, "option '--%s' takes no argument",
			       p->table->rows[row_of(p->table, optopt)]->name);
	if (!optopt)
		return unknown_long(p, word);
	if (optopt < 0x20 || optopt > 0x7e) /* perhaps a part of a character */
		return err_set(p->err, -EINVAL, "unknown option '-\\x%02x'", optopt & 0xff);
	return err_set(p->err, -EINVAL, "unknown option '-%c'", optopt);
}

static void spell(const struct parse *p, char *buf, size_t size, int code)
{
	if (code >= LONG_FORM)
		snprintf(buf, size, "--%s", p->table->rows[row_of(p->table, code)]->name);
	else
		snprintf(buf, size, "-%c", code);
}

/* @word: the current argument */
static int set_duration(struct parse *p, const char *word)
{
	char command[180];
	uint64_t ns;
	int rc;

	p->spelled = "duration";
	rc = opt_parse_seconds(p, word, &ns);
	if (rc && suggest_command(p->o->tool, p->argv, optind - 1, command, sizeof(command)))
		return opt_refuse(p, word, "not a number of seconds (to run a command, write -- before it: %s)",
				  command);
	if (p->o->duration)
		return opt_refuse(p, word, "there is one already, '%.100s'", p->o->duration);
	if (rc)
		return rc;
	p->o->duration = word;
	p->o->duration_ns = ns;
	return 0;
}

/* @code: the value from getopt_long(), other than '?', ':' and the end */
static int store_option(struct parse *p, int code, const char *value)
{
	const struct opt *opt;
	char spelled[32];
	uint64_t bit;
	int rc = 0;

	if (code == 1)
		return set_duration(p, value);
	opt = p->table->rows[row_of(p->table, code)];
	bit = 1ULL << row_of(p->table, code);
	spell(p, spelled, sizeof(spelled), code);
	p->spelled = spelled;
	if (opt->set)
		rc = opt->set(p, opt, value);
	p->seen |= bit;
	if (code >= LONG_FORM)
		p->spelled_long |= bit;
	else
		p->spelled_long &= ~bit;
	return rc;
}

static int take_all(struct parse *p, int argc, char **argv)
{
	struct spec spec;
	char spelled[32];
	int code, rc, seen = 1;

	spec_init(&spec, p->table);
	opterr = 0;
	optind = 0; /* glibc, musl: start again with this optstring */
	while ((code = getopt_long(argc, argv, spec.letters, spec.longs, NULL)) != -1) {
		seen = optind;
		if (code == '?')
			return unknown_option(p, argv[optind - 1]);
		if (code == ':') {
			spell(p, spelled, sizeof(spelled), optopt);
			return err_set(p->err, -EINVAL, "option '%s' needs an argument", spelled);
		}
		rc = store_option(p, code, optarg);
		if (rc)
			return rc;
	}
	/* Perhaps $COMMAND was empty. Without a command, all threads would be counted. */
	if (optind == argc && optind > seen)
		return err_set(p->err, -EINVAL, "no command after '--'");
	p->spelled = "command";
	if (optind < argc && !*argv[optind])
		return opt_refuse(p, argv[optind], "must not be empty");
	if (optind < argc)
		p->o->command = argv + optind;
	return 0;
}

static int check_exclusive(const struct parse *p)
{
	const struct opt_table *t = p->table;
	const char *letters;
	uint64_t pair;
	size_t i;

	for (i = 0; i < t->nr_exclusive; i++) {
		letters = t->exclusive[i];
		pair = 1ULL << row_of(t, letters[0]) | 1ULL << row_of(t, letters[1]);
		if ((p->seen & pair) == pair)
			return err_set(p->err, -EINVAL, "-%c and -%c exclude each other", letters[0], letters[1]);
	}
	return 0;
}

/* With a recording, nothing is sampled. Otherwise all processes and CPUs in options must exist here. */
static int check_row(struct parse *p, size_t i)
{
	const struct opt *opt = p->table->rows[i];
	char spelled[32];

	spell(p, spelled, sizeof(spelled),
	      opt->letter && !(p->spelled_long & 1ULL << i) ? opt->letter : LONG_FORM + (int)i);
	p->spelled = spelled;
	if (p->o->input && opt->live)
		return err_set(p->err, -EINVAL, "%s and --input exclude each other", spelled);
	return !p->o->input && opt->here ? opt->here(p) : 0;
}

static int check_origin(struct parse *p)
{
	size_t i;
	int rc = 0;

	if (p->o->input && p->o->duration)
		return err_set(p->err, -EINVAL, "a duration and --input exclude each other");
	if (p->o->input && p->o->command)
		return err_set(p->err, -EINVAL, "a command and --input exclude each other");
	if (p->o->nr_pids && p->o->command)
		return err_set(p->err, -EINVAL, "a command and -%c exclude each other",
			       p->o->filter.by_tid ? p->table->tid : 'p');
	for (i = 0; i < p->table->nr && !rc; i++)
		if (p->seen & 1ULL << i)
			rc = check_row(p, i);
	return rc;
}

/* Standard input can be read only once. */
static int check_standard_input(const struct parse *p)
{
	const struct options *o = p->o;
	size_t nr = o->baseline && !strcmp(o->baseline, "-"), i;

	for (i = 0; i < o->nr_inputs; i++)
		nr += !strcmp(o->inputs[i], "-");
	return nr > 1 ? err_set(p->err, -EINVAL, "standard input (-) can be read only once") : 0;
}

static int check_comparison(struct parse *p)
{
	struct options *o = p->o;

	o->report.compared = o->baseline;
	if (!o->baseline && o->report.absolute)
		return err_set(p->err, -EINVAL, "--absolute needs --baseline");
	if (!o->baseline && o->fail_above >= 0)
		return err_set(p->err, -EINVAL, "--fail-above needs --baseline");
	if (o->baseline && o->interval_ns)
		return err_set(p->err, -EINVAL, "-i and --baseline exclude each other");
	if (o->baseline && o->backend && !strcmp(o->backend, WAY_BOTH))
		return err_set(p->err, -EINVAL, "--backend=both and --baseline exclude each other");
	if (o->baseline && !p->form_given && o->report.form == &report_text)
		o->report.form = &report_top;
	if (o->baseline && !o->report.form->compares)
		return err_set(p->err, -EINVAL, "--baseline cannot be shown in --format %s (try --format top)",
			       o->report.form->name);
	return 0;
}

static int finish(struct parse *p)
{
	struct options *o = p->o;
	const struct report_writer *form;
	int rc = check_exclusive(p);

	if (!rc)
		rc = p->table->finish(p);
	if (!rc)
		rc = check_origin(p);
	if (rc)
		return rc;
	form = o->output && !p->form_given ? report_form_of(o->output) : NULL;
	if (form)
		o->report.form = form;
	rc = check_standard_input(p);
	if (!rc)
		rc = check_comparison(p);
	if (rc)
		return rc;
	if (o->filter.no_kernel || o->filter.no_user)
		o->report.delimited = false;
	if (o->report.form->names_only)
		o->report.addresses = o->report.offsets = false;
	o->report.source &= o->report.offsets;
	o->wants_cgroups = o->report.form->prints_origin && !o->baseline;
	o->list_fields = o->action == ACTION_LIST_BACKENDS && p->seen & 1ULL << row_of(p->table, 'f');
	return 0;
}

/* A value such as "$(pgrep dd)" may have newlines, but an error is one line. */
static void one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
}

void options_default(struct options *o, enum tool tool)
{
	*o = (struct options){
		.tool = tool,
		.cpu = -1,
		.sampling.event = tool == TOOL_PROFILE ? event_default() : NULL,
		.off_cpu = { .wanted = tool == TOOL_OFFCPUTIME, .min_ns = NSEC_PER_USEC, .max_ns = UINT64_MAX },
		.state_mask = -1,
		.tables = { HASH_ENTRIES, STACK_ENTRIES },
		.report.form = report_form("text"),
		.report.limit = TABLE_LINES,
		.fail_above = -1,
	};
}

int options_parse(struct options *o, enum tool tool, int argc, char **argv, const struct host *host, struct err *err)
{
	struct parse p = { .o = o, .table = table_of(tool), .host = host, .err = err, .argv = argv };
	int rc;

	options_default(o, tool);
	o->arguments = argv;
	rc = take_all(&p, argc, argv);
	if (!rc)
		rc = finish(&p);
	if (rc && err)
		one_line(err->msg);
	return rc;
}

void options_release(struct options *o)
{
	free(o->pids);
	free(o->given_pids);
	free(o->inputs);
	*o = (struct options){ 0 };
}

#define HELP_COLUMN 32

static void help_option(FILE *out, const struct opt *opt)
{
	int col;

	if (opt->letter)
		col = fprintf(out, "  -%c, --%s", opt->letter, opt->name);
	else
		col = fprintf(out, "      --%s", opt->name);
	if (opt->arg)
		col += fprintf(out, " %s", opt->arg);
	if (col > HELP_COLUMN - 2)
		col = fprintf(out, "\n") - 1;
	fprintf(out, "%*s%s\n", HELP_COLUMN - col, "", opt->help);
}

static void help_group(FILE *out, const struct opt_table *t, enum opt_group group)
{
	size_t i;

	fprintf(out, "\n%s:\n", t->groups[group]);
	for (i = 0; i < t->nr; i++)
		if (t->rows[i]->group == group)
			help_option(out, t->rows[i]);
}

static void help_examples(FILE *out, enum tool tool, size_t nr)
{
	const struct opt_table *t = table_of(tool);
	size_t longest = 0, i;

	for (i = 0; i < t->nr_examples; i++)
		if (strlen(t->examples[i].args) > longest)
			longest = strlen(t->examples[i].args);
	fputs("\nExamples:\n", out);
	for (i = 0; i < nr; i++)
		fprintf(out, "  %s %-*s  %s\n", tool_name(tool), (int)longest, t->examples[i].args,
			t->examples[i].what);
}

static void help_usage(FILE *out, enum tool tool)
{
	fprintf(out, "usage: %s [options] [duration] [-- command [argument...]]\n", tool_name(tool));
	fputs(table_of(tool)->does, out);
}

void options_help(FILE *out, enum tool tool)
{
	const struct opt_table *t = table_of(tool);
	enum opt_group group;

	help_usage(out, tool);
	fputs(t->more, out);
	for (group = 0; group < OPT_GROUPS; group++)
		help_group(out, t, group);
	help_examples(out, tool, t->nr_examples);
	fprintf(out, "\nSee %s(8).\n", tool_name(tool));
}

void options_summary(FILE *out, enum tool tool)
{
	const struct opt_table *t = table_of(tool);
	size_t i;

	help_usage(out, tool);
	fputs("\n", out);
	for (i = 0; i < t->nr; i++)
		if (t->rows[i]->brief)
			help_option(out, t->rows[i]);
	help_examples(out, tool, OPT_BRIEF_EXAMPLES);
	fprintf(out, "All options: %s --help. The manual: man %s\n", tool_name(tool), tool_name(tool));
}

void options_header(FILE *out, const struct options *o, bool user_only)
{
	table_of(o->tool)->header(out, o, user_only);
}

void header_all(FILE *out, const struct options *o)
{
	char name[NAME_SHOWN + 1];

	if (o->command)
		fprintf(out, "all threads of '%s'", name_shown(o->command[0], name));
	else
		fputs("all threads", out);
}

void header_stacks(FILE *out, const struct options *o, bool user_only)
{
	fprintf(out, " by %s stack",
		o->filter.no_kernel || user_only ? "user"
		: o->filter.no_user              ? "kernel"
						 : "user + kernel");
	if (o->cpu >= 0)
		fprintf(out, " on CPU#%d", o->cpu);
}

void header_end(FILE *out, const struct options *o)
{
	if (o->duration)
		fprintf(out, " for %s secs.", o->duration);
	else
		fputs(o->report.form == &report_html ? "." : "... Hit Ctrl-C to end.", out);
}
