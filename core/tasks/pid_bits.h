/* SPDX-License-Identifier: Apache-2.0 */
/* A bit for each process id of the host. Any thread may call pid_bits_set() and pid_bits_clear() at any time. */
#ifndef CORE_TASKS_PID_BITS_H
#define CORE_TASKS_PID_BITS_H

#include "core/host/host.h"

struct filter;

/** struct pid_bits - all zero: no id has a bit. */
struct pid_bits {
	uint32_t nr_words;
	uint64_t *words;
};

/** pid_bits_init() - no bit is set. Return: 0 or -ENOMEM; then @b is all zero. */
int pid_bits_init(struct pid_bits *b, const struct host *h);
void pid_bits_release(struct pid_bits *b);

/** pid_bits_set(), pid_bits_clear() - true if it has changed the bit of @pid. Ids above the host's limit have none. */
bool pid_bits_set(struct pid_bits *b, pid_t pid);
bool pid_bits_clear(struct pid_bits *b, pid_t pid);

/** pid_bits_set_existing() - set the bits of the processes that filter_pids() finds. */
void pid_bits_set_existing(struct pid_bits *b, const struct filter *filter, const struct host *h);

#endif
