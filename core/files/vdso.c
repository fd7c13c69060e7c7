// SPDX-License-Identifier: Apache-2.0
#include "core/files/vdso.h"

#include "core/arch/arch.h"
#include "core/base/faults.h"
#include "core/files/build_ids.h"
#include "core/files/elf_file.h"
#include "core/files/mapped_files.h"
#include "core/files/recorded.h"
#include "core/files/worker.h"
#include "core/host/host.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define PARTS_MAX 8    /* mappings of a vDSO and its data */
#define REPLY_MS  2000 /* for the worker */

struct image {
	const void *start;
	size_t len;
};

static int find_vdso(void *ctx, const struct proc_map *m)
{
	if (strcmp(m->path, "[vdso]"))
		return 0;
	*(struct image *)ctx = (struct image){ (const void *)(uintptr_t)m->start, m->end - m->start };
	return 1;
}

static int copy_image(const void *start, size_t len, struct elf_file *f)
{
	char *copy = malloc(len);

	if (!copy)
		return fault(-ENOMEM);
	memcpy(copy, start, len);
	return elf_file_adopt(f, copy, len);
}

int vdso_open(struct elf_file *f)
{
	struct image vdso = { 0 };
	int rc = getauxval(AT_SYSINFO_EHDR) ? proc_maps(&host_here, getpid(), find_vdso, &vdso) : 0;

	if (rc <= 0)
		return rc ? rc : -ENOENT;
	return copy_image(vdso.start, vdso.len, f);
}

/* ---- in the worker */

struct parts {
	struct image v[PARTS_MAX];
	size_t nr;
};

static int find_part(void *ctx, const struct proc_map *m)
{
	struct parts *parts = ctx;

	if (strcmp(m->path, "[vdso]") && strncmp(m->path, "[vvar", 5))
		return 0;
	if (parts->nr == PARTS_MAX)
		return -ENOEXEC;
	parts->v[parts->nr++] = (struct image){ (const void *)(uintptr_t)m->start, m->end - m->start };
	return 0;
}

/* A process can have only one vDSO. */
static int unmap_own(void)
{
	struct parts parts = { 0 };
	int rc = proc_maps(&host_here, getpid(), find_part, &parts);
	size_t i;

	for (i = 0; i < parts.nr && !rc; i++)
		rc = munmap((void *)parts.v[i].start, parts.v[i].len) ? -ENOEXEC : 0; /* sealed, since 6.15 */
	return rc;
}

/* Nothing after unmap_own() may read a clock: libc reads clocks through the vDSO, which is gone. */
static int send_vdso32(void *ctx, const struct worker_message *request, struct worker_message *reply)
{
	struct image vdso = { 0 };
	int rc = unmap_own();

	(void)ctx;
	(void)request;
	if (rc)
		return rc;
	if (arch_map_vdso32())
		return -ENOEXEC;
	rc = proc_maps(&host_here, getpid(), find_vdso, &vdso);
	if (rc <= 0 || vdso.len > WORKER_MESSAGE_MAX)
		return rc < 0 ? rc : -ENOEXEC;
	memcpy(reply->data, vdso.start, vdso.len);
	reply->len = vdso.len;
	return 0;
}

/* ---- */

/* The answer of the kernel, which never changes. @known: @rc and the @len bytes are valid. */
static struct {
	bool known;
	int rc;
	size_t len;
	char bytes[WORKER_MESSAGE_MAX];
} vdso32;

static void ask_for_vdso32(void)
{
	struct worker *w = worker_new(&(struct worker_job){ .serve = send_vdso32 });
	struct worker_message request = { NULL, 0, -1 }, reply = { vdso32.bytes, sizeof(vdso32.bytes), -1 };
	int rc = w ? worker_start(w) : fault(-ENOMEM);

	if (!rc)
		rc = worker_call(w, &request, &reply, REPLY_MS);
	worker_free(w);
	if (rc == -EPIPE || rc == -EBADMSG)
		rc = -ENOEXEC;
	vdso32.known = !rc || rc == -ENOEXEC; /* other failures may pass */
	vdso32.rc = rc == -ETIME ? -EAGAIN : rc;
	vdso32.len = reply.len;
}

static int open_vdso32(struct elf_file *f)
{
	/* Valgrind hides the vDSO, and does not permit changes to it. */
	if (!getauxval(AT_SYSINFO_EHDR))
		return -ENOEXEC;
	if (!vdso32.known)
		ask_for_vdso32();
	return vdso32.rc ? vdso32.rc : copy_image(vdso32.bytes, vdso32.len, f);
}

int vdso_open_mapped(const struct mapped_file *file, struct elf_file *f)
{
	return strcmp(file->path, VDSO32) ? vdso_open(f) : open_vdso32(f);
}

/* Unknown if there is no image. */
static void own_build_id(const struct mapped_file *file, struct build_id *id)
{
	struct elf_file f;

	*id = (struct build_id){ 0 };
	if (vdso_open_mapped(file, &f))
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
		own_build_id(file, &ours);
		return build_id_equal(&ours, &theirs);
	}
	kernel_running_build(cfg->host, &ours);
	return recorded_kernel_runs(cfg->recorded, &ours);
}
