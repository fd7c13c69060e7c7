// SPDX-License-Identifier: Apache-2.0
#include "core/report/stacks.h"

#include "core/base/grow.h"
#include "core/report/scheduling.h"

#include <errno.h>
#include <stdlib.h>

struct frame_key {
	frame_t addr; /* without FRAME_EXACT; or a name frame */
	bool is_return;
};

/*
 * A named frame with its @nr labels, root first: each function inlined at the address has its own label. @label: if @nr
 * is 1, the label; otherwise the position of the first one in named_frames.labels. @traits: of a user frame, see
 * quality.h
 */
struct named_frame {
	struct frame_key key;
	uint32_t label;
	uint16_t nr;
	uint8_t traits;
};

#define FLAW_BITS 3
#define SEQS_MAX  (1u << (31 - FLAW_BITS)) /* the table of so many sequences would take 4 GiB */

_Static_assert(FLAW_NR <= FLAW_BITS, "a bit for each flaw");

/* A user stack that has been named. Small, because with a million of them memory access takes most of the time. */
struct named_stack {
	uint32_t id;
	uint32_t seq : 31 - FLAW_BITS, flaws : FLAW_BITS, reused : 1;
};

static const struct intern_kind named_stack_kind = INTERN_BYTES(struct named_stack, id);

int stacks_init(struct report_stacks *s)
{
	int rc = labeller_marker(s->labeller, "[Missed User Stack]", "[Missed User Stack]", &s->missed_user);

	if (!rc)
		rc = labeller_marker(s->labeller, "[Missed Kernel Stack]", "[Missed Kernel Stack]", &s->missed_kernel);
	return rc ? rc : labeller_marker(s->labeller, "[truncated]", "[truncated]", &s->truncated);
}

static void forget_task(struct report_stacks *s)
{
	hash_release(&s->user_frames.index);
	intern_release(&s->user_stacks);
	s->user_frames.nr = s->user_frames.nr_labels = 0;
}

void stacks_release(struct report_stacks *s)
{
	forget_task(s);
	hash_release(&s->kernel_frames.index);
	free(s->kernel_frames.v);
	free(s->kernel_frames.labels);
	free(s->user_frames.v);
	free(s->user_frames.labels);
	free(s->kernel_seqs);
	free(s->ids);
}

void stacks_forget_kernel(struct report_stacks *s)
{
	hash_release(&s->kernel_frames.index);
	s->kernel_frames.nr = s->kernel_frames.nr_labels = 0;
}

int stacks_begin_part(struct report_stacks *s, size_t nr, bool from_schedule)
{
	size_t i;

	s->from_schedule = from_schedule;
	free(s->kernel_seqs);
	s->kernel_seqs = malloc((nr + 1) * sizeof(*s->kernel_seqs));
	for (i = 0; s->kernel_seqs && i < nr; i++)
		s->kernel_seqs[i] = HASH_NONE;
	return s->kernel_seqs ? 0 : -ENOMEM;
}

void stacks_begin_task(struct report_stacks *s, const struct task_image *task)
{
	forget_task(s);
	s->task = task;
}

static enum report_frame_kind kind_of(bool kernel, const struct symbol *sym)
{
	if (kernel)
		return REPORT_FRAME_KERNEL;
	if (sym->inlined)
		return REPORT_FRAME_INLINED;
	if (!sym->name || !*sym->name)
		return REPORT_FRAME_UNKNOWN;
	return sym->jit ? REPORT_FRAME_JIT : REPORT_FRAME_USER;
}

/* Append a label to @frames. */
static int add_label(struct report_stacks *s, struct named_frames *frames, const struct report_frame *frame)
{
	uint32_t *labels = grow(frames->labels, &frames->labels_cap, frames->nr_labels, 1, sizeof(*labels));
	int rc;

	if (labels)
		frames->labels = labels;
	if (!labels || frames->nr_labels == UINT32_MAX)
		return -ENOMEM;
	rc = labeller_frame(s->labeller, frame, &labels[frames->nr_labels]);
	frames->nr_labels += !rc;
	return rc;
}

static int add_symbol(struct report_stacks *s, struct named_frames *frames, uint64_t addr, bool kernel,
		      const struct symbol *sym)
{
	bool empty = sym->name && !*sym->name;
	const struct report_frame frame = {
		.address = sym->address ? sym->address : addr,
		.file_address = sym->file_address,
		.offset = empty ? 0 : sym->offset,
		.function = sym->function,
		.name = empty ? NULL : sym->name,
		.module = sym->module,
		.file = sym->file,
		.build_id = sym->build_id,
		.build_id_size = sym->build_id_size,
		.line = sym->line,
		.kind = kind_of(kernel, sym),
		.has_function = sym->has_function,
		.anonymous = sym->anonymous,
	};

	return add_label(s, frames, &frame);
}

/* Name a frame that has no address. */
static int add_name(struct report_stacks *s, struct named_frames *frames, enum frame_kind kind, const char *name)
{
	const struct report_frame frame = {
		.name = name,
		.kind = kind == FRAME_FUNCTION ? REPORT_FRAME_FUNCTION : REPORT_FRAME_MARKER,
	};

	return add_label(s, frames, &frame);
}

/* @task: NULL for a kernel frame. */
static int name_frame(struct report_stacks *s, const struct task_image *task, struct named_frames *frames,
		      const struct frame_key *key, unsigned int *traits)
{
	const struct report_names *names = s->labeller->names;
	const char *name = frame_names_text(names->frames, key->addr);
	const struct symbol *inlined = NULL;
	struct symbol sym = { 0 };
	size_t nr = 0;
	int rc;

	*traits = 0;
	if (name)
		return add_name(s, frames, frame_kind(key->addr), name);
	if (task)
		names->user(names->ctx, task->key.pid, task->key.comm, task->image, key->addr, key->is_return, &sym);
	else
		names->kernel(names->ctx, key->addr, key->is_return, &sym);
	if (task && s->labeller->cfg->inlined && names->inlined)
		nr = names->inlined(names->ctx, &inlined);
	if (task)
		*traits = frame_traits(&sym);
	rc = add_symbol(s, frames, key->addr, !task, &sym);
	while (!rc && nr-- > 0)
		rc = add_symbol(s, frames, key->addr, false, &inlined[nr]);
	return rc;
}

/*
 * Make a frame from the labels from @at on. A single label is stored in the frame itself, near in memory: several
 * labels are rare.
 */
static struct named_frame make_frame(struct named_frames *frames, const struct frame_key *key, size_t at,
				     unsigned int traits)
{
	uint16_t nr = (uint16_t)(frames->nr_labels - at); /* LINES_FRAMES at most */

	if (nr > 1)
		return (struct named_frame){ *key, (uint32_t)at, nr, (uint8_t)traits };
	frames->nr_labels = at;
	return (struct named_frame){ *key, frames->labels[at], 1, (uint8_t)traits };
}

static bool same_frame(const void *table, uint32_t pos, const void *key)
{
	const struct named_frames *frames = table;
	const struct frame_key *have = &frames->v[pos].key, *k = key;

	return have->addr == k->addr && have->is_return == k->is_return;
}

/*
 * Waiting for memory (cache misses) here costs most of the time of a report. Shorter code waits less, so this function
 * does not use intern().
 */
static int find_frame(struct report_stacks *s, const struct task_image *task, const struct frame_key *key,
		      struct named_frame **out)
{
	struct named_frames *frames = task ? &s->user_frames : &s->kernel_frames;
	uint64_t hash = hash_bytes(&key->addr, sizeof(key->addr), key->is_return);
	uint32_t pos = hash_find(&frames->index, hash, same_frame, frames, key);
	size_t at = frames->nr_labels;
	unsigned int traits;
	struct named_frame *v;
	int rc;

	if (pos != HASH_NONE) {
		*out = &frames->v[pos];
		return 0;
	}
	rc = name_frame(s, task, frames, key, &traits);
	if (rc)
		return rc;
	v = frames->nr < HASH_NONE - 1 ? grow(frames->v, &frames->cap, frames->nr, 1, sizeof(*v)) : NULL;
	if (!v)
		return -ENOMEM;
	frames->v = v;
	rc = hash_add(&frames->index, hash, (uint32_t)frames->nr);
	if (rc)
		return rc;
	v[frames->nr] = make_frame(frames, key, at, traits);
	*out = &v[frames->nr++];
	return 0;
}

/* All addresses except the leaf's are return addresses, unless a signal interrupted the function. */
static struct frame_key frame_at(const struct stack *s, uint32_t i, bool user)
{
	frame_t addr = s->frames[i];
	bool exact = user && frame_is_exact(addr);

	return (struct frame_key){ exact ? addr ^ FRAME_EXACT : addr, i > 0 && !exact };
}

/* Append @nr labels to the @used ones in the scratch buffer. */
static int add_ids(struct report_stacks *s, uint32_t *used, const uint32_t *labels, uint32_t nr)
{
	uint32_t *ids = grow(s->ids, &s->ids_cap, *used, nr, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	s->ids = ids;
	while (nr--)
		ids[(*used)++] = *labels++;
	return 0;
}

/* The labels of a stack, root first. @task: NULL for a kernel stack. @quality: out */
static int name_stack(struct report_stacks *s, const struct task_image *task, const struct stack *stack, uint32_t *seq,
		      struct stack_quality *quality)
{
	const struct named_frames *frames = task ? &s->user_frames : &s->kernel_frames;
	uint32_t first = !task && s->from_schedule ? report_first_frame(s->labeller->names, stack) : 0, nr = 0, i;
	struct named_frame *f;
	int rc = 0;

	*quality = (struct stack_quality){ 0 };
	if (stack->state == STACK_MISSED)
		rc = add_ids(s, &nr, task ? &s->missed_user : &s->missed_kernel, 1);
	else if (stack->state == STACK_TAKEN && stack->truncated)
		rc = add_ids(s, &nr, &s->truncated, 1);
	for (i = stack->nr; !rc && i-- > first;) {
		struct frame_key key = frame_at(stack, i, task);

		rc = find_frame(s, task, &key, &f);
		if (rc)
			return rc;
		stack_quality_add(quality, f->traits);
		if (i + 2 >= stack->nr)
			s->ends[stack->nr - 1 - i] = (uint32_t)(f - frames->v);
		rc = add_ids(s, &nr, f->nr == 1 ? &f->label : frames->labels + f->label, f->nr);
	}
	return rc ? rc : labels_add_seq(&s->labeller->labels, s->ids, nr, seq);
}

static int find_kernel(struct report_stacks *s, const struct row *in, uint32_t *seq)
{
	uint32_t *known = &s->kernel_seqs[in->kernel_id];
	struct stack_quality unused;
	int rc = 0;

	if (*known == HASH_NONE)
		rc = name_stack(s, NULL, &in->key.kernel, known, &unused);
	*seq = *known;
	return rc;
}

/* Find out whether the function of @f is known to have a caller. Done once for each distinct frame. */
static void find_caller(const struct report_stacks *s, struct named_frame *f)
{
	const struct report_names *names = s->labeller->names;

	if (!(f->traits & FRAME_ASKED) && names->called &&
	    names->called(names->ctx, s->task->key.pid, s->task->key.comm, s->task->image, f->key.addr,
			  f->key.is_return))
		f->traits |= FRAME_CALLED;
	f->traits |= FRAME_ASKED;
}

/* The flaws of the user stack that was named last. */
static unsigned int flaws_of(const struct report_stacks *s, const struct stack *stack,
			     const struct stack_quality *quality)
{
	struct named_frame *frames = s->user_frames.v;
	unsigned int flaws = stack_quality_names(quality);
	struct stack_end end = { .leaf = quality->leaf };

	if (!s->finds_incomplete || !stack->nr || stack->truncated)
		return flaws;
	find_caller(s, &frames[s->ends[0]]);
	end.outermost = frames[s->ends[0]].traits;
	end.next = frames[s->ends[stack->nr > 1]].traits;
	return flaws | (unsigned int)stack_end_is_missing(&end) << FLAW_INCOMPLETE;
}

static int find_user(struct report_stacks *s, const struct row *in, struct added_stacks *out)
{
	struct stack_quality quality;
	bool is_new;
	uint32_t named = 0;
	struct named_stack *known = intern(&s->user_stacks, &named_stack_kind, &in->user_id, &is_new);
	int rc = known ? 0 : -ENOMEM;

	if (!rc && is_new) {
		rc = name_stack(s, s->task, &in->key.user, &named, &quality);
		if (!rc && named >= SEQS_MAX)
			rc = -ENOMEM;
		known->seq = named % SEQS_MAX;
		known->flaws = (rc ? 0 : flaws_of(s, &in->key.user, &quality)) % (1u << FLAW_BITS);
		known->reused = quality.reused;
	}
	if (!rc) {
		out->user = known->seq;
		out->flaws = known->flaws;
		out->reused = known->reused;
	}
	return rc;
}

int stacks_add(struct report_stacks *s, const struct row *row, struct added_stacks *out)
{
	int rc = find_user(s, row, out);

	return rc ? rc : find_kernel(s, row, &out->kernel);
}
