// SPDX-License-Identifier: Apache-2.0
/* A line for each row, as flame graph programs read it: comm;user root;...;user leaf;kernel root;... VALUE */
#include "core/base/printable.h"
#include "core/report/writer.h"

#include <inttypes.h>
#include <string.h>

static void folded_frame(struct textbuf *b, const struct report_cfg *cfg, uint64_t addr, bool kernel,
			 const struct symbol *sym)
{
	(void)addr;
	textbuf_name(b, sym->name ? sym->name : UNKNOWN, report_folded.semicolon);
	textbuf_annotate(b, cfg, kernel, sym);
}

static void folded_row(FILE *out, const struct report_row *row)
{
	size_t i;

	fwrite_unlocked(row->comm.bytes, 1, row->comm.len, out);
	for (i = 0; i < row->nr; i++) {
		putc_unlocked(';', out);
		fwrite_unlocked(row->frames[i].bytes, 1, row->frames[i].len, out);
	}
	fprintf(out, " %" PRIu64 "\n", row->value);
}

const struct report_writer report_folded = {
	.delimiter = "-",
	.semicolon = ':',
	.prints_pid = false,
	.frame = folded_frame,
	.row = folded_row,
};
