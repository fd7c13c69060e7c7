// SPDX-License-Identifier: Apache-2.0
/* The process that reads debug information. It frees nothing when it ends. */
#include "core/files/confine.h"
#include "core/symbols/lines_dwarf.h"
#include "core/symbols/lines_message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MEMORY_MAX (2ull << 30) /* bytes of address space; the mapped files count, too */

struct slot {
	struct lines_dwarf *dwarf;
	int fd;
};

static struct slot slots[LINES_SLOTS];
static int unconfined; /* not 0: confine() failed, so read nothing */

void lines_prepare(void *ctx)
{
	(void)ctx;
	unconfined = confine(MEMORY_MAX) ? -ENOSYS : 0;
}

/* The caller closes @fd. */
static int open_slot(struct slot *s, int fd)
{
	int rc;

	if (s->dwarf) {
		lines_dwarf_free(s->dwarf);
		close(s->fd);
		s->dwarf = NULL;
	}
	s->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (s->fd < 0)
		return -errno;
	rc = lines_dwarf_open(s->fd, &s->dwarf);
	if (rc)
		close(s->fd);
	return rc;
}

int lines_serve(void *ctx, const struct worker_message *request, struct worker_message *reply)
{
	struct lines_frame frames[LINES_FRAMES];
	struct lines_request r;
	int nr, i, rc = unconfined;

	(void)ctx;
	if (rc)
		return rc;
	if (request->len != sizeof(r))
		return -EINVAL;
	memcpy(&r, request->data, sizeof(r));
	if (r.slot >= LINES_SLOTS)
		return -EINVAL;
	if (request->fd >= 0)
		rc = open_slot(&slots[r.slot], request->fd);
	if (rc)
		return rc;
	if (!slots[r.slot].dwarf)
		return -ENOENT;
	nr = lines_dwarf_find(slots[r.slot].dwarf, r.wanted, r.addr, frames);
	for (i = 0; i < nr && !rc; i++)
		rc = lines_reply_add(reply, &frames[i]);
	if (rc)
		reply->len = 0;
	return nr < 0 ? nr : rc;
}
