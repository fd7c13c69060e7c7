/* SPDX-License-Identifier: Apache-2.0 */
/* Reports that were written before, by this program or another one, read into a report. */
#ifndef CORE_FORMATS_READ_H
#define CORE_FORMATS_READ_H

#include "core/formats/infile.h"
#include "core/report/report.h"

/**
 * struct read_cfg - whose rows are wanted, and what of them. Rows that lack what is asked for (a pid) are not of it.
 * @pids:        sorted; @nr_pids: 0: all. @by_tid: they are thread ids
 * @comm:        NULL: all
 * @cgroup:      path of the cgroup, or the beginning of it up to a '/'; NULL: all
 * @input:       of rows that have no such name, the name of the file; NULL: they get none
 * @user_only:   without frames of the kernel; @kernel_only: only these
 * @delimited:   a delimiter between a user's and a kernel's frames
 * @times:       without a unit of the file, values are times, of nobody knows how many intervals
 * @before:      rows are of the report that the other one is compared with
 */
struct read_cfg {
	const pid_t *pids;
	size_t nr_pids;
	bool by_tid;
	const char *comm, *cgroup, *input;
	bool user_only, kernel_only, delimited, times, before;
};

/**
 * struct read_about - what the file tells of itself.
 * @unit:      of its values, as this program has them: "us" for anything that is time
 * @unit_told: false: it is not told, and taken for samples
 * @samples:   that were read, and counted: struct report_row.times
 * @period_ns: CPU time of a sample; 0: not told
 */
struct read_about {
	enum report_unit unit;
	bool unit_told;
	uint64_t samples, filtered;
	uint64_t period_ns;
};

/**
 * read_report() - add the rows of @in, which is no recording, to @r.
 * Return: 0; -errno, described: @r is not to be printed then.
 */
int read_report(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
		struct err *err);

/* One for each format. */
int read_folded(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
		struct err *err);
int read_pprof(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
	       struct err *err);
int read_json(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
	      struct err *err);
int read_page(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
	      struct err *err);

#endif
