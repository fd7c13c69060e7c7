// SPDX-License-Identifier: Apache-2.0
/* The multi-line form: a line for each frame, kernel leaf first, then the task, then the value. */
#include "core/base/printable.h"
#include "core/report/writer.h"

#include <inttypes.h>
#include <string.h>

/* "[vdso]" and its like bring their own brackets. */
static void put_module(struct textbuf *b, const char *module, char semicolon)
{
	size_t len = strlen(module);
	bool bare = len > 1 && module[0] == '[' && module[len - 1] == ']';

	textbuf_put(b, " [", bare ? 1 : 2);
	textbuf_name(b, module, semicolon);
	if (!bare)
		textbuf_put(b, "]", 1);
}

static void put_position(struct textbuf *b, const struct symbol *sym)
{
	char line[16];

	textbuf_put(b, " ", 1);
	textbuf_name(b, sym->file, report_text.semicolon);
	textbuf_put(b, line, (size_t)snprintf(line, sizeof(line), ":%u", sym->line));
}

static void text_frame(struct textbuf *b, const struct report_cfg *cfg, uint64_t addr, bool kernel,
		       const struct symbol *sym)
{
	char hex[32];

	if (cfg->addresses)
		textbuf_put(b, hex, (size_t)snprintf(hex, sizeof(hex), "0x%016" PRIx64 " ", addr));
	textbuf_name(b, sym->name ? sym->name : UNKNOWN, report_text.semicolon);
	if (cfg->offsets && sym->name && !sym->inlined)
		textbuf_put(b, hex, (size_t)snprintf(hex, sizeof(hex), "+0x%" PRIx64, sym->offset));
	if (cfg->offsets && sym->module)
		put_module(b, sym->module, report_text.semicolon);
	textbuf_annotate(b, cfg, kernel, sym);
	if (cfg->source && sym->file && sym->line)
		put_position(b, sym);
}

static void text_row(FILE *out, const struct report_row *row)
{
	size_t i;

	for (i = row->nr; i-- > 0;) {
		fwrite_unlocked("    ", 1, 4, out);
		fwrite_unlocked(row->frames[i].bytes, 1, row->frames[i].len, out);
		putc_unlocked('\n', out);
	}
	fprintf(out, "    %-16s %.*s (%d)\n", "-", (int)row->comm.len, row->comm.bytes, (int)row->pid);
	fprintf(out, "        %" PRIu64 "\n\n", row->value);
}

const struct report_writer report_text = {
	.delimiter = "--",
	.semicolon = ';',
	.prints_pid = true,
	.frame = text_frame,
	.row = text_row,
};
