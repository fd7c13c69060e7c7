// SPDX-License-Identifier: Apache-2.0
#include "core/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void describe(struct err *err, int code, const char *fmt, va_list ap)
{
	err->code = code;
	err->cause = (struct cause){ "" };
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	if (err)
		describe(err, code, fmt, ap);
	va_end(ap);
	errno = saved;
	return code;
}

int err_sys(struct err *err, int code, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	size_t used;

	va_start(ap, fmt);
	if (err) {
		describe(err, code, fmt, ap);
		used = strlen(err->msg);
		snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", strerror(-code));
	}
	va_end(ap);
	errno = saved;
	return code;
}

void err_remedy(struct err *err, const char *remedy)
{
	if (err)
		snprintf(err->cause.remedy, sizeof(err->cause.remedy), "%s", remedy);
}
