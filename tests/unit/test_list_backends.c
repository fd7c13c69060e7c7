// SPDX-License-Identifier: Apache-2.0
/* --list-backends, on hosts that permit some ways: the test answers for fallback_try(). */
#include "core/cli/list_backends.h"
#include "core/cli/backends.h"
#include "core/cli/options.h"
#include "core/session/fallback.h"
#include "tests/unit/unit.h"

static struct way_trial trials[3]; /* bpf, perfring, perfring-tasks */
static unsigned int tried[3];

void __wrap_fallback_try(struct session *s, const struct way *way, bool tasks, struct way_trial *out);

void __wrap_fallback_try(struct session *s, const struct way *way, bool tasks, struct way_trial *out)
{
	unsigned int i = tasks ? 2 : way->counter ? 0 : 1;

	ck_assert_uint_eq(s->request.sampling.freq_hz, 1);
	ck_assert_uint_eq(s->request.filter.nr, tasks ? 1 : 0);
	ck_assert_int_eq(s->request.filter.by_tid, tasks);
	tried[i]++;
	*out = trials[i];
}

static void refuse(struct way_trial *t, bool usable, const char *remedy)
{
	t->usable = usable;
	err_set(&t->why, -EACCES, "because");
	if (remedy)
		err_remedy(&t->why, remedy);
}

static void permit_all(void)
{
}

static void refuse_bpf(void)
{
	refuse(&trials[0], false, "do this");
}

static void refuse_cpus(void)
{
	refuse(&trials[0], false, NULL);
	refuse(&trials[1], false, NULL);
}

static void refuse_all(void)
{
	refuse_cpus();
	refuse(&trials[2], false, "do that");
}

static void remark(void)
{
	refuse(&trials[0], true, "grant it");
	refuse(&trials[1], true, NULL);
}

static const struct {
	void (*host)(void);
	enum tool tool;
	bool fields;
	const char *said;
} hosts[] = {
	{ permit_all, TOOL_PROFILE, false,
	  "bpf             yes  counts the stacks of all CPUs in the kernel  <- taken\n"
	  "perfring        yes  reads the perf rings of all CPUs and counts in user space\n"
	  "perfring-tasks  yes  reads the perf rings of this user's threads; a command, -p or -L selects some\n" },
	{ permit_all, TOOL_OFFCPUTIME, false,
	  "bpf             yes  adds up the time off the CPU of all threads in the kernel  <- taken\n"
	  "perfring        yes  reads the perf rings of all CPUs and adds up in user space\n"
	  "perfring-tasks  yes  reads the perf rings of this user's threads; a command, -p or -t selects some\n" },
	{ refuse_bpf, TOOL_PROFILE, false,
	  "bpf             no   because\n"
	  "                     remedy: do this\n"
	  "perfring        yes  reads the perf rings of all CPUs and counts in user space  <- taken\n"
	  "perfring-tasks  yes  reads the perf rings of this user's threads; a command, -p or -L selects some\n" },
	{ refuse_cpus, TOOL_PROFILE, false,
	  "bpf             no   because\n"
	  "perfring        no   because\n"
	  "perfring-tasks  yes  reads the perf rings of this user's threads; a command, -p or -L selects some  <- "
	  "taken\n" },
	{ refuse_all, TOOL_PROFILE, false,
	  "bpf             no   because\n"
	  "perfring        no   because\n"
	  "perfring-tasks  no   because\n"
	  "                     remedy: do that\n" },
	{ remark, TOOL_PROFILE, false,
	  "bpf             yes  counts the stacks of all CPUs in the kernel  <- taken\n"
	  "                     because\n"
	  "                     remedy: grant it\n"
	  "perfring        yes  reads the perf rings of all CPUs and counts in user space\n"
	  "                     because\n"
	  "perfring-tasks  yes  reads the perf rings of this user's threads; a command, -p or -L selects some\n" },
	{ permit_all, TOOL_PROFILE, true, "bpf\tyes\t-\nperfring\tyes\t-\nperfring-tasks\tyes\t-\n" },
	{ refuse_all, TOOL_PROFILE, true, "bpf\tno\tbecause\nperfring\tno\tbecause\nperfring-tasks\tno\tbecause\n" },
	{ remark, TOOL_OFFCPUTIME, true, "bpf\tyes\tbecause\nperfring\tyes\tbecause\nperfring-tasks\tyes\t-\n" },
};

START_TEST(test_list)
{
	struct options o;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	options_default(&o, hosts[_i].tool);
	o.list_fields = hosts[_i].fields;
	hosts[_i].host();
	list_backends(out, &o);
	fclose(out);
	ck_assert_str_eq(text, hosts[_i].said);
	ck_assert(tried[0] == 1 && tried[1] == 1 && tried[2] == 1);
	free(text);
}
END_TEST

static void setup(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(trials); i++)
		trials[i] = (struct way_trial){ .usable = true };
	memset(tried, 0, sizeof(tried));
}

int main(void)
{
	Suite *s = suite_create("list_backends");
	TCase *t = tcase_create("hosts");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_loop_test(t, test_list, 0, ARRAY_SIZE(hosts));
	suite_add_tcase(s, t);
	return unit_main(s);
}
