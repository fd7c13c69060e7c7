// SPDX-License-Identifier: Apache-2.0
#include "core/rows/stacks.h"

#include "core/base/grow.h"
#include "core/base/hash.h"
#include "core/base/saturate.h"

#include <errno.h>
#include <string.h>

/* An interned stack: its frames are arena[@at .. @at + @nr). */
struct interned {
	size_t at;
	uint32_t nr;
	uint8_t state;
	bool truncated;
};

struct row_key {
	char comm[COMM_LEN];
	int32_t pid;
	uint32_t kernel, user;
};
_Static_assert(sizeof(struct row_key) == COMM_LEN + 12, "hashed and compared as bytes: no padding");

struct row {
	struct row_key key;
	uint64_t value, times;
};

struct stacks {
	uint64_t *arena;
	size_t arena_used, arena_cap;
	struct interned *stacks;
	size_t nr_stacks, stacks_cap;
	struct row *rows;
	size_t nr_rows, rows_cap;
	struct hash_index stack_index, row_index;
	uint32_t last; /* row added to */
	uint64_t total;
};

struct stacks *stacks_new(void)
{
	return calloc(1, sizeof(struct stacks));
}

void stacks_free(struct stacks *t)
{
	if (!t)
		return;
	hash_release(&t->stack_index);
	hash_release(&t->row_index);
	free(t->arena);
	free(t->stacks);
	free(t->rows);
	free(t);
}

static bool same_stack(const void *table, uint32_t pos, const void *key)
{
	const struct stacks *t = table;
	const struct interned *in = &t->stacks[pos];
	const struct stack *s = key;

	return in->nr == s->nr && in->state == s->state && in->truncated == s->truncated &&
	       (!s->nr || !memcmp(&t->arena[in->at], s->frames, s->nr * sizeof(*s->frames)));
}

/* Return: 0 and the stack's number, or -errno with nothing changed. */
static int intern_stack(struct stacks *t, const struct stack *s, uint32_t *id)
{
	uint64_t hash = hash_bytes(s->frames, s->nr * sizeof(*s->frames), (uint64_t)s->state << 1 | s->truncated);
	uint64_t *arena;
	struct interned *stacks;
	int rc;

	*id = hash_find(&t->stack_index, hash, same_stack, t, s);
	if (*id != HASH_NONE)
		return 0;
	if (t->nr_stacks >= HASH_NONE - 1)
		return -E2BIG;
	arena = grow(t->arena, &t->arena_cap, t->arena_used, s->nr, sizeof(*arena));
	if (!arena)
		return -ENOMEM;
	t->arena = arena;
	stacks = grow(t->stacks, &t->stacks_cap, t->nr_stacks, 1, sizeof(*stacks));
	if (!stacks)
		return -ENOMEM;
	t->stacks = stacks;
	rc = hash_add(&t->stack_index, hash, (uint32_t)t->nr_stacks);
	if (rc)
		return rc;
	if (s->nr)
		memcpy(&arena[t->arena_used], s->frames, s->nr * sizeof(*arena));
	stacks[t->nr_stacks] = (struct interned){ t->arena_used, s->nr, s->state, s->truncated };
	t->arena_used += s->nr;
	*id = (uint32_t)t->nr_stacks++;
	return 0;
}

static bool same_row(const void *table, uint32_t pos, const void *key)
{
	const struct stacks *t = table;

	return !memcmp(&t->rows[pos].key, key, sizeof(struct row_key));
}

static int add_row(struct stacks *t, const struct row_key *key, uint64_t value, uint64_t times)
{
	uint64_t hash = hash_bytes(key, sizeof(*key), 0);
	uint32_t pos = hash_find(&t->row_index, hash, same_row, t, key);
	struct row *rows;
	int rc;

	if (pos != HASH_NONE) {
		t->rows[pos].value = add_or_max(t->rows[pos].value, value);
		t->rows[pos].times = add_or_max(t->rows[pos].times, times);
		t->last = pos;
		return 0;
	}
	if (t->nr_rows >= HASH_NONE - 1)
		return -E2BIG;
	rows = grow(t->rows, &t->rows_cap, t->nr_rows, 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	t->rows = rows;
	rc = hash_add(&t->row_index, hash, (uint32_t)t->nr_rows);
	if (rc)
		return rc;
	t->last = (uint32_t)t->nr_rows;
	rows[t->nr_rows++] = (struct row){ *key, value, times };
	return 0;
}

int stacks_add_times(struct stacks *t, const char *comm, pid_t pid, const struct stack *kernel,
		     const struct stack *user, uint64_t value, uint64_t times)
{
	struct row_key key = { .pid = pid };
	int rc;

	memcpy(key.comm, comm, strnlen(comm, COMM_LEN - 1));
	rc = intern_stack(t, kernel, &key.kernel);
	if (rc)
		return rc;
	rc = intern_stack(t, user, &key.user);
	if (rc)
		return rc;
	rc = add_row(t, &key, value, times);
	if (rc)
		return rc;
	t->total = add_or_max(t->total, value);
	return 0;
}

int stacks_add(struct stacks *t, const char *comm, pid_t pid, const struct stack *kernel, const struct stack *user,
	       uint64_t value)
{
	return stacks_add_times(t, comm, pid, kernel, user, value, value);
}

uint32_t stacks_last(const struct stacks *t)
{
	return t->last;
}

size_t stacks_nr_rows(const struct stacks *t)
{
	return t->nr_rows;
}

static struct stack borrow(const struct stacks *t, uint32_t id)
{
	const struct interned *in = &t->stacks[id];

	return (struct stack){ &t->arena[in->at], in->nr, in->state, in->truncated };
}

void stacks_row(const struct stacks *t, size_t i, struct stack_row *out)
{
	const struct row *r = &t->rows[i];

	memcpy(out->comm, r->key.comm, COMM_LEN);
	out->pid = r->key.pid;
	out->kernel = borrow(t, r->key.kernel);
	out->user = borrow(t, r->key.user);
	out->kernel_id = r->key.kernel;
	out->user_id = r->key.user;
	out->value = r->value;
	out->times = r->times;
}

size_t stacks_nr_stacks(const struct stacks *t)
{
	return t->nr_stacks;
}

uint64_t stacks_total(const struct stacks *t)
{
	return t->total;
}
