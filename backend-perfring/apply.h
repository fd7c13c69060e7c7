/* SPDX-License-Identifier: Apache-2.0 */
/* What a decoded record does: side-band to tasks, samples to rows. */
#ifndef PERFRING_APPLY_H
#define PERFRING_APPLY_H

#include "backend-perfring/decode.h"
#include "core/backend.h"
#include "core/tasks.h"

struct capture;

/** struct last_exit - the task that exited last on a CPU. */
struct last_exit {
	pid_t pid, tid; /* 0: none yet */
	char comm[COMM_LEN];
};

/**
 * struct applier
 * @exits: one entry for each ring
 * @books: of the whole backend: what is applied is counted here, what is read by perfring.c
 */
struct applier {
	struct capture *cap;
	struct last_exit *exits;
	struct books books;
};

/** apply_record() - records come in time order. Return: 0 or -ENOMEM, -E2BIG from the tables. */
int apply_record(struct applier *a, uint32_t ring, const struct record *r);

#endif
