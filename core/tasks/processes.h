/* SPDX-License-Identifier: Apache-2.0 */
/* The known processes, and their mappings over time. Part of struct tasks. */
#ifndef CORE_TASKS_PROCESSES_H
#define CORE_TASKS_PROCESSES_H

#include "core/tasks/comm.h"
#include "core/tasks/maps.h"
#include "core/tasks/pid_table.h"

/**
 * struct reading - a reading of /proc/PID/maps. Shared by the images that have mappings of it: those of @pid, and those
 * of its children.
 */
struct reading {
	unsigned int refs;
	pid_t pid;
	uint64_t end_ns; /* CLOCK_MONOTONIC; of an earlier one that this one confirms; 0: no record is older */
	bool failed;     /* it is not complete: mappings from before the events are not known */
	bool late;       /* it may be of a later image: do not believe it, nor maps with mappings of it */
};

/**
 * struct image - a process from a fork or an exec to the next exec, or to a mapping that changes the file at an
 * address.
 */
struct image {
	char comm[COMM_LEN]; /* the name it began with; "": not known */
	uint32_t number;     /* no other image of any process has it; never 0 */
	uint64_t comm_ns;    /* when @comm was read from /proc; 0: it is from an event */
	struct maps *maps;
	struct reading *reading; /* NULL: all of @maps is from events */
	uint32_t cgroup;         /* see tasks_cgroups.c */
	bool forked;             /* it is the first one of its process */
	bool sampled;            /* a sample has addresses of it: process_set_sampled() */
	bool remapped;           /* it began with a mapping, and has the program of the image before it */
	uint64_t began_ns;       /* CLOCK_MONOTONIC; 0: not known */
	uint64_t ended_ns;       /* when the next one began; 0: not known, or it has not ended */
};

/** struct process - its images, the newest last. */
struct process {
	struct pid_entry entry;
	bool exited;     /* set by process_set_exited() */
	bool learned;    /* its mappings are known: from its beginning on, or from /proc */
	bool executed;   /* a record of an exec has begun its newest program */
	bool inherits;   /* it has not called exec since its parent forked it */
	bool anew;       /* some mappings may be missing: see tasks_read_anew() */
	pid_t parent;    /* process that forked it; 0: no record */
	pid_t shown;     /* its leader has ended: a thread that is read in /proc instead; 0: none */
	uint64_t memory; /* processes with the same number here have the same memory; 0: it has its own */
	struct image *images;
	size_t nr_images, cap_images, nr_sampled, nr_remapped;
	const struct mapped_file *mapped; /* file of the last mapping record; only compare it, it may have been freed */
	uint64_t mapped_ns;               /* time of that record */
	bool sampled_since;               /* a sample has come since */
};

/** struct processes - all zeros, except for the budget: no process. */
struct processes {
	struct pid_table all;
	size_t nr_exited, nr_images;
	uint32_t numbers;  /* the number that the last new image got */
	uint64_t memories; /* numbers given so far to memory that processes share */
	uint64_t event_ns; /* of the current record; 0: unknown */
	uint64_t since_ns; /* see tasks_report() */
	struct maps_budget mappings;
};

/** processes_find() - NULL: it is not known. */
struct process *processes_find(const struct processes *ps, pid_t pid);
/** processes_share() - @p and @other share their memory: each mapping of one of them is also in the other. */
void processes_share(struct processes *ps, struct process *p, struct process *other);

/**
 * processes_sharing() - the next process that lives and shares the memory of @p; the search begins at index *@i of the
 * table. NULL: no more; if a search that began at 0 finds none, @p is noted to have its own memory.
 */
struct process *processes_sharing(const struct processes *ps, struct process *p, size_t *i);

/** processes_get() - find it, or add one without images. NULL: no memory. */
struct process *processes_get(struct processes *ps, pid_t pid);
void processes_delete(struct processes *ps, struct process *p);
void processes_release(struct processes *ps);

void process_set_exited(struct processes *ps, struct process *p, bool exited);

/**
 * process_set_sampled() - a sample has addresses of the newest image. When there are too many images, those without
 * samples are dropped first.
 */
void process_set_sampled(struct process *p);

/**
 * process_add_image() - begin a new image with the name @comm.
 * @from: an image, of this or of another process, whose mappings it begins with; NULL: with none
 * Return: 0 or -ENOMEM.
 */
int process_add_image(struct processes *ps, struct process *p, const char *comm, const struct image *from);

/**
 * process_is_brief() - true if a mapping has begun the newest image a moment ago, and no sample has come since. Then
 * another mapping can be put into the same image.
 */
bool process_is_brief(const struct processes *ps, const struct process *p);

/**
 * process_remap() - a mapping is about to change the file at an address: begin a new image of the same program.
 * Return: 0 or -ENOMEM.
 */
int process_remap(struct processes *ps, struct process *p);

/**
 * process_remapped() - the mapping has been inserted. If an earlier image of the program has the same mappings, that
 * one goes on, and the new one is dropped: a process that maps two libraries in turn at the same addresses has two
 * images, however often.
 */
void process_remapped(struct processes *ps, struct process *p);

/** process_newest() - the newest image; NULL: there is none. */
struct image *process_newest(const struct process *p);

/**
 * process_writable() - the newest image, to insert mappings; the mappings of a late reading are dropped first. NULL:
 * there is none, or no memory.
 */
struct image *process_writable(struct processes *ps, struct process *p);

/** image_is_late() - true if its reading cannot be believed. False for NULL. */
bool image_is_late(const struct image *im);

/**
 * image_begin_reading() - begin a reading of the mappings of @pid. Its @failed is true until you clear it. NULL: no
 * memory.
 */
struct reading *image_begin_reading(struct image *im, pid_t pid);

/** image_hold_reading() - another reference to its reading. NULL: it has none. */
struct reading *image_hold_reading(const struct image *im);
/** image_set_reading() - let it have the reading @r, which may be NULL, instead; takes over the reference. */
void image_set_reading(struct image *im, struct reading *r);
/** reading_release() - give up a reference; NULL is fine. */
void reading_release(struct reading *r);

/** image_find() - the mapping at @addr; NULL: none, or it is not known, also if @im is NULL. */
const struct mapping *image_find(const struct image *im, uint64_t addr);

/** process_named() - its newest image that began as @comm, else its newest one; NULL: it has none. */
const struct image *process_named(const struct process *p, const char *comm);

/** struct place_found - a mapping, and the jitdump of the same image; NULL: none. */
struct place_found {
	const struct mapping *mapping;
	const struct mapped_file *jitdump;
};

/** process_find() - the mapping at @addr, by the rule in tasks.h. Return: as tasks_find(). */
int process_find(const struct processes *ps, const struct process *p, const char *comm, uint32_t image, uint64_t addr,
		 struct place_found *out);

#endif
