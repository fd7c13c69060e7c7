// SPDX-License-Identifier: Apache-2.0
#include "core/report/both.h"

#include "core/base/memstream.h"
#include "core/report/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIFF_ROWS 1000

static int make_text(struct textbuf *t, const struct rows *rows, const struct report_names *names,
		     const struct report_cfg *cfg, struct err *err)
{
	FILE *f = memstream_begin(t);
	int rc = f ? report_write(f, rows, names, cfg, err) : 0;

	if (memstream_end(f, t) && !rc)
		rc = err_sys(err, -ENOMEM, "cannot keep a report in memory");
	return rc;
}

static bool same_text(const struct textbuf *a, const struct textbuf *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

static int write_diff(FILE *out, const struct textbuf *program, const struct textbuf *ring,
		      const struct report_cfg *cfg, struct err *err)
{
	struct report_side old = { "bpf", program->bytes, program->len }, new = { "perfring", ring->bytes, ring->len };
	int64_t rows = report_diff(out, &old, &new, cfg->form, MAX_DIFF_ROWS, err);

	return rows < 0 ? (int)rows : 0;
}

int report_both(FILE *out, const struct report_pair *rows, const struct report_names *names,
		const struct report_cfg *cfg, enum report_agreement *agreement, struct err *err)
{
	struct textbuf program = { 0 }, ring = { 0 };
	struct report_cfg in_samples = *cfg;
	int rc;

	in_samples.unit = 1;
	cfg = &in_samples;
	rc = make_text(&program, rows->program, names, cfg, err);
	*agreement = REPORTS_EQUAL;
	if (!rc)
		rc = make_text(&ring, rows->ring, names, cfg, err);
	if (!rc && !same_text(&program, &ring)) {
		*agreement = REPORTS_EXPLAINED;
		free(ring.bytes);
		ring = (struct textbuf){ 0 };
		rc = make_text(&ring, rows->explained, names, cfg, err);
	}
	if (!rc && !same_text(&program, &ring)) {
		*agreement = REPORTS_DIFFERENT;
		rc = out ? write_diff(out, &program, &ring, cfg, err) : 0;
	}
	free(program.bytes);
	free(ring.bytes);
	return rc;
}
