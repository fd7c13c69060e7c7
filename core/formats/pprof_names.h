/* SPDX-License-Identifier: Apache-2.0 */
/* Names in pprof profiles, shared by the writer and the reader. */
#ifndef CORE_FORMATS_PPROF_NAMES_H
#define CORE_FORMATS_PPROF_NAMES_H

/* Labels of samples. */
#define PPROF_COMM   "comm"
#define PPROF_PID    "pid"
#define PPROF_TID    "tid"
#define PPROF_CGROUP "cgroup"
#define PPROF_INPUT  "input"       /* name of the input file */
#define PPROF_BASE   "pprof::base" /* a label of pprof: the sample belongs to the profile to compare with */

#define PPROF_INLINED_MAX 1024 /* functions at one location */

/* The only function of a sample with an empty stack: pprof drops samples without location. */
#define PPROF_NO_FRAMES "[no frames]"

/* Mappings. */
#define PPROF_KERNEL "[kernel]"
#define PPROF_JIT    "[jit]"

#endif
