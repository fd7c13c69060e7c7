// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/decode.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define READ_FORMATS                                                                                                   \
	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | PERF_FORMAT_GROUP |        \
	 PERF_FORMAT_LOST)
#define MMAP_BUILD_ID_MAX     20        /* struct perf_event_mmap2 has room for that */
#define MISC_LOST_SAMPLES_BPF (1 << 15) /* of perf record, not of the kernel: its BPF filter dropped them (6.5) */

/* What is left of a record: 64-bit words from the front, or for sample_id from the back. */
struct words {
	const uint64_t *at;
	size_t nr;
};

static bool next(struct words *w, uint64_t *out)
{
	if (!w->nr)
		return false;
	*out = *w->at++;
	w->nr--;
	return true;
}

static bool last(struct words *w, uint64_t *out)
{
	if (!w->nr)
		return false;
	*out = w->at[--w->nr];
	return true;
}

static bool skip(struct words *w, bool present)
{
	uint64_t unused;

	return !present || next(w, &unused);
}

static pid_t low(uint64_t word)
{
	return (pid_t)(uint32_t)word;
}

static pid_t high(uint64_t word)
{
	return (pid_t)(uint32_t)(word >> 32);
}

/* PERF_SAMPLE_RAW: a size of 32 bits, then that many bytes; the kernel pads them so that the record's size fits. */
static bool take_raw(struct words *w, struct record *r)
{
	size_t room = w->nr * sizeof(*w->at);
	uint32_t size;

	if (!w->nr)
		return false;
	memcpy(&size, w->at, sizeof(size));
	if (size > room - sizeof(size))
		return false;
	r->sample.raw = (const char *)w->at + sizeof(size);
	r->sample.raw_size = size;
	return true;
}

/* PERF_SAMPLE_READ: the counters of the event, or of all in its group. */
static bool skip_read(struct words *w, uint64_t format)
{
	uint64_t nr = 1,
		 times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);

	if (format & PERF_FORMAT_GROUP && !next(w, &nr))
		return false;
	if (nr > w->nr || times + nr * each > w->nr)
		return false;
	w->at += times + nr * each;
	w->nr -= times + nr * each;
	return true;
}

/* Fields a sample may have before the raw data, which is as far as this decoder goes. */
static int decode_sample(const struct perf_event_attr *attr, struct words w, struct record *r)
{
	uint64_t type = attr->sample_type, task = 0, time = 0, cpu = UINT32_MAX, nr = 0, ip = 0;

	if (type & PERF_SAMPLE_READ && attr->read_format & ~READ_FORMATS)
		return -ENOTSUP;
	if (!skip(&w, type & PERF_SAMPLE_IDENTIFIER) || (type & PERF_SAMPLE_IP && !next(&w, &ip)) ||
	    (type & PERF_SAMPLE_TID && !next(&w, &task)) || (type & PERF_SAMPLE_TIME && !next(&w, &time)) ||
	    !skip(&w, type & PERF_SAMPLE_ADDR) || !skip(&w, type & PERF_SAMPLE_ID) ||
	    !skip(&w, type & PERF_SAMPLE_STREAM_ID) || (type & PERF_SAMPLE_CPU && !next(&w, &cpu)) ||
	    !skip(&w, type & PERF_SAMPLE_PERIOD) || (type & PERF_SAMPLE_READ && !skip_read(&w, attr->read_format)) ||
	    (type & PERF_SAMPLE_CALLCHAIN && !next(&w, &nr)) || nr > w.nr)
		return -EBADMSG;
	r->pid = low(task);
	r->tid = high(task);
	r->time = time;
	r->cpu = (uint32_t)cpu;
	r->sample.ip = ip;
	r->sample.ips = w.at;
	r->sample.nr = nr;
	w.at += nr;
	w.nr -= nr;
	return type & PERF_SAMPLE_RAW && !take_raw(&w, r) ? -EBADMSG : 1;
}

/* The fields behind every other record (sample_id_all), taken off the end of @w. */
static int take_sample_id(const struct perf_event_attr *attr, struct words *w, struct record *r)
{
	uint64_t type = attr->sample_type, cpu = UINT32_MAX, task = 0, unused;

	if (!attr->sample_id_all)
		return 0;
	if ((type & PERF_SAMPLE_IDENTIFIER && !last(w, &unused)) || (type & PERF_SAMPLE_CPU && !last(w, &cpu)) ||
	    (type & PERF_SAMPLE_STREAM_ID && !last(w, &unused)) || (type & PERF_SAMPLE_ID && !last(w, &unused)) ||
	    (type & PERF_SAMPLE_TIME && !last(w, &r->time)) || (type & PERF_SAMPLE_TID && !last(w, &task)))
		return -EBADMSG;
	r->writer = high(task);
	r->cpu = (uint32_t)cpu;
	return 0;
}

/* The rest of @w is a name that is terminated within it. */
static const char *text(const struct words *w)
{
	return memchr(w->at, 0, w->nr * sizeof(*w->at)) ? (const char *)w->at : NULL;
}

static int decode_comm(const struct perf_event_header *h, struct words w, struct record *r)
{
	uint64_t task;

	if (!next(&w, &task) || !(r->comm.name = text(&w)))
		return -EBADMSG;
	r->pid = low(task);
	r->tid = high(task);
	r->comm.exec = h->misc & PERF_RECORD_MISC_COMM_EXEC;
	return 1;
}

static int decode_mmap(const struct perf_event_header *h, struct words w, struct record *r)
{
	bool identified = h->type == PERF_RECORD_MMAP2 && h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID;
	uint64_t task, device = 0, ino = 0, unused;
	const unsigned char *id;

	if (!next(&w, &task) || !next(&w, &r->mmap.start) || !next(&w, &r->mmap.len) || !next(&w, &r->mmap.pgoff))
		return -EBADMSG;
	/* maj, min; ino; ino_generation; prot, flags. Or (5.12) the size of a build id, 3 bytes, 20 of it; prot, flags
	 */
	id = (const unsigned char *)w.at;
	if (h->type == PERF_RECORD_MMAP2 &&
	    (!next(&w, &device) || !next(&w, &ino) || !next(&w, &unused) || !next(&w, &unused)))
		return -EBADMSG;
	if (!(r->mmap.path = text(&w)) || strnlen(r->mmap.path, PATH_MAX) == PATH_MAX)
		return -EBADMSG;
	r->pid = low(task);
	r->tid = high(task);
	if (identified) {
		if (*id > MMAP_BUILD_ID_MAX)
			return -EBADMSG;
		r->mmap.build_id = id + 4;
		r->mmap.build_id_size = *id;
		return 1;
	}
	r->mmap.maj = (uint32_t)device;
	r->mmap.min = (uint32_t)(device >> 32);
	r->mmap.ino = ino;
	return 1;
}

static int decode_fork(const struct perf_event_header *h, struct words w, struct record *r)
{
	uint64_t pids, tids, time;

	if (!next(&w, &pids) || !next(&w, &tids) || !next(&w, &time))
		return -EBADMSG;
	r->pid = low(pids);
	r->fork.ppid = high(pids);
	r->tid = low(tids);
	r->fork.ptid = high(tids);
	r->fork.exec = h->misc & PERF_RECORD_MISC_FORK_EXEC;
	r->time = time;
	return 1;
}

static int decode_lost(const struct perf_event_header *h, struct words w, struct record *r)
{
	uint64_t id;

	r->lost.wanted = h->type == PERF_RECORD_LOST_SAMPLES && h->misc & MISC_LOST_SAMPLES_BPF;
	return (h->type == PERF_RECORD_LOST_SAMPLES || next(&w, &id)) && next(&w, &r->lost.records) ? 1 : -EBADMSG;
}

uint64_t decode_identifier(const struct perf_event_header *record, size_t size)
{
	return size >= sizeof(*record) + sizeof(uint64_t) ? *(const uint64_t *)(record + 1) : 0;
}

int decode_record(const struct perf_event_attr *attr, const void *bytes, size_t size, struct record *out)
{
	const struct perf_event_header *h = bytes;
	struct words w = { (const uint64_t *)bytes + 1, size / 8 - 1 };
	int rc;

	if (size < sizeof(*h) || size % 8 || h->size != size)
		return -EBADMSG;
	*out = (struct record){ .type = h->type, .mode = h->misc & PERF_RECORD_MISC_CPUMODE_MASK, .cpu = UINT32_MAX };
	if (h->type == PERF_RECORD_SAMPLE)
		return decode_sample(attr, w, out);
	rc = take_sample_id(attr, &w, out);
	if (rc)
		return rc;
	switch (h->type) {
	case PERF_RECORD_COMM:
		return decode_comm(h, w, out);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return decode_mmap(h, w, out);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return decode_fork(h, w, out);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return decode_lost(h, w, out);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return 1;
	default:
		return 0;
	}
}
