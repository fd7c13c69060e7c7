/* SPDX-License-Identifier: Apache-2.0 */
/* --fail-above: find functions that grew since the report to compare with. */
#ifndef CORE_CLI_GROWTH_H
#define CORE_CLI_GROWTH_H

#include "core/base/err.h"
#include "core/report/report.h"
#include "core/cli/command_line.h"

/**
 * growth_judge() - find the functions of @r that grew by more than o->fail_above points and by more than chance (see
 * core/report/functions.h), and print them to stderr. Return: how many; -ENOMEM, described.
 */
int growth_judge(struct report *r, const struct options *o, struct err *err);

#endif
