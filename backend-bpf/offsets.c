// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/offsets.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MAX_DEPTH 8 /* of nested structures without a name; the kernel has one level */

#define PIDTYPE_TGID 1 /* from the kernel's enum pid_type, since thread_pid exists (4.19) */

/* A member of a kernel structure. Its offset is added to @at. */
struct member {
	const char *type, *name;
	uint32_t *at;
};

/* Find the offset of @name in structure @id, also inside members without a name. Return: bytes or -ENOENT. */
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

/* Add the offset to @out. */
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

int mntns_offsets_in(const struct btf *btf, struct bpf_mntns_offsets *out, struct err *err)
{
	struct bpf_mntns_offsets at = { 0 };
	const struct member members[] = {
		{ "task_struct", "nsproxy", &at.nsproxy },
		{ "nsproxy", "mnt_ns", &at.mnt_ns },
		{ "mnt_namespace", "ns", &at.inum },
		{ "ns_common", "inum", &at.inum },
	};
	int rc = add_members(btf, members, ARRAY_SIZE(members), err);

	if (!rc)
		*out = at;
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

int pidns_offsets_in(const struct btf *btf, struct bpf_pidns_offsets *out, struct err *err)
{
	struct bpf_pidns_offsets at = { .tgid = PIDTYPE_TGID * (uint32_t)sizeof(uint64_t) };
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
	if (!rc)
		*out = at;
	return rc;
}

/* True if parameter @i of a function is a pointer to a task. Parameters have no names here. */
static bool is_task(const struct btf *btf, const struct btf_type *proto, uint32_t i)
{
	const struct btf_type *t = i < btf_vlen(proto) ? btf__type_by_id(btf, btf_params(proto)[i].type) : NULL;

	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_struct(t) && !strcmp(btf__name_by_offset(btf, t->name_off), "task_struct");
}

/*
 * True if the tracepoint passes (data, preempt, prev, next), and since 5.18 prev_state at the end. For a short time
 * before 5.19, prev_state was before prev: see 9c2136be0878 in the kernel's history.
 * @nr: out: number of parameters
 */
static bool has_usual_switch(const struct btf *btf, uint32_t *nr)
{
	int32_t id = btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);

	t = t ? btf__type_by_id(btf, t->type) : NULL;
	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	*nr = t && btf_is_func_proto(t) ? btf_vlen(t) : 0;
	return *nr && !is_task(btf, t, 1) && is_task(btf, t, 2) && is_task(btf, t, 3);
}

int switch_offsets_in(const struct btf *btf, struct bpf_switch_offsets *out, struct err *err)
{
	struct bpf_switch_offsets at = { 0 };
	const struct member members[] = {
		{ "task_struct", "pid", &at.tid },
		{ "task_struct", "exit_state", &at.exit_state },
	};
	uint32_t nr;
	int rc;

	if (!has_usual_switch(btf, &nr))
		return err_set(err, -ENOENT, "the kernel's BTF has no 'sched_switch' with the usual parameters");
	rc = add_members(btf, members, ARRAY_SIZE(members), err);
	/* Before 5.14, __state was called state. */
	if (!rc && add_member(btf, "task_struct", "__state", &at.state, NULL))
		rc = add_member(btf, "task_struct", "state", &at.state, err);
	at.given = nr == 5;
	if (!rc)
		*out = at;
	return rc;
}

/* Return: NULL: @err has the reason. */
static struct btf *load_btf(const char *cannot, struct err *err)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (!btf)
		err_sys(err, -errno, "cannot find %s without the kernel's BTF", cannot);
	return btf;
}

int offsets_of_mntns(struct bpf_mntns_offsets *out, struct err *err)
{
	struct btf *btf = load_btf("mount namespaces", err);
	int rc = btf ? mntns_offsets_in(btf, out, err) : err->code;

	btf__free(btf);
	return rc;
}

int offsets_of_pidns(struct bpf_pidns_offsets *out, struct err *err)
{
	struct btf *btf = load_btf("all pids of a task", err);
	int rc = btf ? pidns_offsets_in(btf, out, err) : err->code;

	btf__free(btf);
	return rc;
}

int offsets_of_switch(struct bpf_switch_offsets *out, struct err *err)
{
	struct btf *btf = load_btf("the state of a task", err);
	int rc = btf ? switch_offsets_in(btf, out, err) : err->code;

	btf__free(btf);
	return rc;
}
