/* SPDX-License-Identifier: Apache-2.0 */
/* Words in profiles of pprof that both the writer and the reader know. */
#ifndef CORE_FORMATS_PPROF_NAMES_H
#define CORE_FORMATS_PPROF_NAMES_H

/* Labels of samples. */
#define PPROF_COMM   "comm"
#define PPROF_PID    "pid"
#define PPROF_TID    "tid"
#define PPROF_CGROUP "cgroup"
#define PPROF_INPUT  "input"       /* name of the file that was read */
#define PPROF_BASE   "pprof::base" /* of pprof itself: the sample is of what another profile is compared with */

#define PPROF_INLINED_MAX 1024 /* functions at one location */

/* The one function of a sample whose stack is empty: pprof leaves out samples that have no location. */
#define PPROF_NO_FRAMES "[no frames]"

/* Mappings. */
#define PPROF_KERNEL "[kernel]"
#define PPROF_JIT    "[jit]"

#endif
