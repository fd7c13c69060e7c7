// SPDX-License-Identifier: Apache-2.0
#include "core/rows/rows.h"

#include "core/base/grow.h"
#include "core/base/saturate.h"

#include <errno.h>
#include <string.h>

/* A hash table of entries of one type. */
struct table {
	void *v;
	size_t nr, cap;
	struct hash_index index;
};

/* The parts of a key beside the stacks: there are few of these, shared by many rows. */
struct origin {
	char comm[COMM_LEN];
	int32_t pid;
	uint32_t image;
};
_Static_assert(sizeof(struct origin) == COMM_LEN + 8, "hashed and compared as bytes: no padding");

/* An interned stack: its frames are arena[@at .. @at + @nr). */
struct interned {
	size_t at;
	uint32_t nr;
	uint8_t state;
	bool truncated;
};

/* A key as the numbers of its interned parts; HASH_NONE: no row has such a part. */
struct parts {
	uint32_t origin, kernel, user;
};
_Static_assert(sizeof(struct parts) == 12, "hashed and compared as bytes: no padding");

struct sum {
	struct parts parts;
	uint64_t value, times;
};

#define RECENT 256 /* a power of two */

struct rows {
	struct table origins, stacks, sums;
	frame_t *arena;
	size_t arena_used, arena_cap;
	uint32_t last; /* the row that rows_add() added to last */
	/* Cache of the numbers of origins, indexed by the last bits of the pid: most origins repeat */
	uint32_t recent[RECENT];
	uint64_t total, times;
};

struct rows *rows_new(void)
{
	return calloc(1, sizeof(struct rows));
}

static void table_release(struct table *t)
{
	hash_release(&t->index);
	free(t->v);
}

void rows_free(struct rows *t)
{
	if (!t)
		return;
	table_release(&t->origins);
	table_release(&t->stacks);
	table_release(&t->sums);
	free(t->arena);
	free(t);
}

/* Add @entry of @size bytes, which is not in the table. Return: 0 and its number; -errno with nothing changed. */
static int table_add(struct table *t, uint64_t hash, const void *entry, size_t size, uint32_t *pos)
{
	char *v;
	int rc;

	if (t->nr >= HASH_NONE - 1)
		return -E2BIG;
	v = grow(t->v, &t->cap, t->nr, 1, size);
	if (!v)
		return -ENOMEM;
	t->v = v;
	rc = hash_add(&t->index, hash, (uint32_t)t->nr);
	if (rc)
		return rc;
	memcpy(v + t->nr * size, entry, size);
	*pos = (uint32_t)t->nr++;
	return 0;
}

static struct origin origin_of(const struct row_key *key)
{
	struct origin o = { .pid = key->pid, .image = key->image };

	memcpy(o.comm, key->comm, strnlen(key->comm, COMM_LEN - 1));
	return o;
}

static bool same_origin(const void *table, uint32_t pos, const void *key)
{
	return !memcmp((const struct origin *)table + pos, key, sizeof(struct origin));
}

static uint32_t find_origin(const struct rows *t, const struct origin *o, uint64_t hash)
{
	return hash_find(&t->origins.index, hash, same_origin, t->origins.v, o);
}

/* Find or add an origin. Return: 0 and its number, or -errno. */
static int intern_origin(struct rows *t, const struct origin *o, uint32_t *id)
{
	uint32_t *recent = &t->recent[(uint32_t)o->pid % RECENT];
	uint64_t hash;
	int rc = 0;

	*id = *recent;
	if (t->origins.nr && same_origin(t->origins.v, *id, o))
		return 0;
	hash = hash_bytes(o, sizeof(*o), 0);
	*id = find_origin(t, o, hash);
	if (*id == HASH_NONE)
		rc = table_add(&t->origins, hash, o, sizeof(*o), id);
	if (!rc)
		*recent = *id;
	return rc;
}

static bool same_stack(const void *table, uint32_t pos, const void *key)
{
	const struct rows *t = table;
	const struct interned *in = (const struct interned *)t->stacks.v + pos;
	const struct stack *s = key;

	return in->nr == s->nr && in->state == s->state && in->truncated == s->truncated &&
	       (!s->nr || !memcmp(&t->arena[in->at], s->frames, s->nr * sizeof(*s->frames)));
}

static uint64_t hash_stack(const struct stack *s)
{
	return hash_bytes(s->frames, s->nr * sizeof(*s->frames), (uint64_t)s->state << 1 | s->truncated);
}

static uint32_t find_stack(const struct rows *t, const struct stack *s, uint64_t hash)
{
	return hash_find(&t->stacks.index, hash, same_stack, t, s);
}

/* Find or add a stack. Return: 0 and its number, or -errno. */
static int intern_stack(struct rows *t, const struct stack *s, uint32_t *id)
{
	uint64_t hash = hash_stack(s);
	struct interned new;
	frame_t *arena;
	int rc;

	*id = find_stack(t, s, hash);
	if (*id != HASH_NONE)
		return 0;
	arena = grow(t->arena, &t->arena_cap, t->arena_used, s->nr, sizeof(*arena));
	if (!arena)
		return -ENOMEM;
	t->arena = arena;
	new = (struct interned){ t->arena_used, s->nr, s->state, s->truncated };
	rc = table_add(&t->stacks, hash, &new, sizeof(new), id);
	if (rc)
		return rc;
	if (s->nr)
		memcpy(&arena[t->arena_used], s->frames, s->nr * sizeof(*arena));
	t->arena_used += s->nr;
	return 0;
}

static bool same_parts(const void *table, uint32_t pos, const void *key)
{
	return !memcmp(&((const struct sum *)table)[pos].parts, key, sizeof(struct parts));
}

static uint32_t find_sum(const struct rows *t, const struct parts *parts, uint64_t hash)
{
	return hash_find(&t->sums.index, hash, same_parts, t->sums.v, parts);
}

static int add_sum(struct rows *t, const struct parts *parts, uint64_t value, uint64_t times)
{
	uint64_t hash = hash_bytes(parts, sizeof(*parts), 0);
	uint32_t pos = find_sum(t, parts, hash);
	struct sum *sum;
	int rc;

	if (pos == HASH_NONE) {
		rc = table_add(&t->sums, hash, &(struct sum){ *parts, value, times }, sizeof(*sum), &pos);
		if (rc)
			return rc;
	} else {
		sum = (struct sum *)t->sums.v + pos;
		sum->value = add_or_max(sum->value, value);
		sum->times = add_or_max(sum->times, times);
	}
	t->last = pos;
	t->total = add_or_max(t->total, value);
	t->times += times;
	return 0;
}

int rows_add(struct rows *t, const struct row_key *key, uint64_t value, uint64_t times)
{
	const struct origin origin = origin_of(key);
	struct parts parts;
	int rc = intern_origin(t, &origin, &parts.origin);

	if (!rc)
		rc = intern_stack(t, &key->kernel, &parts.kernel);
	if (!rc)
		rc = intern_stack(t, &key->user, &parts.user);
	return rc ? rc : add_sum(t, &parts, value, times);
}

uint32_t rows_find(const struct rows *t, const struct row_key *key)
{
	const struct origin origin = origin_of(key);
	const struct parts parts = {
		find_origin(t, &origin, hash_bytes(&origin, sizeof(origin), 0)),
		find_stack(t, &key->kernel, hash_stack(&key->kernel)),
		find_stack(t, &key->user, hash_stack(&key->user)),
	};

	return find_sum(t, &parts, hash_bytes(&parts, sizeof(parts), 0));
}

uint32_t rows_last(const struct rows *t)
{
	return t->last;
}

size_t rows_nr(const struct rows *t)
{
	return t->sums.nr;
}

static struct stack borrow(const struct rows *t, uint32_t id)
{
	const struct interned *in = (const struct interned *)t->stacks.v + id;

	return (struct stack){ &t->arena[in->at], in->nr, in->state, in->truncated };
}

void rows_get(const struct rows *t, size_t i, struct row *out)
{
	const struct sum *sum = (const struct sum *)t->sums.v + i;
	const struct origin *o = (const struct origin *)t->origins.v + sum->parts.origin;

	memcpy(out->key.comm, o->comm, COMM_LEN);
	out->key.pid = o->pid;
	out->key.image = o->image;
	out->key.kernel = borrow(t, sum->parts.kernel);
	out->key.user = borrow(t, sum->parts.user);
	out->kernel_id = sum->parts.kernel;
	out->user_id = sum->parts.user;
	out->value = sum->value;
	out->times = sum->times;
}

size_t rows_nr_stacks(const struct rows *t)
{
	return t->stacks.nr;
}

uint64_t rows_total(const struct rows *t)
{
	return t->total;
}

uint64_t rows_times(const struct rows *t)
{
	return t->times;
}
