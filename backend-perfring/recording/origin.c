// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/recording/recording.h"

#include "core/base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#define CLOCKS_APART                                                                                                   \
	(60 * NSEC_PER_SEC) /* perf record's default clock and that of now_ns() begin at boot, and drift apart */
#define END_EARLY 2         /* seconds that the last write to the file may be before its last sample */
#define END_LATE  60        /* and after it: perf record reads the build ids of files then */

/* When this host was booted, in seconds of its wall clock; 0: not known. */
static uint64_t boot_time(void)
{
	struct timespec wall, up;

	if (clock_gettime(CLOCK_REALTIME, &wall) || clock_gettime(CLOCK_BOOTTIME, &up) || wall.tv_sec <= up.tv_sec)
		return 0;
	return (uint64_t)(wall.tv_sec - up.tv_sec);
}

/* Call stat(2) for the file that perf record wrote. */
static int stat_recording(const struct source *b, struct stat *st)
{
	const char *path = b->env->request->input.path;
	char data[PATH_MAX];
	int rc = stat(path, st);

	if (rc || !S_ISDIR(st->st_mode))
		return rc;
	if (snprintf(data, sizeof(data), "%s/data", path) >= (int)sizeof(data))
		return -1;
	return stat(data, st);
}

enum recorded_boot recording_boot(const struct source *b)
{
	const char *host = perfdata_hostname(b->pd), *release = perfdata_osrelease(b->pd);
	struct utsname here;
	struct stat st;

	if (!*host || !*release || uname(&here))
		return BOOT_UNKNOWN;
	if (strcmp(release, here.release))
		return BOOT_OTHER;
	if (b->env->recording->ends && !stat_recording(b, &st) && (uint64_t)st.st_mtim.tv_sec < boot_time())
		return BOOT_OTHER;
	if (b->env->recording->last_ns > now_ns() + CLOCKS_APART)
		return BOOT_OTHER;
	return strcmp(host, here.nodename) ? BOOT_UNKNOWN : BOOT_SAME;
}

int64_t recording_ended(const struct source *b)
{
	const struct recording *r = b->env->recording;
	struct timespec wall;
	struct stat st;
	int64_t ended;

	if (r->origin.boot != BOOT_SAME || !r->ends || !r->last_ns || clock_gettime(CLOCK_REALTIME, &wall) ||
	    stat_recording(b, &st))
		return 0;
	ended = (int64_t)wall.tv_sec - ((int64_t)now_ns() - (int64_t)r->last_ns) / (int64_t)NSEC_PER_SEC;
	return st.st_mtim.tv_sec >= ended - END_EARLY && st.st_mtim.tv_sec <= ended + END_LATE ? ended : 0;
}

int recording_build_ids(const struct source *b)
{
	struct recording *r = b->env->recording;
	struct perfdata_build_id id;
	int rc = 0;
	size_t i;

	r->build_ids = build_ids_new();
	if (!r->build_ids)
		return -ENOMEM;
	for (i = 0; rc != -ENOMEM && rc != -E2BIG && perfdata_build_id(b->pd, i, &id); i++)
		rc = build_ids_add(r->build_ids, id.path, id.id, id.size);
	r->origin.build_ids = r->build_ids;
	return rc == -ENOMEM ? rc : 0;
}
