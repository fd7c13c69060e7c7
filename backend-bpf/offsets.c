// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/offsets.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

#define MAX_DEPTH 8 /* of structures without a name in each other; the kernel has one */

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

int offsets_of_mntns(struct mntns_offsets *out, struct err *err)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int rc;

	*out = (struct mntns_offsets){ 0 };
	if (!btf)
		return err_sys(err, -errno, "cannot tell mount namespaces without the kernel's BTF");
	rc = add_member(btf, "task_struct", "nsproxy", &out->nsproxy, err);
	if (!rc)
		rc = add_member(btf, "nsproxy", "mnt_ns", &out->mnt_ns, err);
	if (!rc)
		rc = add_member(btf, "mnt_namespace", "ns", &out->inum, err);
	if (!rc)
		rc = add_member(btf, "ns_common", "inum", &out->inum, err);
	btf__free(btf);
	return rc;
}
