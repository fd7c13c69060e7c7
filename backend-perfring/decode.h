/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decode perf event records. The bytes may be hostile: every length is checked, and nothing is read beyond the record.
 * Source: include/uapi/linux/perf_event.h, enum perf_event_type.
 */
#ifndef PERFRING_DECODE_H
#define PERFRING_DECODE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RECORD_MAX 65536 /* bytes of a record: struct perf_event_header.size has 16 bits */

/* Types that no kernel has, and that are not decoded: a source adds such records itself. */
enum {
	RECORD_GAP = 0x10000, /* records of this ring may have been lost */
	RECORD_NAME,          /* in /proc, thread @tid has this name at @time; tid 0: all threads have been read */
};

/** enum record_gap - when records may be lost: from now on; up to now; at some time before now. */
enum record_gap { GAP_BEGINS, GAP_ENDS, GAP_WAS };

/** struct record - a decoded record; its pointers are into the decoded bytes. Only the members of its @type are set. */
struct record {
	uint32_t type;  /* PERF_RECORD_*, RECORD_* */
	uint32_t mode;  /* of the CPU: PERF_RECORD_MISC_KERNEL, _USER, ...; for MMAP: of the addresses */
	uint64_t time;  /* ns of the event's clock; 0: the record has none */
	uint32_t cpu;   /* UINT32_MAX: the record has none */
	pid_t pid, tid; /* SAMPLE: the interrupted task, -1 if it is dying; other types: the task that the
			   record is about */
	pid_t writer;   /* the thread that ran when the kernel wrote the record; 0: not known, also for SAMPLE */
	union {
		struct {
			const uint64_t *ips; /* callchain, with markers */
			uint64_t nr;
			uint64_t ip;     /* the interrupted address; 0: the sample has none */
			const void *raw; /* raw_size bytes, not aligned; NULL: none */
			uint32_t raw_size;
			uint64_t abi;         /* PERF_SAMPLE_REGS_ABI_* of @regs; _NONE: do not read @regs */
			const uint64_t *regs; /* one for each bit of @mask, the lowest first */
			uint64_t mask;        /* attr.sample_regs_user */
			const void *stack;    /* stack_size bytes from the stack pointer on; NULL: none */
			uint64_t stack_size;
			bool stack_whole; /* the stack ends there: the copy had room for more */
			uint64_t cgroup;  /* its id; 0: the sample has none */
		} sample;
		struct {
			const char *name; /* terminated */
			bool exec;
		} comm; /* PERF_RECORD_COMM and RECORD_NAME */
		struct {
			uint64_t start, len, pgoff;
			uint32_t maj, min; /* MMAP2 only, else 0 */
			uint64_t ino;
			const unsigned char *build_id; /* instead of maj, min and ino; NULL: none */
			uint8_t build_id_size;         /* at most 20 */
			const char *path;              /* terminated */
		} mmap;                                /* PERF_RECORD_MMAP and PERF_RECORD_MMAP2 */
		struct {
			pid_t ppid, ptid;
			bool exec; /* perf record made this record up: the process has called exec since its fork */
		} fork;            /* PERF_RECORD_FORK and PERF_RECORD_EXIT */
		struct {
			bool out;       /* the thread leaves its CPU; else it comes back to one */
			bool preempted; /* it leaves, and can still run (since 4.17) */
		} switched;             /* PERF_RECORD_SWITCH, also for _SWITCH_CPU_WIDE */
		uint64_t mntns;         /* PERF_RECORD_NAMESPACES: inode number of the mount namespace; 0: missing */
		struct {
			uint64_t records; /* for LOST_SAMPLES: samples */
			bool wanted;      /* LOST_SAMPLES: perf record's own filter dropped them */
		} lost;                   /* PERF_RECORD_LOST and PERF_RECORD_LOST_SAMPLES */
		struct {
			uint64_t cookie;
			const uint64_t *ips; /* user callchain of the samples of thread @tid with this cookie */
			uint64_t nr;
		} deferred; /* RECORD_CALLCHAIN_DEFERRED */
		struct {
			uint64_t start, len;
			const char *name; /* terminated */
			bool bpf;         /* made by bpf(2) */
			bool removed;
		} ksymbol;           /* PERF_RECORD_KSYMBOL */
		enum record_gap gap; /* RECORD_GAP */
	};
};

/**
 * decode_identifier() - the id (PERF_EVENT_IOC_ID) of the event that wrote a record, for events that share a ring and
 * have PERF_SAMPLE_IDENTIFIER: the first word of a sample, the last word of any other record with a sample_id.
 * @record: @size bytes. Return: 0: the record is too short for it.
 */
uint64_t decode_identifier(const struct perf_event_header *record, size_t size);

/**
 * decode_size() - the size of a record up to the end of its sample_id. A kernel may have written less than it says.
 * @attr: of the event that wrote the record; @record: @size bytes. Return: at most @size.
 */
size_t decode_size(const struct perf_event_attr *attr, const struct perf_event_header *record, size_t size);

/**
 * record_reg() - the value of register @reg (PERF_REG_*) in sample @r, whose ABI is not _NONE. NULL: the sample does
 * not have this register.
 */
static inline const uint64_t *record_reg(const struct record *r, unsigned int reg)
{
	const uint64_t bit = 1ULL << reg, *regs = r->sample.regs;

	return regs && r->sample.mask & bit ? &regs[__builtin_popcountll(r->sample.mask & (bit - 1))] : NULL;
}

/**
 * decode_record() - check and decode one record.
 * @attr:  of the event that wrote the record: determines the record's fields
 * @bytes: @size bytes, aligned to 8
 *
 * Return: 1 and *@out; 0: of a type that we do not use, or without the thread that it is about: only type, mode, time,
 * cpu and writer are set; -EBADMSG: its contents do not fit its size, or a path or build id is too long; -ENOTSUP: a
 * sample with a read_format that this decoder cannot skip.
 */
int decode_record(const struct perf_event_attr *attr, const void *bytes, size_t size, struct record *out);

#endif
