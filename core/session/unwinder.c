// SPDX-License-Identifier: Apache-2.0
#include "core/session/unwinder.h"

#include "core/base/saturate.h"
#include "core/events/event_rings.h"

#include <errno.h>
#include <inttypes.h>

static void use_frame_pointers(struct session *s)
{
	s->request.unwinds = s->request.proves = false;
}

static uint64_t nr_cpus(const struct session *s)
{
	struct cpu_list online = { 0 };
	struct err ignored;
	uint64_t nr;

	if (s->request.filter.by_cpu || host_online_cpus(s->request.host, &online, &ignored))
		return 1;
	nr = online.nr;
	cpu_list_release(&online);
	return nr;
}

/*
 * A larger copy costs time only if the stack has so much above its pointer: 64 KiB take the kernel some 10 us, during
 * which the sampled program does not run.
 */
static void choose_dump(struct session *s)
{
	static const uint32_t sizes[] = { STACK_DUMP_MAX, 32760 };
	struct request *r = &s->request;
	const struct sampling *of = &r->sampling;
	uint64_t rate = r->off_cpu.wanted ? 0 : events_sample_rate(of, of->event),
		 of_all = mul_or_max(rate, nr_cpus(s));
	size_t i;

	r->dump_least = r->dump_bytes = r->dump_asked ? r->dump_asked : STACK_DUMP_LEAST;
	if (r->dump_asked || !rate)
		return;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (mul_or_max(rate, sizes[i]) <= UNWINDER_CPU_BUDGET &&
		    mul_or_max(of_all, sizes[i]) <= UNWINDER_BUDGET) {
			r->dump_bytes = sizes[i];
			return;
		}
}

/*
 * True if the copies would be more than this host should make. With -c, the rate of an event other than a clock is not
 * known.
 */
static bool exceeds_budget(const struct session *s, struct err *why)
{
	const struct sampling *of = &s->request.sampling;
	uint64_t rate = events_sample_rate(of, of->event),
		 bytes = mul_or_max(mul_or_max(rate, nr_cpus(s)), s->request.dump_bytes);

	if (rate && bytes <= UNWINDER_BUDGET)
		return false;
	if (rate)
		err_set(why, -E2BIG,
			"stack copies would take %" PRIu64 " MiB a second (to copy them all the same: --unwind=dwarf)",
			bytes >> 20);
	else
		err_set(why, -E2BIG,
			"with -c the number of stack copies is not known (to copy them all the same: --unwind=dwarf)");
	return true;
}

void unwinder_choose(struct session *s)
{
	struct request *r = &s->request;

	s->by_fp = (struct err){ 0 };
	r->unwinds = session_is_live(s) && r->unwind != UNWIND_BY_FP && !r->filter.no_user;
	r->proves = r->unwinds && r->unwind == UNWIND_AUTO;
	choose_dump(s);
	/* It is not known how often threads leave their CPUs, but it may be 100,000 times a second. */
	if (r->proves && (r->off_cpu.wanted || exceeds_budget(s, &s->by_fp)))
		use_frame_pointers(s);
}

int unwinder_recorded(struct session *s, struct err *err)
{
	struct request *r = &s->request;
	bool copies = s->recording.copies;

	if (unwind_needs_copies(r->unwind) && !copies)
		return err_set(err, -EINVAL,
			       "--unwind %s needs stack copies, and '%.400s' has none (use perf record "
			       "--call-graph dwarf)",
			       unwind_name(r->unwind), r->input.path);
	r->unwinds = copies && r->unwind != UNWIND_BY_FP && !r->filter.no_user;
	r->proves = r->unwinds && r->unwind == UNWIND_AUTO;
	r->asked = s->recording.max_stack;
	return 0;
}

/*
 * True if the kernel has no registers of user space (before 3.7, and on some architectures), or no copies of user
 * stacks.
 */
static bool are_refused(int rc)
{
	return rc == -EINVAL || rc == -ENOSYS || rc == -EOPNOTSUPP;
}

bool unwinder_give_up(struct session *s, int rc, const struct err *err)
{
	const struct events *ev = &s->events;
	struct err small;

	if (!s->request.proves)
		return false;
	if (are_refused(rc))
		err_set(&s->by_fp, rc, "%s", err->msg);
	else if (!rc && events_attr(ev)->sample_stack_user < s->request.dump_least && events_small_rings(ev, &small))
		err_set(&s->by_fp, -ENOMEM, "no memory for ring buffers with stack copies: %s", small.msg);
	else
		return false;
	use_frame_pointers(s);
	return true;
}
