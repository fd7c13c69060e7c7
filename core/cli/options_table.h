/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to the command line: options.c uses a command's table for parsing, -h and --help. A row that the tables of
 * profile and offcputime share exists once, in options_rows.c. The other rows, the texts and the function for the
 * header are in a file for each command: options_profile.c, options_offcputime.c.
 */
#ifndef CORE_CLI_OPTIONS_TABLE_H
#define CORE_CLI_OPTIONS_TABLE_H

#include "core/cli/command_line.h"

#include <stddef.h>
#include <stdio.h>

#define STR_(n) #n
#define STR(n)  STR_(n)

struct opt;

/** struct parse - the state of parsing a command line. */
struct parse {
	struct options *o;
	const struct opt_table *table;
	const struct host *host;
	struct err *err;
	char *const *argv;     /* all of it, then NULL */
	const char *cpu;       /* the argument of -C */
	const char *spelled;   /* what to blame in messages: "-p" or "--pid", as given; "duration"; "command" */
	bool form_given;       /* an option selects the format, so the file name of -o does not */
	uint64_t seen;         /* bit i: row i of the table was given */
	uint64_t spelled_long; /* bit i: row i was last given in its long form */
};

/** opt_set - check @value (NULL: the option takes none) and store it. Return: 0; -errno, described in p->err */
typedef int (*opt_set)(struct parse *p, const struct opt *opt, const char *value);

/** enum opt_group - the part of --help and of the manual's OPTIONS to which a row belongs. */
enum opt_group { OPT_WHAT, OPT_HOW, OPT_NAMES, OPT_OUTPUT, OPT_DIAGNOSIS, OPT_GROUPS };

/** struct opt_example - @args after the command's name; @what: its purpose in one line. */
struct opt_example {
	const char *args, *what;
};

/** struct opt - a row of the table. */
struct opt {
	char letter;
	const char *name, *arg, *help;
	opt_set set; /* NULL: neither check nor store, only note that it was given */
	size_t at;   /* OPT_AT() of the member, for setters that serve several options */
	int action;
	bool live;  /* concerns sampling: not with --input */
	bool brief; /* also shown by -h */
	enum opt_group group;

	/* Check that the value exists on this host (a PID, a CPU). Not called with --input. NULL: no check. */
	int (*here)(struct parse *p);
};

/* One row, as "OPT_ROW(opt_cpu, 'C', "cpu", "CPU", "only this CPU", .set = set_cpu);" */
#define OPT_ROW(id, ...) const struct opt id = { __VA_ARGS__ }
#define OPT_AT(field)    offsetof(struct options, field)

#define OPT_ROWS_MAX 64 /* bits of parse.seen, one for each row */

#define OPT_BRIEF_EXAMPLES 5

/** struct opt_table - the options of a command. */
struct opt_table {
	const struct opt *const *rows; /* in the order of --help, group by group */
	size_t nr;
	const char (*exclusive)[2]; /* letters of options that exclude each other */
	size_t nr_exclusive;
	char tid;                /* the letter of --tid */
	const char *does, *more; /* the line after the usage in -h and --help, and more for --help */
	const char *groups[OPT_GROUPS];
	const struct opt_example *examples; /* -h prints the first OPT_BRIEF_EXAMPLES */
	size_t nr_examples;

	/* Set defaults, and check combinations. Return: 0; -EINVAL, described. */
	int (*finish)(struct parse *p);
	/* See options_header(). */
	void (*header)(FILE *out, const struct options *o, bool user_only);
};

extern const struct opt_table options_of_profile, options_of_offcputime;

/* Rows of both tables. */
extern const struct opt opt_pid, opt_user_stacks, opt_kernel_stacks, opt_delimited, opt_annotations, opt_folded,
	opt_format, opt_limit, opt_sort, opt_baseline, opt_absolute, opt_fail_above, opt_offsets, opt_stack_entries,
	opt_cpu, opt_cgroup_map, opt_mntns_map, opt_backend, opt_unwind, opt_list_backends, opt_print_bpf,
	opt_dump_size, opt_interval, opt_kallsyms, opt_vmlinux, opt_debug_dir, opt_inline, opt_source, opt_cgroup,
	opt_mntns, opt_comm, opt_output, opt_color, opt_stats, opt_help, opt_version;

/** opt_check_text() - check that @value is not empty. Return: 0; -EINVAL, described. */
int opt_check_text(struct parse *p, const struct opt *opt, const char *value);

/*
 * Setters for: a bool, options.action, a non-empty text, an existing directory, options.pids. opt_check_tasks() is the
 * opt.here that goes with opt_set_tasks().
 */
int opt_set_flag(struct parse *p, const struct opt *opt, const char *value);
int opt_set_action(struct parse *p, const struct opt *opt, const char *value);
int opt_set_text(struct parse *p, const struct opt *opt, const char *value);
int opt_set_folder(struct parse *p, const struct opt *opt, const char *value);
int opt_set_tasks(struct parse *p, const struct opt *opt, const char *value);
int opt_check_tasks(struct parse *p);

/** opt_member() - the member of struct options at @opt->at. */
void *opt_member(const struct parse *p, const struct opt *opt);

/** opt_refuse() - describe an error: "-p 'abc': " and the reason; a long value is truncated. Return: -EINVAL. */
int __attribute__((format(printf, 3, 4))) opt_refuse(const struct parse *p, const char *value, const char *fmt, ...);

/**
 * opt_parse_whole() - parse all of @s as one decimal number. Return: as parse_digits(); -EINVAL also if something
 * follows the digits.
 */
int opt_parse_whole(const char *s, uint64_t max, uint64_t *out);

/** opt_parse_number() - parse a number from 1 to @max. @limit: what the message calls @max. Return: 0; -EINVAL,
 * described. */
int opt_parse_number(const struct parse *p, const char *value, uint64_t max, const char *limit, uint64_t *out);

/**
 * opt_parse_seconds() - parse seconds with up to 9 decimals, "5", "0.5" or ".5", exactly. Return: 0; -EINVAL,
 * described.
 */
int opt_parse_seconds(const struct parse *p, const char *value, uint64_t *ns);

/** opt_check_memory() - check that this host has at least @bytes of memory. Return: 0; -EINVAL, described. */
int opt_check_memory(const struct parse *p, const char *value, uint64_t bytes);

/** header_all() - print "all threads", or "all threads of 'COMMAND'" if there is a command. */
void header_all(FILE *out, const struct options *o);
/** header_stacks() - print " by user + kernel stack", and the CPU. @user_only: see options_header() */
void header_stacks(FILE *out, const struct options *o, bool user_only);
/** header_end() - print the duration; without one, how to end the run (not in an HTML page, which is read later). */
void header_end(FILE *out, const struct options *o);

#endif
