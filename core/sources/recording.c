// SPDX-License-Identifier: Apache-2.0
#include "core/sources/recording.h"

#include <stdlib.h>

void recording_release(struct recording *r)
{
	size_t i;

	for (i = 0; i < r->nr_more; i++)
		free(r->more[i].name);
	free(r->more);
	free(r->event);
	free(r->others);
	build_ids_free(r->build_ids);
	*r = (struct recording){ 0 };
}
