/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Make the labels of comms and frames for one form.
 *
 * The label of a frame with a mangled name depends on the demangled name, and names are demangled in batches. Until
 * then the label is provisional: it is enough to tell sequences apart. Private to core/report/.
 */
#ifndef CORE_REPORT_LABELLER_H
#define CORE_REPORT_LABELLER_H

#include "core/report/labels.h"
#include "core/report/readable.h"
#include "core/report/writer.h"

struct unread_frame;

/**
 * struct labeller - valid if all except @cfg and @form is zero. @names: of the current part; NULL: none
 * @labels: the labels so far, and sequences of them, which the callers add with labels_add_seq()
 * @unread: frames with mangled names, each once. The first @nr_labelled have their label
 * @keys:   the identities of @unread, at the same positions
 * @nr_ids: so many of labels.ids, from the beginning, are not provisional any more
 */
struct labeller {
	const struct report_names *names;
	const struct report_cfg *cfg;
	const struct report_writer *form;
	struct labels labels;
	struct readable_names readable;
	struct labels keys;
	struct unread_frame *unread;
	size_t nr_unread, cap_unread, nr_labelled, nr_ids;
	struct textbuf text, folded; /* scratch */
};

void labeller_release(struct labeller *l);

/** labeller_forget_names() - forget all that came from @names, but not the labels. Call labeller_settle() before. */
void labeller_forget_names(struct labeller *l);

/** labeller_text() - make the label of a comm, a cgroup or an input. Return, as for all of these: 0 or -ENOMEM. */
int labeller_text(struct labeller *l, const char *text, uint32_t *id);

/** labeller_marker() - make the label of a frame that stands for no code; @folded: its text in the folded form. */
int labeller_marker(struct labeller *l, const char *word, const char *folded, uint32_t *id);

/** labeller_frame() - make the label of @frame. It may be provisional: then use it only for labels_add_seq(). */
int labeller_frame(struct labeller *l, const struct report_frame *frame, uint32_t *id);

/** labeller_named() - the same for a frame whose name is not mangled; never provisional. */
int labeller_named(struct labeller *l, const struct report_frame *frame, uint32_t *id);

/** labeller_settle() - demangle the waiting names. After that, no sequence has a provisional label. */
int labeller_settle(struct labeller *l);

#endif
