// SPDX-License-Identifier: Apache-2.0
#include "tests/vm/naps.h"
#include "tests/vm/report.h"
#include "tests/vm/workloads/naps.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char path[] = "/tmp/naps.times";
static volatile struct naps *naps;

static uint64_t off_cpu(const volatile struct nap *nap)
{
	return nap->to - nap->from - nap->on_cpu;
}

pid_t naps_start(unsigned int seconds, unsigned int cpu, bool nobody)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	char args[64];

	/* Nobody may write it whatever the umask is. */
	if (fd < 0 || fchmod(fd, 0666) || ftruncate(fd, sizeof(*naps)))
		die(path);
	naps = mmap(NULL, sizeof(*naps), PROT_READ, MAP_SHARED, fd, 0);
	if (naps == MAP_FAILED)
		die(path);
	close(fd);
	snprintf(args, sizeof(args), "%u %u %s", seconds, cpu, path);
	return load_start("naps", "naps", args, nobody);
}

void naps_stop(pid_t pid)
{
	load_stop(pid);
	munmap((void *)naps, sizeof(*naps));
}

/*
 * The machine may stand still between a look at the clock and what begins or ends with it, and that may have been the
 * time of a nap or two.
 */
#define EDGE 2

bool check_naps(const struct run *r, const char *name, const char *prefix, double share)
{
	uint64_t found = report_samples(r->out, prefix, "") * 1000, charged = report_book(r, "intervals_charged");
	uint64_t from = report_book(r, "started_ns"), to = from + report_book(r, "sampled_ns");
	uint64_t nr = naps->nr, i = nr > MAX_NAPS ? nr - MAX_NAPS : 0, first = nr, last = nr, inside = 0, around = 0;
	bool ok;

	for (; i < nr; i++) {
		const volatile struct nap *nap = &naps->nap[i % MAX_NAPS];

		if (nap->to >= r->forked_ns)
			around += off_cpu(nap);
		if (nap->from >= from && nap->to <= to) {
			first = first < i ? first : i;
			last = i;
		}
	}
	for (i = first + EDGE; i + EDGE <= last; i++)
		inside += off_cpu(&naps->nap[i % MAX_NAPS]);
	ok = inside && (double)charged >= share * (double)(last - first + 1 - 2 * EDGE) &&
	     (double)found >= share * (double)inside && found <= around;
	if (!tap_ok(ok, "%s: %" PRIu64 " us in %" PRIu64 " intervals, %" PRIu64 " to %" PRIu64 " in %" PRIu64 " naps",
		    name, found / 1000, charged, inside / 1000, around / 1000, last - first + 1))
		tap_text("rows", r->out);
	return ok;
}
