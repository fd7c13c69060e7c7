// SPDX-License-Identifier: Apache-2.0
#include "tests/vm/tap.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE  1000
#define MAX_LINES 40

static unsigned int nr, failed;

static void say(const char *prefix, const char *format, va_list args)
{
	char line[MAX_LINE];

	vsnprintf(line, sizeof(line), format, args);
	printf("%s%s\n", prefix, line);
	fflush(stdout);
}

bool tap_ok(bool ok, const char *format, ...)
{
	char prefix[32];
	va_list args;

	failed += !ok;
	snprintf(prefix, sizeof(prefix), "%sok %u - ", ok ? "" : "not ", ++nr);
	va_start(args, format);
	say(prefix, format, args);
	va_end(args);
	return ok;
}

void tap_skip(const char *name, const char *why)
{
	printf("ok %u - %s # SKIP %s\n", ++nr, name, why);
	fflush(stdout);
}

void tap_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("# ", format, args);
	va_end(args);
}

void tap_text(const char *name, const char *text)
{
	unsigned int i;

	tap_line("%s:", name);
	for (i = 0; *text && i < MAX_LINES; i++) {
		size_t len = strcspn(text, "\n");

		tap_line("  %.*s", len < MAX_LINE ? (int)len : MAX_LINE, text);
		text += len + (text[len] == '\n');
	}
	if (*text)
		tap_line("  ...");
}

int tap_end(void)
{
	printf("1..%u\n", nr);
	fflush(stdout);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
