// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer target for a whole run over a recording: its records decoded, ordered, applied, counted and reported. The
 * first byte chooses options, the rest is the recording. The statistics must balance, and the report must agree with
 * them.
 */
#include "tests/fuzz/fuzz.h"

#include "core/cli/request.h"
#include "core/session/ways.h"
#include "core/session/open.h"
#include "core/session/session.h"
#include "core/session/statistics.h"
#include "core/report/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* There is no BPF object in this program. */
const struct counter_ops counter_bpf = {};

/* Look up the mapping of the address, as the resolver does, but open no files. */
static void name_user(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		      struct symbol *out)
{
	struct mapping m;

	*out = (struct symbol){ 0 };
	if (tasks_find(ctx, pid, comm, image, addr - (is_return && addr), &m) != 1)
		return;
	check(m.start <= addr && strlen(m.file->path) < 65536);
	out->module = out->name = m.file->path;
}

static void name_kernel(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	(void)ctx;
	(void)addr;
	(void)is_return;
	*out = (struct symbol){ .module = "kernel" };
}

static void report(const struct session *session, const struct report_cfg *cfg)
{
	const struct report_names names = { session->sink.tasks, name_kernel, name_user };
	FILE *null = fopen("/dev/null", "w");
	struct err err;

	check(null && !report_write(null, session_samples(session), &names, cfg, &err));
	fclose(null);
}

static void run(const struct options *o)
{
	struct session *session = request_session(o, &host_here);
	struct unaccounted unaccounted;
	struct stats stats;
	struct err err = { 0 };

	if (!session)
		return;
	if (!session_open(session, &err)) {
		check(*session->recording.event);
		if (!session_run(session, &err)) {
			unaccounted = session_stats(session, &stats);
			check(!unaccounted.samples && !unaccounted.intervals);
			check(stats.counted_ring == rows_total(session_samples(session)));
			session_close(session);
			report(session, &o->report);
		}
	}
	check(!err.code || *err.msg);
	session_free(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const pid_t pid = 11;
	struct options o = { .cpu = -1, .sampling.event = event_default() };
	char path[32];
	int fd;

	if (!size)
		return -1;
	fd = memfd_create("recording", MFD_CLOEXEC);
	check(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)size - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.input = path;
	o.filter.no_kernel = data[0] & 1;
	o.filter.no_user = !o.filter.no_kernel && data[0] & 2;
	o.filter.idle = data[0] & 4;
	o.pids = data[0] & 8 ? (pid_t *)&pid : NULL;
	o.nr_pids = !!o.pids;
	o.filter.by_tid = data[0] & 16;
	o.cpu = data[0] & 32 ? 0 : -1;
	o.event_name = data[0] & 64 ? "event1" : NULL;
	o.report.form = report_form(data[0] & 128 ? "text" : "folded");
	run(&o);
	close(fd);
	return 0;
}
