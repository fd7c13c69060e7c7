/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BACKEND_BPF_SOURCE_H
#define BACKEND_BPF_SOURCE_H

/*
 * The sources of the BPF programs as they were compiled in, zero-terminated: bpf/layout.h, bpf/shared.h, and one
 * program each.
 */
extern const char bpf_source[];
extern const char bpf_switches_source[];

#endif
