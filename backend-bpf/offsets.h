/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the kernel keeps what it knows of a task, as its BTF tells.
 *
 * The programs get these offsets in their configuration, not from CO-RE relocations. libbpf (1.1) refuses an object
 * that has any relocation if the kernel has no BTF, even if the program that is loaded has none: each object would be
 * needed twice. If there is BTF, libbpf reads all of it (10 to 20 ms), even for programs that need none; and no
 * relocation can check the parameters of a tracepoint before clang 15.
 */
#ifndef BACKEND_BPF_OFFSETS_H
#define BACKEND_BPF_OFFSETS_H

#include "bpf/layout.h"
#include "core/base/err.h"

struct btf;

/**
 * offsets_of_mntns(), offsets_of_pidns(), offsets_of_switch() - as the BTF of this kernel tells.
 * @out: on failure as it was
 * Return: 0; -errno: it has none, or not what is needed. -ENOENT, too, for a switch whose tracepoint does not give a
 * program both tasks where it looks for them.
 */
int offsets_of_mntns(struct bpf_mntns_offsets *out, struct err *err);
int offsets_of_pidns(struct bpf_pidns_offsets *out, struct err *err);
int offsets_of_switch(struct bpf_switch_offsets *out, struct err *err);

/** mntns_offsets_in(), pidns_offsets_in(), switch_offsets_in() - the same, as @btf tells. */
int mntns_offsets_in(const struct btf *btf, struct bpf_mntns_offsets *out, struct err *err);
int pidns_offsets_in(const struct btf *btf, struct bpf_pidns_offsets *out, struct err *err);
int switch_offsets_in(const struct btf *btf, struct bpf_switch_offsets *out, struct err *err);

#endif
