/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct tasks, for the files that make it up: tasks.c (records of processes and threads), tasks_names.c (names and
 * mount namespaces), tasks_maps.c (mappings), tasks_cgroups.c (cgroups).
 */
#ifndef CORE_TASKS_TASKS_STATE_H
#define CORE_TASKS_TASKS_STATE_H

#include "core/base/strings.h"
#include "core/tasks/known_files.h"
#include "core/tasks/processes.h"
#include "core/tasks/threads.h"

struct host;

struct tasks {
	const struct host *host; /* NULL: do not read /proc */
	struct threads threads;
	struct processes processes;
	struct known_files files;
	bool (*on_mapped)(void *ctx, pid_t pid, const struct mapping *m);
	void *on_mapped_ctx;
	int (*on_copied)(void *ctx, pid_t pid, const struct mapping *m, const struct mapping *near,
			 struct mapping *pieces, size_t max); /* see tasks_on_copied() */
	void *on_copied_ctx;
	struct strings cgroups; /* paths of cgroups */
	size_t cgroup_bytes;
	bool keeps_cgroups;
	uint64_t unread;            /* see tasks_unread() */
	uint64_t refused;           /* mappings for which there was no room */
	uint64_t began_ns, long_ns; /* time of tasks_new(); CPU time spent on long lists of mappings since then */
	uint64_t overlong;          /* processes whose list took too long */
	size_t forget_exited, forget_files, forget_mappings; /* tasks_forget() is due at these numbers */
};

/** tasks_read_name() - read the name of a thread that has none yet, and has not ended. 0 or -ENOMEM. */
int tasks_read_name(struct tasks *t, pid_t pid, pid_t tid);

/** tasks_read_cgroup() - read the cgroup of the newest image of @p, if it is wanted and was not read yet. */
void tasks_read_cgroup(struct tasks *t, struct process *p);

/** tasks_named_thread() - the thread if it has a name or /proc knows one, else NULL. */
const struct thread *tasks_named_thread(struct tasks *t, pid_t pid, pid_t tid);

#endif
