// SPDX-License-Identifier: Apache-2.0
/* The multi-line form: a line for each frame, kernel leaf first, then the task, then the value. */
#include "core/report/forms.h"
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

static void put_position(struct textbuf *b, const struct report_frame *frame)
{
	char line[16];

	textbuf_put(b, " ", 1);
	textbuf_name(b, frame->file, report_text.semicolon);
	textbuf_put(b, line, (size_t)snprintf(line, sizeof(line), ":%u", frame->line));
}

static void text_label(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *frame)
{
	bool is_code = frame->kind != REPORT_FRAME_MARKER && frame->kind != REPORT_FRAME_FUNCTION;
	char hex[32];

	if (cfg->addresses && is_code)
		textbuf_put(b, hex, (size_t)snprintf(hex, sizeof(hex), "0x%016" PRIx64 " ", frame->address));
	textbuf_name(b, frame->name ? frame->name : UNKNOWN, report_text.semicolon);
	if (cfg->offsets && frame->name && is_code && frame->kind != REPORT_FRAME_INLINED)
		textbuf_put(b, hex, (size_t)snprintf(hex, sizeof(hex), "+0x%" PRIx64, frame->offset));
	if (cfg->offsets && frame->module)
		put_module(b, frame->module, report_text.semicolon);
	textbuf_annotate(b, cfg, frame);
	if (cfg->source && frame->file && frame->line)
		put_position(b, frame);
}

static int text_begin(struct report_output *o, const char *header)
{
	if (header)
		fprintf(o->out, "%s\n", header);
	return 0;
}

/* An empty line is between header and report, and between two reports. */
static void text_interval(struct report_output *o, const struct report_interval *interval)
{
	fputc('\n', o->out);
	if (interval->number)
		fprintf(o->out, "Interval %u, %.3f secs\n\n", interval->number, interval->seconds);
}

static int text_row(struct report_output *o, const struct report_row *row)
{
	FILE *out = o->out;
	size_t i;

	for (i = row->nr; i-- > 0;) {
		fwrite_unlocked("    ", 1, 4, out);
		fwrite_unlocked(row->texts[i].bytes, 1, row->texts[i].len, out);
		putc_unlocked('\n', out);
	}
	fprintf(out, "    %-16s %.*s (%d)\n", "-", (int)row->comm.len, row->comm.bytes, (int)row->pid);
	fprintf(out, "        %" PRIu64 "\n\n", row->value);
	return 0;
}

const struct report_writer report_text = {
	.name = "text",
	.delimiter = "--",
	.semicolon = ';',
	.prints_pid = true,
	.paragraphs = true,
	.label = text_label,
	.begin = text_begin,
	.interval = text_interval,
	.row = text_row,
};
