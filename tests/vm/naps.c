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

pid_t naps_start(unsigned int seconds, unsigned int cpu, bool nobody)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	char args[64];

	/* Let a user without rights write it, whatever the umask is. */
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
 * The machine may stop between reading the clock and the action that belongs to it, for a nap or two: these may have
 * been traced or not, like those that were not whole.
 */
#define EDGE 2

static uint64_t off_cpu_us(uint64_t first, uint64_t end)
{
	uint64_t i, ns = 0;

	for (i = first; i < end; i++)
		ns += naps->nap[i].to - naps->nap[i].from - naps->nap[i].on_cpu;
	return ns / 1000;
}

static bool have_ended(void *nr)
{
	return naps->nr >= *(uint64_t *)nr;
}

bool check_naps(const struct run *r, const char *name, const char *prefix, double share)
{
	uint64_t found = report_samples(r->out, prefix, ""), charged = report_book(r, "intervals_counted");
	uint64_t from = report_book(r, "started_ns"), to = from + report_book(r, "sampled_ns");
	uint64_t first = 0, end, whole, after, least = 0, most = 0;
	bool ok;

	while (first < naps->nr && naps->nap[first].from < from)
		first++;
	for (end = first; end < naps->nr && naps->nap[end].to <= to;)
		end++;
	after = end + 1 + EDGE;
	whole = end - first;
	ok = whole > 2 * EDGE && await(have_ended, &after, 60);
	if (ok) {
		least = off_cpu_us(first + EDGE, end - EDGE);
		most = off_cpu_us(first > EDGE ? first - EDGE - 1 : 0, after);
		ok = (double)found >= share * (double)least && share * (double)found <= (double)most &&
		     charged != UINT64_MAX && (double)charged >= share * (double)(whole - 2 * EDGE);
	}
	if (!tap_ok(ok, "%s: %" PRIu64 " us in %" PRIu64 " intervals, %" PRIu64 " to %" PRIu64 " in %" PRIu64 " naps",
		    name, found, charged, least, most, whole))
		tap_text("rows", r->out);
	return ok;
}
