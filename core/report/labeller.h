/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of comms and frames, as a form has them.
 *
 * The label of a frame whose name is mangled is not known before the name is, and names are demangled many at a time.
 * Until then it is provisional: good enough to tell sequences apart. Private to core/report/.
 */
#ifndef CORE_REPORT_LABELLER_H
#define CORE_REPORT_LABELLER_H

#include "core/report/labels.h"
#include "core/report/readable.h"
#include "core/report/writer.h"

struct unread_frame;

/**
 * struct labeller - all zeros but @cfg and @form is valid. @names: of the part at hand; NULL: none is
 * @labels: the labels so far, and the sequences of them that others add
 * @unread: frames with mangled names, each once. The first @nr_labelled have their label
 * @keys:   what tells these apart, at the same positions
 * @nr_ids: of labels.ids, from the beginning, that are not provisional any more
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

/** labeller_forget_names() - forget what @names has told, but not the labels, which must be settled. */
void labeller_forget_names(struct labeller *l);

/** labeller_text() - the label of a comm, a cgroup or an input. Return, as for all of these: 0 or -ENOMEM. */
int labeller_text(struct labeller *l, const char *text, uint32_t *id);

/** labeller_marker() - the label of a word of this program, which is @folded in the folded form. */
int labeller_marker(struct labeller *l, const char *word, const char *folded, uint32_t *id);

/** labeller_frame() - the label of @frame, perhaps provisional: then it is good for labels_add_seq() alone. */
int labeller_frame(struct labeller *l, const struct report_frame *frame, uint32_t *id);

/** labeller_named() - the same of one whose name is not mangled; never provisional. */
int labeller_named(struct labeller *l, const struct report_frame *frame, uint32_t *id);

/** labeller_settle() - demangle what is to be demangled; no sequence has a provisional label any more. */
int labeller_settle(struct labeller *l);

#endif
