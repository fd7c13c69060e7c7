// SPDX-License-Identifier: Apache-2.0
#include "core/rows/compare.h"
#include "core/tasks/filter.h"
#include "tests/row_key.h"
#include "tests/unit/unit.h"

#define MAX_STEPS 8

static const struct filter all = { 0 };

/* Events in time order. */
enum what { END, SAMPLE, UNPAIRED, COMM, GAP, GAP_ENDS, UNSHARED };

/* Ids of the program that are 0: the same as in the ring. */
struct step {
	enum what what;
	pid_t pid, tid; /* ids in the ring's record */
	const char *ring;
	const char *program;
	struct {
		pid_t pid, tid;
		bool filtered, ring_filtered;
		pid_t revived; /* pid under which the reader counted it */
		bool no_user;
		bool left, unsure, reused;
		pid_t by;    /* COMM: the thread that renames it; 0: itself */
		bool wanted; /* UNSHARED: it is in the selected mount namespace */
	} but;
};

#define BUT(...) .but = { __VA_ARGS__ }

static const struct {
	const char *name;
	struct step steps[MAX_STEPS];
	struct compare_counts counts;
	const char *only; /* the selected name; NULL: none */
	uint64_t mntns;   /* the selected mount namespace; 0: none */
} rows[] = {
	/* equal */
	{ "equal", { { SAMPLE, 10, 11, "a", "a" } }, { .compared = 1 } },
	{ "equal, without a name", { { SAMPLE, 10, 11, "", "" } }, { .compared = 1 } },
	{ "both filtered",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true, .ring_filtered = true) } },
	  { .compared = 1 } },
	{ "both filtered, under other names and ids",
	  { { SAMPLE, 10, 11, "a", "b", BUT(20, 21, .filtered = true, .ring_filtered = true) }, { COMM, 10, 11, "c" } },
	  { .compared = 1 } },
	{ "another thread of the process: not in the rows",
	  { { SAMPLE, 10, 11, "a", "a", BUT(10, 12) } },
	  { .compared = 1 } },
	{ "idle", { { SAMPLE, 0, 0, "swapper/1", "swapper/1" } }, { .compared = 1 } },
	{ "dying, found as the same task",
	  { { SAMPLE, -1, -1, "a", "a", BUT(10, 11, .revived = 10) } },
	  { .compared = 1 } },
	{ "a renaming that no sample saw", { { SAMPLE, 10, 11, "a", "a" }, { COMM, 10, 11, "b" } }, { .compared = 1 } },

	/* renamed: the program saw the new name, or the beginning of it and then the rest of the old one */
	{ "renamed", { { SAMPLE, 10, 11, "old", "new" }, { COMM, 10, 11, "new" } }, { .compared = 1, .renamed = 1 } },
	{ "the longest name is cut",
	  { { SAMPLE, 10, 11, "old", "fifteen-letters" }, { COMM, 10, 11, "fifteen-letters-and-more" } },
	  { .compared = 1, .renamed = 1 } },
	{ "to no name", { { SAMPLE, 10, 11, "old", "" }, { COMM, 10, 11, "" } }, { .compared = 1, .renamed = 1 } },
	{ "from no name", { { SAMPLE, 10, 11, "", "new" }, { COMM, 10, 11, "new" } }, { .compared = 1, .renamed = 1 } },
	{ "torn after the first letter",
	  { { SAMPLE, 10, 11, "old", "nld" }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .renamed = 1 } },
	{ "torn, the new name longer",
	  { { SAMPLE, 10, 11, "abcde", "12345" }, { COMM, 10, 11, "1234567" } },
	  { .compared = 1, .renamed = 1 } },
	{ "torn, the new name shorter",
	  { { SAMPLE, 10, 11, "abcdefgh", "123defgh" }, { COMM, 10, 11, "123" } },
	  { .compared = 1, .renamed = 1 } },
	{ "torn before the last letter of fifteen",
	  { { SAMPLE, 10, 11, "abcdefghijklmno", "ABCDEFGHIJKLMNo" }, { COMM, 10, 11, "ABCDEFGHIJKLMNO" } },
	  { .compared = 1, .renamed = 1 } },
	{ "over zeros (3.10)",
	  { { SAMPLE, 10, 11, "abcdef", "12" }, { COMM, 10, 11, "1234" } },
	  { .compared = 1, .renamed = 1 } },
	{ "over zeros (3.10), before the first letter",
	  { { SAMPLE, 10, 11, "abcdef", "" }, { COMM, 10, 11, "1234" } },
	  { .compared = 1, .renamed = 1 } },
	{ "two of one thread, each with its renaming",
	  { { SAMPLE, 10, 11, "a", "b" }, { COMM, 10, 11, "b" }, { SAMPLE, 10, 11, "b", "c" }, { COMM, 10, 11, "c" } },
	  { .compared = 2, .renamed = 2 } },
	{ "threads crosswise",
	  { { SAMPLE, 10, 11, "a", "b" },
	    { SAMPLE, 10, 12, "a", "c" },
	    { SAMPLE, 20, 20, "x", "y" },
	    { COMM, 10, 12, "c" },
	    { COMM, 20, 20, "y" },
	    { COMM, 10, 11, "b" } },
	  { .compared = 3, .renamed = 3 } },
	{ "another sample of another thread between",
	  { { SAMPLE, 10, 11, "a", "b" }, { SAMPLE, 10, 12, "a", "a" }, { COMM, 10, 11, "b" } },
	  { .compared = 2, .renamed = 1 } },
	{ "a sample of the idle task between",
	  { { SAMPLE, 10, 11, "a", "b" }, { SAMPLE, 0, 0, "s", "s" }, { COMM, 10, 11, "b" } },
	  { .compared = 2, .renamed = 1 } },
	{ "one of a dying task between",
	  { { SAMPLE, 10, 11, "a", "b" },
	    { SAMPLE, -1, -1, "a", "a", BUT(10, 11, .revived = 10) },
	    { COMM, 10, 11, "b" } },
	  { .compared = 2, .renamed = 1 } },

	{ "several in one renaming, of a CPU that is slow",
	  { { SAMPLE, 10, 11, "old", "nld" }, { SAMPLE, 10, 11, "old", "new" }, { COMM, 10, 11, "new" } },
	  { .compared = 2, .renamed = 2 } },
	{ "by another thread",
	  { { SAMPLE, 10, 11, "old", "new" }, { COMM, 10, 11, "new", NULL, BUT(.by = 12) } },
	  { .compared = 1, .renamed = 1 } },

	/* two threads rename it at once: either name may remain */
	{ "the record of the other came last",
	  { { COMM, 10, 11, "kept" },
	    { COMM, 10, 11, "told", NULL, BUT(.by = 12) },
	    { SAMPLE, 10, 11, "told", "kept" } },
	  { .compared = 1, .renamed = 1 } },
	{ "its own came last",
	  { { COMM, 10, 11, "kept", NULL, BUT(.by = 12) },
	    { COMM, 10, 11, "told" },
	    { SAMPLE, 10, 11, "told", "kept" } },
	  { .compared = 1, .renamed = 1 } },
	{ "then it has a name again",
	  { { COMM, 10, 11, "kept", NULL, BUT(.by = 12) },
	    { COMM, 10, 11, "told" },
	    { COMM, 10, 11, "next" },
	    { SAMPLE, 10, 11, "next", "told" } },
	  { .compared = 1, .different = 1 } },
	{ "neither of the two",
	  { { COMM, 10, 11, "kept", NULL, BUT(.by = 12) },
	    { COMM, 10, 11, "told" },
	    { SAMPLE, 10, 11, "told", "else" } },
	  { .compared = 1, .different = 1 } },
	{ "both its own",
	  { { COMM, 10, 11, "kept" }, { COMM, 10, 11, "told" }, { SAMPLE, 10, 11, "told", "kept" } },
	  { .compared = 1, .different = 1 } },
	{ "of another thread",
	  { { COMM, 10, 12, "kept" },
	    { COMM, 10, 12, "told", NULL, BUT(.by = 11) },
	    { SAMPLE, 10, 11, "told", "kept" } },
	  { .compared = 1, .different = 1 } },

	/* the name of a kernel thread, from /proc before the record */
	{ "made by kthreadd",
	  { { SAMPLE, 10, 10, "kworker", "kthreadd" }, { COMM, 10, 10, "kworker", NULL, BUT(.by = 12) } },
	  { .compared = 1, .unnamed = 1 } },
	{ "made by kthreadd, and the record has another name",
	  { { SAMPLE, 10, 10, "kworker", "kthreadd" }, { COMM, 10, 10, "other" } },
	  { .compared = 1, .different = 1 } },
	{ "made by kthreadd, and no record",
	  { { SAMPLE, 10, 10, "kworker", "kthreadd" } },
	  { .compared = 1, .different = 1 } },
	{ "kthreadd itself",
	  { { SAMPLE, 2, 2, "kworker", "kthreadd" }, { COMM, 2, 2, "kworker" } },
	  { .compared = 1, .different = 1 } },
	{ "a thread of a process",
	  { { SAMPLE, 10, 11, "kworker", "kthreadd" }, { COMM, 10, 11, "kworker" } },
	  { .compared = 1, .different = 1 } },
	{ "made by another one",
	  { { SAMPLE, 10, 10, "kworker", "other" }, { COMM, 10, 10, "kworker" } },
	  { .compared = 1, .different = 1 } },

	/* another mount namespace, before the record */
	{ "has left",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) }, { UNSHARED, 10, 11 } },
	  { .compared = 1, .unshared = 1 },
	  NULL,
	  1 },
	{ "has come",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.ring_filtered = true) }, { UNSHARED, 10, 11, BUT(.wanted = true) } },
	  { .compared = 1, .unshared = 1 },
	  NULL,
	  1 },
	{ "two, and then it has left",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) },
	    { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) },
	    { UNSHARED, 10, 11 } },
	  { .compared = 2, .unshared = 2 },
	  NULL,
	  1 },
	{ "its record, and that of another thread before",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) },
	    { UNSHARED, 10, 12, BUT(.wanted = true) },
	    { UNSHARED, 10, 11 } },
	  { .compared = 1, .unshared = 1 },
	  NULL,
	  1 },
	{ "is renamed before the record comes",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) },
	    { COMM, 10, 11, "b", NULL, BUT(.by = 12) },
	    { UNSHARED, 10, 11 } },
	  { .compared = 1, .unshared = 1 },
	  NULL,
	  1 },
	{ "has left, and its record says that it is there",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) }, { UNSHARED, 10, 11, BUT(.wanted = true) } },
	  { .compared = 1, .different = 1 },
	  NULL,
	  1 },
	{ "has come, and its record says that it is elsewhere",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.ring_filtered = true) }, { UNSHARED, 10, 11 } },
	  { .compared = 1, .different = 1 },
	  NULL,
	  1 },
	{ "has left, and the map that says so was changed",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) },
	    { UNSHARED, 10, 11, BUT(.wanted = true, .unsure = true) } },
	  { .compared = 1, .remapped = 1 },
	  NULL,
	  1 },
	{ "has left, and no record says so",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) } },
	  { .compared = 1, .different = 1 },
	  NULL,
	  1 },
	{ "has left, and only a name follows",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) }, { COMM, 10, 11, "b" } },
	  { .compared = 1, .different = 1 },
	  NULL,
	  1 },
	{ "both see it there before the record",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) }, { SAMPLE, 10, 11, "a", "a" }, { UNSHARED, 10, 11 } },
	  { .compared = 2, .different = 1 },
	  NULL,
	  1 },
	{ "the record is of another thread",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) }, { UNSHARED, 10, 12 } },
	  { .compared = 1, .different = 1 },
	  NULL,
	  1 },
	{ "has left, under another name",
	  { { SAMPLE, 10, 11, "a", "b", BUT(.filtered = true) }, { UNSHARED, 10, 11 } },
	  { .compared = 1, .different = 1 },
	  NULL,
	  1 },
	{ "no mount namespace is selected",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) }, { UNSHARED, 10, 11 } },
	  { .compared = 1, .different = 1 } },
	{ "another name is selected, too",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) }, { UNSHARED, 10, 11 } },
	  { .compared = 1, .different = 1 },
	  "b",
	  1 },

	{ "left its namespaces",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true, .left = true) } },
	  { .compared = 1, .dying = 1 } },
	{ "left its namespaces, on both sides",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true, .ring_filtered = true, .left = true) } },
	  { .compared = 1 } },

	/* a map that was changed */
	{ "remapped, filtered in the kernel",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true, .unsure = true) } },
	  { .compared = 1, .remapped = 1 } },
	{ "remapped, filtered by the reader",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.ring_filtered = true, .unsure = true) } },
	  { .compared = 1, .remapped = 1 } },
	{ "changed, and the same on both sides",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.unsure = true) } },
	  { .compared = 1 } },
	{ "remapped, outside",
	  { { SAMPLE, 0, 0, "o", "o", BUT(-1, -1, .revived = -1, .filtered = true, .unsure = true) } },
	  { .compared = 1, .remapped = 1 } },
	{ "outside", { { SAMPLE, 0, 0, "o", "o", BUT(-1, -1, .revived = -1) } }, { .compared = 1 } },
	{ "outside, filtered by one side",
	  { { SAMPLE, 0, 0, "o", "o", BUT(-1, -1, .revived = -1, .filtered = true) } },
	  { .compared = 1, .different = 1 } },
	{ "outside, the idle task to the reader",
	  { { SAMPLE, 0, 0, "swapper/1", "o", BUT(-1, -1) } },
	  { .compared = 1, .dying = 1 } },
	{ "outside, one of ours to the reader",
	  { { SAMPLE, 10, 10, "o", "o", BUT(-1, -1) } },
	  { .compared = 1, .different = 1 } },
	{ "a change explains no name",
	  { { SAMPLE, 10, 11, "a", "b", BUT(.filtered = true, .unsure = true) } },
	  { .compared = 1, .different = 1 } },
	{ "a change explains no process",
	  { { SAMPLE, 10, 11, "a", "a", BUT(20, 11, .ring_filtered = true, .unsure = true) } },
	  { .compared = 1, .different = 1 } },

	/* a pid that another process had */
	{ "reused, filtered in the kernel",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true, .reused = true) } },
	  { .compared = 1, .reused = 1 } },
	{ "reused, filtered by the reader without its name",
	  { { SAMPLE, 10, 11, "", "a", BUT(.ring_filtered = true, .reused = true) } },
	  { .compared = 1, .reused = 1 } },
	{ "reused, and renamed",
	  { { SAMPLE, 10, 11, "old", "new", BUT(.filtered = true, .reused = true) }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .reused = 1 } },
	{ "reused, and the same on both sides",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.reused = true) } },
	  { .compared = 1 } },
	{ "reused, filtered by both",
	  { { SAMPLE, 10, 11, "a", "b", BUT(.filtered = true, .ring_filtered = true, .reused = true) } },
	  { .compared = 1 } },
	{ "reused, of a task that is dying",
	  { { SAMPLE, -1, -1, "a", "a", BUT(10, 11, .filtered = true, .revived = 10, .reused = true) } },
	  { .compared = 1, .dying = 1 } },
	{ "reused, in a group that changed",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true, .unsure = true, .reused = true) } },
	  { .compared = 1, .remapped = 1 } },
	{ "no name is reused",
	  { { SAMPLE, 10, 11, "a", "b", BUT(.reused = true) } },
	  { .compared = 1, .different = 1 } },
	{ "another process is not this one",
	  { { SAMPLE, 10, 11, "a", "a", BUT(20, 11, .filtered = true, .reused = true) } },
	  { .compared = 1, .different = 1 } },
	{ "nor another thread",
	  { { SAMPLE, 10, 11, "a", "a", BUT(10, 12, .ring_filtered = true, .reused = true) } },
	  { .compared = 1, .different = 1 } },
	{ "filtered, and never reused",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) } },
	  { .compared = 1, .different = 1 } },

	/* not renamed */
	{ "no renaming", { { SAMPLE, 10, 11, "old", "new" } }, { .compared = 1, .different = 1 } },
	{ "the renaming of another thread",
	  { { SAMPLE, 10, 11, "old", "new" }, { COMM, 10, 12, "new" } },
	  { .compared = 1, .different = 1 } },
	{ "another thread's renaming, then its own, to that name",
	  { { SAMPLE, 10, 11, "old", "new" }, { COMM, 10, 10, "new" }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .renamed = 1 } },
	{ "to another name",
	  { { SAMPLE, 10, 11, "old", "new" }, { COMM, 10, 11, "other" } },
	  { .compared = 1, .different = 1 } },
	{ "to another name first",
	  { { SAMPLE, 10, 11, "old", "new" }, { COMM, 10, 11, "third" }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .different = 1 } },
	{ "before the sample",
	  { { COMM, 10, 11, "new" }, { SAMPLE, 10, 11, "old", "new" } },
	  { .compared = 1, .different = 1 } },
	{ "another sample of it between",
	  { { SAMPLE, 10, 11, "old", "new" }, { SAMPLE, 10, 11, "old", "old" }, { COMM, 10, 11, "new" } },
	  { .compared = 2, .different = 1 } },
	{ "one without a note between",
	  { { SAMPLE, 10, 11, "old", "new" }, { UNPAIRED, 10, 11, "old" }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .different = 1, .unpaired = 1 } },
	{ "the end of the old name, written from the end",
	  { { SAMPLE, 10, 11, "old", "olw" }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .different = 1 } },
	{ "a beginning of the new name, then something else",
	  { { SAMPLE, 10, 11, "abcdef", "12x" }, { COMM, 10, 11, "1234" } },
	  { .compared = 1, .different = 1 } },
	{ "torn in two places",
	  { { SAMPLE, 10, 11, "abcdef", "1b3def" }, { COMM, 10, 11, "123456" } },
	  { .compared = 1, .different = 1 } },
	{ "a name of longer letters than the new one",
	  { { SAMPLE, 10, 11, "old", "news" }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .different = 1 } },

	/* dying */
	{ "dying, no task known",
	  { { SAMPLE, -1, -1, ":-1", "a", BUT(10, 11, .revived = -1) } },
	  { .compared = 1, .dying = 1 } },
	{ "dying, found as another process",
	  { { SAMPLE, -1, -1, "a", "a", BUT(10, 11, .revived = 20) } },
	  { .compared = 1, .dying = 1 } },
	{ "dying, found under another name",
	  { { SAMPLE, -1, -1, "a", "b", BUT(10, 11, .revived = 10) } },
	  { .compared = 1, .dying = 1 } },
	{ "dying, nothing to wait for",
	  { { SAMPLE, -1, -1, "a", "b", BUT(10, 11, .revived = 10) }, { COMM, -1, -1, "c" } },
	  { .compared = 1, .dying = 1 } },
	{ "dying, filtered out by ids",
	  { { SAMPLE, -1, -1, "a", "a", BUT(10, 11, .ring_filtered = true, .revived = 20) } },
	  { .compared = 1, .dying = 1 } },
	{ "dying, filtered out by the program",
	  { { SAMPLE, -1, -1, "a", "a", BUT(10, 11, .filtered = true, .revived = 20) } },
	  { .compared = 1, .dying = 1 } },
	{ "dying, filtered out by both",
	  { { SAMPLE, -1, -1, "a", "b", BUT(10, 11, .filtered = true, .ring_filtered = true, .revived = 20) } },
	  { .compared = 1 } },
	{ "dying, on old kernels like the idle task",
	  { { SAMPLE, 0, 0, "swapper/1", "a", BUT(10, 11, .ring_filtered = true) } },
	  { .compared = 1, .dying = 1 } },
	{ "the same with -I", { { SAMPLE, 0, 0, "swapper/1", "a", BUT(10, 11) } }, { .compared = 1, .dying = 1 } },
	{ "the idle task is not dying",
	  { { SAMPLE, 0, 0, "swapper/1", "swapper/0", BUT(0, 0) } },
	  { .compared = 1, .different = 1 } },

	/* kernel threads that got their names without a record */
	{ "unnamed",
	  { { SAMPLE, 70, 70, "kthreadd", "kworker/1:2", BUT(.no_user = true) } },
	  { .compared = 1, .unnamed = 1 } },
	{ "the same name with a user stack",
	  { { SAMPLE, 70, 70, "kthreadd", "kworker/1:2" } },
	  { .compared = 1, .different = 1 } },
	{ "unnamed, a thread of a process",
	  { { SAMPLE, 70, 71, "kthreadd", "kworker/1:2", BUT(.no_user = true) } },
	  { .compared = 1, .different = 1 } },
	{ "unnamed, nothing to wait for",
	  { { SAMPLE, 70, 70, "kthreadd", "kworker/1:2", BUT(.no_user = true) }, { COMM, 70, 70, "kworker/1:2" } },
	  { .compared = 1, .unnamed = 1 } },
	{ "kthreadd itself has its name",
	  { { SAMPLE, 2, 2, "kthreadd", "kthreads" } },
	  { .compared = 1, .different = 1 } },
	{ "unnamed, but filtered",
	  { { SAMPLE, 70, 70, "kthreadd", "kworker/1:2", BUT(.ring_filtered = true) } },
	  { .compared = 1, .different = 1 } },
	{ "unnamed, but another thread",
	  { { SAMPLE, 70, 70, "kthreadd", "kworker/1:2", BUT(70, 71) } },
	  { .compared = 1, .different = 1 } },
	{ "another name that begins so",
	  { { SAMPLE, 70, 70, "kthreadd2", "kworker/1:2" } },
	  { .compared = 1, .different = 1 } },
	{ "unnamed in the kernel",
	  { { SAMPLE, 70, 70, "kworker/1:2", "kthreadd" } },
	  { .compared = 1, .different = 1 } },

	/* a CPU came online, and its records before were not kept */
	{ "unseen", { { GAP }, { SAMPLE, 10, 11, "old", "new" } }, { .compared = 1, .unseen = 1 } },
	{ "unseen, by its next sample",
	  { { GAP }, { SAMPLE, 10, 11, ":11", "a" }, { SAMPLE, 10, 11, ":11", "a" } },
	  { .compared = 2, .unseen = 2 } },
	{ "unseen, then under another name",
	  { { GAP }, { SAMPLE, 10, 11, ":11", "a" }, { COMM, 10, 11, "b" } },
	  { .compared = 1, .unseen = 1 } },
	{ "a gap, but the record came",
	  { { GAP }, { SAMPLE, 10, 11, "old", "new" }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .renamed = 1 } },
	{ "unseen, and then all are seen again",
	  { { GAP }, { SAMPLE, 10, 11, "old", "new" }, { GAP_ENDS } },
	  { .compared = 1, .unseen = 1 } },
	{ "the record came before the gap ended",
	  { { GAP }, { SAMPLE, 10, 11, "old", "new" }, { COMM, 10, 11, "new" }, { GAP_ENDS } },
	  { .compared = 1, .renamed = 1 } },
	{ "after the gap",
	  { { GAP }, { GAP_ENDS }, { SAMPLE, 10, 11, "old", "new" } },
	  { .compared = 1, .different = 1 } },
	{ "a gap, and equal", { { GAP }, { SAMPLE, 10, 11, "a", "a" } }, { .compared = 1 } },
	{ "a gap explains no process",
	  { { GAP }, { SAMPLE, 10, 11, "a", "a", BUT(20, 11) } },
	  { .compared = 1, .different = 1 } },
	{ "a gap explains no filter",
	  { { GAP }, { SAMPLE, 10, 11, "a", "a", BUT(.ring_filtered = true) } },
	  { .compared = 1, .different = 1 } },
	{ "different before the gap",
	  { { SAMPLE, 10, 11, "a", "b" }, { SAMPLE, 10, 11, "a", "a" }, { GAP }, { SAMPLE, 10, 12, "c", "d" } },
	  { .compared = 3, .unseen = 1, .different = 1 } },

	/* different */
	{ "filtered in the kernel",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) }, { COMM, 10, 11, "a" } },
	  { .compared = 1, .different = 1 } },
	{ "filtered by the reader",
	  { { SAMPLE, 10, 11, "a", "a", BUT(.ring_filtered = true) }, { COMM, 10, 11, "a" } },
	  { .compared = 1, .different = 1 } },
	{ "another process",
	  { { SAMPLE, 10, 11, "a", "a", BUT(20, 11) }, { COMM, 10, 11, "a" } },
	  { .compared = 1, .different = 1 } },
	{ "another process and thread",
	  { { SAMPLE, 10, 11, "a", "a", BUT(20, 21) } },
	  { .compared = 1, .different = 1 } },
	{ "another name and thread",
	  { { SAMPLE, 10, 11, "a", "b", BUT(10, 12) }, { COMM, 10, 11, "b" } },
	  { .compared = 1, .different = 1 } },
	{ "names that differ in the last letter",
	  { { SAMPLE, 10, 11, "fifteen-letters", "fifteen-letterS" } },
	  { .compared = 1, .different = 1 } },

	/* without a note */
	{ "without a note", { { UNPAIRED, 10, 11, "a" }, { COMM, 10, 11, "b" } }, { .unpaired = 1 } },
	{ "without a note, dying", { { UNPAIRED, -1, -1, "a" } }, { .unpaired = 1 } },
	{ "without a note, filtered", { { UNPAIRED, 10, 11, "a", BUT(.ring_filtered = true) } }, { .unpaired = 1 } },

	/* one name is selected: each side filters by the name that it saw */
	{ "to the name",
	  { { SAMPLE, 10, 11, "old", "new", BUT(.ring_filtered = true) }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .renamed = 1 },
	  "new" },
	{ "from the name",
	  { { SAMPLE, 10, 11, "old", "new", BUT(.filtered = true) }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .renamed = 1 },
	  "old" },
	{ "from the name, torn",
	  { { SAMPLE, 10, 11, "old", "nld", BUT(.filtered = true) }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .renamed = 1 },
	  "old" },
	{ "the name, torn",
	  { { SAMPLE, 10, 11, "old", "nld", BUT(.ring_filtered = true) }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .renamed = 1 },
	  "nld" },
	{ "to the name, with either",
	  { { COMM, 10, 11, "kept" },
	    { COMM, 10, 11, "told", NULL, BUT(.by = 12) },
	    { SAMPLE, 10, 11, "told", "kept", BUT(.ring_filtered = true) } },
	  { .compared = 1, .renamed = 1 },
	  "kept" },
	{ "to the name, unnamed",
	  { { SAMPLE, 20, 20, "kthreadd", "kworker/1:2", BUT(.ring_filtered = true, .no_user = true) } },
	  { .compared = 1, .unnamed = 1 },
	  "kworker/1:2" },
	{ "to the name, unseen",
	  { { GAP }, { SAMPLE, 10, 11, "old", "new", BUT(.ring_filtered = true) } },
	  { .compared = 1, .unseen = 1 },
	  "new" },
	{ "to the name, dying",
	  { { SAMPLE, -1, -1, "a", "b", BUT(20, 21, .revived = 10, .ring_filtered = true) } },
	  { .compared = 1, .dying = 1 },
	  "b" },
	{ "to the name, without a record",
	  { { SAMPLE, 10, 11, "old", "new", BUT(.ring_filtered = true) } },
	  { .compared = 1, .different = 1 },
	  "new" },
	{ "to the name, but another record",
	  { { SAMPLE, 10, 11, "old", "new", BUT(.ring_filtered = true) }, { COMM, 10, 11, "none" } },
	  { .compared = 1, .different = 1 },
	  "new" },
	{ "filtered under the name",
	  { { SAMPLE, 10, 11, "old", "new", BUT(.filtered = true) }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .different = 1 },
	  "new" },
	{ "filtered by the reader under the name",
	  { { SAMPLE, 10, 11, "old", "new", BUT(.ring_filtered = true) }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .different = 1 },
	  "old" },
	{ "counted under neither name",
	  { { SAMPLE, 10, 11, "old", "new" }, { COMM, 10, 11, "new" } },
	  { .compared = 1, .different = 1 },
	  "else" },
	{ "a gap explains no filter by name",
	  { { GAP }, { SAMPLE, 10, 11, "a", "a", BUT(.ring_filtered = true) } },
	  { .compared = 1, .different = 1 },
	  "a" },

	{ "nothing", { { END } }, { 0 } },
	{ "all of it",
	  { { SAMPLE, 10, 11, "a", "a" },
	    { SAMPLE, 10, 11, "a", "b" },
	    { COMM, 10, 11, "b" },
	    { SAMPLE, -1, -1, "b", "x", BUT(30, 31, .revived = 10) },
	    { SAMPLE, 10, 11, "b", "b", BUT(.filtered = true) },
	    { UNPAIRED, 10, 11, "b" },
	    { SAMPLE, 10, 12, "p", "q" },
	    { SAMPLE, 10, 13, "r", "r" } },
	  { .compared = 6, .renamed = 1, .dying = 1, .different = 2, .unpaired = 1 } },
};

static const uint64_t frames[] = { 0x401000, 0x402000 };
static const struct stack kernel = { .state = STACK_NONE }, user = { frames, 2, STACK_TAKEN, false };

static void set_comm(char *to, const char *name)
{
	memset(to, 0, COMM_LEN);
	memcpy(to, name, strnlen(name, COMM_LEN - 1));
}

static pid_t counted_as(const struct step *s)
{
	return s->but.revived ? s->but.revived : s->pid;
}

/* A sample that the reader counts, or would count, in the row of @pid and these stacks. */
static void sample(struct compare *c, const struct compare_view *program, const struct compare_view *ring, pid_t pid,
		   const struct stack *k, const struct stack *u)
{
	const struct row_key key = row_key_of(ring->comm, pid, k, u);

	ck_assert_int_eq(compare_sample(c, program, ring, &key), 0);
}

static void apply_sample(struct compare *c, const struct step *s)
{
	struct compare_view program = {
		s->but.filtered, s->but.pid, s->but.tid, "", false, s->but.left, s->but.reused
	};
	struct compare_view ring = { s->but.ring_filtered, s->pid, s->tid, "", s->but.unsure, false, false };
	const struct stack *own = s->but.no_user ? &kernel : &user;

	if (!program.pid && !program.tid) {
		program.pid = s->pid;
		program.tid = s->tid;
	}
	set_comm(ring.comm, s->ring);
	if (s->what == SAMPLE)
		set_comm(program.comm, s->program);
	if (!ring.filtered)
		ck_assert_int_eq(row_add(compare_rows(c), ring.comm, counted_as(s), &kernel, own, 1, 1), 0);
	sample(c, s->what == SAMPLE ? &program : NULL, &ring, counted_as(s), &kernel, own);
}

static void apply(struct compare *c, const struct step *s)
{
	if (s->what == GAP || s->what == GAP_ENDS)
		compare_gap(c, s->what == GAP);
	else if (s->what == COMM)
		ck_assert_int_eq(compare_renamed(c, s->tid, s->but.by ? s->but.by : s->tid, s->ring), 0);
	else if (s->what == UNSHARED)
		ck_assert_int_eq(compare_unshared(c, s->tid, s->but.wanted, s->but.unsure), 0);
	else
		apply_sample(c, s);
}

static void assert_counts(const char *name, const struct compare_counts *got, const struct compare_counts *want)
{
	ck_assert_msg(got->compared == want->compared, "%s: compared %lu", name, (unsigned long)got->compared);
	ck_assert_msg(got->renamed == want->renamed, "%s: renamed %lu", name, (unsigned long)got->renamed);
	ck_assert_msg(got->dying == want->dying, "%s: dying %lu", name, (unsigned long)got->dying);
	ck_assert_msg(got->unshared == want->unshared, "%s: unshared %lu", name, (unsigned long)got->unshared);
	ck_assert_msg(got->unnamed == want->unnamed, "%s: unnamed %lu", name, (unsigned long)got->unnamed);
	ck_assert_msg(got->unseen == want->unseen, "%s: unseen %lu", name, (unsigned long)got->unseen);
	ck_assert_msg(got->remapped == want->remapped, "%s: remapped %lu", name, (unsigned long)got->remapped);
	ck_assert_msg(got->reused == want->reused, "%s: reused %lu", name, (unsigned long)got->reused);
	ck_assert_msg(got->different == want->different, "%s: different %lu", name, (unsigned long)got->different);
	ck_assert_msg(got->unpaired == want->unpaired, "%s: unpaired %lu", name, (unsigned long)got->unpaired);
}

static uint64_t value_of(const struct rows *t, const char *comm, pid_t pid)
{
	struct row row;
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < rows_nr(t); i++) {
		rows_get(t, i, &row);
		ck_assert_uint_gt(row.value, 0);
		if (!strcmp(row.key.comm, comm) && row.key.pid == pid)
			value += row.value;
	}
	return value;
}

/* Check the number of samples under each name and process after the explained ones were moved. */
static void assert_explained(struct compare *c, const struct compare_counts *counts, bool by_name)
{
	struct rows *explained = compare_explained(c);
	uint64_t moved = 0, before, after;
	struct row row;
	size_t i;

	ck_assert_ptr_nonnull(explained);
	/* one side may have filtered these */
	if (!counts->dying && !counts->remapped && !counts->reused && !by_name)
		ck_assert_uint_eq(rows_total(explained), rows_total(compare_rows(c)));
	for (i = 0; i < rows_nr(explained); i++) {
		rows_get(explained, i, &row);
		before = value_of(compare_rows(c), row.key.comm, row.key.pid);
		after = value_of(explained, row.key.comm, row.key.pid);
		moved += after > before ? after - before : 0;
		ck_assert_int_eq(row.key.kernel.state, STACK_NONE);
		if (row.key.user.nr)
			ck_assert_mem_eq(row.key.user.frames, frames, sizeof(frames));
	}
	/* A sample may be moved to a row from which another one was moved. */
	ck_assert_uint_le(moved, compare_nr_explained(counts));
	if (!compare_nr_explained(counts))
		ck_assert_uint_eq(rows_nr(explained), rows_nr(compare_rows(c)));
	rows_free(explained);
}

START_TEST(test_samples)
{
	const struct filter filter = { .comm = rows[_i].only, .mntns = rows[_i].mntns };
	struct compare *c = compare_new(&filter);
	struct compare_counts counts;
	char text[256];
	size_t i;

	ck_assert_ptr_nonnull(c);
	for (i = 0; i < MAX_STEPS && rows[_i].steps[i].what != END; i++)
		apply(c, &rows[_i].steps[i]);
	ck_assert_int_eq(compare_end(c), 0);
	ck_assert_int_eq(compare_end(c), 0); /* no difference is pending any more */
	compare_counts(c, &counts);
	assert_counts(rows[_i].name, &counts, &rows[_i].counts);
	ck_assert_uint_eq(compare_nr_explained(&counts), counts.renamed + counts.dying + counts.unshared +
								 counts.unnamed + counts.unseen + counts.remapped +
								 counts.reused);
	assert_explained(c, &counts, rows[_i].only || rows[_i].mntns);
	for (i = 0; compare_example(c, i, text, sizeof(text)); i++)
		ck_assert_ptr_nonnull(strstr(text, "bpf: "));
	ck_assert_uint_eq(i, counts.different);
	compare_free(c);
}
END_TEST

/* Pending differences are not judged before the end. */
START_TEST(test_pending)
{
	const struct step step = { SAMPLE, 10, 11, "a", "b", BUT(0) };
	struct compare *c = compare_new(&all);
	struct compare_counts counts;

	apply(c, &step);
	compare_counts(c, &counts);
	assert_counts("before the end", &counts, &(struct compare_counts){ .compared = 1 });
	ck_assert_int_eq(compare_end(c), 0);
	compare_counts(c, &counts);
	assert_counts("at the end", &counts, &(struct compare_counts){ .compared = 1, .different = 1 });
	ck_assert_int_eq(compare_renamed(c, 11, 11, "b"), 0);
	compare_counts(c, &counts);
	assert_counts("too late", &counts, &(struct compare_counts){ .compared = 1, .different = 1 });
	compare_free(c);
}
END_TEST

/* Equal except for the thread: no difference, because rows are by process. */
START_TEST(test_threads)
{
	const struct compare_view program = { .pid = 10, .tid = 12, .comm = "a" };
	const struct compare_view ring = { .pid = 10, .tid = 11, .comm = "a" };
	const struct row_key key = row_key_of("a", 10, &kernel, &user);
	struct compare *c = compare_new(&all);
	struct compare_counts counts;

	ck_assert_int_eq(rows_add(compare_rows(c), &key, 1, 1), 0);
	ck_assert_int_eq(compare_sample(c, &program, &ring, &key), 0);
	ck_assert_int_eq(compare_end(c), 0);
	compare_counts(c, &counts);
	assert_counts("threads", &counts, &(struct compare_counts){ .compared = 1 });
	compare_free(c);
}
END_TEST

/* Exactly the explained samples of a row are moved. */
START_TEST(test_moved)
{
	static const struct step steps[] = {
		{ SAMPLE, 10, 11, "old", "old", BUT(0) },
		{ SAMPLE, 10, 11, "old", "new", BUT(0) },
		{ COMM, 10, 11, "new", NULL, BUT(0) },
		{ SAMPLE, 10, 12, "old", "other", BUT(0) },
		{ SAMPLE, 10, 12, "old", "old", BUT(0) },
		{ UNPAIRED, 10, 12, "old", NULL, BUT(0) },
		{ SAMPLE, -1, -1, "old", "dead", BUT(30, 31, .revived = 10) },
		{ SAMPLE, -1, -1, ":-1", "dead", BUT(30, 31, .revived = -1) },
		{ SAMPLE, 20, 20, "x", "y", BUT(0) },
		{ COMM, 20, 20, "y", NULL, BUT(0) },
		{ SAMPLE, 20, 20, "y", "x", BUT(0) },
		{ COMM, 20, 20, "x", NULL, BUT(0) },
	};
	struct compare *c = compare_new(&all);
	struct rows *explained;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		apply(c, &steps[i]);
	ck_assert_int_eq(compare_end(c), 0);
	explained = compare_explained(c);
	ck_assert_ptr_nonnull(explained);
	ck_assert_uint_eq(rows_total(compare_rows(c)), 9);
	ck_assert_uint_eq(value_of(compare_rows(c), "old", 10), 6);
	ck_assert_uint_eq(rows_total(explained), 9);
	ck_assert_uint_eq(value_of(explained, "old", 10), 4);
	ck_assert_uint_eq(value_of(explained, "new", 10), 1);
	ck_assert_uint_eq(value_of(explained, "other", 10), 0); /* not explained */
	ck_assert_uint_eq(value_of(explained, "dead", 30), 2);
	ck_assert_uint_eq(value_of(explained, ":-1", -1), 0);
	ck_assert_uint_eq(value_of(explained, "x", 20), 1); /* the two samples changed places */
	ck_assert_uint_eq(value_of(explained, "y", 20), 1);
	ck_assert_uint_eq(rows_nr(explained), 5);
	rows_free(explained);
	compare_free(c);
}
END_TEST

/* Unexplained differences from before a loss of records count as unseen, later ones as different. */
START_TEST(test_missed)
{
	static const struct step before[] = {
		{ SAMPLE, 10, 11, "old", "other", BUT(0) },
		{ SAMPLE, 20, 20, "x", "y", BUT(0) },
	};
	static const struct step after[] = { { SAMPLE, 10, 11, "old", "other", BUT(0) } };
	struct compare *c = compare_new(&all);
	struct compare_counts counts;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(before); i++)
		apply(c, &before[i]);
	ck_assert_int_eq(compare_end(c), 0);
	compare_counts(c, &counts);
	ck_assert_uint_eq(counts.different, 2);
	compare_free(c);

	c = compare_new(&all);
	for (i = 0; i < ARRAY_SIZE(before); i++)
		apply(c, &before[i]);
	compare_gap(c, true);
	compare_gap(c, false);
	compare_missed(c);
	for (i = 0; _i && i < ARRAY_SIZE(after); i++)
		apply(c, &after[i]);
	ck_assert_int_eq(compare_end(c), 0);
	compare_counts(c, &counts);
	ck_assert_uint_eq(counts.different, _i ? 1 : 0);
	compare_free(c);
}
END_TEST

/* Rows of the program and of the ring: numbers of samples of "a", "b" and "c". */
static const struct {
	uint64_t program[3], ring[3], lost;
	int64_t added;
	uint64_t want[3];
} lost_rows[] = {
	{ { 5, 3, 0 }, { 5, 3, 0 }, 0, 0, { 5, 3, 0 } },
	{ { 5, 3, 0 }, { 4, 3, 0 }, 1, 1, { 5, 3, 0 } },
	{ { 5, 3, 2 }, { 4, 1, 0 }, 5, 5, { 5, 3, 2 } },
	{ { 5, 3, 2 }, { 4, 1, 0 }, 9, 5, { 5, 3, 2 } }, /* some lost ones are in no row: filtered */
	/* more than were lost: another difference, and all of it is shown */
	{ { 5, 3, 0 }, { 4, 3, 0 }, 0, 0, { 4, 3, 0 } },
	{ { 5, 3, 2 }, { 4, 1, 0 }, 4, 0, { 4, 1, 0 } },
	/* samples that only the ring has were not lost */
	{ { 5, 3, 0 }, { 6, 3, 0 }, 1, 0, { 6, 3, 0 } },
	{ { 5, 3, 0 }, { 4, 4, 0 }, 1, 1, { 5, 4, 0 } },
	{ { 0, 0, 0 }, { 4, 0, 0 }, 4, 0, { 4, 0, 0 } },
	{ { 4, 0, 0 }, { 0, 0, 0 }, UINT64_MAX, 4, { 4, 0, 0 } },
};

static struct rows *rows_of(const uint64_t *values)
{
	static const struct stack none = { .state = STACK_NONE };
	static const char comms[3][COMM_LEN] = { "a", "b", "c" };
	struct rows *s = rows_new();
	size_t i;

	ck_assert_ptr_nonnull(s);
	for (i = 0; i < 3; i++)
		if (values[i])
			ck_assert_int_eq(row_add(s, comms[i], 1, &none, &none, values[i], values[i]), 0);
	return s;
}

START_TEST(test_add_lost)
{
	struct rows *program = rows_of(lost_rows[_i].program), *ring = rows_of(lost_rows[_i].ring);

	ck_assert_int_eq(compare_add_lost(ring, program, lost_rows[_i].lost), lost_rows[_i].added);
	ck_assert_uint_eq(value_of(ring, "a", 1), lost_rows[_i].want[0]);
	ck_assert_uint_eq(value_of(ring, "b", 1), lost_rows[_i].want[1]);
	ck_assert_uint_eq(value_of(ring, "c", 1), lost_rows[_i].want[2]);
	rows_free(program);
	rows_free(ring);
}
END_TEST

/* An explained sample is moved with the stacks of its row. */
START_TEST(test_moved_stack)
{
	static const uint64_t other_frames[] = { 0xffffffff81000010 };
	const struct stack other = { other_frames, 1, STACK_TAKEN, true }, none = { .state = STACK_MISSED };
	const struct compare_view program = { false, 10, 10, "new" }, ring = { false, 10, 10, "old" };
	struct compare *c = compare_new(&all);
	struct rows *explained;
	struct row row;
	size_t i = 0;

	ck_assert_int_eq(row_add(compare_rows(c), "old", 10, &kernel, &user, 1, 1), 0);
	sample(c, &ring, &ring, 10, &kernel, &user);
	ck_assert_int_eq(row_add(compare_rows(c), "old", 10, &other, &none, 1, 1), 0);
	sample(c, &program, &ring, 10, &other, &none);
	ck_assert_int_eq(row_add(compare_rows(c), "old", 20, &kernel, &user, 1, 1), 0);
	ck_assert_int_eq(compare_renamed(c, 10, 10, "new"), 0);
	explained = compare_explained(c);
	ck_assert_ptr_nonnull(explained);
	ck_assert_uint_eq(rows_nr(explained), 3);
	do
		rows_get(explained, i++, &row);
	while (strcmp(row.key.comm, "new"));
	ck_assert_uint_eq(row.value, 1);
	ck_assert_int_eq(row.key.user.state, STACK_MISSED);
	ck_assert_int_eq(row.key.kernel.truncated, true);
	ck_assert_uint_eq(row.key.kernel.nr, 1);
	ck_assert_uint_eq(row.key.kernel.frames[0], other_frames[0]);
	ck_assert_uint_eq(value_of(explained, "old", 10), 1);
	ck_assert_uint_eq(value_of(explained, "old", 20), 1);
	rows_free(explained);
	compare_free(c);
}
END_TEST

/*
 * A sample that the reader filtered is in the program's row with its own stack; one that the program filtered is in no
 * row.
 */
START_TEST(test_moved_by_name)
{
	static const struct filter filter = { .comm = "in" };
	static const uint64_t other_frames[] = { 0xffffffff81000010 };
	const struct stack other = { other_frames, 1, STACK_TAKEN, true }, none = { .state = STACK_MISSED };
	const struct compare_view counted = { false, 10, 10, "in" }, filtered = { true, 10, 10, "out" };
	struct compare *c = compare_new(&filter);
	struct rows *explained;
	struct row row;

	/* the reader counts it under "in" */
	ck_assert_int_eq(row_add(compare_rows(c), "in", 10, &kernel, &user, 1, 1), 0);
	sample(c, &filtered, &counted, 10, &kernel, &user);
	ck_assert_int_eq(compare_renamed(c, 10, 10, "out"), 0);
	sample(c, &counted, &filtered, 10, &other, &none);
	ck_assert_int_eq(compare_renamed(c, 10, 10, "in"), 0);
	explained = compare_explained(c);
	ck_assert_ptr_nonnull(explained);
	ck_assert_uint_eq(rows_total(compare_rows(c)), 1);
	ck_assert_uint_eq(rows_nr(explained), 1);
	rows_get(explained, 0, &row);
	ck_assert_str_eq(row.key.comm, "in");
	ck_assert_uint_eq(row.value, 1);
	ck_assert_int_eq(row.key.user.state, STACK_MISSED);
	ck_assert_uint_eq(row.key.kernel.nr, 1);
	ck_assert_uint_eq(row.key.kernel.frames[0], other_frames[0]);
	rows_free(explained);
	compare_free(c);
}
END_TEST

/* Many threads inside a renaming at once, many samples of one thread. */
START_TEST(test_many)
{
	struct step s = { SAMPLE, 10, 0, "old", "new", BUT(0) };
	struct compare *c = compare_new(&all);
	struct compare_counts counts;
	char text[256];
	pid_t tid;

	for (s.tid = 1; s.tid <= 1000; s.tid++)
		apply(c, &s);
	for (tid = 1000; tid > 1; tid -= 2)
		ck_assert_int_eq(compare_renamed(c, tid, tid, "new"), 0);
	ck_assert_int_eq(compare_end(c), 0);
	compare_counts(c, &counts);
	assert_counts("many", &counts, &(struct compare_counts){ .compared = 1000, .renamed = 500, .different = 500 });
	assert_explained(c, &counts, false);
	/* only some are kept as examples */
	ck_assert(compare_example(c, 9, text, sizeof(text)));
	ck_assert(!compare_example(c, 10, text, sizeof(text)));
	ck_assert(!compare_example(c, SIZE_MAX, text, sizeof(text)));
	compare_free(c);
}
END_TEST

/* A process can take any name. */
static const struct {
	struct step step;
	const char *want;
} examples[] = {
	{ { SAMPLE, 10, 11, "a", "b", BUT(0) }, "bpf: 'b', thread 11 of 10; perfring: 'a', thread 11 of 10" },
	{ { SAMPLE, 10, 11, "a", "a", BUT(20, 21) }, "bpf: 'a', thread 21 of 20; perfring: 'a', thread 11 of 10" },
	{ { SAMPLE, 10, 11, "a", "a", BUT(.filtered = true) },
	  "bpf: filtered out, of thread 11 of 10; perfring: 'a', thread 11 of 10" },
	{ { SAMPLE, 10, 11, "a", "a", BUT(.ring_filtered = true) },
	  "bpf: 'a', thread 11 of 10; perfring: filtered out, of thread 11 of 10" },
	{ { SAMPLE, 10, 11, "\1\t\n\r\033[2J\037", "\177\200\233\377", BUT(0) },
	  "bpf: '???"
	  "?', thread 11 of 10; perfring: '?????[2J"
	  "?', thread 11 of 10" },
	{ { SAMPLE, 10, 11, " ~caf\303\251", "", BUT(0) },
	  "bpf: '', thread 11 of 10; perfring: ' ~caf?"
	  "?', thread 11 of 10" },
	{ { SAMPLE, 10, 11, "fifteen-letters", "%s%n%s%n%s%n%s%", BUT(INT32_MIN, INT32_MIN) },
	  "bpf: '%s%n%s%n%s%n%s%', thread -2147483648 of -2147483648; "
	  "perfring: 'fifteen-letters', thread 11 of 10" },
};

START_TEST(test_example)
{
	struct compare *c = compare_new(&all);
	char text[256], small[8];

	apply(c, &examples[_i].step);
	ck_assert_int_eq(compare_end(c), 0);
	ck_assert(compare_example(c, 0, text, sizeof(text)));
	ck_assert_str_eq(text, examples[_i].want);
	ck_assert(compare_example(c, 0, small, sizeof(small)));
	ck_assert_uint_eq(strlen(small), sizeof(small) - 1);
	ck_assert(!compare_example(c, 1, text, sizeof(text)));
	compare_free(c);
}
END_TEST

/* A name without a terminating zero is not read beyond its end. */
START_TEST(test_unterminated)
{
	struct compare_view program = { false, 10, 10, "" }, ring = { false, 10, 10, "old" };
	struct compare *c = compare_new(&all);
	struct compare_counts counts;
	char text[256];

	memset(program.comm, 'x', sizeof(program.comm));
	ck_assert_int_eq(row_add(compare_rows(c), ring.comm, 10, &kernel, &user, 1, 1), 0);
	sample(c, &program, &ring, 10, &kernel, &user);
	ck_assert_int_eq(compare_renamed(c, 10, 10, "other"), 0);
	ck_assert_int_eq(compare_end(c), 0);
	compare_counts(c, &counts);
	ck_assert_uint_eq(counts.different, 1);
	ck_assert(compare_example(c, 0, text, sizeof(text)));
	ck_assert_str_eq(text, "bpf: 'xxxxxxxxxxxxxxx', thread 10 of 10; perfring: 'old', thread 10 of 10");
	compare_free(c);
	compare_free(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("compare");
	TCase *tc = tcase_create("compare");

	tcase_add_loop_test(tc, test_samples, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, test_pending);
	tcase_add_test(tc, test_threads);
	tcase_add_test(tc, test_moved);
	tcase_add_test(tc, test_moved_stack);
	tcase_add_test(tc, test_moved_by_name);
	tcase_add_loop_test(tc, test_missed, 0, 2);
	tcase_add_loop_test(tc, test_add_lost, 0, ARRAY_SIZE(lost_rows));
	tcase_add_test(tc, test_many);
	tcase_add_loop_test(tc, test_example, 0, ARRAY_SIZE(examples));
	tcase_add_test(tc, test_unterminated);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
