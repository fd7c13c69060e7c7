// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/offsets.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

#define MAX_DEPTH 8 /* of structures without a name in each other; the kernel has one */

#define PIDTYPE_TGID 1 /* of the kernel's enum pid_type, as long as there is thread_pid (4.19) */

/* A member of a structure of the kernel, whose offset is added to @at. */
struct member {
	const char *type, *name;
	uint32_t *at;
};

/* The offset of @name in structure @id, also within one of its members that has no name. Return: bytes or -ENOENT. */
static int64_t member_in(const struct btf *btf, uint32_t id, const char *name, int depth)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	uint32_t i, bit;
	int64_t below;

	if (!t || !btf_is_composite(t) || depth > MAX_DEPTH)
		return -ENOENT;
	for (i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = btf_members(t) + i;

		bit = btf_member_bit_offset(t, i);
		if (m->name_off && !strcmp(btf__name_by_offset(btf, m->name_off), name))
			return bit / 8;
		below = m->name_off ? -ENOENT : member_in(btf, m->type, name, depth + 1);
		if (below >= 0)
			return bit / 8 + below;
	}
	return -ENOENT;
}

/* Adds to @out. */
static int add_member(const struct btf *btf, const char *type, const char *name, uint32_t *out, struct err *err)
{
	int32_t id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	int64_t at = id < 0 ? id : member_in(btf, (uint32_t)id, name, 0);

	if (at < 0 || at > UINT16_MAX)
		return err_set(err, -ENOENT, "the kernel's BTF has no '%s' in 'struct %s'", name, type);
	*out += (uint32_t)at;
	return 0;
}

static int add_members(const struct btf *btf, const struct member *m, size_t nr, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < nr && !rc; i++)
		rc = add_member(btf, m[i].type, m[i].name, m[i].at, err);
	return rc;
}

int mntns_offsets_in(const struct btf *btf, struct mntns_offsets *out, struct err *err)
{
	struct mntns_offsets at = { 0 };
	const struct member members[] = {
		{ "task_struct", "nsproxy", &at.nsproxy },
		{ "nsproxy", "mnt_ns", &at.mnt_ns },
		{ "mnt_namespace", "ns", &at.inum },
		{ "ns_common", "inum", &at.inum },
	};
	int rc = add_members(btf, members, ARRAY_SIZE(members), err);

	*out = rc ? (struct mntns_offsets){ 0 } : at;
	return rc;
}

int offsets_of_mntns(struct mntns_offsets *out, struct err *err)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int rc;

	*out = (struct mntns_offsets){ 0 };
	if (!btf)
		return err_sys(err, -errno, "cannot tell mount namespaces without the kernel's BTF");
	rc = mntns_offsets_in(btf, out, err);
	btf__free(btf);
	return rc;
}

static int size_of(const struct btf *btf, const char *type, uint32_t *out, struct err *err)
{
	int32_t id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	int64_t size = id < 0 ? id : btf__resolve_size(btf, (uint32_t)id);

	if (size <= 0 || size > UINT16_MAX)
		return err_set(err, -ENOENT, "the kernel's BTF has no 'struct %s'", type);
	*out = (uint32_t)size;
	return 0;
}

int pidns_offsets_in(const struct btf *btf, struct pidns_offsets *out, struct err *err)
{
	struct pidns_offsets at = { .tgid = PIDTYPE_TGID * (uint32_t)sizeof(uint64_t) };
	const struct member members[] = {
		{ "task_struct", "thread_pid", &at.thread_pid },
		{ "task_struct", "signal", &at.signal },
		{ "signal_struct", "pids", &at.tgid },
		{ "pid", "level", &at.level },
		{ "pid", "numbers", &at.numbers },
		{ "upid", "nr", &at.nr },
		{ "upid", "ns", &at.ns },
		{ "pid_namespace", "ns", &at.inum },
		{ "ns_common", "inum", &at.inum },
	};
	int rc = add_members(btf, members, ARRAY_SIZE(members), err);

	if (!rc)
		rc = size_of(btf, "upid", &at.upid_size, err);
	*out = rc ? (struct pidns_offsets){ 0 } : at;
	return rc;
}

int offsets_of_pidns(struct pidns_offsets *out, struct err *err)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int rc;

	*out = (struct pidns_offsets){ 0 };
	if (!btf)
		return err_sys(err, -errno, "cannot tell all pids of a task without the kernel's BTF");
	rc = pidns_offsets_in(btf, out, err);
	btf__free(btf);
	return rc;
}
