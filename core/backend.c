// SPDX-License-Identifier: Apache-2.0
#include "core/backend.h"

#include <string.h>

_Static_assert(sizeof(struct books) % sizeof(uint64_t) == 0, "books_add() takes it for numbers");

/* In order of preference. The only list of backends. */
static const struct backend_ops *const backends[] = {
	&backend_bpf,
	&backend_perfring,
};

void books_add(struct books *to, const struct books *more)
{
	const uint64_t *from = (const uint64_t *)more;
	uint64_t *sum = (uint64_t *)to;
	size_t i;

	for (i = 0; i < sizeof(*to) / sizeof(*sum); i++)
		sum[i] += from[i];
}

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

const struct backend_ops *backend_in_kernel(void)
{
	return &backend_bpf;
}

const struct backend_ops *backend_reader(void)
{
	return &backend_perfring;
}

const struct backend_ops *backend_recording(void)
{
	return &backend_recorded;
}
