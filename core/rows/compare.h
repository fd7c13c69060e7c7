/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --backend=both: compare how the BPF program and the ring's reader see the same samples.
 *
 * In front of each sample, the BPF program writes a record into the ring, a note, with its own view of the sample. The
 * reader makes its own view from the sample and the side-band records. In some cases the records cannot show what the
 * program saw. These cases were found by reading the kernel's code. Such differences are explained, and counted:
 *
 * - renamed: inside the system call that renames a thread (prctl, write to comm, exec), the kernel copies the name
 *   first and writes the COMM record then. The program sees the new name, or the new one written in part over the old
 *   one (over zeros: Linux 3.10), and the ring has the old name. Until the COMM record with the new name, the two sides
 *   agree on no sample of the thread. If two threads rename a third one at once, the order of the records may not be
 *   the order of the names: then the thread may have either name, until it gets another. If threads are selected by
 *   name, one side may filter a sample that the other counts.
 * - dying: a sample of a task that has left the pid tables has no ids (-1; before 4.14 0, like the idle task). Only the
 *   EXIT records of its CPU show which task it was. The last of these may be of another task, if the sampled task wrote
 *   its own before the run. A task leaves its mount namespace some time before its EXIT record, which matters if a
 *   mount namespace is selected. In a PID namespace, a task outside has id 0, too: if neither its stacks nor the event
 *   tell it from the idle task (see profile(8), NAMESPACES), the ring shows the idle task.
 * - unshared: a system call that moves a thread to another mount namespace (unshare, setns) moves it first and writes
 *   the NAMESPACES record then. Counted if one of the two namespaces is selected.
 * - unnamed: the kernel names its own threads when it creates them, without a record (since 6.3). The reader asks
 *   /proc. If the thread is gone by then, the reader has the name of their creator, kthreadd. Before 6.3, the program
 *   sees the name kthreadd until the COMM record, but the reader may have the later name from /proc already.
 * - unseen: records are missing: they were lost, or a CPU was offline, until its event was open again and all names had
 *   been read again.
 * - remapped: a pinned map that selects tasks was changed between the sample and its reading.
 * - reused: with a command, the program has a map that says which processes are selected. The reader deletes an entry
 *   when it reads the EXIT record. Until then, the program takes another process with the same pid for the old one.
 *
 * Every other difference is a bug in one of the backends.
 */
#ifndef CORE_ROWS_COMPARE_H
#define CORE_ROWS_COMPARE_H

#include "core/rows/rows.h"

#include <stddef.h>

struct compare;
struct filter;

/** struct compare_view - a sample as one side sees it. */
struct compare_view {
	bool filtered;
	/* The ring's: as in the record; -1 (before 4.14: 0): dying. The program's: -1: outside our PID namespace */
	pid_t pid, tid;
	char comm[COMM_LEN];
	bool unsure; /* the reader may have seen another state of a pinned map than the program */
	bool left;   /* the program filtered it because its task has left its namespaces while exiting */
	bool reused; /* the program may have mistaken it for an earlier process with that pid; the reader did not */
};

/*
 * The table of explained differences: count(x, y) stands for the member x of struct compare_counts, and the line y of
 * --stats.
 */
/* clang-format off */
#define COMPARE_EXPLAINED(count) \
	count(renamed, "differences_renamed") \
	count(dying, "differences_exiting") \
	count(unshared, "differences_mount_namespace") \
	count(unnamed, "differences_kernel_thread_name") \
	count(unseen, "differences_records_missing") \
	count(remapped, "differences_map_changed") \
	count(reused, "differences_pid_reused")
/* clang-format on */

#define COMPARE_MEMBER(member, name) uint64_t member;

/** struct compare_counts - numbers of samples. */
struct compare_counts {
	uint64_t compared;
	COMPARE_EXPLAINED(COMPARE_MEMBER)
	uint64_t different; /* not explained */
	uint64_t unpaired;  /* not compared: the ring lost the note */
};

/** compare_new() - @filter: applied by both sides; borrowed. Return: NULL: no memory. */
struct compare *compare_new(const struct filter *filter);
void compare_free(struct compare *c);

/** compare_rows() - the rows to which the reader adds its samples. */
struct rows *compare_rows(struct compare *c);

/**
 * compare_sample() - compare one sample. Call it in time order with compare_renamed() and compare_unshared().
 * @program: NULL: unknown
 * @key:     the row of the reader, which is the last one of compare_rows(), unless the reader filtered the sample. Its
 *           pid differs from @ring->pid for a dying task
 * Return: 0 or -ENOMEM.
 */
int compare_sample(struct compare *c, const struct compare_view *program, const struct compare_view *ring,
		   const struct row_key *key);
/**
 * compare_renamed() - a COMM record has the new name @comm of thread @tid.
 * @by: the thread that renamed it
 * Return: 0 or -ENOMEM.
 */
int compare_renamed(struct compare *c, pid_t tid, pid_t by, const char *comm);
/**
 * compare_unshared() - a NAMESPACES record has the new namespaces of thread @tid.
 * @wanted: the new mount namespace is selected
 * @unsure: a pinned map that selects it may have been changed meanwhile
 * Return: 0 or -ENOMEM.
 */
int compare_unshared(struct compare *c, pid_t tid, bool wanted, bool unsure);

/** compare_nr_pending() - number of differences that later records may explain. */
size_t compare_nr_pending(const struct compare *c);

/** compare_wait() - wait 10 ms: long enough for the record of a thread that was sampled while it renamed itself. */
void compare_wait(void);

/** compare_gap() - begin or end a time in which records of a CPU are @missing; see sink_gap(). */
void compare_gap(struct compare *c, bool missing);
/**
 * compare_missed() - records were lost before this call. They may explain the differences of names and mount namespaces
 * that no record has explained so far.
 */
void compare_missed(struct compare *c);

/**
 * compare_end() - no more records will come: count the remaining differences as unexplained; those that still await a
 * record count as unseen if there is a gap. Return: 0 or -ENOMEM.
 */
int compare_end(struct compare *c);

/** compare_counts_add() - add each number of @more to @to. */
void compare_counts_add(struct compare_counts *to, const struct compare_counts *more);

/** compare_nr_explained() - the sum of the explained differences. */
uint64_t compare_nr_explained(const struct compare_counts *n);

void compare_counts(const struct compare *c, struct compare_counts *out);

/**
 * compare_explained() - the reader's rows, with each explained sample in the row where the program counted it.
 * Return: NULL: no memory; to be freed.
 */
struct rows *compare_explained(const struct compare *c);

/**
 * compare_add_lost() - add the samples that @program has and @ring lacks to @ring, the rows of compare_explained().
 * Only if they are not more than @lost, the samples that no ring returned. If the rows are equal after that, both sides
 * saw the same samples. Return: how many were added; -ENOMEM.
 */
int64_t compare_add_lost(struct rows *ring, const struct rows *program, uint64_t lost);

/** compare_example() - describe the @i-th unexplained difference in @buf. Return: false: there is no such example. */
bool compare_example(const struct compare *c, size_t i, char *buf, size_t size);

/**
 * compare_printable() - make a name printable for a message. The kernel's name may hold any byte. @out has COMM_LEN
 * bytes.
 */
void compare_printable(const char *comm, char *out);

#endif
