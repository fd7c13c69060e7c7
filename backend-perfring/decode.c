// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/decode.h"

#include "compat/perf_deferred.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define READ_FORMATS                                                                                                   \
	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | PERF_FORMAT_GROUP |        \
	 PERF_FORMAT_LOST)
#define BRANCH_COUNTERS       (1U << 19) /* PERF_SAMPLE_BRANCH_COUNTERS, of 6.8's header */
#define MMAP_BUILD_ID_MAX     20         /* struct perf_event_mmap2 has room for that */
#define MISC_LOST_SAMPLES_BPF (1 << 15)  /* set by perf record (6.5), not the kernel: perf's BPF filter dropped them */

/* The rest of a record: 64-bit words from the front, or, for sample_id, from the back. */
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

static bool drop(struct words *w, uint64_t nr)
{
	if (nr > w->nr)
		return false;
	w->at += nr;
	w->nr -= nr;
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

/* PERF_SAMPLE_RAW: a size of 32 bits, then that many bytes; the kernel pads both together to a multiple of 8 bytes. */
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
	return drop(w, (sizeof(size) + (uint64_t)size + sizeof(*w->at) - 1) / sizeof(*w->at));
}

/* PERF_SAMPLE_BRANCH_STACK: three words for each branch, and since 6.8 perhaps another one. */
static bool skip_branches(struct words *w, uint64_t type)
{
	uint64_t nr;

	return next(w, &nr) && skip(w, type & PERF_SAMPLE_BRANCH_HW_INDEX) && nr <= w->nr && drop(w, 3 * nr) &&
	       (!(type & BRANCH_COUNTERS) || drop(w, nr));
}

/* PERF_SAMPLE_REGS_USER: without a user part (a kernel thread) there are no registers. */
static bool take_regs(struct words *w, uint64_t mask, struct record *r)
{
	if (!next(w, &r->sample.abi))
		return false;
	r->sample.regs = w->at;
	r->sample.mask = mask;
	return r->sample.abi == PERF_SAMPLE_REGS_ABI_NONE || drop(w, (unsigned int)__builtin_popcountll(mask));
}

/* PERF_SAMPLE_STACK_USER: a size, room for so many bytes, and then the number of bytes that were copied. */
static bool take_copy(struct words *w, struct record *r)
{
	uint64_t room;

	if (!next(w, &room))
		return false;
	if (!room)
		return true;
	r->sample.stack = w->at;
	if (room % sizeof(*w->at) || !drop(w, room / sizeof(*w->at)) || !next(w, &r->sample.stack_size) ||
	    r->sample.stack_size > room)
		return false;
	r->sample.stack_whole = r->sample.stack_size < room;
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
	return nr <= w->nr && drop(w, times + nr * each);
}

/* PERF_SAMPLE_CGROUP. It is not read if it comes after one of @between: only samples of recordings have those. */
static bool take_cgroup(struct words *w, uint64_t type, struct record *r)
{
	const uint64_t between = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
				 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR;

	return !(type & PERF_SAMPLE_CGROUP) || type & between || next(w, &r->sample.cgroup);
}

/* The fields of a sample up to the copy of the user's stack, and the cgroup; this decoder goes no further. */
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
	if (!drop(&w, nr) || (type & PERF_SAMPLE_RAW && !take_raw(&w, r)) ||
	    (type & PERF_SAMPLE_BRANCH_STACK && !skip_branches(&w, attr->branch_sample_type)) ||
	    (type & PERF_SAMPLE_REGS_USER && !take_regs(&w, attr->sample_regs_user, r)) ||
	    (type & PERF_SAMPLE_STACK_USER && !take_copy(&w, r)) || !take_cgroup(&w, type, r))
		return -EBADMSG;
	return 1;
}

/* The fields behind every record that is not a sample (sample_id_all), taken off the end of @w. */
static int take_sample_id(const struct perf_event_attr *attr, struct words *w, struct record *r, uint64_t *task)
{
	uint64_t type = attr->sample_type, cpu = UINT32_MAX, unused;

	if (!attr->sample_id_all)
		return 0;
	if ((type & PERF_SAMPLE_IDENTIFIER && !last(w, &unused)) || (type & PERF_SAMPLE_CPU && !last(w, &cpu)) ||
	    (type & PERF_SAMPLE_STREAM_ID && !last(w, &unused)) || (type & PERF_SAMPLE_ID && !last(w, &unused)) ||
	    (type & PERF_SAMPLE_TIME && !last(w, &r->time)) || (type & PERF_SAMPLE_TID && !last(w, task)))
		return -EBADMSG;
	r->writer = high(*task);
	r->cpu = (uint32_t)cpu;
	return 0;
}

/* The rest of @w is a name, which must be terminated within it. */
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

static int decode_mmap(const struct perf_event_attr *attr, const struct perf_event_header *h, struct words w,
		       struct record *r)
{
	/* Up to 6.18 at least, the flag is also set if only another event, of any user, has requested build ids. */
	bool identified = h->type == PERF_RECORD_MMAP2 && h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && attr->build_id;
	uint64_t task, device = 0, ino = 0, unused;
	const unsigned char *id;

	if (!next(&w, &task) || !next(&w, &r->mmap.start) || !next(&w, &r->mmap.len) || !next(&w, &r->mmap.pgoff))
		return -EBADMSG;
	/* maj, min; ino; ino_generation; prot, flags. Or (5.12): size of a build id, 3 unused bytes, the id (20 bytes);
	 * prot, flags. */
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

/* One device and one inode number for each kind of namespace, in the order of their *_NS_INDEX. */
static int decode_namespaces(struct words w, struct record *r)
{
	uint64_t task, nr;

	if (!next(&w, &task) || !next(&w, &nr) || nr > w.nr / 2)
		return -EBADMSG;
	r->pid = low(task);
	r->tid = high(task);
	r->mntns = nr > MNT_NS_INDEX ? w.at[2 * MNT_NS_INDEX + 1] : 0;
	return 1;
}

/*
 * The thread that wrote the record is the one that it is about. Events of whole CPUs also name the other thread, which
 * has a record of its own.
 */
static int decode_switch(const struct perf_event_attr *attr, const struct perf_event_header *h, uint64_t task,
			 struct record *r)
{
	if (!attr->sample_id_all || !(attr->sample_type & PERF_SAMPLE_TID))
		return 0;
	r->type = PERF_RECORD_SWITCH;
	r->pid = low(task);
	r->tid = high(task);
	r->switched.out = h->misc & PERF_RECORD_MISC_SWITCH_OUT;
	r->switched.preempted = h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	return 1;
}

static int decode_lost(const struct perf_event_header *h, struct words w, struct record *r)
{
	uint64_t id;

	r->lost.wanted = h->type == PERF_RECORD_LOST_SAMPLES && h->misc & MISC_LOST_SAMPLES_BPF;
	return (h->type == PERF_RECORD_LOST_SAMPLES || next(&w, &id)) && next(&w, &r->lost.records) ? 1 : -EBADMSG;
}

/* The kernel's own structure of this record is in perf_event_ksymbol_output(), kernel/events/core.c. */
static int decode_ksymbol(struct words w, struct record *r)
{
	uint64_t rest;

	if (!next(&w, &r->ksymbol.start) || !next(&w, &rest) || !(r->ksymbol.name = text(&w)))
		return -EBADMSG;
	r->ksymbol.len = (uint32_t)rest;
	r->ksymbol.bpf = (uint16_t)(rest >> 32) == PERF_RECORD_KSYMBOL_TYPE_BPF;
	r->ksymbol.removed = rest >> 48 & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	return 1;
}

/* Only the sample_id names the thread. */
static int decode_deferred(const struct perf_event_attr *attr, struct words w, uint64_t task, struct record *r)
{
	if (!attr->sample_id_all || !(attr->sample_type & PERF_SAMPLE_TID))
		return 0;
	if (!next(&w, &r->deferred.cookie) || !next(&w, &r->deferred.nr) || r->deferred.nr > w.nr)
		return -EBADMSG;
	r->pid = low(task);
	r->tid = high(task);
	r->deferred.ips = w.at;
	return 1;
}

/* The number of words of a sample_id. */
static unsigned int sample_id_words(const struct perf_event_attr *attr)
{
	const uint64_t fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	return attr->sample_id_all ? (unsigned int)__builtin_popcountll(attr->sample_type & fields) : 0;
}

/*
 * The number of words before the sample_id, at least 3, of those types whose size cannot be believed; 0: of others.
 * @record: of 3 words at least
 */
static size_t words_written(const struct perf_event_header *record, size_t size)
{
	const char *third = (const char *)((const uint64_t *)record + 2);
	uint16_t lens[2];

	switch (record->type) {
	case PERF_RECORD_KSYMBOL: /* the address; length, type and flags; the name */
		return 4 + strnlen(third + sizeof(uint64_t), size - 3 * sizeof(uint64_t)) / sizeof(uint64_t);
	case PERF_RECORD_BPF_EVENT: /* type, flags and id; the tag */
		return 3;
	case PERF_RECORD_TEXT_POKE: /* the address; the lengths of old and new code, and both */
		memcpy(lens, third, sizeof(lens));
		return 2 + (sizeof(lens) + lens[0] + lens[1] + sizeof(uint64_t) - 1) / sizeof(uint64_t);
	default:
		return 0;
	}
}

/*
 * Up to 6.18 at least, perf_event_ksymbol_output(), _bpf_output() and _text_poke_output() add the size of the sample_id
 * for each event that gets the record, and do not take it off again. If another profiler began later, unwritten words
 * follow our sample_id.
 */
size_t decode_size(const struct perf_event_attr *attr, const struct perf_event_header *record, size_t size)
{
	size_t words = size < 3 * sizeof(uint64_t) ? 0 : words_written(record, size);

	if (!words)
		return size;
	words += sample_id_words(attr);
	return words * sizeof(uint64_t) < size ? words * sizeof(uint64_t) : size;
}

uint64_t decode_identifier(const struct perf_event_header *record, size_t size)
{
	const uint64_t *words = (const uint64_t *)record;

	if (size < sizeof(*record) + sizeof(uint64_t))
		return 0;
	return record->type == PERF_RECORD_SAMPLE ? words[1] : words[size / sizeof(uint64_t) - 1];
}

int decode_record(const struct perf_event_attr *attr, const void *bytes, size_t size, struct record *out)
{
	const struct perf_event_header *h = bytes;
	struct words w;
	uint64_t task = 0;
	int rc;

	if (size < sizeof(*h) || size % 8 || h->size != size)
		return -EBADMSG;
	w = (struct words){ (const uint64_t *)bytes + 1, decode_size(attr, h, size) / 8 - 1 };
	*out = (struct record){ .type = h->type, .mode = h->misc & PERF_RECORD_MISC_CPUMODE_MASK, .cpu = UINT32_MAX };
	if (h->type == PERF_RECORD_SAMPLE)
		return decode_sample(attr, w, out);
	rc = take_sample_id(attr, &w, out, &task);
	if (rc)
		return rc;
	switch (h->type) {
	case PERF_RECORD_COMM:
		return decode_comm(h, w, out);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return decode_mmap(attr, h, w, out);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return decode_fork(h, w, out);
	case PERF_RECORD_NAMESPACES:
		return decode_namespaces(w, out);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return decode_lost(h, w, out);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return decode_switch(attr, h, task, out);
	case PERF_RECORD_KSYMBOL:
		return decode_ksymbol(w, out);
	case RECORD_CALLCHAIN_DEFERRED:
		return decode_deferred(attr, w, task, out);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return 1;
	default:
		return 0;
	}
}
