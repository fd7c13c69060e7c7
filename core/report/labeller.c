// SPDX-License-Identifier: Apache-2.0
#include "core/report/labeller.h"

#include "core/base/grow.h"
#include "core/report/forms.h"
#include "core/symbols/demangle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROVISIONAL (1u << 31) /* set in provisional labels; the lower bits are a position in labeller.unread */

struct unread_frame {
	struct report_frame frame;
	char *file;
	uint32_t name; /* number in readable_names */
	uint32_t label;
};

void labeller_forget_names(struct labeller *l)
{
	while (l->nr_unread)
		free(l->unread[--l->nr_unread].file);
	l->nr_labelled = 0;
	labels_release(&l->keys);
	readable_release(&l->readable);
	l->names = NULL;
}

void labeller_release(struct labeller *l)
{
	labeller_forget_names(l);
	free(l->unread);
	labels_release(&l->labels);
	free(l->text.bytes);
	free(l->folded.bytes);
}

int labeller_text(struct labeller *l, const char *text, uint32_t *id)
{
	l->text.len = l->folded.len = 0;
	textbuf_name(&l->text, text, l->form->semicolon);
	textbuf_name(&l->folded, text, report_folded.semicolon);
	return labels_add(&l->labels, &l->text, &l->folded, id);
}

/* @folded: the same frame in the folded form, by which rows are sorted. */
static int add_frame(struct labeller *l, const struct report_frame *frame, const struct report_frame *folded,
		     uint32_t *id)
{
	int rc;

	l->text.len = l->folded.len = 0;
	l->form->label(&l->text, l->cfg, frame);
	report_folded.label(&l->folded, l->cfg, folded);
	rc = labels_add(&l->labels, &l->text, &l->folded, id);
	if (!rc && *id >= PROVISIONAL)
		rc = -ENOMEM;
	return !rc && (l->form->structured || l->cfg->compared) ? labels_keep_frame(&l->labels, *id, frame) : rc;
}

int labeller_named(struct labeller *l, const struct report_frame *frame, uint32_t *id)
{
	return add_frame(l, frame, frame, id);
}

int labeller_marker(struct labeller *l, const char *word, const char *folded, uint32_t *id)
{
	const struct report_frame marker = { .name = word, .kind = REPORT_FRAME_MARKER };
	const struct report_frame other = { .name = folded, .kind = REPORT_FRAME_MARKER };

	return add_frame(l, &marker, &other, id);
}

static bool is_mangled(const struct labeller *l, const struct report_frame *frame)
{
	return l->names->demangle && frame->name && demangle_may(frame->name) && frame->kind != REPORT_FRAME_KERNEL &&
	       frame->kind != REPORT_FRAME_FUNCTION && frame->kind != REPORT_FRAME_MARKER;
}

/*
 * Find or add the key of a frame: its two labels and the number of its whole name. Labels alone are not enough, because
 * they have only the first NAME_MAX_BYTES of a name.
 */
static int find_key(struct labeller *l, const struct report_frame *frame, uint32_t name, uint32_t *key)
{
	struct textbuf *text = &l->text;

	text->len = 0;
	l->form->label(text, l->cfg, frame);
	textbuf_put(text, "", 1);
	report_folded.label(text, l->cfg, frame);
	textbuf_put(text, (const char *)&name, sizeof(name));
	return labels_add_text(&l->keys, text, key);
}

static int add_unread(struct labeller *l, const struct report_frame *frame, uint32_t name)
{
	struct unread_frame *unread = grow(l->unread, &l->cap_unread, l->nr_unread, 1, sizeof(*unread));
	char *file = unread && frame->file ? strdup(frame->file) : NULL;

	if (unread)
		l->unread = unread;
	if (!unread || (frame->file && !file) || l->nr_unread >= PROVISIONAL)
		return -ENOMEM;
	unread[l->nr_unread] = (struct unread_frame){ *frame, file, name, HASH_NONE };
	unread[l->nr_unread++].frame.file = file;
	return 0;
}

int labeller_frame(struct labeller *l, const struct report_frame *frame, uint32_t *id)
{
	uint32_t name, key;
	int rc;

	if (!is_mangled(l, frame))
		return add_frame(l, frame, frame, id);
	rc = readable_add(&l->readable, frame->name, &name);
	if (!rc)
		rc = find_key(l, frame, name, &key);
	if (!rc && key == l->nr_unread)
		rc = add_unread(l, frame, name);
	if (!rc)
		*id = key < l->nr_labelled ? l->unread[key].label : PROVISIONAL | key;
	return rc;
}

static int add_labels(struct labeller *l)
{
	int rc = 0;

	for (; l->nr_labelled < l->nr_unread && !rc; l->nr_labelled++) {
		struct unread_frame *u = &l->unread[l->nr_labelled];

		u->frame.name = readable_text(&l->readable, u->name);
		rc = add_frame(l, &u->frame, &u->frame, &u->label);
	}
	return rc;
}

int labeller_settle(struct labeller *l)
{
	uint32_t *id;
	int rc = readable_read(&l->readable, l->names);

	if (!rc)
		rc = add_labels(l);
	for (; l->nr_ids < l->labels.ids_used && !rc; l->nr_ids++) {
		id = &l->labels.ids[l->nr_ids];
		if (*id & PROVISIONAL)
			*id = l->unread[*id & ~PROVISIONAL].label;
	}
	return rc;
}
