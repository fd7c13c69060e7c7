/* SPDX-License-Identifier: Apache-2.0 */
/* What a form of the report is to core/report/report.c. Private to core/report/. */
#ifndef CORE_REPORT_WRITER_H
#define CORE_REPORT_WRITER_H

#include "core/report/cfg.h"
#include "core/report/labels.h"
#include "core/symbols/symbols.h"

#include <stdio.h>

/** struct text_ref - bytes, not terminated. */
struct text_ref {
	const char *bytes;
	size_t len;
};

/**
 * struct report_row - a row as it is printed.
 * @frames: root first: the user stack, the delimiter where there is one, the kernel stack
 */
struct report_row {
	struct text_ref comm;
	pid_t pid;
	const struct text_ref *frames;
	size_t nr;
	uint64_t value;
};

/**
 * struct report_writer - one form.
 * @delimiter:  the frame between the two stacks
 * @semicolon:  printed for a ';' inside a name
 * @prints_pid: else rows that differ in the pid alone are one row
 * @frame:      append the text of a frame to @b
 * @row:        write a row; errors are left in @out for the caller to find, who has locked it
 */
struct report_writer {
	const char *delimiter;
	char semicolon;
	bool prints_pid;
	void (*frame)(struct textbuf *b, const struct report_cfg *cfg, uint64_t addr, bool kernel,
		      const struct symbol *sym);
	void (*row)(FILE *out, const struct report_row *row);
};

extern const struct report_writer report_text, report_folded;

/* What -a appends to a frame. */
static inline void textbuf_annotate(struct textbuf *b, const struct report_cfg *cfg, bool kernel,
				    const struct symbol *sym)
{
	if (cfg->annotations && (kernel || sym->inlined))
		textbuf_put(b, kernel ? "_[k]" : "_[i]", 4);
}

#define UNKNOWN "[unknown]" /* a frame without a symbol */

#endif
