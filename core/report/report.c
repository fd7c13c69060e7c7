// SPDX-License-Identifier: Apache-2.0
/*
 * Rows to text, in four steps: name each distinct frame once, turn each row into labels and merge rows with
 * equal ones, sort, print. A printed row refers to two label sequences (user and kernel), which rows share.
 *
 * Rows are named task by task: what is known of user addresses is needed for one task at a time, and stays
 * small enough for the CPU's caches (a million rows: half the time).
 */
#include "core/report/report.h"

#include "core/base/grow.h"
#include "core/base/printable.h"
#include "core/base/saturate.h"
#include "core/report/labels.h"
#include "core/symbols/demangle.h"

#include <errno.h>
#include <string.h>

#define MAX_TRACING 16 /* frames of what traces the scheduler, at most */

/* A task: what user addresses are named by. */
struct task {
	char comm[COMM_LEN];
	int32_t pid;
	uint32_t label;   /* of comm */
	uint32_t nr_rows; /* of the input */
};

struct frame_key {
	frame_t addr; /* no longer marked as exact; or a name */
	bool is_return;
};

/*
 * Its @nr labels, root first: what was inlined at an address are frames of their own. @label is the only one, or where
 * they begin.
 */
struct frame {
	struct frame_key key;
	uint32_t label, nr;
};

/* Frames that have been named: those of the kernel, or those of one task. All zeros is empty. */
struct frames {
	struct frame *v;
	size_t nr, cap;
	uint32_t *labels;
	size_t nr_labels, labels_cap; /* below 2^32 */
	struct hash_index index;
};

/* A user stack that has been named. */
struct named {
	uint32_t stack, seq;
};

/* A row as it will be printed, but for the texts. */
struct printed_row {
	uint64_t value;
	uint32_t comm;         /* label */
	uint32_t root;         /* the same of the part; HASH_NONE: it has none */
	int32_t pid;           /* 0 where it is not printed */
	uint32_t user, kernel; /* label sequences */
	bool delimited;
};

struct report {
	const struct report_part *part; /* at hand */
	const struct report_names *names;
	const struct report_cfg *cfg;
	const struct report_writer *form;
	struct labels labels;
	uint32_t missed_user, missed_kernel, truncated, delimiter;
	struct printed_row *rows;
	size_t nr_rows, rows_cap;
	struct hash_index row_index;
	struct frames kernel_frames;
	/* of the part */
	uint32_t root; /* label, or HASH_NONE */
	struct task *tasks;
	size_t nr_tasks, tasks_cap;
	struct hash_index task_index;
	uint32_t *kernel_seqs; /* by stack number; HASH_NONE: not named yet */
	/* of the task at hand */
	struct frames user_frames;
	struct named *named;
	size_t nr_named, named_cap;
	struct hash_index named_index;
	/* scratch */
	struct textbuf text, folded;
	uint32_t *ids;
	size_t ids_cap;
	struct text_ref *texts;
	const struct report_frame **row_frames;
	size_t texts_cap, row_frames_cap;
};

static void report_release(struct report *r)
{
	labels_release(&r->labels);
	hash_release(&r->task_index);
	hash_release(&r->row_index);
	hash_release(&r->kernel_frames.index);
	hash_release(&r->user_frames.index);
	hash_release(&r->named_index);
	free(r->tasks);
	free(r->rows);
	free(r->kernel_frames.v);
	free(r->kernel_frames.labels);
	free(r->kernel_seqs);
	free(r->user_frames.v);
	free(r->user_frames.labels);
	free(r->named);
	free(r->text.bytes);
	free(r->folded.bytes);
	free(r->ids);
	free(r->texts);
	free(r->row_frames);
}

static int add_comm(struct report *r, const char *comm, uint32_t *id)
{
	r->text.len = r->folded.len = 0;
	textbuf_name(&r->text, comm, r->form->semicolon);
	textbuf_name(&r->folded, comm, report_folded.semicolon);
	return labels_add(&r->labels, &r->text, &r->folded, NULL, id);
}

/* @folded: the same frame in the folded form, which rows are sorted by. */
static int add_frame(struct report *r, const struct report_frame *frame, const struct report_frame *folded,
		     uint32_t *id)
{
	r->text.len = r->folded.len = 0;
	r->form->label(&r->text, r->cfg, frame);
	report_folded.label(&r->folded, r->cfg, folded);
	return labels_add(&r->labels, &r->text, &r->folded, r->form->structured ? frame : NULL, id);
}

static int add_marker(struct report *r, const char *word, const char *folded, uint32_t *id)
{
	const struct report_frame marker = { .name = word, .kind = REPORT_FRAME_MARKER };
	const struct report_frame other = { .name = folded, .kind = REPORT_FRAME_MARKER };

	return add_frame(r, &marker, &other, id);
}

static int report_init(struct report *r)
{
	int rc = add_marker(r, "[Missed User Stack]", "[Missed User Stack]", &r->missed_user);

	if (!rc)
		rc = add_marker(r, "[Missed Kernel Stack]", "[Missed Kernel Stack]", &r->missed_kernel);
	if (!rc)
		rc = add_marker(r, "[truncated]", "[truncated]", &r->truncated);
	if (!rc)
		rc = add_marker(r, r->form->delimiter, report_folded.delimiter, &r->delimiter);
	return rc;
}

/* Tasks and stacks are numbered anew. */
static int begin_part(struct report *r, const struct report_part *part)
{
	size_t i, nr = rows_nr_stacks(part->rows);

	r->part = part;
	r->root = HASH_NONE;
	r->nr_tasks = 0;
	hash_release(&r->task_index);
	free(r->kernel_seqs);
	r->kernel_seqs = malloc((nr + 1) * sizeof(*r->kernel_seqs));
	if (!r->kernel_seqs)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		r->kernel_seqs[i] = HASH_NONE;
	return part->root ? add_marker(r, part->root, part->root, &r->root) : 0;
}

static bool same_task(const void *table, uint32_t pos, const void *key)
{
	const struct report *r = table;
	const struct row *in = key;

	return r->tasks[pos].pid == in->key.pid && !memcmp(r->tasks[pos].comm, in->key.comm, COMM_LEN);
}

static int find_task(struct report *r, const struct row *in, uint32_t *task)
{
	uint64_t hash = hash_bytes(in->key.comm, COMM_LEN, (uint32_t)in->key.pid);
	struct task *tasks, new = { .pid = in->key.pid };
	int rc;

	*task = hash_find(&r->task_index, hash, same_task, r, in);
	if (*task != HASH_NONE)
		return 0;
	memcpy(new.comm, in->key.comm, COMM_LEN);
	rc = add_comm(r, new.comm, &new.label);
	if (rc)
		return rc;
	tasks = grow(r->tasks, &r->tasks_cap, r->nr_tasks, 1, sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	r->tasks = tasks;
	rc = hash_add(&r->task_index, hash, (uint32_t)r->nr_tasks);
	if (rc)
		return rc;
	*task = (uint32_t)r->nr_tasks;
	tasks[r->nr_tasks++] = new;
	return 0;
}

static bool same_frame(const void *table, uint32_t pos, const void *key)
{
	const struct frames *frames = table;
	const struct frame_key *have = &frames->v[pos].key, *k = key;

	return have->addr == k->addr && have->is_return == k->is_return;
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

/* One more label of @frames. */
static int add_label(struct report *r, struct frames *frames, const struct report_frame *frame)
{
	uint32_t *labels = grow(frames->labels, &frames->labels_cap, frames->nr_labels, 1, sizeof(*labels));
	int rc;

	if (labels)
		frames->labels = labels;
	if (!labels || frames->nr_labels == UINT32_MAX)
		return -ENOMEM;
	rc = add_frame(r, frame, frame, &labels[frames->nr_labels]);
	frames->nr_labels += !rc;
	return rc;
}

static int add_symbol(struct report *r, struct frames *frames, const struct frame_key *key, bool kernel,
		      const struct symbol *sym)
{
	struct report_frame frame = {
		.address = key->addr,
		.offset = sym->offset,
		.name = sym->name && *sym->name ? sym->name : NULL,
		.module = sym->module,
		.file = sym->file,
		.build_id = sym->build_id,
		.build_id_size = sym->build_id_size,
		.line = sym->line,
		.kind = kind_of(kernel, sym),
	};
	char readable[DEMANGLED_MAX];

	if (!kernel && frame.name && demangle(frame.name, readable, sizeof(readable)))
		frame.name = readable;
	return add_label(r, frames, &frame);
}

/* A frame that has no address. */
static int add_name(struct report *r, struct frames *frames, enum frame_kind kind, const char *name)
{
	const struct report_frame frame = {
		.name = name,
		.kind = kind == FRAME_FUNCTION ? REPORT_FRAME_FUNCTION : REPORT_FRAME_MARKER,
	};

	return add_label(r, frames, &frame);
}

/* @task: NULL for a kernel frame. */
static int name_frame(struct report *r, const struct task *task, struct frames *frames, const struct frame_key *key)
{
	const struct report_names *names = r->names;
	const char *name = frame_names_text(names->frames, key->addr);
	const struct symbol *inlined = NULL;
	struct symbol sym = { 0 };
	size_t nr = 0;
	int rc;

	if (name)
		return add_name(r, frames, frame_kind(key->addr), name);
	if (task)
		names->user(names->ctx, task->pid, task->comm, key->addr, key->is_return, &sym);
	else
		names->kernel(names->ctx, key->addr, key->is_return, &sym);
	if (task && r->cfg->inlined && names->inlined)
		nr = names->inlined(names->ctx, &inlined);
	rc = add_symbol(r, frames, key, !task, &sym);
	while (!rc && nr-- > 0)
		rc = add_symbol(r, frames, key, false, &inlined[nr]);
	return rc;
}

/* A frame of the labels from @at on. One alone is better near: the others are seldom, and far. */
static struct frame make_frame(struct frames *frames, const struct frame_key *key, size_t at)
{
	uint32_t nr = (uint32_t)(frames->nr_labels - at);

	if (nr > 1)
		return (struct frame){ *key, (uint32_t)at, nr };
	frames->nr_labels = at;
	return (struct frame){ *key, frames->labels[at], 1 };
}

static int find_frame(struct report *r, const struct task *task, const struct frame_key *key, const struct frame **out)
{
	struct frames *frames = task ? &r->user_frames : &r->kernel_frames;
	uint64_t hash = hash_bytes(&key->addr, sizeof(key->addr), key->is_return);
	uint32_t pos = hash_find(&frames->index, hash, same_frame, frames, key);
	size_t at = frames->nr_labels;
	struct frame *v;
	int rc;

	if (pos != HASH_NONE) {
		*out = &frames->v[pos];
		return 0;
	}
	rc = name_frame(r, task, frames, key);
	if (rc)
		return rc;
	if (frames->nr >= HASH_NONE - 1)
		return -ENOMEM;
	v = grow(frames->v, &frames->cap, frames->nr, 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	frames->v = v;
	rc = hash_add(&frames->index, hash, (uint32_t)frames->nr);
	if (rc)
		return rc;
	v[frames->nr] = make_frame(frames, key, at);
	*out = &v[frames->nr++];
	return 0;
}

/* Every address but the leaf's is a return address, but for a function that a signal interrupted. */
static struct frame_key frame_at(const struct stack *s, uint32_t i, bool user)
{
	frame_t addr = s->frames[i];
	bool exact = user && frame_is_exact(addr);

	return (struct frame_key){ exact ? addr ^ FRAME_EXACT : addr, i > 0 && !exact };
}

/* Append @nr labels to the scratch's @used ones. */
static int add_ids(struct report *r, uint32_t *used, const uint32_t *labels, uint32_t nr)
{
	uint32_t *ids = grow(r->ids, &r->ids_cap, *used, nr, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	r->ids = ids;
	while (nr--)
		ids[(*used)++] = *labels++;
	return 0;
}

/* Is that the name of @sym, but for what a compiler or linker appends: ".isra.0", ".constprop.0", ".llvm.123"? */
static bool is_named(const struct symbol *sym, const char *name)
{
	size_t len = strlen(name);

	return sym->name && !strncmp(sym->name, name, len) && (!sym->name[len] || sym->name[len] == '.');
}

/* Where __schedule() may be inlined. */
static bool is_scheduling(const struct symbol *sym)
{
	static const char *const names[] = { "schedule", "preempt_schedule_common", "preempt_schedule_irq",
					     "schedule_idle" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (is_named(sym, names[i]))
			return true;
	return false;
}

uint32_t report_first_frame(const struct report_names *names, const struct stack *kernel)
{
	uint32_t first = HASH_NONE, last = HASH_NONE, i;

	for (i = 0; i < kernel->nr && i < MAX_TRACING; i++) {
		struct frame_key key = frame_at(kernel, i, false);
		struct symbol sym = { 0 };

		names->kernel(names->ctx, key.addr, key.is_return, &sym);
		/* 5.4's callchain begins with it twice: perf_callchain_kernel() stores the interrupted address, and the
		 * frame-pointer unwinder begins there once more. */
		if (is_named(&sym, "__schedule"))
			last = i;
		else if (last != HASH_NONE)
			break;
		else if (first == HASH_NONE && is_scheduling(&sym))
			first = i;
	}
	if (last != HASH_NONE)
		return last + 1 < kernel->nr ? last + 1 : last;
	return first == HASH_NONE ? 0 : first;
}

/* The labels of a stack, root first. */
static int name_stack(struct report *r, const struct task *task, const struct stack *s, uint32_t missed, uint32_t *seq)
{
	const struct frames *frames = task ? &r->user_frames : &r->kernel_frames;
	uint32_t first = !task && r->part->from_schedule ? report_first_frame(r->names, s) : 0, nr = 0, i;
	const struct frame *f;
	int rc = 0;

	if (s->state == STACK_MISSED)
		rc = add_ids(r, &nr, &missed, 1);
	else if (s->state == STACK_TAKEN && s->truncated)
		rc = add_ids(r, &nr, &r->truncated, 1);
	for (i = s->nr; !rc && i-- > first;) {
		struct frame_key key = frame_at(s, i, task);

		rc = find_frame(r, task, &key, &f);
		if (!rc)
			rc = add_ids(r, &nr, f->nr == 1 ? &f->label : frames->labels + f->label, f->nr);
	}
	return rc ? rc : labels_add_seq(&r->labels, r->ids, nr, seq);
}

static int find_kernel(struct report *r, const struct row *in, uint32_t *seq)
{
	uint32_t *known = &r->kernel_seqs[in->kernel_id];
	int rc = 0;

	if (*known == HASH_NONE)
		rc = name_stack(r, NULL, &in->key.kernel, r->missed_kernel, known);
	*seq = *known;
	return rc;
}

static bool same_named(const void *table, uint32_t pos, const void *key)
{
	const struct report *r = table;
	const uint32_t *stack = key;

	return r->named[pos].stack == *stack;
}

static int find_user(struct report *r, const struct task *task, const struct row *in, uint32_t *seq)
{
	uint64_t hash = hash_bytes(&in->user_id, sizeof(in->user_id), 0);
	uint32_t pos = hash_find(&r->named_index, hash, same_named, r, &in->user_id);
	struct named *named;
	int rc;

	if (pos != HASH_NONE) {
		*seq = r->named[pos].seq;
		return 0;
	}
	rc = name_stack(r, task, &in->key.user, r->missed_user, seq);
	if (rc)
		return rc;
	named = grow(r->named, &r->named_cap, r->nr_named, 1, sizeof(*named));
	if (!named)
		return -ENOMEM;
	r->named = named;
	rc = hash_add(&r->named_index, hash, (uint32_t)r->nr_named);
	if (rc)
		return rc;
	named[r->nr_named++] = (struct named){ in->user_id, *seq };
	return 0;
}

static uint32_t row_nr(const struct report *r, const struct printed_row *row)
{
	return (row->root != HASH_NONE) + r->labels.seqs[row->user].nr + row->delimited +
	       r->labels.seqs[row->kernel].nr;
}

/* Frame @i of a row, root first. */
static uint32_t row_label(const struct report *r, const struct printed_row *row, uint32_t i)
{
	const struct label_seq *user = &r->labels.seqs[row->user];

	if (row->root != HASH_NONE && i-- == 0)
		return row->root;
	if (i < user->nr)
		return r->labels.ids[user->at + i];
	i -= user->nr;
	if (row->delimited && i-- == 0)
		return r->delimiter;
	return r->labels.ids[r->labels.seqs[row->kernel].at + i];
}

/* Where two rows can differ first. */
static uint32_t common_frames(const struct report *r, const struct printed_row *a, const struct printed_row *b)
{
	if (a->root != b->root || a->user != b->user)
		return 0;
	return (a->root != HASH_NONE) + r->labels.seqs[a->user].nr;
}

/* Frame by frame, not sequence by sequence: without a delimiter, where the user stack ends does not show. */
static bool same_row(const void *table, uint32_t pos, const void *key)
{
	const struct report *r = table;
	const struct printed_row *a = &r->rows[pos], *b = key;
	uint32_t nr = row_nr(r, a), i;

	if (a->comm != b->comm || a->pid != b->pid || nr != row_nr(r, b))
		return false;
	for (i = common_frames(r, a, b); i < nr; i++)
		if (row_label(r, a, i) != row_label(r, b, i))
			return false;
	return true;
}

static uint64_t row_hash(const struct report *r, const struct printed_row *row)
{
	uint64_t hash = (uint64_t)row->comm << 32 | (uint32_t)row->pid;
	uint32_t nr = row_nr(r, row), i;

	for (i = 0; i < nr; i++)
		hash = (hash ^ row_label(r, row, i)) * 0x9e3779b97f4a7c15ULL;
	return hash_bytes(&hash, sizeof(hash), nr);
}

static int merge_row(struct report *r, const struct printed_row *row)
{
	uint64_t hash = row_hash(r, row);
	uint32_t pos = hash_find(&r->row_index, hash, same_row, r, row);
	struct printed_row *rows;
	int rc;

	if (pos != HASH_NONE) {
		r->rows[pos].value = add_or_max(r->rows[pos].value, row->value);
		return 0;
	}
	rows = grow(r->rows, &r->rows_cap, r->nr_rows, 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	r->rows = rows;
	rc = hash_add(&r->row_index, hash, (uint32_t)r->nr_rows);
	if (rc)
		return rc;
	rows[r->nr_rows++] = *row;
	return 0;
}

static int add_row(struct report *r, const struct task *task, size_t i)
{
	struct row in;
	struct printed_row row;
	int rc;

	rows_get(r->part->rows, i, &in);
	rc = find_user(r, task, &in, &row.user);
	if (rc)
		return rc;
	rc = find_kernel(r, &in, &row.kernel);
	if (rc)
		return rc;
	row.value = mul_or_max(in.value, r->part->weight);
	row.comm = task->label;
	row.root = r->root;
	row.pid = r->form->prints_pid ? in.key.pid : 0;
	row.delimited = r->cfg->delimited && in.key.user.state == STACK_TAKEN && in.key.kernel.state == STACK_TAKEN &&
			r->labels.seqs[row.user].nr && r->labels.seqs[row.kernel].nr;
	return merge_row(r, &row);
}

static int add_task(struct report *r, const struct task *task, const uint32_t *rows)
{
	uint32_t i;
	int rc = 0;

	hash_release(&r->user_frames.index);
	hash_release(&r->named_index);
	r->user_frames.nr = r->user_frames.nr_labels = r->nr_named = 0;
	for (i = 0; !rc && i < task->nr_rows; i++)
		rc = add_row(r, task, rows[i]);
	return rc;
}

/* Find the task of each row, then put rows in the order of their tasks: @order has room for them all. */
static int order_by_task(struct report *r, uint32_t *order, uint32_t nr)
{
	uint32_t *task_of = malloc((nr + 1) * sizeof(*task_of)), *next = NULL, i, at = 0;
	struct row in;
	int rc = task_of ? 0 : -ENOMEM;

	for (i = 0; !rc && i < nr; i++) {
		rows_get(r->part->rows, i, &in);
		rc = find_task(r, &in, &task_of[i]);
		if (!rc)
			r->tasks[task_of[i]].nr_rows++;
	}
	if (!rc)
		next = malloc((r->nr_tasks + 1) * sizeof(*next));
	if (!rc && !next)
		rc = -ENOMEM;
	for (i = 0; !rc && i < r->nr_tasks; at += r->tasks[i++].nr_rows)
		next[i] = at;
	for (i = 0; !rc && i < nr; i++)
		order[next[task_of[i]]++] = i;
	free(task_of);
	free(next);
	return rc;
}

static int add_part(struct report *r, const struct report_part *part)
{
	size_t nr = rows_nr(part->rows), task, at = 0;
	uint32_t *order = malloc((nr + 1) * sizeof(*order));
	int rc = order ? begin_part(r, part) : -ENOMEM;

	if (!rc)
		rc = order_by_task(r, order, (uint32_t)nr);
	for (task = 0; !rc && task < r->nr_tasks; at += r->tasks[task++].nr_rows)
		rc = add_task(r, &r->tasks[task], order + at);
	free(order);
	return rc;
}

/*
 * Two different labels as they stand in a folded line: followed by ';' unless they are the last. A folded
 * text has no ';' of its own, so the first different byte decides, as if the whole lines were compared.
 */
static int cmp_folded(const struct labels *l, uint32_t a, bool a_last, uint32_t b, bool b_last)
{
	const struct label *x = &l->v[a], *y = &l->v[b];
	uint32_t len = x->len < y->len ? x->len : y->len;
	int c = memcmp(l->bytes + x->at, l->bytes + y->at, len);

	if (c)
		return c;
	if (x->len == len)
		return a_last || ';' < (unsigned char)l->bytes[y->at + len] ? -1 : 1;
	return b_last || ';' < (unsigned char)l->bytes[x->at + len] ? 1 : -1;
}

static int cmp_stacks(const struct report *r, const struct printed_row *a, const struct printed_row *b)
{
	uint32_t nr_a = row_nr(r, a), nr_b = row_nr(r, b), i, x, y;

	for (i = common_frames(r, a, b); i < nr_a && i < nr_b; i++) {
		x = r->labels.v[row_label(r, a, i)].folded;
		y = r->labels.v[row_label(r, b, i)].folded;
		if (x != y)
			return cmp_folded(&r->labels, x, i + 1 == nr_a, y, i + 1 == nr_b);
	}
	return (nr_a > nr_b) - (nr_a < nr_b);
}

/* Rows that are the same folded, but not as they are printed; so they have the same number of frames. */
static int cmp_texts(const struct report *r, const struct printed_row *a, const struct printed_row *b)
{
	uint32_t nr = row_nr(r, a), i;
	int c = labels_cmp(&r->labels, a->comm, b->comm);

	for (i = common_frames(r, a, b); !c && i < nr; i++)
		c = labels_cmp(&r->labels, row_label(r, a, i), row_label(r, b, i));
	return c;
}

static int cmp_rows(const void *pa, const void *pb, void *ctx)
{
	const struct report *r = ctx;
	const struct printed_row *a = pa, *b = pb;
	int c = 0;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (a->comm != b->comm)
		c = labels_cmp(&r->labels, r->labels.v[a->comm].folded, r->labels.v[b->comm].folded);
	if (!c)
		c = (a->pid > b->pid) - (a->pid < b->pid);
	if (!c)
		c = cmp_stacks(r, a, b);
	return c ? c : cmp_texts(r, a, b);
}

static struct text_ref text_of(const struct report *r, uint32_t label)
{
	const struct label *l = &r->labels.v[label];

	return (struct text_ref){ r->labels.bytes + l->at, l->len };
}

static int set_frames(struct report *r, const struct printed_row *row, struct report_row *line)
{
	const struct report_frame **frames = grow(r->row_frames, &r->row_frames_cap, line->nr, 1, sizeof(*frames));
	uint32_t i;

	if (!frames)
		return -ENOMEM;
	r->row_frames = frames;
	for (i = 0; i < line->nr; i++)
		frames[i] = r->labels.frames[row_label(r, row, i)];
	line->frames = frames;
	return 0;
}

static int write_row(struct report *r, struct report_output *o, const struct printed_row *row)
{
	struct report_row line = { .pid = row->pid, .nr = row_nr(r, row), .value = row->value };
	struct text_ref *texts = grow(r->texts, &r->texts_cap, line.nr, 1, sizeof(*texts));
	int rc = texts ? 0 : -ENOMEM;
	uint32_t i;

	if (rc)
		return rc;
	r->texts = texts;
	for (i = 0; i < line.nr; i++)
		texts[i] = text_of(r, row_label(r, row, i));
	line.comm = text_of(r, row->comm);
	line.texts = texts;
	if (r->form->structured)
		rc = set_frames(r, row, &line);
	if (rc)
		return rc;
	errno = 0;
	rc = o->form->row(o, &line);
	if (!rc && ferror_unlocked(o->out))
		rc = errno ? -errno : -EIO;
	return rc;
}

static int flush(FILE *out)
{
	errno = 0;
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}

static int write_rows(struct report *r, struct report_output *o, struct err *err)
{
	size_t i;
	int rc = 0;

	flockfile(o->out);
	for (i = 0; !rc && i < r->nr_rows; i++)
		rc = write_row(r, o, &r->rows[i]);
	if (!rc)
		rc = flush(o->out);
	funlockfile(o->out);
	return rc ? err_sys(err, rc, "cannot write the report") : 0;
}

/* Only now: what rows that were merged lack of a unit adds up. */
static void divide_rows(struct report *r)
{
	size_t i;

	for (i = 0; r->cfg->unit > 1 && i < r->nr_rows; i++)
		r->rows[i].value /= r->cfg->unit;
}

int report_rows(struct report_output *o, const struct report_part *parts, size_t nr, const struct report_names *names,
		const struct report_cfg *cfg, struct err *err)
{
	struct report r = { .names = names, .cfg = cfg, .form = o->form };
	size_t i;
	int rc = report_init(&r);

	for (i = 0; i < nr && !rc; i++)
		rc = add_part(&r, &parts[i]);
	if (rc) {
		err_sys(err, rc, "cannot make the report");
	} else {
		divide_rows(&r);
		if (r.nr_rows)
			qsort_r(r.rows, r.nr_rows, sizeof(*r.rows), cmp_rows, &r);
		rc = write_rows(&r, o, err);
	}
	report_release(&r);
	return rc;
}

int report_begin(struct report_output *o, FILE *out, const struct report_writer *form, const char *header,
		 struct err *err)
{
	int rc;

	*o = (struct report_output){ .out = out, .form = form };
	rc = form->begin ? form->begin(o, header) : 0;
	if (!rc)
		rc = flush(out);
	return rc ? err_sys(err, rc, "cannot write the report") : 0;
}

void report_interval(struct report_output *o, unsigned int number, double seconds)
{
	const struct report_interval interval = { number, seconds };

	if (o->form->interval)
		o->form->interval(o, &interval);
}

int report_end(struct report_output *o, bool whole, struct err *err)
{
	const struct report_writer *form = o->form;
	int rc = form && form->end ? form->end(o, whole) : 0;

	o->form = NULL;
	if (form && whole && !rc)
		rc = flush(o->out);
	return rc ? err_sys(err, rc, "cannot write the report") : 0;
}

int report_write(FILE *out, const struct rows *rows, const struct report_names *names, const struct report_cfg *cfg,
		 struct err *err)
{
	const struct report_part part = { .rows = rows, .weight = 1, .from_schedule = cfg->from_schedule };
	struct report_output o;
	int rc = report_begin(&o, out, cfg->form, NULL, err);

	if (!rc)
		rc = report_rows(&o, &part, 1, names, cfg, err);
	if (rc)
		report_end(&o, false, NULL);
	else
		rc = report_end(&o, true, err);
	return rc;
}
