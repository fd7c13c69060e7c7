/* SPDX-License-Identifier: Apache-2.0 */
/* bpf(2) on maps, where kernels differ; and without libbpf, which only backend-bpf/ needs. */
#ifndef COMPAT_BPF_MAP_H
#define COMPAT_BPF_MAP_H

#include <stddef.h>
#include <stdint.h>

/**
 * kernel_open_pinned_map() - the map that is pinned at @path, to be read.
 *
 * BPF_F_RDONLY is of 4.15, and EINVAL before: then it is opened to be written, too.
 *
 * Return: a close-on-exec descriptor, or -errno of BPF_OBJ_GET.
 */
int kernel_open_pinned_map(const char *path);

/** kernel_map_lookup() - the value of @key of map @fd into @value, which has room for it. Return: 0 or -errno. */
int kernel_map_lookup(int fd, const void *key, void *value);

/** kernel_map_fn - gets an entry of a map, valid during the call. Non-zero ends the walk. */
typedef int kernel_map_fn(void *ctx, const void *key, const void *value);

/**
 * kernel_map_walk() - call @fn for each entry of hash map @fd, which must not change meanwhile. No key has all bits
 * set.
 *
 * BPF_MAP_LOOKUP_BATCH is of 5.6: one call for some hundred entries, instead of two for each. Before, it
 * is EINVAL or E2BIG.
 *
 * Return: 0, what @fn returned, or -errno.
 */
int kernel_map_walk(int fd, size_t key_size, size_t value_size, kernel_map_fn *fn, void *ctx);

/**
 * kernel_clear_stack_map() - delete all entries of a stack map that was made for @nr of them, whichever there are.
 *
 * Before 4.16 a kernel does not tell which: BPF_MAP_GET_NEXT_KEY of such a map is EINVAL (stack_map_get_next_key(),
 * kernel/bpf/stackmap.c). There are as many places as @nr, rounded up to a power of two.
 *
 * Return: 0 or -errno.
 */
int kernel_clear_stack_map(int fd, uint32_t nr);

#endif
