// SPDX-License-Identifier: Apache-2.0
#include "compat/bpf_map.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int call(int cmd, union bpf_attr *attr)
{
	int rc = (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return rc < 0 ? -errno : rc;
}

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

int kernel_open_pinned_map(const char *path)
{
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.pathname = address(path);
	attr.file_flags = BPF_F_RDONLY;
	fd = call(BPF_OBJ_GET, &attr);
	if (fd != -EINVAL)
		return fd;
	attr.file_flags = 0;
	return call(BPF_OBJ_GET, &attr);
}

int kernel_map_lookup(int fd, const void *key, void *value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	attr.key = address(key);
	attr.value = address(value);
	return call(BPF_MAP_LOOKUP_ELEM, &attr);
}

#define AT_ONCE 256 /* entries */

/* A walk of a map: room for @nr keys and values. */
struct walk {
	int fd;
	size_t key_size, value_size;
	kernel_map_fn *fn;
	void *ctx;
	uint32_t nr;
	unsigned char *keys, *values;
};

/* Return: 0 or -ENOMEM */
static int make_room(struct walk *w, uint32_t nr)
{
	unsigned char *keys = realloc(w->keys, nr * w->key_size), *values;

	if (!keys)
		return -ENOMEM;
	w->keys = keys;
	values = realloc(w->values, nr * w->value_size);
	if (!values)
		return -ENOMEM;
	w->values = values;
	/* valgrind 3.19 does not know that BPF_MAP_LOOKUP_BATCH writes to them. */
	memset(keys, 0, nr * w->key_size);
	memset(values, 0, nr * w->value_size);
	w->nr = nr;
	return 0;
}

static int tell(const struct walk *w, uint32_t nr)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < nr && !rc; i++)
		rc = w->fn(w->ctx, w->keys + i * w->key_size, w->values + i * w->value_size);
	return rc;
}

/* Return: as kernel_map_walk(). @known: out: false if the first call failed: perhaps this kernel does not have it */
static int walk_batches(struct walk *w, bool *known)
{
	uint64_t from = 0, next = 0; /* for a hash map, the kernel writes 4 bytes */
	union bpf_attr attr;
	bool first = true;
	int rc, told = 0;

	*known = true;
	do {
		memset(&attr, 0, sizeof(attr));
		attr.batch.map_fd = (uint32_t)w->fd;
		attr.batch.in_batch = first ? 0 : address(&from);
		attr.batch.out_batch = address(&next);
		attr.batch.keys = address(w->keys);
		attr.batch.values = address(w->values);
		attr.batch.count = w->nr;
		rc = call(BPF_MAP_LOOKUP_BATCH, &attr);
		if (rc == -ENOSPC) { /* a bucket has more entries than fit */
			rc = w->nr < UINT32_MAX / 2 ? make_room(w, 2 * w->nr) : -ENOMEM;
			continue;
		}
		if (rc && rc != -ENOENT) {
			*known = !first;
			return rc;
		}
		told = attr.batch.count <= w->nr ? tell(w, attr.batch.count) : -EOVERFLOW;
		first = false;
		from = next;
	} while (!rc && !told);
	return told ? told : rc == -ENOENT ? 0 : rc;
}

/* Start with a key that is not in the table: the first key follows it. Since 4.12, NULL would do the same. */
static int walk_keys(const struct walk *w)
{
	union bpf_attr attr;
	int rc;

	memset(w->keys, 0xff, w->key_size);
	do {
		memset(&attr, 0, sizeof(attr));
		attr.map_fd = (uint32_t)w->fd;
		attr.key = attr.next_key = address(w->keys);
		rc = call(BPF_MAP_GET_NEXT_KEY, &attr);
		if (!rc)
			rc = kernel_map_lookup(w->fd, w->keys, w->values);
		else if (rc == -ENOENT)
			return 0;
		if (!rc)
			rc = tell(w, 1);
	} while (!rc);
	return rc;
}

int kernel_map_walk(int fd, size_t key_size, size_t value_size, kernel_map_fn *fn, void *ctx)
{
	struct walk w = { .fd = fd, .key_size = key_size, .value_size = value_size, .fn = fn, .ctx = ctx };
	bool known;
	int rc = make_room(&w, AT_ONCE);

	if (!rc) {
		rc = walk_batches(&w, &known);
		if (!known)
			rc = walk_keys(&w);
	}
	free(w.keys);
	free(w.values);
	return rc;
}

int kernel_clear_stack_map(int fd, uint32_t nr)
{
	uint64_t id, places = 1;
	union bpf_attr attr;
	uint32_t key;
	int rc;

	while (places < nr)
		places *= 2;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	attr.key = address(&key);
	for (id = 0; id < places; id++) {
		key = (uint32_t)id;
		rc = call(BPF_MAP_DELETE_ELEM, &attr);
		if (rc && rc != -ENOENT)
			return rc;
	}
	return 0;
}
