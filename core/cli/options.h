/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command lines. Each command has one table of its options. The parser and --help use it, and a test compares
 * --help with the man page.
 */
#ifndef CORE_CLI_OPTIONS_H
#define CORE_CLI_OPTIONS_H

#include "core/cli/command_line.h"

#include <stdio.h>

/**
 * options_parse() - check a command line against the table and @host. Opens only files of /proc and /sys, and the
 * cgroup and the pinned BPF maps that options name.
 * @o: out; owned by the caller: options_release(), also after a failure
 * Return: 0; -EINVAL: usage error; -ENOMEM. @err has the line to print.
 */
int options_parse(struct options *o, enum tool tool, int argc, char **argv, const struct host *host, struct err *err);

/** options_default() - the options of an empty command line; options_parse() also sets a default rate. */
void options_default(struct options *o, enum tool tool);

/** options_help() - print --help: usage, the options by group, examples. */
void options_help(FILE *out, enum tool tool);

/** options_summary() - print -h: the most used options and five examples, on a screen of 24 lines. */
void options_summary(FILE *out, enum tool tool);

/**
 * options_header() - print the first line of the report, such as "Sampling at 49 Hertz of all threads by ...", without
 * its newline, which the form of the report adds. @user_only: the kernel does not permit kernel stacks; then offcputime
 * has no stacks at all, because all switches are in the kernel.
 */
void options_header(FILE *out, const struct options *o, bool user_only);

/** options_header_recorded() - the same for a recording: "Samples of cycles at 999 Hertz of ... in FILE." */
struct recording;
void options_header_recorded(FILE *out, const struct options *o, const struct recording *r);

/**
 * options_header_read() - the same for a report that was read: "Stacks of all threads by ... in FILE (FORMAT)."
 * @name: FILE; @what: FORMAT
 */
void options_header_read(FILE *out, const struct options *o, const char *name, const char *what);

#endif
