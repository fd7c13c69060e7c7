// SPDX-License-Identifier: Apache-2.0
#include "core/cli/messages.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RED    "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN  "\033[0m"

static enum color_use chosen = COLOR_AUTO;

void messages_color(enum color_use use)
{
	chosen = use;
}

static bool is_colored(FILE *out)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (chosen != COLOR_AUTO)
		return chosen == COLOR_ALWAYS;
	return !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0 && isatty(fileno(out));
}

const char *error_word(FILE *out)
{
	return is_colored(out) ? RED "error:" PLAIN " " : "error: ";
}

const char *warning_word(FILE *out)
{
	return is_colored(out) ? YELLOW "WARNING:" PLAIN " " : "WARNING: ";
}
