/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BACKEND_BPF_SOURCE_H
#define BACKEND_BPF_SOURCE_H

/* Texts of bpf/layout.h, bpf/shared.h, and a program of bpf/, as they were compiled in; terminated. */
extern const char bpf_source[];
extern const char bpf_switches_source[];

#endif
