// SPDX-License-Identifier: Apache-2.0
/*
 * One line for each row, in the format of flame graph programs: comm;user root;...;user leaf;kernel root;... VALUE. A
 * comparison has BEFORE VALUE, as in the output of difffolded.pl.
 */
#include "core/report/forms.h"
#include "core/report/writer.h"

#include <inttypes.h>

static void folded_label(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *frame)
{
	report_frame_name(b, frame, report_folded.semicolon);
	textbuf_annotate(b, cfg, frame);
}

/* Separate two reports by an empty line. */
static void folded_interval(struct report_output *o, const struct report_interval *interval)
{
	if (interval->number > 1)
		fputc('\n', o->out);
}

static int folded_row(struct report_output *o, const struct report_row *row)
{
	FILE *out = o->out;
	size_t i;

	fwrite_unlocked(row->comm.bytes, 1, row->comm.len, out);
	for (i = 0; i < row->nr; i++) {
		putc_unlocked(';', out);
		fwrite_unlocked(row->texts[i].bytes, 1, row->texts[i].len, out);
	}
	if (o->cfg->compared)
		fprintf(out, " %.0f", (double)row->before * o->scale);
	fprintf(out, " %" PRIu64 "\n", row->value);
	return 0;
}

static const char *const folded_suffixes[] = { ".folded", NULL };

const struct report_writer report_folded = {
	.name = "folded",
	.suffixes = folded_suffixes,
	.delimiter = "-",
	.semicolon = ':',
	.compares = true,
	.names_only = true,
	.label = folded_label,
	.interval = folded_interval,
	.row = folded_row,
};
