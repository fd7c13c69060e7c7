/* SPDX-License-Identifier: Apache-2.0 */
/* Explain why a run has nothing to report. A cause is printed only if it was verified. */
#ifndef CORE_CLI_EMPTY_H
#define CORE_CLI_EMPTY_H

#include "core/cli/account.h"
#include "core/cli/command_line.h"

#include <stdio.h>

/** empty_is() - true if a run has nothing to report. @total: of all its reports */
bool empty_is(const struct account *total);

/** empty_explain() - call it if empty_is(): print that there are no samples or intervals, and why, if that is known. */
void empty_explain(FILE *out, const struct options *o, const struct session *s, const struct account *total);

#endif
