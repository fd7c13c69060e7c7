// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/map_sizes.h"

#include "core/base/clock.h"
#include "core/request/request.h"

#include "bpf/layout.h"

/* Factor for the number of samples, and how many to add: the kernel keeps a frequency only on average, and a report may
 * be late. */
#define SLACK 1.25
#define MORE  256

#define FIRST_SAMPLES 1024 /* all maps together then take 3 MiB */

#define COUNT_BYTES  140 /* of an entry, with the kernel's overhead */
#define STACK_BYTES  32  /* the same for a stack, beside its addresses */
#define MEMORY_SHARE 8   /* a set may take an eighth of the memory: rings and names need some, too */

#define UNBOUNDED (1U << 28) /* more entries than any table has */

/* Least size of `proved`: its entries that say that a process has proven stacks outlive a report. */
#define PROVED_LEAST 4096

/*
 * With more addresses there are no short entries. The program tests whether a stack is short: it skips BPF_SHORT_WORDS
 * entries. For a user stack, the kernel adds the length of the kernel stack to that number, and refuses a sum with more
 * than 8 bits (BPF_F_SKIP_FIELD_MASK).
 */
#define DEPTH_MAX 192

/* The most samples that a set can have; UNBOUNDED: not known. */
static uint32_t most_samples(const struct request *r, unsigned int cpus)
{
	uint64_t ns = r->interval_ns ? r->interval_ns : r->duration_ns, hz = r->sampling.freq_hz;
	double samples = (double)ns / (double)NSEC_PER_SEC * (double)hz * cpus * SLACK + MORE;

	return ns && hz && samples < UNBOUNDED ? (uint32_t)samples : UNBOUNDED;
}

/* Round up: the kernel makes stack maps with a power of 2 of entries. */
static uint32_t power_of_2(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* The smaller number, but at least 1: there is no map without entries. */
static uint32_t smaller(uint32_t a, uint32_t b)
{
	uint32_t n = a < b ? a : b;

	return n ? n : 1;
}

struct map_sizes map_sizes_choose(const struct request *r, unsigned int cpus, unsigned int depth, bool first)
{
	uint32_t sets = r->interval_ns ? 2 : 1, all = most_samples(r, cpus);
	uint32_t most = first && sets == 1 ? smaller(all, FIRST_SAMPLES) : all;
	/* A user who wants more entries than the default has a reason: do not limit their number. */
	uint32_t counts = r->tables.counts > HASH_ENTRIES ? UNBOUNDED : most;
	/* Each sample may have another user stack. Kernel stacks need no place of their own: few of them differ. */
	uint32_t places = power_of_2(r->tables.stacks > STACK_ENTRIES ? UNBOUNDED : most);
	struct map_sizes sizes = { .counts = smaller(r->tables.counts, counts) };

	if (depth > BPF_SHORT_WORDS && depth <= DEPTH_MAX) {
		uint32_t times = sets == 1 ? 4 : 2;

		sizes.stacks = smaller(r->tables.stacks / 2, places);
		sizes.shorts = smaller(smaller(r->tables.stacks, UNBOUNDED) * times, places * 2);
	} else {
		sizes.stacks = smaller(r->tables.stacks, places * 2);
	}
	sizes.proved = (sizes.stacks + sizes.shorts) / 2 * sets;
	if (sizes.proved < PROVED_LEAST)
		sizes.proved = PROVED_LEAST;
	return sizes;
}

/* The kernel memory for the entries of one set, measured on 6.18. */
static uint64_t bytes_of(const struct map_sizes *s, unsigned int depth)
{
	return (uint64_t)s->counts * COUNT_BYTES + s->stacks * (STACK_BYTES + depth * sizeof(uint64_t)) +
	       s->shorts * (STACK_BYTES + BPF_SHORT_WORDS * sizeof(uint64_t));
}

static bool halve(uint32_t *n, uint32_t least)
{
	uint32_t half = *n / 2 > least ? *n / 2 : least;

	if (half >= *n)
		return false;
	*n = half;
	return true;
}

void map_sizes_bound(struct map_sizes *to, const struct map_sizes *from, unsigned int depth, uint64_t memory)
{
	bool less = true;

	while (memory && less && bytes_of(to, depth) > memory / MEMORY_SHARE) {
		less = halve(&to->counts, from->counts);
		less |= halve(&to->stacks, from->stacks);
		less |= halve(&to->shorts, from->shorts);
	}
}

bool map_sizes_grow(const struct map_sizes *from, const struct map_sizes *to)
{
	return to->counts > from->counts || to->stacks > from->stacks || to->shorts > from->shorts;
}
