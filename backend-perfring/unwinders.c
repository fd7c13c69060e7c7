// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/unwinders.h"

#include "core/base/begins.h"
#include "core/base/printable.h"
#include "unwind/compare.h"
#include "unwind/libunwinder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OF_PROCESS 2 /* most examples of one process */

struct unwinders {
	enum unwind_mode mode;
	struct unwinders_notes *notes;
	struct libunwinder *libunwind; /* NULL: not used */
	uint8_t left[UNWIND_MAX_FRAMES], their_left[UNWIND_MAX_FRAMES];
	uint64_t their_ips[UNWIND_MAX_FRAMES];
};

struct unwinders *unwinders_new(enum unwind_mode mode, struct unwinders_notes *notes)
{
	struct unwinders *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->mode = mode;
	u->notes = notes;
	if (unwind_needs_libunwind(mode))
		u->libunwind = libunwinder_new();
	if (u->libunwind || !unwind_needs_libunwind(mode))
		return u;
	free(u);
	return NULL;
}

void unwinders_free(struct unwinders *u)
{
	if (!u)
		return;
	libunwinder_free(u->libunwind);
	free(u);
}

/* Return: as libunwinder_walk(). */
static int walk_by_libunwind(struct unwinders *u, const struct unwinders_sample *s, struct unwind_result *out,
			     struct stats *stats)
{
	int rc = libunwinder_walk(u->libunwind, s->pid, s->regs, s->copy, s->mappings, s->files, out);

	if (rc) {
		stats->libunwind_failed++;
		libunwinder_failed(u->libunwind, &u->notes->failed);
	}
	return rc;
}

/* "NAME goes on to ADDRESS and has N frames", or "NAME ends there". @at: index of the address */
static int put_side(char *to, size_t size, const char *name, const struct unwind_result *r, size_t at)
{
	if (at >= r->nr)
		return snprintf(to, size, "%s ends there", name);
	return snprintf(to, size, "%s goes on to %" PRIx64 " and has %zu frames", name, r->ips[at], r->nr);
}

/* True if there are enough examples, of all processes or of this one. */
static bool is_enough(const struct unwinders_notes *notes, pid_t pid)
{
	size_t i, of_pid = 0;
	char begin[32];

	snprintf(begin, sizeof(begin), "process %d,", (int)pid);
	for (i = 0; i < notes->nr; i++)
		of_pid += begins(notes->examples[i], begin);
	return of_pid == OF_PROCESS || notes->nr == UNWINDERS_EXAMPLES;
}

/* @at: the first frame that differs */
static void note_difference(struct unwinders *u, const struct unwinders_sample *s, const struct unwind_result *ours,
			    const struct unwind_result *theirs, size_t at)
{
	uint64_t ip = at ? ours->ips[at - 1] & ~UNWIND_EXACT : 0;
	const struct mapping *m = s->mappings->find(s->mappings->ctx, ip);
	char name[NAME_SHOWN + 1], we[100], they[100];

	if (is_enough(u->notes, s->pid))
		return;
	put_side(we, sizeof(we), "dwarf", ours, at);
	put_side(they, sizeof(they), "libunwind", theirs, at);
	snprintf(u->notes->examples[u->notes->nr++], UNWINDERS_TEXT,
		 "process %d, behind frame %zu, %" PRIx64 " (%s+0x%" PRIx64 "): %s, %s", (int)s->pid, at, ip,
		 m ? name_shown(m->file->path, name) : "?", m ? ip - m->start + m->pgoff : 0, we, they);
}

static void compare(struct unwinders *u, const struct unwinders_sample *s, const struct unwind_result *ours,
		    struct stats *stats)
{
	struct unwind_result theirs = { .ips = u->their_ips, .left = u->their_left, .cap = ours->cap };
	enum unwinders_found found;
	size_t first;

	if (walk_by_libunwind(u, s, &theirs, stats))
		return;
	found = unwind_compare(ours, &theirs, &first);
	stats->unwinders[found]++;
	if (found == UNWINDERS_DIFFERENT)
		note_difference(u, s, ours, &theirs, first);
}

void unwinders_walk(struct unwinders *u, const struct unwinders_sample *s, struct unwind_result *out,
		    struct stats *stats)
{
	if (u->mode == UNWIND_BY_LIBUNWIND) {
		walk_by_libunwind(u, s, out, stats);
		return;
	}
	out->left = u->mode == UNWIND_BY_BOTH ? u->left : NULL;
	unwind_walk(s->regs, s->memory, s->mappings, s->files, out);
	if (out->left)
		compare(u, s, out, stats);
	out->left = NULL;
}
