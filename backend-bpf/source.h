/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BACKEND_BPF_SOURCE_H
#define BACKEND_BPF_SOURCE_H

/* Text of bpf/layout.h and bpf/profile.bpf.c as they were compiled in; terminated. */
extern const char bpf_source[];

#endif
