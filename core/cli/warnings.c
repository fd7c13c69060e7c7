// SPDX-License-Identifier: Apache-2.0
#include "core/cli/warnings.h"

#include "core/base/clock.h"
#include "core/base/printable.h"
#include "core/cli/backends.h"
#include "core/cli/messages.h"
#include "core/events/event_rings.h"
#include "core/host/causes.h"
#include "core/host/host.h"
#include "core/host/kernel.h"
#include "core/tasks/cgroup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define EVENTS_TOLD     20
#define SAFE_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:.,/=+@%-"

static void warn_of_bug(const struct options *o, int64_t unaccounted, const char *what)
{
	if (unaccounted)
		fprintf(stderr, "%s%" PRId64 " %s are not accounted for: this is a bug in %s.\n", warning_word(stderr),
			unaccounted, what, tool_name(o->tool));
}

/* The name of the things that this run counts, for messages. */
static const char *counted(const struct options *o)
{
	return !o->sampling.event ? "intervals" : o->off_cpu.wanted ? "samples or intervals" : "samples";
}

void tell_of_targets(const struct options *o, const struct session *s)
{
	const char *name = tool_name(o->tool);

	if (!session_targets_ended(s))
		return;
	if (o->nr_pids == 1)
		fprintf(stderr, "%s: %s %d has ended\n", name, o->filter.by_tid ? "TID" : "PID", o->pids[0]);
	else
		fprintf(stderr, "%s: all %zu %s have ended\n", name, o->nr_pids,
			o->filter.by_tid ? "threads" : "processes");
}

struct input_name {
	char text[NAME_SHOWN + 3];
};

static struct input_name input_name(const char *input)
{
	struct input_name name = { "standard input" };
	char shown[NAME_SHOWN + 1];

	if (strcmp(input, "-") != 0)
		snprintf(name.text, sizeof(name.text), "'%s'", name_shown(input, shown));
	return name;
}

/* Print -e for this event, with quotes if a shell needs them, and its number of samples. */
static void print_selector(size_t i, const struct recorded_event *e)
{
	const char *quote = e->name[strspn(e->name, SAFE_CHARACTERS)] ? "'" : "";

	fprintf(stderr, "%s -e %s%s%s (%" PRIu64 ")", i ? "," : "", quote, e->name, quote, e->samples);
}

void tell_of_events(const struct options *o, const struct session *s, const struct account *total)
{
	const struct recording *r = &s->recording;
	size_t i;

	if (!r->other_samples || (o->event_name && total->stats.taken))
		return;
	fprintf(stderr, "%s: %s has more samples, of other events:", tool_name(o->tool), input_name(o->input).text);
	for (i = 0; i < r->nr_more && i < EVENTS_TOLD; i++)
		print_selector(i, &r->more[i]);
	if (i < r->nr_more)
		fprintf(stderr, ", and %zu more events", r->nr_more - i);
	if (r->undescribed_samples)
		fprintf(stderr, "%s of events that it does not describe (%" PRIu64 ")", i ? "," : "",
			r->undescribed_samples);
	fputc('\n', stderr);
}

static void warn_of_faults(const struct session *s)
{
	const struct unwinders_notes *u = &s->sink.unwinders;
	struct cause cause;
	struct err why;

	if (!u->nr_faults)
		return;
	cause_of_files(s->request.host, u->fault, &cause);
	cause_err(&why, u->fault, &cause, "unwind rules could not be read for at least %" PRIu64 " user stacks",
		  u->nr_faults);
	fprintf(stderr, "%s%s\n", warning_word(stderr), why.msg);
}

static void warn_of_damage(const struct recording *r, const char *name)
{
	const char *in = *r->damaged_in ? " in " : "";

	if (r->damaged == 1)
		fprintf(stderr, "%s%s%s%s is damaged at offset %" PRIu64 ": %" PRIu64 " bytes were left out.\n",
			warning_word(stderr), r->damaged_in, in, name, r->damaged_at, r->left_out);
	else if (r->damaged)
		fprintf(stderr,
			"%s%s%s%s is damaged in %" PRIu64 " places, first at offset %" PRIu64 ": %" PRIu64
			" bytes were left out.\n",
			warning_word(stderr), r->damaged_in, in, name, r->damaged, r->damaged_at, r->left_out);
}

static void warn_of_recording(const struct recording *r, const char *name)
{
	const char *warning = warning_word(stderr);

	if (r->unfinished)
		fprintf(stderr, "%sperf record did not finish %s: names may be missing.\n", warning, name);
	warn_of_damage(r, name);
	if (r->missing)
		fprintf(stderr, "%s%s ends early: %" PRIu64 " bytes of its records are missing.\n", warning, name,
			r->missing);
	else if (r->truncated)
		fprintf(stderr, "%s%s ends within a record: the records before it were read.\n", warning, name);
	else if (r->header_lost)
		fprintf(stderr, "%s%s has lost parts of its header, which follow the records: names may be missing.\n",
			warning, name);
}

void warn_of_wait(const struct cpu_wait *wait)
{
	struct err why;

	if (cpu_wait_is_long(&host_here, wait, now_ns(), &why))
		fprintf(stderr, "%s%s\n", warning_word(stderr), why.msg);
}

void warn_of_run(const struct options *o, const struct session *s, const struct symbols *symbols,
		 const struct account *total, const struct cpu_wait *wait)
{
	const struct tasks *tasks = s->sink.tasks;
	struct err why;

	warn_of_bug(o, total->unaccounted.samples, "samples");
	warn_of_bug(o, total->unaccounted.intervals, "intervals");
	if (account_shortfall(total, &why))
		fprintf(stderr, "%s%s\n", warning_word(stderr), why.msg);
	if (!o->input && session_command_shortfall(s, &total->stats, &total->shortfall, &why))
		fprintf(stderr, "%s%s\n", warning_word(stderr), why.msg);
	if (o->input)
		warn_of_recording(&s->recording, input_name(o->input).text);
	if (s->events.refused.code)
		fprintf(stderr, "%sa CPU that came online was not %s: %s\n", warning_word(stderr),
			o->sampling.event ? "sampled" : "traced", s->events.refused.msg);
	if (s->sink.first_refused.code)
		fprintf(stderr, "%sprocesses that ended early may lack names: %s\n", warning_word(stderr),
			s->sink.first_refused.msg);
	if (tasks_unread(tasks))
		fprintf(stderr, "%sthe mappings of processes could not be read %" PRIu64 " times: %s\n",
			warning_word(stderr), tasks_unread(tasks), strerror(ENOMEM));
	if (tasks_refused(tasks))
		fprintf(stderr, "%s%" PRIu64 " mappings did not fit into memory limits: their frames are [unknown].\n",
			warning_word(stderr), tasks_refused(tasks));
	if (tasks_overlong(tasks))
		fprintf(stderr,
			"%sthe mappings of %" PRIu64
			" processes took too long to read: frames in the rest are [unknown].\n",
			warning_word(stderr), tasks_overlong(tasks));
	if (total->reused)
		fprintf(stderr,
			"%s%" PRIu64 " %s have frames at addresses where the process mapped different files: these "
			"frames are [unknown].\n",
			warning_word(stderr), total->reused, counted(o));
	if (s->request.filter.cgroup && cgroup_missed(s->request.filter.cgroup, &why))
		fprintf(stderr, "%s%s\n", warning_word(stderr), why.msg);
	if (total->stats.hidden)
		fprintf(stderr,
			"%s%" PRIu64 " %s were filtered because the mount namespaces of their tasks cannot be "
			"read (give it CAP_SYS_PTRACE).\n",
			warning_word(stderr), total->stats.hidden, counted(o));
	if (s->sink.unwinders.failed.code)
		fprintf(stderr, "%s%s.\n", warning_word(stderr), s->sink.unwinders.failed.msg);
	warn_of_faults(s);
	if (symbols_kernel_hidden(symbols, &why))
		fprintf(stderr, "%s%s\n", warning_word(stderr), why.msg);
	if (symbols_kernel_withheld(symbols, &why))
		fprintf(stderr, "%s%s\n", warning_word(stderr), why.msg);
	if (symbols_skipped(symbols, &why))
		fprintf(stderr, "%s%s\n", warning_word(stderr), why.msg);
	if (symbols_older_maps(symbols, &why))
		fprintf(stderr, "%s%s\n", warning_word(stderr), why.msg);
	if (session_files_hung(s))
		fprintf(stderr, "%s%zu files were not opened: their file systems did not answer.\n",
			warning_word(stderr), session_files_hung(s));
	if (session_files_unserved(s))
		fprintf(stderr, "%s%zu files were not opened: no process could be started to open them.\n",
			warning_word(stderr), session_files_unserved(s));
	if (symbols_lines_skipped(symbols, &why))
		fprintf(stderr, "%s%s\n", warning_word(stderr), why.msg);
	if (symbols_mangled(symbols, &why))
		fprintf(stderr, "%s%s\n", warning_word(stderr), why.msg);
	warn_of_wait(wait);
}

static void tell_of_zombies(const struct options *o, const struct session *s)
{
	size_t i;

	for (i = 0; i < o->nr_pids && !o->input; i++)
		if (host_is_zombie(s->request.host, o->pids[i], !o->filter.by_tid))
			fprintf(stderr, "%s: %s %d is a zombie: it has ended, and its parent has not waited for it\n",
				tool_name(o->tool), o->filter.by_tid ? "TID" : "PID", o->pids[i]);
}

void warn_of_limits(const struct options *o, const struct session *s)
{
	const char *name = tool_name(o->tool);
	struct err small;

	if (o->verbose)
		fprintf(stderr, "%s: backend %s: %s\n", name, session_way_name(s), s->reason);
	if (s->events.user_only.code)
		fprintf(stderr, "%s: %s: %s\n", name,
			o->sampling.event ? "only user code is sampled" : "stacks cannot be taken",
			s->events.user_only.msg);
	if (s->events.unfollowed.code)
		fprintf(stderr, "%s: %s\n", name, s->events.unfollowed.msg);
	tell_of_zombies(o, s);
	if (events_small_rings(&s->events, &small))
		fprintf(stderr, "%s: %s\n", name, small.msg);
	if (s->by_fp.code)
		fprintf(stderr, "%s: user stacks are walked by frame pointers: %s\n", name, s->by_fp.msg);
	if (s->request.host->foreign && !o->input)
		fprintf(stderr,
			"%s: /proc is of another PID namespace: processes that run already have no symbols, and with "
			"perfring no names (mount a /proc of this namespace: unshare --mount-proc)\n",
			name);
	if (o->verbose && s->kept.code)
		fprintf(stderr, "%s: cannot give up the capabilities that are not needed any more: %s\n", name,
			s->kept.msg);
}

void warn_of_taint(const struct options *o)
{
	const struct way *asked = o->backend ? way_find(ways_here, o->backend) : NULL;
	bool both = o->backend && !strcmp(o->backend, WAY_BOTH);

	if ((both || (asked && asked->counter)) && !o->input && kernel_bpf_taints(&host_here))
		fprintf(stderr,
			"%s--backend uses bpf(2), a technology preview of this kernel: this taints the kernel until "
			"the next boot.\n",
			warning_word(stderr));
}
