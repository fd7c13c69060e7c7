// SPDX-License-Identifier: Apache-2.0
#include "core/cli/reports.h"

#include "core/base/saturate.h"
#include "core/cli/about.h"
#include "core/cli/advice.h"
#include "core/cli/empty.h"
#include "core/cli/growth.h"
#include "core/cli/messages.h"
#include "core/cli/warnings.h"
#include "core/events/event_rings.h"
#include "core/host/signals.h"
#include "core/report/scheduling.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void kernel_name(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	symbols_kernel(ctx, addr, is_return, out);
}

static void user_name(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		      struct symbol *out)
{
	symbols_user(ctx, pid, comm, image, addr, is_return, out);
}

static size_t inlined_names(void *ctx, const struct symbol **out)
{
	return symbols_inlined(ctx, out);
}

static int demangled_names(void *ctx, const char *const *names, size_t nr, const char **out)
{
	return symbols_demangle(ctx, names, nr, out);
}

static bool user_called(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return)
{
	return symbols_user_called(ctx, pid, comm, image, addr, is_return);
}

static struct report_names names_of(const struct reports *r)
{
	return (struct report_names){
		.ctx = r->symbols,
		.kernel = kernel_name,
		.user = user_name,
		.called = user_called,
		.inlined = inlined_names,
		.frames = &r->session->sink.names,
		.tasks = r->session->sink.tasks,
		.demangle = demangled_names,
	};
}

/*
 * Fill in the parts of a report: samples, which are counted, and intervals, whose times are added up. If there are
 * both, each sample counts as the time of a period. Return: how many parts.
 */
static size_t parts_of(const struct reports *r, const struct report_names *names, struct report_part parts[2])
{
	const struct session *s = r->session;
	bool on_cpu = s->request.sampling.event, off_cpu = s->request.off_cpu.wanted, all = on_cpu && off_cpu;
	size_t nr = 0, i;

	if (on_cpu)
		parts[nr++] = (struct report_part){
			.rows = session_samples(s),
			.root = all ? "on-cpu" : NULL,
			.weight = all ? events_period_ns(&s->request.sampling) : 1,
		};
	if (off_cpu)
		parts[nr++] = (struct report_part){
			.rows = session_intervals(s),
			.root = all ? "off-cpu" : NULL,
			.weight = 1,
			.from_schedule = true,
		};
	for (i = 0; i < nr; i++)
		parts[i].names = names;
	return nr;
}

/*
 * True if user stacks were walked by frame pointers. A recording without callchains has only the interrupted functions:
 * its user wanted no stacks.
 */
static bool walks_by_fp(const struct session *s)
{
	return !s->request.unwinds && (session_is_live(s) || s->recording.user_callchains);
}

/* The quality of stacks is needed for advice, which is given once, and for the forms of reports that print it. */
static bool wants_quality(const struct reports *r)
{
	return !r->session->request.filter.no_user && (!r->advised || r->options->report.form->counts);
}

static void add_counts(struct reports *r, const struct report_counts *counts)
{
	if (r->before)
		return;
	if (r->nr_counts++)
		report_counts_add(&r->counts, counts);
	else
		r->counts = *counts;
}

/* Describe a failure of writing the report. -ENOMEM is not one: return it as it is. */
static int written(const struct reports *r, int rc, struct err *err)
{
	return rc && rc != -ENOMEM ? output_error(r->out, rc, err) : rc;
}

/*
 * Refuse an empty baseline: everything would seem to have grown. check_compared() also refuses an empty report: nothing
 * would seem to have grown.
 */
static int check_before(const struct reports *r, struct err *err)
{
	if (report_sums(r->body).before > 0)
		return 0;
	return err_set(err, -ENODATA, "no sample of the baseline '%s' passes the filters", r->options->baseline);
}

static int check_compared(const struct reports *r, struct err *err)
{
	int rc = r->options->baseline ? check_before(r, err) : 0;

	if (!rc && r->options->baseline && !(report_sums(r->body).now > 0))
		return err_set(err, -ENODATA, "there are no samples to compare with the baseline '%s'",
			       r->options->baseline);
	return rc;
}

/* All parts are added: print the report. */
static int print_body(struct reports *r, struct err *err)
{
	int rc = check_compared(r, err);

	if (!rc && r->options->fail_above >= 0)
		rc = growth_judge(r->body, r->options, err);
	if (rc < 0)
		return rc;
	r->grown = rc;
	rc = written(r, report_print(r->body, &r->report, &r->counts, err), err);
	report_free(r->body);
	r->body = NULL;
	r->counts = (struct report_counts){ 0 };
	r->nr_counts = 0;
	return rc;
}

static int make_body(struct reports *r, struct err *err)
{
	return r->body ? 0 : report_new(r->options->report.form, &r->options->report, &r->body, err);
}

/* Files with samples and files with times cannot be added up. */
static int agree_on_unit(struct reports *r, enum report_unit unit, const char *name, struct err *err)
{
	if (r->unit_known && r->unit != unit)
		return err_set(err, -EINVAL, "'%s' counts %s, but %s %s", name, report_unit_name(unit),
			       r->options->input ? "the files before it count" : "this run counts",
			       report_unit_name(r->unit));
	r->unit_known = true;
	r->unit = unit;
	return 0;
}

/* "cycles:ppp" is cycles: modifiers only say how to count. */
static bool same_event(const char *a, const char *b)
{
	size_t len = strcspn(a, ":");

	return len == strcspn(b, ":") && !strncmp(a, b, len);
}

/*
 * Samples of different events cannot be added or compared. Samples of one event at different rates can, with a warning:
 * they stand for different times.
 */
static int agree_on_event(struct reports *r, const struct session *s, struct err *err)
{
	const struct sampling *live = session_is_live(s) ? &s->request.sampling : NULL;
	const char *name = live ? "this run" : s->request.input.path, *event;
	uint64_t hz = live ? live->freq_hz : s->recording.freq_hz;

	if (!s->request.sampling.event)
		return 0;
	event = live ? live->event->name : s->recording.event;
	if (!event)
		return 0;
	if (!*r->event) {
		snprintf(r->event, sizeof(r->event), "%s", event);
		r->freq_hz = hz;
	}
	if (!same_event(r->event, event))
		return err_set(err, -EINVAL, "'%s' has samples of %.100s, but the files before it have samples of %s",
			       name, event, r->event);
	if (r->freq_hz != hz && !r->before)
		fprintf(stderr,
			"%s'%s' has %" PRIu64 " samples per second, but the files before it have %" PRIu64
			": the sum treats them alike.\n",
			warning_word(stderr), name, hz, r->freq_hz);
	return 0;
}

/* If there are several files, each row has the name of its file. */
static const char *input_named(const struct reports *r)
{
	return r->options->nr_inputs > 1 && !r->before ? r->input : NULL;
}

static int add_parts(struct reports *r, const struct report_names *names, struct account *a, struct err *err)
{
	struct report_part parts[2];
	size_t nr = parts_of(r, names, parts), i;
	int rc = make_body(r, err);

	for (i = 0; i < nr && !rc; i++) {
		parts[i].quality = wants_quality(r) ? &r->quality : NULL;
		parts[i].before = r->before;
		parts[i].reused = &a->reused;
		parts[i].input = input_named(r);
		rc = report_add(r->body, &parts[i], err);
	}
	return rc;
}

static int write_rows(struct reports *r, const struct report_names *names, struct account *a, struct err *err)
{
	const struct session *s = r->session;
	bool off_cpu = s->request.off_cpu.wanted;
	struct report_counts counts;
	int rc;

	if (session_compares_samples(s)) {
		rc = agreement_of_samples(&r->agreement, s, names, &r->options->report, off_cpu ? NULL : r->out->stream,
					  a, err);
		if (rc < 0)
			return written(r, rc, err);
		if (rc && !off_cpu)
			return 0;
	}
	rc = agree_on_unit(r, off_cpu ? UNIT_USEC : UNIT_SAMPLES,
			   session_is_live(s) ? "this run" : s->request.input.path, err);
	if (!rc)
		rc = agree_on_event(r, s, err);
	if (!rc)
		rc = add_parts(r, names, a, err);
	if (rc)
		return rc;
	about_counts(s, a, &r->quality, &counts);
	add_counts(r, &counts);
	report_forget_names(r->body);
	return r->more ? 0 : print_body(r, err);
}

static int write_report(struct reports *r, struct account *a, bool last, struct err *err)
{
	const struct session *s = r->session;
	const struct report_names names = names_of(r);
	int rc;

	symbols_renew(r->symbols);
	/* An interval off the CPU may have begun during an earlier report. */
	tasks_report(s->sink.tasks, s->request.off_cpu.wanted ? 0 : s->sink.started_ns);
	if (!r->before && !r->body)
		report_interval(&r->report, r->options->interval_ns ? r->intervals + 1 : 0,
				(double)a->sampled_ns / 1e9);
	r->quality.by_fp = walks_by_fp(s);
	rc = write_rows(r, &names, a, err);
	if (!rc && last && !r->more)
		rc = written(r, report_end(&r->report, true, err), err);
	return rc;
}

/* Print advice once in a run: for the first report that needs it, while its processes still run. */
static void advise(struct reports *r, bool written)
{
	const struct report_names names = names_of(r);
	struct report_part parts[2];
	const struct advised advised = {
		.session = r->session,
		.symbols = r->symbols,
		.names = &names,
		.parts = parts,
		.nr_parts = parts_of(r, &names, parts),
		.quality = &r->quality,
	};

	if (written && !r->advised && r->quality.tasks.nr)
		r->advised = advice_print(stderr, &advised);
	report_quality_release(&r->quality);
}

/* Add what was counted while names were looked up for this report. */
static void account_names(const struct reports *r, struct account *a, struct account *total)
{
	uint64_t mismatched = symbols_mismatched(r->symbols);

	a->kernel_code_reused = symbols_kernel_reused(r->symbols) - total->kernel_code_reused;
	total->kernel_code_reused += a->kernel_code_reused;

	/* The number may fall: the right file may be found through another process later. */
	a->files_mismatched = sub_or_0(mismatched, total->files_mismatched);
	a->files_hung = session_files_hung(r->session) - total->files_hung;
	total->files_mismatched += a->files_mismatched;
	total->files_hung += a->files_hung;
}

/* If this program unwinds user stacks itself, no stack is unsure: it uses no registers that may be stale. */
static void account_unsure(const struct reports *r, struct account *a)
{
	const struct report_names names = names_of(r);
	const struct session *s = r->session;

	if (!r->run->stats || s->request.unwinds)
		return;
	a->unsure = report_unsure_stacks(session_samples(s), false, &names) +
		    report_unsure_stacks(session_intervals(s), true, &names);
}

int reports_add(struct reports *r, bool last, struct err *err)
{
	const struct options *o = r->run;
	const struct report_names names = names_of(r);
	struct account a;
	char number[16];
	int rc;

	account_take(r->session, &a);
	account_unsure(r, &a);
	if (session_compares_intervals(r->session)) {
		rc = agreement_of_intervals(&r->agreement, r->session, &names, &r->total, &a, err);
		if (rc)
			return rc;
	}
	account_add(&r->total, &a);
	if (last) {
		if (!empty_is(&r->total))
			tell_of_targets(o, r->session);
		account_settle(r->session, &r->total);
		/* Close it now: names need the descriptors for files. */
		session_close(r->session);
	}
	rc = write_report(r, &a, last, err);
	r->total.reused += a.reused;
	if (!rc && last && !r->more)
		rc = output_commit(r->out, err);
	/* Sampling is over: signals from now on are meant for the command. */
	if (!rc && last && r->session->request.command)
		signals_pass();
	r->intervals++;
	account_names(r, &a, &r->total);
	if (session_compares_intervals(r->session))
		agreement_explain_intervals(&r->agreement, &a);
	agreement_of_unwinders(&r->agreement, r->session, &a);
	account_print_losses(stderr, r->session, &a);
	if (last) {
		agreement_of_reader(&r->agreement, r->session, &r->total);
		tell_of_events(o, r->session, &a);
		warn_of_run(o, r->session, r->symbols, &r->total, &r->wait);
		if (!rc && empty_is(&r->total))
			empty_explain(stderr, o, r->session, &r->total);
	}
	advise(r, !rc);
	snprintf(number, sizeof(number), "%u", r->intervals);
	if (o->stats)
		account_print(stderr, r->session, o->interval_ns ? number : NULL, &a);
	if (o->stats && o->interval_ns && last)
		account_print(stderr, r->session, "all", &r->total);
	/* stderr has a buffer if the report goes there, and the next step may take long. */
	fflush(stderr);
	return rc;
}

static struct read_cfg read_cfg_of(const struct reports *r)
{
	const struct options *o = r->options;

	return (struct read_cfg){
		.pids = o->pids,
		.nr_pids = r->before ? 0 : o->nr_pids, /* the same program had another pid then */
		.by_tid = o->filter.by_tid,
		.comm = o->filter.comm,
		.cgroup =
			o->input ? o->groups.cgroup : NULL, /* otherwise it is the directory of a cgroup of this host */
		.input = input_named(r),
		.user_only = o->filter.no_kernel,
		.kernel_only = o->filter.no_user,
		.delimited = o->report.delimited,
		.times = o->off_cpu.wanted,
		.before = r->before,
	};
}

static int begin_read(struct reports *r, const struct infile *in, const struct read_about *read, struct err *err)
{
	struct about_texts texts;
	struct report_about about;
	int rc = about_infile(r->options, in, read, &texts, &about, err);

	if (!rc)
		rc = written(r, report_begin(&r->report, r->out->stream, r->options->report.form, &about, err), err);
	about_release(&texts);
	if (!rc)
		report_interval(&r->report, 0, 0);
	return rc;
}

/* Explain why there is nothing, for the last file: if there were several, all had nothing. */
static void explain_nothing(const struct reports *r, const struct infile *in, const struct read_about *about)
{
	fprintf(stderr, "%s: 0 samples: ", tool_name(r->options->tool));
	if (about->filtered)
		fprintf(stderr, "none of the %" PRIu64 " in '%s' passes the filters\n", about->filtered,
			infile_name(in));
	else
		fprintf(stderr, "'%s' has none\n", infile_name(in));
}

static int print_read(struct reports *r, const struct infile *in, const struct read_about *about, struct err *err)
{
	bool empty = !(report_sums(r->body).now > 0);
	int rc = print_body(r, err);

	if (!rc)
		rc = written(r, report_end(&r->report, true, err), err);
	if (!rc)
		rc = output_commit(r->out, err);
	if (!rc && empty)
		explain_nothing(r, in, about);
	return rc;
}

/* Warn about options for names and stacks, which a report that is read has already. */
static void warn_of_names(struct reports *r, const struct infile *in)
{
	const struct options *o = r->options;
	const struct {
		bool given;
		const char *name;
	} options[] = {
		{ o->unwind != UNWIND_AUTO, "--unwind" },
		{ o->kallsyms, "--kallsyms" },
		{ o->vmlinux, "--vmlinux" },
		{ o->debug_dir, "--debug-dir" },
		{ o->symfs, "--symfs" },
		{ o->report.inlined, "--inline" },
	};
	char name[NAME_SHOWN + 1];
	size_t i;

	if (r->before || r->named)
		return;
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (!options[i].given)
			continue;
		fprintf(stderr, "%s%s has no effect on '%s', which is a report: its stacks and names are final.\n",
			warning_word(stderr), options[i].name, name_shown(infile_name(in), name));
		r->named = true;
	}
}

/* Without the number of intervals in each row, any change of a time may be chance. */
static int check_times(const struct reports *r, const struct infile *in, const struct read_about *about,
		       struct err *err)
{
	struct report_sums sums = report_sums(r->body);

	if (r->options->fail_above < 0 || about->times || !((r->before ? sums.before : sums.now) > 0))
		return 0;
	return err_set(err, -EINVAL,
		       "--fail-above needs numbers of intervals, and '%s' has none (write it with --format json)",
		       infile_name(in));
}

static int print_rows_read(struct reports *r, const struct infile *in, const struct read_about *about, struct err *err)
{
	int rc = 0;

	warn_of_names(r, in);
	add_counts(r, &(struct report_counts){ .taken = about->samples, .counted = about->samples });
	if (!r->before && !r->report.form)
		rc = begin_read(r, in, about, err);
	return rc || r->more ? rc : print_read(r, in, about, err);
}

/* A report has added up the samples: the CPU and the event of each are gone. */
static int check_sample_options(const struct reports *r, const struct infile *in, struct err *err)
{
	const struct options *o = r->options;
	const struct {
		bool given;
		const char *name, *needs;
	} options[] = {
		{ o->cpu >= 0, "-C", "CPU" },
		{ o->event_name, "-e", "event" },
	};
	size_t i;

	if (r->before)
		return 0;
	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].given)
			return err_set(err, -EINVAL,
				       "%s needs the %s of each sample, and the report '%s' does not have it",
				       options[i].name, options[i].needs, infile_name(in));
	return 0;
}

int reports_read(struct reports *r, struct infile *in, struct err *err)
{
	const struct read_cfg cfg = read_cfg_of(r);
	struct read_about about = { 0 };
	int rc;

	rc = check_sample_options(r, in, err);
	if (!rc)
		rc = make_body(r, err);
	if (!rc)
		rc = read_report(in, r->body, &cfg, &about, err);
	if (!rc && about.unit_told)
		rc = agree_on_unit(r, about.unit, infile_name(in), err);
	if (!rc)
		rc = check_times(r, in, &about, err);
	if (!rc)
		rc = print_rows_read(r, in, &about, err);
	read_about_release(&about);
	return rc;
}

int reports_check_baseline(struct reports *r, struct infile *in, struct err *err)
{
	int rc;

	r->before = true;
	r->more = true;
	r->unit = r->options->off_cpu.wanted ? UNIT_USEC : UNIT_SAMPLES;
	r->unit_known = true;
	rc = reports_read(r, in, err);
	return rc ? rc : check_before(r, err);
}

void reports_next(struct reports *r, const struct options *o, struct session *s)
{
	r->run = o;
	r->session = s;
	r->total = (struct account){ 0 };
	r->intervals = 0;
	r->advised = false;
}

void reports_release(struct reports *r)
{
	report_end(&r->report, false, NULL);
	report_free(r->body);
	r->body = NULL;
}

int reports_begin(struct reports *r, struct err *err)
{
	struct about_texts texts;
	struct report_about about;
	int rc;

	if (r->before || r->report.form)
		return 0;
	rc = about_run(r->run, r->session, &texts, &about, err);
	if (!rc)
		rc = written(r, report_begin(&r->report, r->out->stream, r->options->report.form, &about, err), err);
	about_release(&texts);
	return rc;
}
