// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/offsets.h"
#include "tests/unit/unit.h"

#include <bpf/btf.h>

/* The types of a possible kernel: each member is 8 bytes after the one before. */
static const struct {
	const char *type, *members[4];
} kernel[] = {
	{ "task_struct", { "state", "thread_pid", "signal", "nsproxy" } },
	{ "signal_struct", { "sigcnt", "live", "pids" } },
	{ "pid", { "count", "level", "tasks", "numbers" } },
	{ "upid", { "nr", "ns" } },
	{ "ns_common", { "stashed", "ops", "inum" } },
	{ "pid_namespace", { "rcu", "level", "ns" } },
	{ "mnt_namespace", { "ns", "root" } },
	{ "nsproxy", { "count", "uts_ns", "ipc_ns", "mnt_ns" } },
};

/* @without: "type" or "type.member" that is missing; NULL: nothing */
static struct btf *make_btf(const char *without)
{
	struct btf *btf = btf__new_empty();
	int word = btf__add_int(btf, "long", 8, 0);
	char name[64];
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(kernel); i++) {
		btf__add_struct(btf, without && !strcmp(without, kernel[i].type) ? "other" : kernel[i].type, 32);
		for (k = 0; k < 4 && kernel[i].members[k]; k++) {
			snprintf(name, sizeof(name), "%s.%s", kernel[i].type, kernel[i].members[k]);
			btf__add_field(btf, without && !strcmp(without, name) ? "other" : kernel[i].members[k], word,
				       (uint32_t)k * 64, 0);
		}
	}
	return btf;
}

START_TEST(test_all)
{
	struct btf *btf = make_btf(NULL);
	struct bpf_mntns_offsets mntns;
	struct bpf_pidns_offsets pidns;
	struct err err;

	ck_assert_int_eq(mntns_offsets_in(btf, &mntns, &err), 0);
	ck_assert_uint_eq(mntns.nsproxy, 24);
	ck_assert_uint_eq(mntns.mnt_ns, 24);
	ck_assert_uint_eq(mntns.inum, 0 + 16);
	ck_assert_int_eq(pidns_offsets_in(btf, &pidns, &err), 0);
	ck_assert_uint_eq(pidns.thread_pid, 8);
	ck_assert_uint_eq(pidns.signal, 16);
	ck_assert_uint_eq(pidns.tgid, 16 + 8); /* the second element of an array of pointers */
	ck_assert_uint_eq(pidns.level, 8);
	ck_assert_uint_eq(pidns.numbers, 24);
	ck_assert_uint_eq(pidns.upid_size, 32);
	ck_assert_uint_eq(pidns.nr, 0);
	ck_assert_uint_eq(pidns.ns, 8);
	ck_assert_uint_eq(pidns.inum, 16 + 16);
	btf__free(btf);
}
END_TEST

static const struct {
	const char *missing;
	bool mntns, pidns; /* which offsets do not need it */
} incomplete[] = {
	{ "task_struct", false, false },
	{ "task_struct.thread_pid", true, false }, /* before 4.19 */
	{ "task_struct.signal", true, false },
	{ "task_struct.nsproxy", false, true },
	{ "signal_struct", true, false },
	{ "signal_struct.pids", true, false },
	{ "pid", true, false },
	{ "pid.level", true, false },
	{ "pid.numbers", true, false },
	{ "upid", true, false },
	{ "upid.nr", true, false },
	{ "upid.ns", true, false },
	{ "pid_namespace", true, false },
	{ "pid_namespace.ns", true, false },
	{ "nsproxy", false, true },
	{ "nsproxy.mnt_ns", false, true },
	{ "mnt_namespace", false, true },
	{ "mnt_namespace.ns", false, true },
	{ "ns_common", false, false },
	{ "ns_common.inum", false, false },
};

START_TEST(test_incomplete)
{
	const struct bpf_mntns_offsets no_mntns = { .inum = 5 };
	const struct bpf_pidns_offsets no_pidns = { .inum = 6 };
	struct btf *btf = make_btf(incomplete[_i].missing);
	struct bpf_mntns_offsets mntns = no_mntns;
	struct bpf_pidns_offsets pidns = no_pidns;
	struct err err;
	int rc;

	rc = mntns_offsets_in(btf, &mntns, &err);
	ck_assert_msg(rc == (incomplete[_i].mntns ? 0 : -ENOENT), "%s", incomplete[_i].missing);
	if (rc)
		ck_assert_mem_eq(&mntns, &no_mntns, sizeof(mntns));
	rc = pidns_offsets_in(btf, &pidns, &err);
	ck_assert_msg(rc == (incomplete[_i].pidns ? 0 : -ENOENT), "%s", incomplete[_i].missing);
	if (rc) {
		ck_assert_mem_eq(&pidns, &no_pidns, sizeof(pidns));
		ck_assert_ptr_nonnull(strstr(err.msg, "BTF has no"));
	}
	btf__free(btf);
}
END_TEST

enum { NOBODY, NUMBER, TASK, RQ };

/* The members of a task, 8 bytes each, and the parameters of the tracepoint. */
static const struct {
	const char *task[4];
	int params[6];
	bool no_function; /* the tracepoint's type is a number */
	int rc;
	struct bpf_switch_offsets at;
} tasks[] = {
	{ { "__state", "exit_state", "pid" }, { RQ, NUMBER, TASK, TASK, NUMBER }, false, 0, { 16, 0, 8, 1 } },
	{ { "pid", "state", "exit_state" }, { RQ, NUMBER, TASK, TASK }, false, 0, { 0, 8, 16 } },
	{ { "pid", "state", "exit_state" }, { RQ, NUMBER, TASK, TASK, NUMBER, RQ }, false, 0, { 0, 8, 16, 0 } },
	{ { "state", "pid", "exit_state", "__state" }, { RQ, NUMBER, TASK, TASK }, false, 0, { 8, 24, 16 } },
	{ { "__state", "exit_state" }, { RQ, NUMBER, TASK, TASK }, false, -ENOENT, { 0 } },
	{ { "__state", "pid" }, { RQ, NUMBER, TASK, TASK }, false, -ENOENT, { 0 } },
	{ { "pid", "exit_state" }, { RQ, NUMBER, TASK, TASK }, false, -ENOENT, { 0 } },
	{ { "__state", "exit_state", "pid" }, { RQ, NUMBER, NUMBER, TASK, TASK }, false, -ENOENT, { 0 } },
	{ { "__state", "exit_state", "pid" }, { RQ, NUMBER, TASK, NUMBER, TASK }, false, -ENOENT, { 0 } },
	{ { "__state", "exit_state", "pid" }, { RQ, NUMBER, RQ, RQ }, false, -ENOENT, { 0 } },
	{ { "__state", "exit_state", "pid" }, { RQ, TASK, TASK, TASK }, false, -ENOENT, { 0 } },
	{ { "__state", "exit_state", "pid" }, { RQ, NUMBER, TASK }, false, -ENOENT, { 0 } },
	{ { "__state", "exit_state", "pid" }, { RQ, TASK, TASK }, false, -ENOENT, { 0 } },
	{ { "__state", "exit_state", "pid" }, { RQ }, false, -ENOENT, { 0 } },
	{ { "__state", "exit_state", "pid" }, { NOBODY }, false, -ENOENT, { 0 } },
	{ { "__state", "exit_state", "pid" }, { RQ, NUMBER, TASK, TASK }, true, -ENOENT, { 0 } },
};

START_TEST(test_switch)
{
	struct btf *btf = btf__new_empty();
	int word = btf__add_int(btf, "long", 8, 0), type = btf__add_struct(btf, "rq", 0);
	int params[] = { [NUMBER] = word, [RQ] = btf__add_ptr(btf, type), [TASK] = 0 };
	struct bpf_switch_offsets at = { 0 };
	struct err err;
	uint32_t i;

	type = btf__add_struct(btf, "task_struct", 32);
	for (i = 0; i < 4 && tasks[_i].task[i]; i++)
		btf__add_field(btf, tasks[_i].task[i], word, i * 64, 0);
	params[TASK] = btf__add_ptr(btf, type);
	type = btf__add_func_proto(btf, 0);
	for (i = 0; i < 6 && tasks[_i].params[i]; i++)
		btf__add_func_param(btf, "", params[tasks[_i].params[i]]);
	type = btf__add_ptr(btf, tasks[_i].no_function ? word : type);
	if (tasks[_i].params[0])
		btf__add_typedef(btf, "btf_trace_sched_switch", type);
	ck_assert_int_eq(switch_offsets_in(btf, &at, &err), tasks[_i].rc);
	ck_assert_mem_eq(&at, &tasks[_i].at, sizeof(at));
	btf__free(btf);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("offsets");
	TCase *tc = tcase_create("offsets");

	tcase_add_test(tc, test_all);
	tcase_add_loop_test(tc, test_incomplete, 0, ARRAY_SIZE(incomplete));
	tcase_add_loop_test(tc, test_switch, 0, ARRAY_SIZE(tasks));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
