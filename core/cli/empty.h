/* SPDX-License-Identifier: Apache-2.0 */
/* Why a run has nothing to report: each cause is printed only where it was found to be so. */
#ifndef CORE_CLI_EMPTY_H
#define CORE_CLI_EMPTY_H

#include "core/cli/account.h"

#include <stdio.h>

/** empty_is() - has a run nothing to report? @total: of all its reports */
bool empty_is(const struct account *total);

/** empty_explain() - where empty_is(): "profile: 0 samples: " and why, on one line. */
void empty_explain(FILE *out, const struct session *s, const struct account *total);

#endif
