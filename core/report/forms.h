/* SPDX-License-Identifier: Apache-2.0 */
/* The output forms of a report. */
#ifndef CORE_REPORT_FORMS_H
#define CORE_REPORT_FORMS_H

struct report_writer;

/* The table: form(x) stands for the writer report_x and the name "x". */
#define REPORT_FORMS(form) form(text) form(folded) form(top) form(html) form(pprof) form(speedscope) form(json)

#define REPORT_DECLARE(form) extern const struct report_writer report_##form;
REPORT_FORMS(REPORT_DECLARE)

/** report_form_of() - choose the form by the suffix of a file name; NULL: no form has it. */
const struct report_writer *report_form_of(const char *path);

/** report_form() - find the writer by name; NULL: there is none. */
const struct report_writer *report_form(const char *name);

#endif
