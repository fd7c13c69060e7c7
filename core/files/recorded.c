// SPDX-License-Identifier: Apache-2.0
#include "core/files/recorded.h"

#include "core/files/build_ids.h"
#include "core/host/host.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

void kernel_running_build(const struct host *host, struct build_id *id)
{
	char path[PATH_MAX], notes[65536];
	size_t len = 0;
	ssize_t n;
	int fd;

	*id = (struct build_id){ 0 };
	if (snprintf(path, sizeof(path), "%s/kernel/notes", host->sys) >= (int)sizeof(path))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return;
	while (len < sizeof(notes) && (n = read(fd, notes + len, sizeof(notes) - len)) > 0)
		len += (size_t)n;
	close(fd);
	build_id_of_notes(notes, len, 4, id);
}

enum same_build recorded_kernel_build(const struct recorded *r, const struct build_id *running)
{
	const struct build_id *sampled = r ? build_ids_find(r->build_ids, BUILD_ID_KERNEL) : running;

	if (!sampled || !sampled->size || !running->size)
		return BUILD_UNKNOWN;
	return build_id_equal(sampled, running) ? BUILD_EQUAL : BUILD_OTHER;
}

bool recorded_kernel_runs(const struct recorded *r, const struct build_id *running)
{
	enum same_build same = recorded_kernel_build(r, running);

	return !r || same == BUILD_EQUAL || (same == BUILD_UNKNOWN && r->boot == BOOT_SAME);
}
