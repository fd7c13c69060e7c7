// SPDX-License-Identifier: Apache-2.0
#include "compat/bpf_map.h"

#include <errno.h>
#include <linux/bpf.h>
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
