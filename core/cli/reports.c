// SPDX-License-Identifier: Apache-2.0
#include "core/cli/reports.h"

#include "core/base/saturate.h"
#include "core/cli/options.h"
#include "core/cli/warnings.h"
#include "core/events/event_rings.h"
#include "core/host/priority.h"
#include "core/host/signals.h"
#include "core/report/scheduling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void kernel_name(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	priority_check();
	symbols_kernel(ctx, addr, is_return, out);
}

static void user_name(void *ctx, pid_t pid, const char *comm, uint64_t addr, bool is_return, struct symbol *out)
{
	priority_check();
	symbols_user(ctx, pid, comm, addr, is_return, out);
}

static size_t inlined_names(void *ctx, const struct symbol **out)
{
	return symbols_inlined(ctx, out);
}

static int demangled_names(void *ctx, const char *const *names, size_t nr, const char **out)
{
	return symbols_demangle(ctx, names, nr, out);
}

static struct report_names names_of(const struct reports *r)
{
	return (struct report_names){ r->symbols,     kernel_name, user_name, inlined_names, &r->session->sink.names,
				      demangled_names };
}

static bool compares_intervals(const struct session *s)
{
	return s->request.both && s->request.options->off_cpu;
}

/* Of samples their number, of intervals their time, of both the time. */
static int write_rows(struct reports *r, const struct report_names *names, const struct account *a, struct err *err)
{
	const struct session *s = r->session;
	const struct options *o = s->request.options;
	bool all = o->on_cpu && o->off_cpu;
	const struct report_part parts[] = {
		{ session_samples(s), all ? "on-cpu" : NULL, all ? events_period_ns(o) : 1, false },
		{ session_intervals(s), all ? "off-cpu" : NULL, 1, true },
	};
	int rc;

	if (o->on_cpu && s->request.both) {
		rc = agreement_of_samples(&r->agreement, s, names, o->off_cpu ? NULL : &r->report, a, err);
		if (rc || !o->off_cpu)
			return rc;
	}
	return report_rows(&r->report, &parts[!o->on_cpu], all ? 2 : 1, names, &o->report, err);
}

static int write_report(struct reports *r, const struct account *a, bool last, struct err *err)
{
	const struct session *s = r->session;
	const struct report_names names = names_of(r);
	int rc;

	symbols_renew(r->symbols);
	report_interval(&r->report, s->request.options->interval_ns ? r->intervals + 1 : 0,
			(double)a->sampled_ns / 1e9);
	rc = write_rows(r, &names, a, err);
	if (!rc && last)
		rc = report_end(&r->report, true, err);
	if (rc && rc != -ENOMEM)
		output_error(r->out, rc, err);
	return rc;
}

/* What became known of files since the last report: they are asked for when one is written. */
static void account_files(const struct reports *r, struct account *a, struct account *total)
{
	uint64_t mismatched = symbols_mismatched(r->symbols);

	/* One may be found in another process later. */
	a->files_mismatched = sub_or_0(mismatched, total->files_mismatched);
	a->files_hung = session_files_hung(r->session) - total->files_hung;
	total->files_mismatched += a->files_mismatched;
	total->files_hung += a->files_hung;
}

/* Where user stacks are unwound here, registers that may be stale are not used. */
static void account_unsure(const struct reports *r, struct account *a)
{
	const struct report_names names = names_of(r);
	const struct session *s = r->session;

	if (!s->request.options->stats || s->request.unwinds)
		return;
	a->unsure = report_unsure_stacks(session_samples(s), false, &names) +
		    report_unsure_stacks(session_intervals(s), true, &names);
}

int reports_add(struct reports *r, bool last, struct err *err)
{
	const struct options *o = r->session->request.options;
	const struct report_names names = names_of(r);
	struct account a;
	char number[16];
	int rc;

	account_take(r->session, &a);
	account_unsure(r, &a);
	if (compares_intervals(r->session)) {
		rc = agreement_of_intervals(&r->agreement, r->session, &names, &r->total, &a, err);
		if (rc)
			return rc;
	}
	account_add(&r->total, &a);
	if (last) {
		account_settle(r->session, &r->total);
		/* Names need the room for files. */
		session_close(r->session);
	}
	rc = write_report(r, &a, last, err);
	if (!rc && last)
		rc = output_commit(r->out, err);
	/* Nothing is left to abort: what comes now is meant for the command. */
	if (!rc && last && r->session->request.command)
		signals_pass();
	r->intervals++;
	account_files(r, &a, &r->total);
	if (compares_intervals(r->session))
		agreement_explain_intervals(&r->agreement, &a);
	account_print_losses(stderr, r->session, &a);
	if (last) {
		agreement_of_reader(&r->agreement, r->session, &r->total);
		warn_of_run(r->session, r->symbols, &r->total);
	}
	snprintf(number, sizeof(number), "%u", r->intervals);
	if (o->stats)
		account_print(stderr, r->session, o->interval_ns ? number : NULL, &a);
	if (o->stats && o->interval_ns && last)
		account_print(stderr, r->session, "all", &r->total);
	/* It has a buffer where the report goes there, and what comes next may take long. */
	fflush(stderr);
	return rc;
}

int reports_begin(struct reports *r, struct err *err)
{
	const struct session *s = r->session;
	const struct options *o = s->request.options;
	char *header = NULL;
	size_t len;
	FILE *f = open_memstream(&header, &len);
	int rc;

	if (f && o->input)
		options_header_recorded(f, o, &s->recording);
	else if (f)
		options_header(f, o, s->events.user_only.code);
	if (!f || fclose(f))
		rc = err_sys(err, -ENOMEM, "cannot begin the report");
	else
		rc = report_begin(&r->report, r->out->stream, o->report.form, header, err);
	free(header);
	return rc && rc != -ENOMEM ? output_error(r->out, rc, err) : rc;
}
