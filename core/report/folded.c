// SPDX-License-Identifier: Apache-2.0
/* A line for each row, as flame graph programs read it: comm;user root;...;user leaf;kernel root;... VALUE */
#include "core/report/forms.h"
#include "core/report/writer.h"

#include <inttypes.h>

static void folded_label(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *frame)
{
	textbuf_name(b, frame->name ? frame->name : UNKNOWN, report_folded.semicolon);
	textbuf_annotate(b, cfg, frame);
}

/* An empty line is between two reports. */
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
	fprintf(out, " %" PRIu64 "\n", row->value);
	return 0;
}

const struct report_writer report_folded = {
	.name = "folded",
	.delimiter = "-",
	.semicolon = ':',
	.names_only = true,
	.label = folded_label,
	.interval = folded_interval,
	.row = folded_row,
};
