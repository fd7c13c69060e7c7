// SPDX-License-Identifier: Apache-2.0
/*
 * convert FORM FILE [annotate] - write the report of FILE, in any readable format, in another form; with "annotate" as
 * with -a and -d. Times stay times; each sample stands for 10 ms.
 *
 * Exit status: 0; 1: it cannot be read or written.
 */
#include "core/formats/read.h"
#include "core/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const struct err *err)
{
	fprintf(stderr, "convert: error: %s\n", err->msg);
	exit(1);
}

int main(int argc, char **argv)
{
	bool annotates = argc == 4 && !strcmp(argv[3], "annotate");
	const struct report_writer *form = argc == 3 + annotates ? report_form(argv[1]) : NULL;
	const struct report_cfg cfg = { .annotations = annotates };
	const struct read_cfg all = { .delimited = annotates };
	struct report_about about = { .tool = "profile", .command = "convert" };
	struct report_output o;
	struct read_about read;
	struct infile *in;
	struct report *r = NULL;
	struct err err;

	if (!form) {
		fprintf(stderr, "usage: convert FORM FILE [annotate]\n");
		return 1;
	}
	if (infile_open(argv[2], &in, &err) || report_new(form, &cfg, &r, &err) ||
	    read_report(in, r, &all, &read, &err))
		die(&err);
	about.unit = read.unit;
	about.off_cpu = read.unit == UNIT_USEC;
	about.period_ns = read.unit == UNIT_SAMPLES ? 10000000 : 0;
	if (report_begin(&o, stdout, form, &about, &err))
		die(&err);
	report_interval(&o, 0, 0);
	if (report_print(r, &o, NULL, &err) || report_end(&o, true, &err))
		die(&err);
	report_free(r);
	infile_close(in);
	return 0;
}
