// SPDX-License-Identifier: Apache-2.0
#include "core/host/distribution.h"

#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Part of the text. */
struct span {
	const char *at;
	size_t len;
};

static const struct {
	const char *id;
	enum distribution is;
} ids[] = {
	{ "debian", DISTRIBUTION_DEB },         { "ubuntu", DISTRIBUTION_DEB }, { "fedora", DISTRIBUTION_RPM_DNF },
	{ "rhel", DISTRIBUTION_RPM_DNF },       { "ol", DISTRIBUTION_RPM_DNF }, { "centos", DISTRIBUTION_RPM_DNF },
	{ "amzn", DISTRIBUTION_RPM_DNF },       { "suse", DISTRIBUTION_SUSE },  { "opensuse", DISTRIBUTION_SUSE },
	{ "opensuse-leap", DISTRIBUTION_SUSE }, { "sles", DISTRIBUTION_SUSE },  { "arch", DISTRIBUTION_ARCH },
};

static bool span_is(struct span s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.at, text, s.len);
}

/* A shell assignment on a line of its own; the last one of @key counts. */
static struct span value_of(const char *text, const char *key)
{
	struct span value = { "", 0 };
	size_t len = strlen(key);

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		if (strncmp(text, key, len) != 0 || text[len] != '=')
			continue;
		value.at = text + len + 1;
		value.len = strcspn(value.at, "\n");
		if (value.len >= 2 && (value.at[0] == '"' || value.at[0] == '\'') &&
		    value.at[value.len - 1] == value.at[0]) {
			value.at++;
			value.len -= 2;
		}
	}
	return value;
}

static enum distribution by_id(struct span id)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ids); i++)
		if (span_is(id, ids[i].id))
			return ids[i].is;
	return DISTRIBUTION_UNKNOWN;
}

static enum distribution by_likeness(struct span words)
{
	enum distribution is = DISTRIBUTION_UNKNOWN;
	struct span word = { words.at, 0 };
	size_t i;

	for (i = 0; i <= words.len && is == DISTRIBUTION_UNKNOWN; i++) {
		if (i < words.len && words.at[i] != ' ') {
			word.len++;
			continue;
		}
		is = by_id(word);
		word = (struct span){ words.at + i + 1, 0 };
	}
	return is;
}

/* True if @version is @major, or one of its minor versions. */
static bool is_major(struct span version, const char *major)
{
	size_t len = strlen(major);

	return version.len >= len && !memcmp(version.at, major, len) && (version.len == len || version.at[len] == '.');
}

enum distribution distribution_of(const char *text)
{
	struct span id = value_of(text, "ID"), version = value_of(text, "VERSION_ID");
	enum distribution is = by_id(id);

	if (is == DISTRIBUTION_UNKNOWN)
		is = by_likeness(value_of(text, "ID_LIKE"));
	if (is == DISTRIBUTION_RPM_DNF && !span_is(id, "fedora") && is_major(version, span_is(id, "amzn") ? "2" : "7"))
		is = DISTRIBUTION_RPM_YUM;
	return is;
}
