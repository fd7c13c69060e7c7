// SPDX-License-Identifier: Apache-2.0
#include "core/report/forms.h"

#include "core/base/err.h"
#include "core/report/writer.h"

#include <string.h>

#define REPORT_ROW(form) &report_##form,
static const struct report_writer *const report_forms[] = { REPORT_FORMS(REPORT_ROW) };

/* Take the longest suffix: ".speedscope.json" also ends in ".json". */
const struct report_writer *report_form_of(const char *path)
{
	const struct report_writer *found = NULL;
	const char *const *suffix;
	size_t most = 0, len, i;

	for (i = 0; i < ARRAY_SIZE(report_forms); i++) {
		for (suffix = report_forms[i]->suffixes; suffix && *suffix; suffix++) {
			len = strlen(*suffix);
			if (len <= most || strlen(path) <= len || strcmp(path + strlen(path) - len, *suffix) != 0)
				continue;
			most = len;
			found = report_forms[i];
		}
	}
	return found;
}

const struct report_writer *report_form(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(report_forms); i++)
		if (!strcmp(report_forms[i]->name, name))
			return report_forms[i];
	return NULL;
}
