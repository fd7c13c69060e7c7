/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of entries that are found by a pid, and do not move in memory. */
#ifndef CORE_TASKS_PID_TABLE_H
#define CORE_TASKS_PID_TABLE_H

#include "core/base/intern.h"

#include <sys/types.h>

/** struct pid_entry - each entry begins with this. */
struct pid_entry {
	pid_t id;
};

/** struct pid_table - all zeros is a valid empty table. It owns its entries. */
struct pid_table {
	struct intern_table slots;
};

/** pid_table_find() - the entry of @id, or NULL. */
void *pid_table_find(const struct pid_table *t, pid_t id);

/** pid_table_get() - the entry of @id; a new zeroed one of @size bytes if there is none. NULL: no memory. */
void *pid_table_get(struct pid_table *t, pid_t id, size_t size);

/** pid_table_nr(), pid_table_at() - the number of entries; the entry at index @i, below that number, in no order. */
size_t pid_table_nr(const struct pid_table *t);
void *pid_table_at(const struct pid_table *t, size_t i);

/** pid_table_delete() - free @entry; the last entry takes its index. */
void pid_table_delete(struct pid_table *t, struct pid_entry *entry);

/** pid_table_release() - free all entries; the table is empty and usable afterwards. */
void pid_table_release(struct pid_table *t);

#endif
