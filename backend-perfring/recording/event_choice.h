/* SPDX-License-Identifier: Apache-2.0 */
/* Choose the event of a recording whose samples count. */
#ifndef PERFRING_EVENT_CHOICE_H
#define PERFRING_EVENT_CHOICE_H

#include "backend-perfring/recording/perfdata.h"

#define EVENT_NAMES_BYTES 4096 /* of the names of all events */

/** choice_find() - the first sampled event called @name, or the first one if @name is NULL. Return: SIZE_MAX: none. */
size_t choice_find(const struct perfdata *pd, const char *name);

/** choice_name() - append @name, which a stranger may have chosen, behind @used bytes of @to. Return: bytes used now.
 */
size_t choice_name(char *to, size_t used, const char *name);

/** choice_list() - write the names of all sampled events, without number @but, to @to. */
void choice_list(const struct perfdata *pd, size_t but, char *to);

#endif
