/* SPDX-License-Identifier: Apache-2.0 */
/* The forms that a report can have. */
#ifndef CORE_REPORT_FORMS_H
#define CORE_REPORT_FORMS_H

struct report_writer;

/* The table: form(x) stands for the writer report_x and the name "x". */
#define REPORT_FORMS(form) form(text) form(folded) form(top) form(html) form(pprof) form(speedscope) form(json)

#define REPORT_DECLARE(form) extern const struct report_writer report_##form;
REPORT_FORMS(REPORT_DECLARE)

/** report_form_of() - the form that the name of a file asks for; NULL: none. */
const struct report_writer *report_form_of(const char *path);

/** report_form() - the writer of that name; NULL: there is none. */
const struct report_writer *report_form(const char *name);

#endif
