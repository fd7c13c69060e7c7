/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BACKEND_BPF_OFFSETS_H
#define BACKEND_BPF_OFFSETS_H

#include "core/base/err.h"

#include <stdint.h>

struct btf;

/** struct mntns_offsets - where the kernel keeps the mount namespace of a task, see struct bpf_config; in bytes. */
struct mntns_offsets {
	uint32_t nsproxy, mnt_ns, inum;
};

/**
 * offsets_of_mntns() - as the kernel's BTF tells.
 * Return: 0; -errno: it has none, or not what is needed.
 */
int offsets_of_mntns(struct mntns_offsets *out, struct err *err);

/**
 * struct pidns_offsets - where the kernel keeps the numbers of a task in its pid namespaces, see struct bpf_config; in
 * bytes.
 */
struct pidns_offsets {
	uint32_t thread_pid, signal, tgid, level, numbers, upid_size, nr, ns, inum;
};

/** offsets_of_pidns() - the same. @out is all 0 on failure: no kernel has the pointer to a pid first in a task. */
int offsets_of_pidns(struct pidns_offsets *out, struct err *err);

/**
 * struct switch_offsets - where the kernel keeps the number and the states of a task, see struct bpf_config; in bytes.
 */
struct switch_offsets {
	uint32_t tid, state, exit_state;
	uint32_t given; /* 1: the state, too, is given to a program on the switches themselves */
};

/**
 * offsets_of_switch() - the same; and -ENOENT, too, where a program on the switches themselves would not be given both
 * tasks where it looks for them.
 */
int offsets_of_switch(struct switch_offsets *out, struct err *err);

/** mntns_offsets_in(), pidns_offsets_in(), switch_offsets_in() - the same, as @btf tells. */
int mntns_offsets_in(const struct btf *btf, struct mntns_offsets *out, struct err *err);
int pidns_offsets_in(const struct btf *btf, struct pidns_offsets *out, struct err *err);
int switch_offsets_in(const struct btf *btf, struct switch_offsets *out, struct err *err);

#endif
