/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to stderr about a run beside its reports; for losses of one report see account.h. */
#ifndef CORE_CLI_WARNINGS_H
#define CORE_CLI_WARNINGS_H

#include "core/cli/account.h"
#include "core/cli/command_line.h"
#include "core/host/cpu_wait.h"
#include "core/session/session.h"
#include "core/symbols/symbols.h"

/**
 * warn_of_taint() - warn if --backend taints this kernel: on some, the first use of bpf(2) does, whatever the result of
 * the run.
 */
void warn_of_taint(const struct options *o);

/**
 * warn_of_limits() - warn about each thing that this host does not permit; with --verbose also print the chosen way,
 * and why.
 */
void warn_of_limits(const struct options *o, const struct session *s);

/** tell_of_targets() - at the end of a run, print that all targets of -p, -L or -t have ended, if they have. */
void tell_of_targets(const struct options *o, const struct session *s);

/**
 * tell_of_events() - name the events of a recording that have samples, but are not in the report, with the -e that
 * selects each. Prints nothing if -e has selected an event with samples.
 */
void tell_of_events(const struct options *o, const struct session *s, const struct account *total);

/** warn_of_wait() - call this when the work that @wait measures has ended. If it was late for lack of a CPU, warn. */
void warn_of_wait(const struct cpu_wait *wait);

/**
 * warn_of_run() - at the end of a run, warn about what is missing, may be wrong, or took long.
 * @total: of all reports
 * @wait: from the end of sampling on
 */
void warn_of_run(const struct options *o, const struct session *s, const struct symbols *symbols,
		 const struct account *total, const struct cpu_wait *wait);

#endif
