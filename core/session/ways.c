// SPDX-License-Identifier: Apache-2.0
#include "core/session/ways.h"

#include <string.h>

const struct way *way_at(const struct way *ways, unsigned int i)
{
	return ways[i].name ? &ways[i] : NULL;
}

const struct way *way_find(const struct way *ways, const char *name)
{
	for (; ways->name; ways++)
		if (!strcmp(ways->name, name))
			return ways;
	return NULL;
}

static const struct way *first(const struct way *ways, bool counting)
{
	for (; ways->name; ways++)
		if (!ways->counter != counting)
			return ways;
	return NULL;
}

const struct way *way_counting(const struct way *ways)
{
	return first(ways, true);
}

const struct way *way_alone(const struct way *ways)
{
	return first(ways, false);
}
