/* SPDX-License-Identifier: Apache-2.0 */
/* The facts about a run that output formats print beside its rows. */
#ifndef CORE_CLI_ABOUT_H
#define CORE_CLI_ABOUT_H

#include "core/cli/account.h"
#include "core/cli/command_line.h"
#include "core/formats/read.h"
#include "core/report/about.h"
#include "core/report/quality.h"

#include <sys/utsname.h>

/** struct about_texts - texts that struct report_about borrows; see about_release(). */
struct about_texts {
	struct utsname host;
	char *header, *command;
};

/**
 * about_run() - the facts that are known when the first report of @s, a session with the options @o, begins. Return: 0;
 * -ENOMEM, described. @texts and @out are valid also after a failure.
 */
int about_run(const struct options *o, const struct session *s, struct about_texts *texts, struct report_about *out,
	      struct err *err);

/** about_infile() - the same for a report that was read from a file. */
int about_infile(const struct options *o, const struct infile *in, const struct read_about *read,
		 struct about_texts *texts, struct report_about *out, struct err *err);
void about_release(struct about_texts *texts);

/**
 * about_counts() - the numbers of the samples of one report or, if the run takes no samples, of its intervals off the
 * CPU. @quality: of its rows
 */
void about_counts(const struct session *s, const struct account *a, const struct report_quality *quality,
		  struct report_counts *out);

#endif
