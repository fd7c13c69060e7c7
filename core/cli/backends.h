/* SPDX-License-Identifier: Apache-2.0 */
/* The backends of this program: the only place that names them all. */
#ifndef CORE_CLI_BACKENDS_H
#define CORE_CLI_BACKENDS_H

#include "core/session/ways.h"

/** ways_here - the ways to sample, in order of preference. */
extern const struct way ways_here[];
/** ways_recorded - the same for --input: only one way. */
extern const struct way ways_recorded[];

#endif
