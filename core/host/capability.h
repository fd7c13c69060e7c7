/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities of capabilities(7) that the headers of an older system lack. */
#ifndef CORE_HOST_CAPABILITY_H
#define CORE_HOST_CAPABILITY_H

#include <linux/capability.h>

#ifndef CAP_PERFMON /* 5.8 */
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF /* 5.8 */
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE /* 5.9 */
#define CAP_CHECKPOINT_RESTORE 40
#endif

#endif
