/* SPDX-License-Identifier: Apache-2.0 */
/* --list-backends: the ways (core/session/ways.h) in which profile or offcputime can sample this host. */
#ifndef CORE_CLI_LIST_BACKENDS_H
#define CORE_CLI_LIST_BACKENDS_H

#include "core/cli/command_line.h"

#include <stdio.h>

/**
 * list_backends() - try to open each way to sample as a run of @o->tool would, and write the results to @out; with
 * @o->list_fields one line for each way, with tabs between fields. An action for run_main().
 */
void list_backends(FILE *out, const struct options *o);

#endif
