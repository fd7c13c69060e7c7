// SPDX-License-Identifier: Apache-2.0
#include "core/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int code, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	if (err) {
		err->code = code;
		va_start(ap, fmt);
		vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
		va_end(ap);
	}
	errno = saved;
	return code;
}

int err_sys(struct err *err, int code, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	size_t used;

	if (err) {
		err->code = code;
		va_start(ap, fmt);
		vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
		va_end(ap);
		used = strlen(err->msg);
		snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", strerror(-code));
	}
	errno = saved;
	return code;
}
