/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --backend=both: the same samples, as the program in the kernel and as the ring alone show them.
 *
 * What the program makes of a sample is in the note in front of it; the ring's reader makes its own of the sample and
 * the side-band records. Where the two differ, there are cases that the records cannot tell better, found by reading
 * the kernel; these are explained, and counted:
 *
 * - renamed: inside the system call that renames a thread (prctl, write to comm, exec), the kernel copies the name
 *   first and writes the COMM record then. The program sees the new name, or the new one written in part over the old
 *   one, and the ring has the old one: until that COMM, with the new name, the thread has no sample that agrees. And
 *   where two threads rename one, the records may come in the other order than the names were written: then it may
 *   have either name, until it gets another.
 *   Where threads of one name are asked for, one side may have filtered out what the other did not.
 * - dying: a sample of a task that has left the pid tables has no ids (-1, before 4.14 0, like the idle task); which
 *   task it was is then only known from the EXIT records of its CPU, and those may be of another one, or from before
 *   the run. And where a mount namespace is asked for, a task has left its own some time before it has its EXIT record.
 *   In a pid namespace a task outside has 0, too: where neither its stacks nor the event tell it from the idle task
 *   (see profile(8), NAMESPACES), the ring has that one.
 * - unshared: inside the system call that takes a thread to another mount namespace (unshare, setns) it is there first,
 *   and the NAMESPACES record is written then, where one of the two is asked for.
 * - unnamed: the kernel names its own threads when it makes them, without a record (since 6.3). The ring's reader asks
 *   /proc; where the thread is gone by then, it has the name of the one that makes them all, kthreadd. Before, the
 *   thread itself has that name until a record tells another, and then /proc has told the reader too much.
 * - unseen: a CPU has been offline, and when it came back nobody kept the records of what happened there until its
 * event was open again, and all names had been read anew.
 * - remapped: a pinned map that says who is asked for was changed between the sample and its reading.
 * - reused: with a command the program is told of a process whether it is asked for, and until the reader has come to
 *   the record of its end, it has the same answer for another one that got the same pid meanwhile.
 *
 * Everything else is a bug of one of the backends.
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
	pid_t pid, tid; /* the ring's: as in the record, -1: dying; the program's: -1: outside our pid namespace */
	char comm[COMM_LEN];
	bool unsure; /* the ring's reader may have seen another state of a pinned map than the program did */
	bool left;   /* the program filtered it, because its task has left its namespaces, to exit */
	bool reused; /* the program may have taken it for an earlier process of that pid; the ring's reader has not */
};

/** struct compare_counts - samples. */
struct compare_counts {
	uint64_t compared;
	/* different, and explained */
	uint64_t renamed, dying, unshared, unnamed, unseen, remapped, reused;
	uint64_t different; /* not explained */
	uint64_t unpaired;  /* without a note, which the ring lost: not compared */
};

/** compare_new() - @filter: that both sides apply; borrowed. @group: enum row_group. Return: NULL: no memory. */
struct compare *compare_new(const struct filter *filter, unsigned int group);
void compare_free(struct compare *c);

/** compare_rows() - what the ring's reader counts; it adds to them. */
struct rows *compare_rows(struct compare *c);

/**
 * compare_sample() - one sample; in time order with compare_renamed() and compare_unshared().
 * @program: NULL: unknown
 * @key:     the row of the reader, which is the last one of compare_rows(), unless the reader filtered the sample. Its
 *           pid differs from @ring->pid for a dying task
 * Return: 0 or -ENOMEM.
 */
int compare_sample(struct compare *c, const struct compare_view *program, const struct compare_view *ring,
		   const struct row_key *key);
/**
 * compare_renamed() - a COMM record says that thread @tid is called @comm now.
 * @by: the thread that did it
 * Return: 0 or -ENOMEM.
 */
int compare_renamed(struct compare *c, pid_t tid, pid_t by, const char *comm);
/**
 * compare_unshared() - a NAMESPACES record says where thread @tid is now.
 * @wanted: that mount namespace is asked for
 * @unsure: a pinned map that says so may have been changed meanwhile
 * Return: 0 or -ENOMEM.
 */
int compare_unshared(struct compare *c, pid_t tid, bool wanted, bool unsure);

/** compare_nr_pending() - differences that may be explained by records that are still to come. */
size_t compare_nr_pending(const struct compare *c);

/**
 * compare_wait() - long enough (10 ms) for a thread that was sampled while it renames itself to come to the record that
 * tells of it.
 */
void compare_wait(void);

/** compare_gap() - begin or end a time in which records of some CPU are @missing; see sink_gap(). */
void compare_gap(struct compare *c, bool missing);
/** compare_missed() - some were lost before: of the names that differed until now they may be the reason. */
void compare_missed(struct compare *c);

/** compare_end() - nothing more comes: what is not explained by now never will be. Return: 0 or -ENOMEM. */
int compare_end(struct compare *c);

/** compare_counts_add() - add each number of @more to @to. */
void compare_counts_add(struct compare_counts *to, const struct compare_counts *more);

/** compare_nr_explained() - their sum. */
uint64_t compare_nr_explained(const struct compare_counts *n);

void compare_counts(const struct compare *c, struct compare_counts *out);

/**
 * compare_explained() - the reader's rows with each explained sample where the program saw it.
 * Return: NULL: no memory; to be freed.
 */
struct rows *compare_explained(const struct compare *c);

/**
 * compare_add_lost() - add to @ring, the rows of compare_explained(), what @program has more of, if that is not more
 * than the @lost samples which no ring gave back. Then what both saw is equal if these rows are. Return: how many were
 * added; -ENOMEM.
 */
int64_t compare_add_lost(struct rows *ring, const struct rows *program, uint64_t lost);

/** compare_example() - describe the @i-th unexplained difference in @buf; false past the last one that was kept. */
bool compare_example(const struct compare *c, size_t i, char *buf, size_t size);

/** compare_printable() - a name as the kernel has it, of any bytes, for a message: @out has COMM_LEN bytes. */
void compare_printable(const char *comm, char *out);

#endif
