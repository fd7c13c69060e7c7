// SPDX-License-Identifier: Apache-2.0
/*
 * rows [N [FORM]]: measure the cost of counting and reporting N distinct rows (1000000) of 20 user and 10 kernel
 * frames, in one form or in each. Callers come from a few thousand addresses; each leaf has its own address and name.
 * Goals for 1000000: 2 s, 5 s.
 */
#include "tests/bench/bench.h"
#include "tests/row_key.h"

#include "core/report/report.h"
#include "core/rows/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { USER_FRAMES = 20, KERNEL_FRAMES = 10, CALLERS = 4000, TASKS = 50, COMMS = 8 };

/* As in real programs: one root, few callers near it, many near the leaf. */
static void draw(uint64_t *frames, uint32_t nr, uint64_t base, uint64_t leaf)
{
	uint32_t i, choices;

	for (i = 1; i < nr; i++) {
		choices = (nr - i) * (nr - i) * (nr - i);
		frames[i] = base + (rng() % (choices < CALLERS ? choices : CALLERS)) * 64;
	}
	frames[nr - 1] = base;
	frames[0] = leaf;
}

static int count(struct rows *t, uint64_t n)
{
	static const uint64_t user_base = 0x400000, kernel_base = 0xffffffff81000000, leaf_base = 0x7f0000000000;
	uint64_t user[USER_FRAMES], kernel[KERNEL_FRAMES], i;
	struct stack u = { user, USER_FRAMES, STACK_TAKEN, false };
	struct stack k = { kernel, KERNEL_FRAMES, STACK_TAKEN, false };
	char comm[COMM_LEN];
	int rc = 0;

	for (i = 0; !rc && i < n; i++) {
		uint64_t task = rng() % TASKS, value;

		memset(comm, 0, sizeof(comm));
		snprintf(comm, sizeof(comm), "worker-%u", (unsigned int)(task % COMMS));
		draw(user, USER_FRAMES, user_base, leaf_base + i * 16);
		draw(kernel, KERNEL_FRAMES, kernel_base, kernel_base + rng() % CALLERS * 64 + 7);
		value = 1 + rng() % 3;
		rc = row_add(t, comm, (pid_t)(1000 + task), &k, &u, value, value);
	}
	return rc;
}

static void fake_kernel(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	char *name = ctx;

	(void)is_return;
	snprintf(name, 64, "kernel_function_%" PRIx64, addr);
	*out = (struct symbol){ name, addr & 15, "kernel" };
}

static void fake_user(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		      struct symbol *out)
{
	char *name = ctx;

	(void)pid;
	(void)comm;
	(void)image;
	(void)is_return;
	snprintf(name, 64, "library::function_%" PRIx64 "(int)", addr);
	*out = (struct symbol){ name, addr & 15, "libbench.so" };
}

static ssize_t count_bytes(void *size, const char *bytes, size_t len)
{
	(void)bytes;
	*(uint64_t *)size += len;
	return (ssize_t)len;
}

static int report(const struct rows *t, const struct report_cfg *cfg)
{
	char name[64];
	const struct report_names names = { name, fake_kernel, fake_user };
	struct err err;
	double start = cpu_time();
	uint64_t size = 0;
	FILE *out = fopencookie(&size, "w", (cookie_io_functions_t){ .write = count_bytes });
	int rc;

	if (!out)
		return -errno;
	setvbuf(out, NULL, _IOFBF, 1 << 16);
	rc = report_write(out, t, &names, cfg, &err);
	fclose(out);
	if (rc)
		fprintf(stderr, "rows: error: %s\n", err.msg);
	else
		printf("report_%s_cpu_seconds: %.3f\nreport_%s_bytes: %" PRIu64 "\n", cfg->form->name,
		       cpu_time() - start, cfg->form->name, size);
	return rc;
}

static void print_rss(const char *when)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	printf("peak_rss_%s_mib: %ld\n", when, ru.ru_maxrss / 1024);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	struct report_cfg cfg = { .delimited = true, .offsets = true };
	struct rows *t = rows_new();
	double start = cpu_time(), drawing;
	uint64_t frames[USER_FRAMES], i;
	int rc;

	if (!t)
		return 1;
	for (i = 0; i < n; i++) {
		draw(frames, USER_FRAMES, 0, i);
		draw(frames, KERNEL_FRAMES, 0, i);
	}
	drawing = cpu_time() - start;
	start = cpu_time();
	rc = count(t, n);
	if (rc) {
		fprintf(stderr, "rows: error: cannot add: %s\n", strerror(-rc));
		return 1;
	}
	printf("rows: %zu\nstacks: %zu\n", rows_nr(t), rows_nr_stacks(t));
	printf("add_cpu_seconds: %.3f\n", cpu_time() - start - drawing);
	print_rss("add");
	if (argc > 2) {
		cfg.form = report_form(argv[2]);
		rc = cfg.form ? report(t, &cfg) : -EINVAL;
	} else {
#define REPORT(name)                                                                                                   \
	cfg.form = &report_##name;                                                                                     \
	rc = rc ? rc : report(t, &cfg);
		REPORT_FORMS(REPORT)
	}
	print_rss("report");
	rows_free(t);
	return rc ? 1 : 0;
}
