// SPDX-License-Identifier: Apache-2.0
#include "core/files/vdso.h"

#include "core/base/faults.h"
#include "core/files/build_ids.h"
#include "core/files/elf_file.h"
#include "core/files/mapped_files.h"
#include "core/files/recorded.h"
#include "core/host/host.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

bool vdso_is_file(const struct mapped_file *file)
{
	return !strcmp(file->path, "[vdso]");
}

struct image {
	const void *start;
	size_t len;
};

static int find_vdso(void *ctx, const struct proc_map *m)
{
	if (m->start != getauxval(AT_SYSINFO_EHDR))
		return 0;
	*(struct image *)ctx = (struct image){ (const void *)(uintptr_t)m->start, m->end - m->start };
	return 1;
}

int vdso_open(struct elf_file *f)
{
	struct image vdso = { 0 };
	char *copy;
	int rc;

	rc = getauxval(AT_SYSINFO_EHDR) ? proc_maps(&host_here, getpid(), find_vdso, &vdso) : 0;
	if (rc <= 0)
		return rc ? rc : -ENOENT;
	copy = malloc(vdso.len);
	if (!copy)
		return fault(-ENOMEM);
	memcpy(copy, vdso.start, vdso.len);
	return elf_file_adopt(f, copy, vdso.len);
}

/* Unknown if there is no image. */
static void own_build_id(struct build_id *id)
{
	struct elf_file f;

	*id = (struct build_id){ 0 };
	if (vdso_open(&f))
		return;
	*id = f.build_id;
	elf_file_release(&f);
}

bool vdso_is_ours(const struct mapped_files_cfg *cfg, const struct mapped_file *file)
{
	struct build_id theirs, ours;

	if (!cfg->recorded)
		return true;
	if (mapped_file_build(cfg, file, &theirs)) {
		own_build_id(&ours);
		return build_id_equal(&ours, &theirs);
	}
	kernel_running_build(cfg->host, &ours);
	return recorded_kernel_runs(cfg->recorded, &ours);
}
