/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets of members in the kernel's task structures, from its BTF.
 *
 * The programs get these offsets in their configuration, not from CO-RE relocations. If the kernel has no BTF,
 * libbpf (1.1) refuses an object with any relocation, even if the program to be loaded has none: each object would be
 * needed twice, with and without relocations. If there is BTF, libbpf reads all of it (10 to 20 ms), even for programs
 * that need none. Before clang 15, no relocation can check the parameters of a tracepoint.
 */
#ifndef BACKEND_BPF_OFFSETS_H
#define BACKEND_BPF_OFFSETS_H

#include "bpf/layout.h"
#include "core/base/err.h"

struct btf;

/**
 * offsets_of_mntns(), offsets_of_pidns(), offsets_of_switch() - read the offsets from the BTF of this kernel.
 * @out: unchanged on failure
 * Return: 0; -errno: there is no BTF, or it lacks a member. offsets_of_switch(): also -ENOENT if sched_switch does not
 * pass both tasks as raw_count_switch() (bpf/offcpu.bpf.c) expects.
 */
int offsets_of_mntns(struct bpf_mntns_offsets *out, struct err *err);
int offsets_of_pidns(struct bpf_pidns_offsets *out, struct err *err);
int offsets_of_switch(struct bpf_switch_offsets *out, struct err *err);

/** mntns_offsets_in(), pidns_offsets_in(), switch_offsets_in() - the same from @btf. */
int mntns_offsets_in(const struct btf *btf, struct bpf_mntns_offsets *out, struct err *err);
int pidns_offsets_in(const struct btf *btf, struct bpf_pidns_offsets *out, struct err *err);
int switch_offsets_in(const struct btf *btf, struct bpf_switch_offsets *out, struct err *err);

#endif
