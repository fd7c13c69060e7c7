/* SPDX-License-Identifier: Apache-2.0 */
/* --list-backends: the ways in which a command can work on this host. */
#ifndef CORE_CLI_LIST_BACKENDS_H
#define CORE_CLI_LIST_BACKENDS_H

#include "core/request/options.h"

#include <stdio.h>

/**
 * list_backends() - try what a run of @o->tool would begin with on each rung, and write to @out what came of it; with
 * @o->list_fields one line for each rung, with tabs between its fields. As run_main() wants an action.
 */
void list_backends(FILE *out, const struct options *o);

#endif
