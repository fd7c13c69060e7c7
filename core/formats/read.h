/* SPDX-License-Identifier: Apache-2.0 */
/* Read files with reports of this program or another one, and add their rows to a report. */
#ifndef CORE_FORMATS_READ_H
#define CORE_FORMATS_READ_H

#include "core/formats/infile.h"
#include "core/report/report.h"

/**
 * struct read_cfg - filters on the rows and frames. Rows that lack a filtered property (a pid) do not match.
 * @pids:        sorted; @nr_pids: 0: all. @by_tid: they are thread ids
 * @comm:        NULL: all
 * @cgroup:      path of the cgroup, or the beginning of the path up to a '/'; NULL: all
 * @input:       the file's name, for rows that have no such name; NULL: they get none
 * @user_only:   drop frames of the kernel; @kernel_only: keep only these
 * @delimited:   put a delimiter between user and kernel frames
 * @times:       if read_about.unit_told is false, values are off-CPU times of an unknown number of intervals
 * @before:      the rows are of the older report of a comparison (--baseline)
 */
struct read_cfg {
	const pid_t *pids;
	size_t nr_pids;
	bool by_tid;
	const char *comm, *cgroup, *input;
	bool user_only, kernel_only, delimited, times, before;
};

/**
 * struct read_facts - where, when and how the samples were taken, as in struct report_about; texts are NULL, and
 * numbers 0, if not known.
 */
struct read_facts {
	char *host, *kernel, *backend, *unwinder, *event;
	int64_t time;
	unsigned int cpus;
};

/**
 * struct read_about - facts from the file; see read_about_release().
 * @facts:     all zeros if several JSON reports are in one file
 * @unit:      of the values of rows: UNIT_USEC for any time, because times are converted
 * @unit_told: false: the file has no unit, or one that is neither time nor samples, so @unit is UNIT_SAMPLES
 * @samples:   number of samples or intervals of the added rows; @filtered: of the rows that the filters dropped
 * @times:     the sum of struct report_row.times of the added rows; 0: not known, see read_cfg.times
 * @period_ns: CPU time of a sample; 0: not known
 */
struct read_about {
	enum report_unit unit;
	bool unit_told;
	uint64_t samples, filtered, times;
	uint64_t period_ns;
	struct read_facts facts;
};

/** read_facts_clear() - free the texts: nothing is known. */
void read_facts_clear(struct read_facts *facts);
void read_about_release(struct read_about *about);

/**
 * read_report() - add the rows of @in to @r.
 * @about: out, valid in any case; see read_about_release()
 * Return: 0; -errno, described: then @r must not be printed. -EINVAL: @in is a recording, or a page that compares two
 * reports.
 */
int read_report(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
		struct err *err);

/* One function for each format, for read_report(). @about: in: all zeros */
int read_folded(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
		struct err *err);
int read_pprof(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
	       struct err *err);
int read_json(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
	      struct err *err);
int read_page(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
	      struct err *err);

#endif
