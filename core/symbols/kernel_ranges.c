// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/kernel_ranges.h"

#include "core/base/begins.h"
#include "core/base/grow.h"
#include "core/base/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MAX   16384        /* that are remembered; a busy host has several hundred programs */
#define NAME_LEN_MAX 511          /* KSYM_NAME_LEN - 1 */
#define FRAMES_MAX   8192         /* in a record of 64 KiB */
#define GRACE_NS     100000000ULL /* how long a removed program may still run, until all CPUs have left it */

#define RANGE_FRAME_UNKNOWN (KERNEL_RANGE_FRAME | 0x1ffffffULL << 32) /* no range has this number */

/*
 * @apart: its frames have its number, because other code had these addresses before. @withheld: one of its frames has
 * no name, because other code had its address in the same interval.
 */
struct range {
	uint64_t start, end;
	char *name;           /* owned; NULL: this entry is free */
	uint64_t came, ended; /* times; came 0: before the first record; ended 0: it is still there */
	bool bpf, apart, withheld;
};

/* Addresses [@start, @end) whose last code, by the records so far, is of range @id; it may have been removed since. */
struct span {
	uint64_t start, end;
	uint32_t id;
};

struct kernel_ranges {
	struct range *ranges;
	size_t nr, cap, nr_free;
	struct span *spans; /* by address, without overlaps */
	size_t nr_spans, cap_spans;
	uint64_t low, high;           /* all ranges are within */
	uint64_t full_low, full_high; /* the addresses of ranges for which there was no room */
	uint64_t since, until;        /* the interval whose samples are named */
	size_t nr_withheld;
	bool by_address, lost;
	uint64_t frames[FRAMES_MAX];
};

struct kernel_ranges *kernel_ranges_new(void)
{
	struct kernel_ranges *kr = calloc(1, sizeof(*kr));

	if (kr)
		kr->low = kr->full_low = kr->until = UINT64_MAX;
	return kr;
}

void kernel_ranges_free(struct kernel_ranges *kr)
{
	size_t i;

	if (!kr)
		return;
	for (i = 0; i < kr->nr; i++)
		free(kr->ranges[i].name);
	free(kr->ranges);
	free(kr->spans);
	free(kr);
}

void kernel_ranges_by_address(struct kernel_ranges *kr, bool by_address)
{
	kr->by_address = by_address;
}

void kernel_ranges_lost(struct kernel_ranges *kr)
{
	kr->lost = true;
}

size_t kernel_ranges_withheld(const struct kernel_ranges *kr)
{
	return kr->nr_withheld;
}

bool kernel_ranges_incomplete(const struct kernel_ranges *kr)
{
	return kr->lost;
}

/* A recording may say anything. */
static bool is_name(const char *name)
{
	size_t len = 0;

	for (; name[len]; len++)
		if ((unsigned char)name[len] <= ' ' || len == NAME_LEN_MAX)
			return false;
	return len;
}

/* The first span that ends above @addr; nr_spans: none. */
static size_t span_from(const struct kernel_ranges *kr, uint64_t addr)
{
	return first_above(kr->spans, kr->nr_spans, end, addr);
}

/* The range whose code was at @addr last, perhaps removed by now; NULL: there is no record of it. */
static struct range *range_now(const struct kernel_ranges *kr, uint64_t addr)
{
	size_t i = span_from(kr, addr);

	return i < kr->nr_spans && kr->spans[i].start <= addr ? &kr->ranges[kr->spans[i].id] : NULL;
}

static bool overlaps_any(const struct kernel_ranges *kr, uint64_t start, uint64_t end)
{
	size_t i = span_from(kr, start);

	return i < kr->nr_spans && kr->spans[i].start < end;
}

/* Return: its number; kr->nr: there is none. The same code may come back to the same address. */
static size_t find_range(const struct kernel_ranges *kr, const struct kernel_range *r)
{
	size_t i;

	for (i = 0; i < kr->nr; i++)
		if (kr->ranges[i].name && kr->ranges[i].start == r->start && kr->ranges[i].end == r->start + r->len &&
		    !strcmp(kr->ranges[i].name, r->name))
			return i;
	return kr->nr;
}

/* Find a free entry. Return: its number; RANGES_MAX: there is none; -ENOMEM. */
static int take_place(struct kernel_ranges *kr)
{
	struct range *ranges;
	int i;

	for (i = 0; kr->nr_free && i < (int)kr->nr; i++) {
		if (!kr->ranges[i].name) {
			kr->nr_free--;
			return i;
		}
	}
	if (kr->nr == RANGES_MAX)
		return RANGES_MAX;
	ranges = grow(kr->ranges, &kr->cap, kr->nr, 1, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	kr->ranges = ranges;
	return (int)kr->nr++;
}

static void note_full(struct kernel_ranges *kr, const struct kernel_range *r)
{
	if (r->start < kr->full_low)
		kr->full_low = r->start;
	if (r->start + r->len > kr->full_high)
		kr->full_high = r->start + r->len;
}

/* Return: its number; RANGES_MAX: there is no room for it; -ENOMEM. */
static int make_range(struct kernel_ranges *kr, const struct kernel_range *r)
{
	char *name = strdup(r->name);
	int id = name ? take_place(kr) : -ENOMEM;

	if (id < 0 || id == RANGES_MAX) {
		free(name);
		return id;
	}
	kr->ranges[id] = (struct range){ .start = r->start,
					 .end = r->start + r->len,
					 .name = name,
					 .bpf = r->bpf,
					 .apart = overlaps_any(kr, r->start, r->start + r->len) };
	return id;
}

/* Cut the addresses from @start to @end out of all spans. *@at: the place of the hole. Return: 0 or -ENOMEM. */
static int cut_spans(struct kernel_ranges *kr, uint64_t start, uint64_t end, uint64_t time, size_t *at)
{
	size_t first = span_from(kr, start), last = first;
	struct span *spans = grow(kr->spans, &kr->cap_spans, kr->nr_spans, 2, sizeof(*spans)), left, right;
	size_t keep;

	if (!spans)
		return -ENOMEM;
	kr->spans = spans;
	left = right = (struct span){ 0 };
	for (; last < kr->nr_spans && spans[last].start < end; last++) {
		struct range *r = &kr->ranges[spans[last].id];

		if (!r->ended)
			r->ended = time;
		if (spans[last].start < start)
			left = (struct span){ spans[last].start, start, spans[last].id };
		if (spans[last].end > end)
			right = (struct span){ end, spans[last].end, spans[last].id };
	}
	keep = (left.end > 0) + (right.end > 0);
	memmove(spans + first + keep, spans + last, (kr->nr_spans - last) * sizeof(*spans));
	kr->nr_spans = kr->nr_spans - (last - first) + keep;
	*at = first + (left.end > 0);
	if (left.end)
		spans[first] = left;
	if (right.end)
		spans[*at] = right;
	return 0;
}

static int claim(struct kernel_ranges *kr, uint32_t id, uint64_t time)
{
	struct range *r = &kr->ranges[id];
	size_t at;
	int rc = cut_spans(kr, r->start, r->end, time, &at);

	if (rc)
		return rc;
	/* cut_spans() has made room for it. */
	memmove(kr->spans + at + 1, kr->spans + at, (kr->nr_spans - at) * sizeof(*kr->spans));
	kr->spans[at] = (struct span){ r->start, r->end, id };
	kr->nr_spans++;
	r->ended = 0;
	return 0;
}

int kernel_ranges_add(struct kernel_ranges *kr, const struct kernel_range *r)
{
	uint64_t time = r->time ? r->time : 1;
	size_t found;
	bool is_new;
	int id, rc;

	if (!kernel_address(r->start) || !r->len || r->len > UINT32_MAX || r->start + r->len < r->start ||
	    !is_name(r->name))
		return 0;
	if (r->start < kr->low)
		kr->low = r->start;
	if (r->start + r->len > kr->high)
		kr->high = r->start + r->len;
	found = find_range(kr, r);
	is_new = found == kr->nr;
	id = is_new ? make_range(kr, r) : (int)found;
	if (id == RANGES_MAX)
		note_full(kr, r);
	if (id < 0 || id == RANGES_MAX)
		return id < 0 ? id : 0;
	if (is_new && !r->removed)
		kr->ranges[id].came = time;
	/* It was removed, but no record has added it: it was there before the first record. */
	rc = !r->removed || (is_new && !kr->ranges[id].apart) ? claim(kr, (uint32_t)id, time) : 0;
	if (!rc && r->removed)
		kr->ranges[id].ended = time;
	return rc;
}

/* Return true if @r was removed so long ago that its code cannot run any more. Then a record is missing. */
static bool is_over(const struct range *r, uint64_t time)
{
	return r->ended && time > r->ended && time - r->ended > GRACE_NS;
}

static uint64_t frame_at(const struct kernel_ranges *kr, uint64_t addr, bool is_return, uint64_t time)
{
	const struct range *r =
		addr - is_return >= kr->low && addr - is_return < kr->high ? range_now(kr, addr - is_return) : NULL;

	if (r && is_over(r, time))
		return RANGE_FRAME_UNKNOWN;
	return r && r->apart ? KERNEL_RANGE_FRAME | (uint64_t)(r - kr->ranges) << 32 | (addr - r->start) : addr;
}

const uint64_t *kernel_ranges_at(struct kernel_ranges *kr, const uint64_t *ips, uint32_t nr, uint64_t time)
{
	bool any = false;
	uint32_t i;

	if (!kr->nr || kr->by_address || nr > FRAMES_MAX)
		return ips;
	for (i = 0; i < nr; i++) {
		kr->frames[i] = frame_at(kr, ips[i], i > 0, time);
		any |= kr->frames[i] != ips[i];
	}
	return any ? kr->frames : ips;
}

static enum kernel_range_found tell(const struct range *r, struct kernel_symbol *out)
{
	*out = (struct kernel_symbol){ r->name,
				       r->bpf                            ? "bpf"
				       : begins(r->name, "kprobe_") ? "__builtin__kprobes"
									 : "__builtin__ftrace",
				       r->start };
	return RANGE_FOUND;
}

static bool is_full(const struct kernel_ranges *kr, uint64_t lookup)
{
	return lookup >= kr->full_low && lookup < kr->full_high;
}

static bool is_range_frame(uint64_t frame)
{
	return frame >> 57 == KERNEL_RANGE_FRAME >> 57;
}

static enum kernel_range_found find_by_number(const struct kernel_ranges *kr, uint64_t frame, bool is_return,
					      struct kernel_symbol *out, uint64_t *addr)
{
	uint64_t id = (frame ^ KERNEL_RANGE_FRAME) >> 32, offset = (uint32_t)frame;
	const struct range *r = id < kr->nr ? &kr->ranges[id] : NULL;

	/* A hostile recording may have such a number as an address. */
	*addr = 0;
	if (!r || !r->name || offset - is_return >= r->end - r->start)
		return RANGE_NONE;
	*addr = r->start + offset;
	return kr->lost || is_full(kr, *addr - is_return) ? RANGE_REUSED : tell(r, out);
}

/* Return true if @r was there in the interval whose samples are named. */
static bool was_there(const struct kernel_ranges *kr, const struct range *r)
{
	return r->came <= kr->until && (!r->ended || r->ended >= kr->since);
}

static enum kernel_range_found withhold(struct kernel_ranges *kr, struct range *r)
{
	kr->nr_withheld += !r->withheld;
	r->withheld = true;
	return RANGE_REUSED;
}

enum kernel_range_found kernel_ranges_find(struct kernel_ranges *kr, uint64_t frame, bool is_return,
					   struct kernel_symbol *out, uint64_t *addr)
{
	uint64_t lookup = frame - is_return;
	const struct range *found = NULL;
	bool covered = false;
	size_t i;

	*addr = frame;
	if (is_range_frame(frame))
		return find_by_number(kr, frame, is_return, out, addr);
	if (lookup < kr->low || lookup >= kr->high)
		return RANGE_NONE;
	if (kr->lost || is_full(kr, lookup))
		return RANGE_REUSED;
	for (i = 0; i < kr->nr; i++) {
		struct range *r = &kr->ranges[i];

		if (!r->name || lookup < r->start || lookup >= r->end)
			continue;
		covered = true;
		if (!kr->by_address && r->apart)
			continue;
		if (found && was_there(kr, found) && was_there(kr, r) && strcmp(found->name, r->name) != 0)
			return withhold(kr, r);
		if (!found || was_there(kr, r) || (!was_there(kr, found) && r->ended > found->ended))
			found = r;
	}
	return found ? tell(found, out) : covered ? RANGE_REUSED : RANGE_NONE;
}

static void drop_spans(struct kernel_ranges *kr)
{
	size_t i, nr = 0;

	for (i = 0; i < kr->nr_spans; i++)
		if (kr->ranges[kr->spans[i].id].name)
			kr->spans[nr++] = kr->spans[i];
	kr->nr_spans = nr;
}

void kernel_ranges_interval(struct kernel_ranges *kr, uint64_t since, uint64_t until)
{
	size_t i, before = kr->nr_free;

	kr->since = since;
	kr->until = until;
	for (i = 0; i < kr->nr; i++) {
		struct range *r = &kr->ranges[i];

		if (!r->name || !r->ended || since < 10 * GRACE_NS || r->ended >= since - 10 * GRACE_NS)
			continue;
		free(r->name);
		r->name = NULL;
		kr->nr_free++;
	}
	if (kr->nr_free > before)
		drop_spans(kr);
}
