/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BACKEND_BPF_SOURCE_H
#define BACKEND_BPF_SOURCE_H

/*
 * The C text of bpf/profile.bpf.c and of bpf/offcpu.bpf.c for --ebpf, each after the text of bpf/layout.h and
 * bpf/shared.h. Zero-terminated.
 */
extern const char bpf_source[];
extern const char bpf_switches_source[];

#endif
