/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that are known, and what was mapped in them over time. Part of struct tasks. */
#ifndef CORE_TASKS_PROCESSES_H
#define CORE_TASKS_PROCESSES_H

#include "core/tasks/comm.h"
#include "core/tasks/maps.h"
#include "core/tasks/pid_table.h"

/** struct reading - of /proc/PID/maps. Shared by the images that have something of it: that of @pid, and those of its
 * children. */
struct reading {
	unsigned int refs;
	pid_t pid;
	uint64_t end_ns; /* CLOCK_MONOTONIC */
	bool failed;     /* what was mapped before the events that follow is not known */
	bool late;       /* it was of something that came later: nothing of it, or mixed with it, is to be believed */
};

/**
 * struct image - a process from a fork or an exec to the next exec, or to a mapping that changes what an address shows.
 */
struct image {
	char comm[COMM_LEN]; /* the name it began with; "": not known */
	uint32_t number;     /* no other image of any process has it; never 0 */
	uint64_t comm_ns;    /* when /proc told it; 0: an event did */
	struct maps *maps;
	struct reading *reading; /* NULL: all of @maps was told by events */
	uint32_t cgroup;         /* see tasks_cgroups.c */
	bool forked;             /* it is the first one of its process */
	bool sampled;            /* set by process_set_sampled() */
	bool remapped;           /* it began with a mapping, and has the program of the image before it */
	uint64_t began_ns;       /* CLOCK_MONOTONIC; 0: not known */
	uint64_t ended_ns;       /* when the next one began; 0: not known, or it has not ended */
};

/** struct process - its images, the newest last. */
struct process {
	struct pid_entry entry;
	bool exited;   /* set by process_set_exited() */
	bool learned;  /* its mappings are known: from its beginning on, or from /proc */
	bool executed; /* its newest program, as a record told */
	bool inherits; /* it has executed no program since its parent forked it */
	bool anew;     /* not all of them: see tasks_read_anew() */
	pid_t parent;  /* that forked it; 0: no record told */
	pid_t memory;  /* processes with the same number here have the same memory; 0: it has its own */
	pid_t shown;   /* thread in whose folder of /proc the process is to be seen; 0: its own number will do */
	struct image *images;
	size_t nr_images, cap_images, nr_sampled, nr_remapped;
	const struct mapped_file *mapped; /* in the last record of a mapping; compared alone, it may have been freed, */
	uint64_t mapped_ns;               /* when that was, */
	bool sampled_since;               /* and whether a sample has come since */
};

/** struct processes - all zeros but for the budget: none. */
struct processes {
	struct pid_table all;
	size_t nr_exited, nr_images;
	uint32_t numbers;  /* that images have had so far */
	uint64_t event_ns; /* of the record that is applied; 0: unknown */
	uint64_t since_ns; /* see tasks_report() */
	struct maps_budget mappings;
};

/** processes_find() - NULL: it is not known. */
struct process *processes_find(const struct processes *ps, pid_t pid);
/** processes_share() - @p and @other have the same memory: what one of them maps, the other has mapped, too. */
void processes_share(struct process *p, struct process *other);

/**
 * processes_sharing() - the next process that has the same memory as @p and lives, from place *@i of the table on.
 * NULL: none; if there was none from 0 on, @p has its own memory from then on.
 */
struct process *processes_sharing(const struct processes *ps, struct process *p, size_t *i);

/** processes_get() - a new one, without images, if there is none. NULL: no memory. */
struct process *processes_get(struct processes *ps, pid_t pid);
void processes_delete(struct processes *ps, struct process *p);
void processes_release(struct processes *ps);

void process_set_exited(struct processes *ps, struct process *p, bool exited);

/** process_set_sampled() - a sample has addresses of the newest image: images of which this is not said go first. */
void process_set_sampled(struct process *p);

/**
 * process_add_image() - begin a new image, called @comm.
 * @from: it begins with what this one has, which is of another process; NULL: with nothing
 * Return: 0 or -ENOMEM.
 */
int process_add_image(struct processes *ps, struct process *p, const char *comm, const struct image *from);

/**
 * process_is_brief() - has a mapping begun the newest image a moment ago, and has no sample come since? Then another
 * mapping can be a part of it.
 */
bool process_is_brief(const struct processes *ps, const struct process *p);

/**
 * process_remap() - a mapping is about to change what an address shows: begin a new image of the same program.
 * Return: 0 or -ENOMEM.
 */
int process_remap(struct processes *ps, struct process *p);

/**
 * process_remapped() - that has been done. If an earlier image of the program maps the same, it goes on, and the new
 * one is dropped: who loads two libraries in turn has two images.
 */
void process_remapped(struct processes *ps, struct process *p);

/** process_newest() - the newest image; NULL: there is none. */
struct image *process_newest(const struct process *p);

/**
 * process_writable() - the newest image, for more to be put in; a late reading gives way to nothing, and to another
 * reading. NULL: there is none, or no memory.
 */
struct image *process_writable(struct processes *ps, struct process *p);

/** image_is_late() - is what was read for it not to be believed? NULL: no. */
bool image_is_late(const struct image *im);

/** image_begin_reading() - of the mappings of @pid; failed until it is done. NULL: no memory. */
struct reading *image_begin_reading(struct image *im, pid_t pid);

/** image_find() - the mapping that shows @addr; NULL: none, or it is not known, also if @im is NULL. */
const struct mapping *image_find(const struct image *im, uint64_t addr);

/** process_named() - its newest image that began as @comm, else its newest one; NULL: it has none. */
const struct image *process_named(const struct process *p, const char *comm);

/** struct place_found - a mapping, and the jitdump that the same image maps; NULL: none. */
struct place_found {
	const struct mapping *mapping;
	const struct mapped_file *jitdump;
};

/** process_find() - what showed @addr, by the rule in tasks.h. Return: as tasks_find(). */
int process_find(const struct processes *ps, const struct process *p, const char *comm, uint32_t image, uint64_t addr,
		 struct place_found *out);

#endif
