// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/mapping.h"

#include "core/base/hash.h"

#include <string.h>

bool mapped_file_equal(const void *have, const void *key)
{
	const struct mapped_file *a = have, *b = key;

	return a->ino == b->ino && a->maj == b->maj && a->min == b->min && a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, sizeof(a->build_id)) && !strcmp(a->path, b->path);
}

uint64_t mapped_file_hash(const void *key)
{
	const struct mapped_file *file = key;

	return hash_bytes(file->path, strlen(file->path), file->ino);
}

/* The kernel writes these if it cannot write the path of a file to a record (perf_event_mmap_event()). */
static bool has_lost_path(const struct mapped_file *file)
{
	return !strcmp(file->path, "//toolong") || !strcmp(file->path, "//enomem");
}

bool mapped_file_is_memory(const struct mapped_file *file)
{
	return (file->path[0] != '/' || file->path[1] == '/') && !has_lost_path(file);
}

bool mapped_file_is_vdso(const struct mapped_file *file)
{
	return file->path[0] == '[' && (!strcmp(file->path, "[vdso]") || !strcmp(file->path, VDSO32));
}

bool mapped_file_has_path(const struct mapped_file *file)
{
	static const char *const without[] = { "/memfd:", "/dev/", "/anon_hugepage", "/SYSV" };
	size_t i;

	for (i = 0; i < sizeof(without) / sizeof(*without); i++)
		if (!strncmp(file->path, without[i], strlen(without[i])))
			return false;
	return !mapped_file_is_memory(file) && !has_lost_path(file);
}

/* "//anon", "[anon:name]", "/anon_hugepage" and others. A memfd may be an ELF file, with names of its own. */
bool mapped_file_may_be_copy(const struct mapped_file *file)
{
	return !mapped_file_has_path(file) && !has_lost_path(file) && strncmp(file->path, "/memfd:", 7) != 0 &&
	       (file->path[0] == '/' || !strncmp(file->path, "[anon", 5));
}

bool mapped_file_is_jitdump(const struct mapped_file *file)
{
	const char *name = strrchr(file->path, '/');
	size_t digits;

	if (!name || strncmp(name, "/jit-", 5) != 0 || !mapped_file_has_path(file))
		return false;
	digits = strspn(name + 5, "0123456789");
	return digits && !strcmp(name + 5 + digits, ".dump");
}

bool mapped_file_is_uprobes(const struct mapped_file *file)
{
	return file->path[0] == '[' && !strcmp(file->path, "[uprobes]");
}

/* Compare inodes only: for a process in a chroot, the path of a file in its records differs from the path in /proc. */
static bool same_file(const struct mapped_file *a, const struct mapped_file *b)
{
	if (a->ino && b->ino)
		return a->ino == b->ino && a->maj == b->maj && a->min == b->min;
	return mapped_file_equal(a, b);
}

static bool is_made(const struct mapped_file *file)
{
	return mapped_file_is_memory(file) && !mapped_file_is_vdso(file);
}

bool mapping_alike(const struct mapping *a, const struct mapping *b)
{
	if (is_made(a->file) || is_made(b->file))
		return is_made(a->file) && is_made(b->file);
	return a->start - a->pgoff == b->start - b->pgoff && (a->file == b->file || same_file(a->file, b->file));
}

/* In old kernels the page offset of the vDSO was its address; it is mapped from its first byte on. */
uint64_t mapping_offset(const struct mapping *m, uint64_t addr)
{
	return addr - m->start + (mapped_file_is_vdso(m->file) ? 0 : m->pgoff);
}
