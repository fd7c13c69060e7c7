// SPDX-License-Identifier: Apache-2.0
#include "core/report/forms.h"

#include "core/base/err.h"
#include "core/report/writer.h"

#include <string.h>

#define REPORT_ROW(form) &report_##form,
static const struct report_writer *const report_forms[] = { REPORT_FORMS(REPORT_ROW) };

const struct report_writer *report_form(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(report_forms); i++)
		if (!strcmp(report_forms[i]->name, name))
			return report_forms[i];
	return NULL;
}
