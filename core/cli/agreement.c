// SPDX-License-Identifier: Apache-2.0
#include "core/cli/agreement.h"

#include "core/cli/messages.h"
#include "core/report/both.h"
#include "core/report/scheduling.h"
#include "core/rows/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* The diff of the rows is printed already. Print how many samples differ, and the reasons if these are known. */
static void explain(const struct compare *c, const struct account *a, enum report_agreement agreement)
{
	const struct compare_counts *n = &a->compared;
	uint64_t lost = account_not_compared(a);
	char example[256];
	size_t i;

	if (compare_nr_explained(n))
		fprintf(stderr,
			"%" PRIu64 " of %" PRIu64 " samples differ between the backends, explained: %" PRIu64
			" of threads inside the system call that renames them, %" PRIu64 " of dying tasks, %" PRIu64
			" of threads that go to another mount namespace, %" PRIu64
			" of kernel threads that no record names, %" PRIu64
			" of threads about which records are missing, %" PRIu64
			" of groups whose map was changed, %" PRIu64
			" of processes with the pid of one that had just ended.\n",
			compare_nr_explained(n), n->compared, n->renamed, n->dying, n->unshared, n->unnamed, n->unseen,
			n->remapped, n->reused);
	if (lost)
		fprintf(stderr, "%" PRIu64 " of %" PRIu64 " samples were lost by a ring, and not compared.\n", lost,
			a->stats.taken);
	if (agreement == REPORTS_DIFFERENT && !n->different)
		fprintf(stderr, "The backends disagree about stacks; of each sample they know the same task.\n");
	else if (n->different)
		fprintf(stderr, "The backends disagree: %" PRIu64 " of %" PRIu64 " samples.\n", n->different,
			n->compared);
	for (i = 0; compare_example(c, i, example, sizeof(example)); i++)
		fprintf(stderr, "  %s\n", example);
}

void agreement_explain_intervals(const struct agreement *g, const struct account *a)
{
	const struct compared_intervals *c = &g->intervals;
	size_t i;

	if (a->missed)
		fprintf(stderr, "%s%" PRIu64 " intervals were seen by bpf alone, and not compared: %s.\n",
			warning_word(stderr), a->missed,
			a->stats.reopened ? "the event of a CPU was opened anew"
					  : "records of their switches were lost");
	if (a->unsampled)
		fprintf(stderr,
			"%s%" PRIu64 " intervals have stacks from bpf alone, and were not compared: the kernel "
			"gave no sample of their switches.\n",
			warning_word(stderr), a->unsampled);
	if (a->surplus)
		fprintf(stderr,
			"%s%" PRIu64 " intervals were seen by perfring alone, and not compared: a CPU had just come "
			"online, and bpf lost them.\n",
			warning_word(stderr), a->surplus);
	if (compared_equal(c))
		return;
	fprintf(stderr,
		"The backends disagree about %" PRIu64 " of %" PRIu64 " rows: %" PRIu64
		" are of another number of intervals, %" PRIu64 " of times too far apart, %" PRIu64
		" only bpf has, and %" PRIu64 " only perfring; a ring lost %" PRIu64 " records.\n",
		a->rows_different, a->rows_compared, c->other_times, c->other_time, c->only_program, c->only_ring,
		a->stats.lost_records);
	for (i = 0; i < c->nr_examples; i++)
		fprintf(stderr, "  %s\n", c->examples[i]);
}

int agreement_of_samples(struct agreement *g, const struct session *s, const struct report_names *names,
			 const struct report_cfg *cfg, FILE *out, struct account *a, struct err *err)
{
	struct compare *c = s->sink.sets[s->sink.ended].compare;
	struct rows *explained = compare_explained(c);
	struct report_pair pair = { session_samples(s), compare_rows(c), explained };
	enum report_agreement agreement;
	int rc;

	if (!explained || compare_add_lost(explained, pair.program, account_not_compared(a)) < 0) {
		rows_free(explained);
		return err_sys(err, -ENOMEM, "cannot compare the backends");
	}
	rc = report_both(out, &pair, names, cfg, &agreement, err);
	rows_free(explained);
	if (rc)
		return rc;
	explain(c, a, agreement);
	g->differ |= agreement == REPORTS_DIFFERENT || a->compared.different;
	return agreement == REPORTS_DIFFERENT;
}

/* The rows as printed: without the innermost frames in the scheduler, which depend on the backend. NULL: no memory. */
static struct rows *from_schedule(const struct rows *rows, const struct report_names *names)
{
	struct rows *to = rows_new();
	struct row row;
	size_t i;
	int rc = 0;

	for (i = 0; to && i < rows_nr(rows) && !rc; i++) {
		uint32_t first;

		rows_get(rows, i, &row);
		first = report_first_frame(names, &row.key.kernel);
		row.key.kernel.frames += first;
		row.key.kernel.nr -= first;
		rc = rows_add(to, &row.key, row.value, row.times);
	}
	if (!rc)
		return to;
	rows_free(to);
	return NULL;
}

/* The times are never quite equal, so compare the rows instead of the reports. */
int agreement_of_intervals(struct agreement *g, const struct session *s, const struct report_names *names,
			   const struct account *total, struct account *a, struct err *err)
{
	struct rows *program = from_schedule(session_intervals(s), names);
	struct rows *ring = from_schedule(s->sink.sets[s->sink.ended].ring_intervals, names);
	const struct intervals_lost lost = account_lost(total, a);
	int rc = program && ring ? compare_intervals(program, ring, &lost, &g->intervals) : -ENOMEM;

	rows_free(program);
	rows_free(ring);
	if (rc)
		return err_sys(err, rc, "cannot compare the backends");
	account_compared(a, &g->intervals);
	g->differ |= !compared_equal(&g->intervals);
	return 0;
}

void agreement_of_unwinders(struct agreement *g, const struct session *s, const struct account *a)
{
	const uint64_t *n = a->stats.unwinders;
	uint64_t explained = 0, all;
	size_t i;

	for (i = UNWINDERS_EQUAL + 1; i < UNWINDERS_DIFFERENT; i++)
		explained += n[i];
	all = n[UNWINDERS_EQUAL] + explained + n[UNWINDERS_DIFFERENT];
	if (explained)
		fprintf(stderr,
			"%" PRIu64 " of %" PRIu64 " stacks differ between the unwinders, explained: %" PRIu64
			" of functions that pop their registers, %" PRIu64
			" of signal trampolines without rules, %" PRIu64
			" of PLT entries and beginnings of functions without rules, %" PRIu64
			" of other code without rules, %" PRIu64 " of code that was made at run time, %" PRIu64
			" of callers whose frames are not above.\n",
			explained, all, n[UNWINDERS_POPPED], n[UNWINDERS_SIGNAL], n[UNWINDERS_ENTRY],
			n[UNWINDERS_GUESSED], n[UNWINDERS_MADE], n[UNWINDERS_NOT_ABOVE]);
	if (!n[UNWINDERS_DIFFERENT])
		return;
	g->differ = true;
	fprintf(stderr, "The unwinders disagree: %" PRIu64 " of %" PRIu64 " stacks.\n", n[UNWINDERS_DIFFERENT], all);
	for (i = 0; i < s->sink.unwinders.nr; i++)
		fprintf(stderr, "  %s\n", s->sink.unwinders.examples[i]);
}

/* Samples that the reader has dropped are a difference; samples for which a ring had no room are none. */
void agreement_of_reader(struct agreement *g, const struct session *s, const struct account *total)
{
	uint64_t unread = account_unread(s, total);

	if (!unread)
		return;
	fprintf(stderr,
		"The backends disagree: perfring did not read %" PRIu64 " of %" PRIu64
		" samples, and no ring buffer lost these.\n",
		unread, total->stats.taken);
	g->differ = true;
}
