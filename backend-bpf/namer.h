/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BACKEND_BPF_NAMER_H
#define BACKEND_BPF_NAMER_H

#include "core/symbols/namer.h"

/** namer_bpf - name kernel addresses by a BPF program, which runs once for each address. Needs Linux 5.13. */
extern const struct namer_ops namer_bpf;

#endif
