// SPDX-License-Identifier: Apache-2.0
#include "core/session/ways.h"

#include <string.h>

/* The only list of them. */
static const struct way ways[] = {
	{ "bpf", &counter_bpf, &source_rings },
	{ "perfring", NULL, &source_rings },
};

const struct way *way_at(unsigned int i)
{
	return i < ARRAY_SIZE(ways) ? &ways[i] : NULL;
}

const struct way *way_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(ways[i].name, name))
			return &ways[i];
	return NULL;
}

static const struct way *first(bool counting)
{
	unsigned int i = 0;

	while (!ways[i].counter == counting)
		i++;
	return &ways[i];
}

const struct way *way_counting(void)
{
	return first(true);
}

const struct way *way_alone(void)
{
	return first(false);
}
