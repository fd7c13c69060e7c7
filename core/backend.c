// SPDX-License-Identifier: Apache-2.0
#include "core/backend.h"

#include <string.h>

/* In order of preference. The only list of backends. */
static const struct backend_ops *const backends[] = {
	&backend_bpf,
	&backend_perfring,
};

const struct backend_ops *backend_at(unsigned int i)
{
	return i < ARRAY_SIZE(backends) ? backends[i] : NULL;
}

const struct backend_ops *backend_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(backends); i++)
		if (!strcmp(backends[i]->name, name))
			return backends[i];
	return NULL;
}

const struct backend_ops *backend_reader(void)
{
	return &backend_perfring;
}
