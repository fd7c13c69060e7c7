// SPDX-License-Identifier: Apache-2.0
#include "core/report/quality.h"

#include "core/base/begins.h"
#include "core/base/saturate.h"
#include "core/symbols/symbols.h"

#include <errno.h>
#include <string.h>

static const struct intern_kind task_kind = INTERN_BYTES(struct task_quality, key);

static enum frame_lack lack_of(const struct symbol *sym)
{
	if ((sym->name && *sym->name) || sym->reused)
		return LACKS_NOTHING;
	if (!sym->module)
		return LACKS_MAPPING;
	/* Some JIT compilers map a memfd twice: once to write the code, once to run it. */
	if (sym->anonymous || begins(sym->module, "memfd:"))
		return LACKS_MAP;
	return sym->module[0] == '[' ? LACKS_NOTHING : LACKS_SYMBOLS;
}

/* Called for each distinct frame, so be fast: most modules differ in their first letters. */
static bool is_libc(const char *module)
{
	if (module[0] != 'l' || (module[1] != 'i' && module[1] != 'd'))
		return false;
	if (module[1] == 'd')
		return begins(module, "ld-musl");
	if (module[2] != 'b' || (module[3] != 'c' && module[3] != 'p'))
		return false;
	return begins(module, "libc.") || begins(module, "libc-2.") || begins(module, "libpthread");
}

unsigned int frame_traits(const struct symbol *sym)
{
	return (unsigned int)lack_of(sym) | (sym->module && is_libc(sym->module) ? FRAME_OF_LIBC : 0) |
	       (sym->reused ? FRAME_REUSED : 0);
}

void stack_quality_start(struct stack_quality *q, unsigned int traits)
{
	q->begun = q->lacks && !(traits & FRAME_OF_LIBC);
	if (!q->begun)
		q->start += (traits & FRAME_LACK) == LACKS_SYMBOLS;
	else if (!(q->leaf & FRAME_OF_LIBC))
		q->start = 0; /* the frame before, which is the outermost one, is not _start */
}

unsigned int stack_quality_names(const struct stack_quality *q)
{
	unsigned int symbols = frames_lacking(q->lacks, LACKS_SYMBOLS) - q->start,
		     map = frames_lacking(q->lacks, LACKS_MAP);
	enum frame_lack leaf = q->leaf & FRAME_LACK;

	if (leaf == LACKS_SYMBOLS)
		return 1u << FLAW_NO_SYMBOLS;
	/* The leaf's address is the instruction pointer, not a word from the stack: it is code. */
	if (leaf == LACKS_MAP || leaf == LACKS_MAPPING)
		return 1u << FLAW_NO_MAP;
	if (!q->lacks || symbols + map < frames_lacking(q->lacks, LACKS_NOTHING))
		return 0;
	return 1u << (symbols >= map ? FLAW_NO_SYMBOLS : FLAW_NO_MAP);
}

bool stack_end_is_missing(const struct stack_end *end)
{
	/* If the mappings of the process are not known, the leaf has no mapping, either. */
	if ((end->outermost & FRAME_LACK) == LACKS_MAPPING)
		return (end->leaf & FRAME_LACK) != LACKS_MAPPING;
	return end->outermost & FRAME_CALLED && !(end->outermost & FRAME_OF_LIBC && !(end->next & FRAME_OF_LIBC));
}

void quality_count(struct quality *q, unsigned int flaws, uint64_t value, uint64_t times)
{
	unsigned int i;

	q->all = add_or_max(q->all, value);
	q->times = add_or_max(q->times, times);
	if (!flaws)
		return;
	q->flawed = add_or_max(q->flawed, value);
	for (i = 0; i < FLAW_NR; i++)
		if (flaws & 1u << i)
			q->by_flaw[i] = add_or_max(q->by_flaw[i], value);
}

void quality_add(struct quality *q, const struct quality *more)
{
	unsigned int i;

	q->all = add_or_max(q->all, more->all);
	q->times = add_or_max(q->times, more->times);
	q->flawed = add_or_max(q->flawed, more->flawed);
	for (i = 0; i < FLAW_NR; i++)
		q->by_flaw[i] = add_or_max(q->by_flaw[i], more->by_flaw[i]);
}

int report_quality_add(struct report_quality *q, const struct task_key *task, const struct quality *of)
{
	bool is_new;
	struct task_quality *have = of->all ? intern(&q->tasks, &task_kind, task, &is_new) : NULL;

	if (have)
		quality_add(&have->of, of);
	return have || !of->all ? 0 : -ENOMEM;
}

const struct task_quality *report_quality_find(const struct report_quality *q, const struct task_key *task)
{
	return intern_find(&q->tasks, &task_kind, task);
}

void report_quality_release(struct report_quality *q)
{
	intern_release(&q->tasks);
}
