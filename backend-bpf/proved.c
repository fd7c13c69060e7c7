// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/proved.h"

#include "core/base/err.h"
#include "core/base/grow.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/layout.h"

/*
 * Give up on a process if nearly all its stacks are unproven: nothing would be gained, and its callchains, which follow
 * wrong frame pointers, would fill the stack map.
 */
#define UNPROVED_BITS 256
#define HOPELESS_BITS 192 /* a process is hopeless if at least this many of its bits are set, */
#define HOPELESS_HITS 8   /* and fewer stacks than this were proven */

/* An entry of the map. */
struct admitted {
	struct bpf_proved_key key;
	uint32_t next; /* index + 1 of the next entry of the same process; 0: this is the last */
};

struct process {
	pid_t pid;
	uint32_t admitted; /* index + 1 of its first entry */
	uint32_t hits;     /* stacks proven since a set was cleared */
	bool promised;     /* the map has the entry that makes the program look for its stacks */
	/* A bit for each stack that was not proven, by its number; several stacks may share a bit. */
	uint64_t unproved[UNPROVED_BITS / 64];
};

/* The whole leaf is its key. */
struct leaf {
	struct proved_leaf key;
};

_Static_assert(UNPROVED_BITS % 64 == 0, "each bit has a place in a word");
_Static_assert(sizeof(struct proved_leaf) == 16, "hashed and compared as bytes: no padding");

static const struct intern_kind process_kind = INTERN_BYTES(struct process, pid);
static const struct intern_kind leaf_kind = INTERN_BYTES(struct leaf, key);

void proved_release(struct proved *p)
{
	size_t i;

	intern_release(&p->processes);
	for (i = 0; i < ARRAY_SIZE(p->leaves); i++)
		intern_release(&p->leaves[i]);
	free(p->admitted);
	*p = (struct proved){ 0 };
}

static struct bpf_proved_key promise_of(pid_t pid)
{
	return (struct bpf_proved_key){ .pid = (__u32)pid, .user_stack = BPF_NO_STACK };
}

static int map_add(struct proved *p, const struct bpf_proved_key *key, __s32 value)
{
	int rc = bpf_map_update_elem(p->fd, key, &value, BPF_NOEXIST);

	p->full |= rc && errno == E2BIG;
	return rc;
}

static bool promise(struct proved *p, struct process *proc)
{
	const struct bpf_proved_key key = promise_of(proc->pid);

	if (!proc->promised)
		proc->promised = !map_add(p, &key, BPF_NO_STACK);
	return proc->promised;
}

/* Find an unused entry. Return: its index + 1; 0: no memory. */
static uint32_t new_admitted(struct proved *p)
{
	uint32_t n = p->spare;
	struct admitted *v;

	if (n) {
		p->spare = p->admitted[n - 1].next;
		return n;
	}
	v = grow(p->admitted, &p->cap_admitted, p->nr_admitted, 1, sizeof(*v));
	if (!v)
		return 0;
	p->admitted = v;
	return (uint32_t)++p->nr_admitted;
}

static void free_admitted(struct proved *p, uint32_t n)
{
	p->admitted[n - 1].next = p->spare;
	p->spare = n;
}

/* Drop the entries of a process. @set: only those of this set; -1: all. Return: how many. */
static size_t drop_admitted(struct proved *p, struct process *proc, int64_t set)
{
	uint32_t *at = &proc->admitted, n;
	size_t nr = 0;

	while ((n = *at)) {
		struct admitted *a = &p->admitted[n - 1];

		if (set >= 0 && a->key.set != set) {
			at = &a->next;
			continue;
		}
		bpf_map_delete_elem(p->fd, &a->key);
		*at = a->next;
		free_admitted(p, n);
		nr++;
	}
	return nr;
}

static void give_up(struct proved *p, struct process *proc)
{
	const struct bpf_proved_key key = promise_of(proc->pid);

	if (proc->promised)
		bpf_map_delete_elem(p->fd, &key);
	proc->promised = false;
	drop_admitted(p, proc, -1);
}

static bool is_hopeless(const struct process *proc)
{
	unsigned int nr = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(proc->unproved); i++)
		nr += (unsigned int)__builtin_popcountll(proc->unproved[i]);
	return nr >= HOPELESS_BITS && proc->hits < HOPELESS_HITS;
}

static void note_unproved(struct proved *p, struct process *proc, int32_t user_stack)
{
	uint32_t bit = (uint32_t)user_stack % UNPROVED_BITS;

	proc->unproved[bit / 64] |= 1ULL << bit % 64;
	if (is_hopeless(proc))
		give_up(p, proc);
}

/* Return: the user_stack that keys of `counts_N` have for samples with this proven stack; -1: no memory */
static __s32 counted_as(struct proved *p, const struct sample_note *note, enum proof proof)
{
	const struct proved_leaf key = { note->top, note->user_stack };
	struct intern_table *leaves = &p->leaves[note->set];
	struct leaf *leaf;
	bool is_new;

	if (proof == PROOF_CHAIN)
		return note->user_stack;
	leaf = intern(leaves, &leaf_kind, &key, &is_new);
	return leaf ? BPF_LEAF_STACKS + (__s32)(leaf - (struct leaf *)leaves->v) : -1;
}

/* Add a proven stack to the map. False also if it is there already: two samples with it may be in the rings at once. */
static bool admit(struct proved *p, struct process *proc, const struct sample_note *note, enum proof proof)
{
	const struct bpf_proved_key key = { .set = note->set,
					    .pid = (__u32)proc->pid,
					    .user_stack = note->user_stack,
					    .top = proof == PROOF_LEAF ? note->top : 0 };
	__s32 value = counted_as(p, note, proof);
	uint32_t n = value < 0 ? 0 : new_admitted(p);

	if (!n)
		return false;
	if (map_add(p, &key, value)) {
		free_admitted(p, n);
		return false;
	}
	p->admitted[n - 1] = (struct admitted){ key, proc->admitted };
	proc->admitted = n;
	proc->hits++;
	return true;
}

static enum proof_use use_proof(struct proved *p, const struct sample_note *note, enum proof proof)
{
	struct process *proc;
	bool is_new, promised;

	proc = intern(&p->processes, &process_kind, &note->pid, &is_new);
	if (!proc || is_hopeless(proc))
		return PROOF_UNUSED;
	promised = proc->promised;
	if (!promise(p, proc))
		return PROOF_UNUSED;
	if (note->user_stack >= 0 && admit(p, proc, note, proof))
		return PROOF_ADMITTED;
	return promised ? PROOF_UNUSED : PROOF_PROMISED;
}

enum proof_use proved_tell(struct proved *p, const struct sample_note *note, enum proof proof)
{
	enum proof_use use;
	struct process *proc;

	if (!p->used)
		return PROOF_UNUSED;
	if (proof != PROOF_NONE) {
		use = use_proof(p, note, proof);
		if (p->full)
			proved_withdraw(p, 0, true);
		return use;
	}
	proc = intern_find(&p->processes, &process_kind, &note->pid);
	if (proc && proc->promised && note->user_stack >= 0)
		note_unproved(p, proc, note->user_stack);
	return PROOF_UNUSED;
}

bool proved_leaf(const struct proved *p, unsigned int set, int32_t id, struct proved_leaf *out)
{
	const struct intern_table *leaves = &p->leaves[set];
	int64_t i = (int64_t)id - BPF_LEAF_STACKS;

	if (i < 0 || (size_t)i >= leaves->nr)
		return false;
	*out = ((const struct leaf *)leaves->v)[i].key;
	return true;
}

static size_t withdraw(struct proved *p, struct process *proc, bool gone)
{
	size_t nr = drop_admitted(p, proc, -1);

	if (gone) {
		give_up(p, proc);
		intern_delete(&p->processes, &process_kind, proc);
	}
	return nr;
}

size_t proved_withdraw(struct proved *p, pid_t pid, bool gone)
{
	struct process *proc = p->used && pid ? intern_find(&p->processes, &process_kind, &pid) : NULL;
	size_t nr = 0, i;

	if (proc)
		return withdraw(p, proc, gone);
	if (!p->used || pid)
		return 0;
	/* Go backwards: the process that takes the place of a deleted one has been visited already. */
	for (i = p->processes.nr; i-- > 0;)
		nr += withdraw(p, (struct process *)p->processes.v + i, gone);
	p->full = false;
	return nr;
}

void proved_clear(struct proved *p, unsigned int set)
{
	struct process *v = p->processes.v;
	size_t i;

	for (i = 0; i < p->processes.nr; i++) {
		drop_admitted(p, &v[i], set);
		v[i].hits = 0;
		memset(v[i].unproved, 0, sizeof(v[i].unproved));
	}
	intern_release(&p->leaves[set]);
}
