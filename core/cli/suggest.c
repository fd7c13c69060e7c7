// SPDX-License-Identifier: Apache-2.0
#include "core/cli/suggest.h"

#include "core/tasks/comm.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG_MAX_BYTES 32 /* bytes of the longest word that is compared with long options */
#define ERRORS_MAX     2  /* wrong, missing or superfluous characters */

/* Levenshtein's distance between the @len bytes of @word, at most LONG_MAX_BYTES, and @name. */
static size_t distance(const char *word, size_t len, const char *name)
{
	size_t row[LONG_MAX_BYTES + 1], above_left, above, best, i, j;

	for (i = 0; i <= len; i++)
		row[i] = i;
	for (j = 0; name[j]; j++) {
		above_left = row[0]++;
		for (i = 0; i < len; i++) {
			above = row[i + 1];
			best = above_left + (word[i] != name[j]);
			if (best > above + 1)
				best = above + 1;
			if (best > row[i] + 1)
				best = row[i] + 1;
			row[i + 1] = best;
			above_left = above;
		}
	}
	return row[len];
}

const char *suggest_long(const struct opt_table *t, const char *word, size_t len)
{
	size_t least = ERRORS_MAX + 1, i, d;
	const char *found = NULL;

	if (len > LONG_MAX_BYTES)
		return NULL;
	for (i = 0; i < t->nr; i++) {
		d = distance(word, len, t->rows[i]->name);
		if (d < least && 2 * d <= len + 1) {
			least = d;
			found = t->rows[i]->name;
		}
	}
	return found;
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Search for program @word as execvp(3) does. */
static bool finds_program(const char *word)
{
	const char *dir = getenv("PATH");
	char path[PATH_MAX];
	size_t len;

	if (!*word || strchr(word, '/'))
		return is_program(word);
	for (dir = dir ? dir : "/bin:/usr/bin"; *dir; dir += len + !!dir[len]) {
		len = strcspn(dir, ":");
		if ((size_t)snprintf(path, sizeof(path), "%.*s/%s", (int)len, len ? dir : ".", word) < sizeof(path) &&
		    is_program(path))
			return true;
	}
	return false;
}

/* True if a shell leaves the word unchanged. */
static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+%@";

	return *word && strspn(word, plain) == strlen(word);
}

bool suggest_command(enum tool tool, char *const *argv, int at, char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "%s", tool_name(tool));
	int i;

	if (!finds_program(argv[at]))
		return false;
	for (i = 1; argv[i]; i++) {
		const char *dashes = i == at ? " --" : "", *word = is_plain(argv[i]) ? argv[i] : "...";

		if (used + strlen(word) + sizeof(" --  ...") > size)
			word = "...";
		used += (size_t)snprintf(out + used, size - used, "%s %s", dashes, word);
		if (word != argv[i] && (i >= at || used + sizeof(" --  ...") > size))
			break;
	}
	return true;
}

/* A number with text after it is a wrong list of ids, not a name. */
bool suggest_comm(const char *word)
{
	return is_plain(word) && strlen(word) < COMM_LEN && !strchr(word, ',') && !strchr("0123456789-+.:=", *word);
}
