/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a source, for tests without a session. */
#ifndef TESTS_UNIT_RIG_H
#define TESTS_UNIT_RIG_H

#include "core/sources/source.h"
#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <unistd.h>

struct rig {
	struct request request;
	struct events events;
	struct sink sink;
	struct mapped_files_cfg files;
	struct recording recording;
	struct source_env env;
};

/* Make it empty except for @request. */
static inline void rig_make(struct rig *r, struct request request)
{
	*r = (struct rig){ .request = request };
	r->events.request = &r->request;
	r->env = (struct source_env){ &r->request, &source_rings, &r->events, &r->sink, &r->files, &r->recording };
}

/* A place without any event. */
static inline struct event_place rig_place(void)
{
	struct event_place e = { .fd = -1, .side.fd = -1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(e.notes); i++)
		e.notes[i] = (struct joined_event){ .fd = -1, .kind = EVENT_NOTES + i };
	return e;
}

/* A file that stands for an event which has lost so many records at each read(2). The caller closes it. */
static inline int rig_event(uint64_t first, uint64_t second, uint64_t third)
{
	const struct event_counts reads[] = { { .lost = first }, { .lost = second }, { .lost = third } };
	int fd = memfd_create("event", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, reads, sizeof(reads), 0), sizeof(reads));
	return fd;
}

#endif
