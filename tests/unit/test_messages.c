// SPDX-License-Identifier: Apache-2.0
#include "core/cli/messages.h"
#include "tests/unit/unit.h"

#include <fcntl.h>

#define RED    "\033[31merror:\033[0m "
#define YELLOW "\033[33mWARNING:\033[0m "

static const struct {
	enum color_use use;
	bool terminal;
	const char *no_color, *term; /* NULL: not set */
	bool colored;
} rows[] = {
	{ COLOR_AUTO, true, NULL, "xterm", true },   { COLOR_AUTO, true, "", "xterm", true },
	{ COLOR_AUTO, true, "1", "xterm", false },   { COLOR_AUTO, true, "0", "xterm", false },
	{ COLOR_AUTO, true, NULL, "dumb", false },   { COLOR_AUTO, true, NULL, "", false },
	{ COLOR_AUTO, true, NULL, NULL, false },     { COLOR_AUTO, false, NULL, "xterm", false },
	{ COLOR_ALWAYS, true, "1", "dumb", true },   { COLOR_ALWAYS, false, "1", NULL, true },
	{ COLOR_NEVER, true, NULL, "xterm", false }, { COLOR_NEVER, false, NULL, "xterm", false },
};

static void set(const char *name, const char *value)
{
	ck_assert_int_eq(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

static FILE *open_terminal(int *master)
{
	FILE *f;

	*master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(*master, 0);
	ck_assert_int_eq(grantpt(*master) || unlockpt(*master), 0);
	f = fdopen(open(ptsname(*master), O_RDWR | O_NOCTTY | O_CLOEXEC), "w");
	ck_assert_ptr_nonnull(f);
	return f;
}

/* Without a descriptor there is no terminal. */
START_TEST(test_words)
{
	char *text = NULL;
	size_t size;
	int master = -1;
	FILE *out = rows[_i].terminal ? open_terminal(&master) : open_memstream(&text, &size);

	set("NO_COLOR", rows[_i].no_color);
	set("TERM", rows[_i].term);
	messages_color(rows[_i].use);
	ck_assert_str_eq(error_word(out), rows[_i].colored ? RED : "error: ");
	ck_assert_str_eq(warning_word(out), rows[_i].colored ? YELLOW : "WARNING: ");
	messages_color(COLOR_AUTO);
	fclose(out);
	free(text);
	if (master >= 0)
		close(master);
}
END_TEST

int main(void)
{
	Suite *s = suite_create(__FILE__);
	TCase *t = tcase_create("messages");

	tcase_add_loop_test(t, test_words, 0, ARRAY_SIZE(rows));
	suite_add_tcase(s, t);
	return unit_main(s);
}
