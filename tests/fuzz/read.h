/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the targets for readers of reports: the input is read, and written in the folded form and as JSON. The JSON
 * is read again, and must give the same folded form. The input is also written as pprof, which must be readable, and
 * with filters as speedscope.
 */
#ifndef TESTS_FUZZ_READ_H
#define TESTS_FUZZ_READ_H

#include "tests/fuzz/fuzz.h"

#include "core/formats/read.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int (*read_report_fn)(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
			      struct err *err);

static const struct report_cfg fuzz_plain = { .annotations = true };
/* Values are halved (unit 2), because JSON numbers have a smaller range. */
static const struct report_cfg fuzz_halved = { .annotations = true, .unit = 2 };

/* NULL: the input cannot be read. Checks that @read sets an error then, and only then. */
static inline struct report *fuzz_read(read_report_fn read, const void *bytes, size_t len,
				       const struct report_writer *form, const struct report_cfg *cfg,
				       const struct read_cfg *wanted, struct read_about *about)
{
	int fd = memfd_create("report", MFD_CLOEXEC), rc;
	struct err err = { 0 };
	struct report *r;
	struct infile *in;
	char path[64];

	check(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (infile_open(path, &in, &err)) {
		check(err.code == -EBADMSG); /* compressed data that is damaged */
		close(fd);
		return NULL;
	}
	close(fd);
	check(!report_new(form, cfg, &r, &err));
	*about = (struct read_about){ 0 };
	rc = read(in, r, wanted, about, &err);
	read_about_release(about);
	infile_close(in);
	check(rc == err.code && !rc == !*err.msg);
	if (rc)
		report_free(r);
	return rc ? NULL : r;
}

static inline char *fuzz_write(struct report *r, const struct report_writer *form, size_t *len)
{
	struct report_output o;
	char *got = NULL;
	FILE *out = open_memstream(&got, len);

	check(out && !report_begin(&o, out, form, NULL, NULL) && !report_print(r, &o, NULL, NULL) &&
	      !report_end(&o, true, NULL));
	fclose(out);
	report_free(r);
	return got;
}

/* Drop rows with value 0, which come from halves rounded down: a format may leave these rows out. */
static inline void fuzz_drop_nothing(char *text)
{
	char *line = text, *to = text, *next;
	size_t len;

	for (; *line; line = next) {
		next = strchr(line, '\n') + 1;
		len = (size_t)(next - line);
		if (len >= 3 && !memcmp(next - 3, " 0\n", 3))
			continue;
		memmove(to, line, len);
		to += len;
	}
	*to = 0;
}

static inline void fuzz_report(read_report_fn read, const uint8_t *data, size_t size)
{
	static const struct read_cfg all = { .delimited = true };
	static const struct read_cfg some[] = { { .user_only = true }, { .kernel_only = true, .comm = "a" } };
	struct read_about about, again;
	char *folded, *json, *same;
	size_t len, i;
	struct report *r = fuzz_read(read, data, size, &report_folded, &fuzz_halved, &all, &about);

	if (!r)
		return;
	folded = fuzz_write(r, &report_folded, &len);
	fuzz_drop_nothing(folded);
	r = fuzz_read(read, data, size, &report_json, &fuzz_halved, &all, &again);
	check(r && about.samples == again.samples);
	json = fuzz_write(r, &report_json, &len);
	r = fuzz_read(read_json, json, len, &report_folded, &fuzz_plain, &all, &again);
	check(r);
	same = fuzz_write(r, &report_folded, &len);
	fuzz_drop_nothing(same);
	check(!strcmp(folded, same));
	free(folded);
	free(json);
	free(same);
	r = fuzz_read(read, data, size, &report_pprof, &fuzz_plain, &all, &about);
	same = fuzz_write(r, &report_pprof, &len);
	r = fuzz_read(read_pprof, same, len, &report_text, &fuzz_plain, &all, &again);
	check(r);
	free(same);
	report_free(r);
	for (i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		r = fuzz_read(read, data, size, &report_speedscope, &fuzz_plain, &some[i], &again);
		check(r);
		free(fuzz_write(r, &report_speedscope, &len));
	}
}

#endif
