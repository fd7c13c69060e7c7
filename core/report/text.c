// SPDX-License-Identifier: Apache-2.0
/* The multi-line form: one line for each frame, kernel leaf first, then the task, then the value. */
#include "core/report/forms.h"
#include "core/report/writer.h"

#include <inttypes.h>
#include <string.h>

static void put_position(struct textbuf *b, const struct report_frame *frame)
{
	char line[16];

	textbuf_put(b, " ", 1);
	textbuf_name(b, frame->file, report_text.semicolon);
	textbuf_put(b, line, (size_t)snprintf(line, sizeof(line), ":%u", frame->line));
}

/* Inlined frames have no offset, nor have frames of a report without addresses. */
static bool has_offset(const struct report_frame *frame)
{
	if (!frame->address && !frame->offset)
		return false;
	if (frame->name)
		return frame->kind != REPORT_FRAME_INLINED;
	return report_frame_unnamed(frame) && (frame->has_function || frame->offset);
}

/* Append the offset and the module to a name. A name that is made from the module needs no module. */
static void put_offset(struct textbuf *b, const struct report_frame *frame)
{
	bool unnamed = report_frame_unnamed(frame);
	char hex[32];

	if (has_offset(frame))
		textbuf_put(b, hex, (size_t)snprintf(hex, sizeof(hex), "+0x%" PRIx64, frame->offset));
	if (!frame->module || unnamed)
		return;
	textbuf_put(b, " ", 1);
	report_frame_module(b, frame, report_text.semicolon);
}

static void text_label(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *frame)
{
	bool is_code = frame->kind != REPORT_FRAME_MARKER && frame->kind != REPORT_FRAME_FUNCTION;
	/* A frame that was read from a report may have no address. A named function is never at address 0. */
	bool is_placed = frame->address || (!frame->name && !frame->module && !frame->anonymous);
	char hex[32];

	if (cfg->addresses && is_code && is_placed)
		textbuf_put(b, hex, (size_t)snprintf(hex, sizeof(hex), "0x%016" PRIx64 " ", frame->address));
	report_frame_name(b, frame, report_text.semicolon);
	if (cfg->offsets && is_code)
		put_offset(b, frame);
	textbuf_annotate(b, cfg, frame);
	if (cfg->source && frame->file && frame->line)
		put_position(b, frame);
}

static int text_begin(struct report_output *o, const struct report_about *about)
{
	if (about->header)
		fprintf(o->out, "%s\n", about->header);
	return 0;
}

/* Separate header and report, and two reports, by an empty line. */
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
