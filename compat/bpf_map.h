/* SPDX-License-Identifier: Apache-2.0 */
/* bpf(2) calls on maps. Kernels differ in most of these calls. Without libbpf, which only backend-bpf/ needs. */
#ifndef COMPAT_BPF_MAP_H
#define COMPAT_BPF_MAP_H

#include <stddef.h>
#include <stdint.h>

/**
 * kernel_open_pinned_map() - open the map that is pinned at @path for reading.
 *
 * BPF_F_RDONLY exists since 4.15; before, the kernel returns EINVAL, and we open the map for writing, too.
 *
 * Return: a close-on-exec descriptor, or -errno of BPF_OBJ_GET.
 */
int kernel_open_pinned_map(const char *path);

/** kernel_map_lookup() - copy the value of @key in map @fd to @value, which has room for it. Return: 0 or -errno. */
int kernel_map_lookup(int fd, const void *key, void *value);

/** kernel_map_fn - gets an entry of a map, valid during the call. A non-zero result ends the walk. */
typedef int kernel_map_fn(void *ctx, const void *key, const void *value);

/**
 * kernel_map_walk() - call @fn for each entry of hash map @fd, which must not change meanwhile. No key may have all
 * bits set: before 5.6 the walk starts from that key.
 *
 * BPF_MAP_LOOKUP_BATCH exists since 5.6: one call for some hundred entries, instead of two for each. Before, the kernel
 * returns EINVAL or E2BIG.
 *
 * Return: 0, the result of @fn, or -errno.
 */
int kernel_map_walk(int fd, size_t key_size, size_t value_size, kernel_map_fn *fn, void *ctx);

/**
 * kernel_clear_stack_map() - delete all entries of a stack map that was made for @nr of them.
 *
 * Before 4.16 the kernel does not list the ids of the entries: BPF_MAP_GET_NEXT_KEY of such a map returns EINVAL
 * (stack_map_get_next_key(), kernel/bpf/stackmap.c). So try every id: there are @nr, rounded up to a power of two.
 *
 * Return: 0 or -errno.
 */
int kernel_clear_stack_map(int fd, uint32_t nr);

#endif
