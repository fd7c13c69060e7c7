/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BACKEND_BPF_OFFSETS_H
#define BACKEND_BPF_OFFSETS_H

#include "core/err.h"

#include <stdint.h>

/** struct mntns_offsets - where the kernel keeps the mount namespace of a task, see struct bpf_config; in bytes. */
struct mntns_offsets {
	uint32_t nsproxy, mnt_ns, inum;
};

/**
 * offsets_of_mntns() - as the kernel's BTF tells.
 * Return: 0; -errno: it has none, or not what is needed.
 */
int offsets_of_mntns(struct mntns_offsets *out, struct err *err);

#endif
