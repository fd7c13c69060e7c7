// SPDX-License-Identifier: Apache-2.0
/* Check whether prev_state of sched:sched_switch is as its format describes it, by the records of our own sleeps. */
#include "compat/perf_open.h"
#include "compat/tracepoint.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { INTERRUPTIBLE = 1, SLEEPS = 4, ENOUGH = 3, STATES_MAX = 32 };

int sched_switch_shift_of(const uint64_t *states, size_t nr)
{
	size_t i, as_it_says = 0, shifted = 0;

	for (i = 0; i < nr; i++) {
		as_it_says += states[i] == INTERRUPTIBLE;
		shifted += states[i] == INTERRUPTIBLE << 1;
	}
	/* Test for 2 first: if the kernel shifts, our sleeps have 2, but preemptions may have 1. */
	return shifted >= ENOUGH ? 1 : as_it_says >= ENOUGH ? 0 : -EAGAIN;
}

size_t sched_switch_states(const struct sched_switch *s, const void *data, size_t size, uint64_t head, uint64_t *states,
			   size_t max)
{
	const char *bytes = data;
	struct perf_event_header h;
	size_t nr = 0, at = 0;
	uint32_t raw;

	head = head < size ? head : size;
	while (at + sizeof(h) <= head && nr < max) {
		memcpy(&h, bytes + at, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - at)
			break;
		if (h.type == PERF_RECORD_SAMPLE && h.size >= sizeof(h) + sizeof(raw)) {
			memcpy(&raw, bytes + at + sizeof(h), sizeof(raw));
			if (raw <= h.size - sizeof(h) - sizeof(raw) && s->prev_state.at + sizeof(*states) <= raw)
				memcpy(&states[nr++], bytes + at + sizeof(h) + sizeof(raw) + s->prev_state.at,
				       sizeof(*states));
		}
		at += h.size;
	}
	return nr;
}

int sched_switch_shift(const struct sched_switch *s)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = s->id,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = 1,
		.disabled = 1,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	const struct timespec moment = { .tv_nsec = 100000 };
	int rc, fd = perf_open(&attr, 0, -1);
	struct perf_event_mmap_page *ring;
	uint64_t states[STATES_MAX];
	size_t nr;

	if (fd < 0)
		return fd;
	ring = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	rc = ring == MAP_FAILED ? -errno : 0;
	if (!rc) {
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		for (i = 0; i < SLEEPS; i++)
			nanosleep(&moment, NULL);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		nr = sched_switch_states(s, (const char *)ring + page, page,
					 __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), states, STATES_MAX);
		rc = sched_switch_shift_of(states, nr);
		munmap(ring, 2 * page);
	}
	close(fd);
	return rc;
}
