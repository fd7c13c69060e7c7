/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libunwind behind the interface of unwind.h: a second unwinder, which has no code in common with unwind_walk().
 *
 * libunwind trusts what files say: a damaged record may crash it, or keep it busy for ever. So it runs in a confined
 * worker process (worker.h, confine.h). The worker is given a sample's registers and the copy of its stack, asks which
 * mapping has an address, and receives a descriptor of each mapped file once. It has half a second of CPU time for a
 * stack. If it crashes or takes longer, that stack alone is lost. After 4 such stacks of a process, no stack of this
 * process is unwound any more. All processes together have a budget of 16 failed stacks, which grows back by one a
 * second. A stack that takes more than 0.1 seconds, failed or not, costs one for each 0.1 seconds. While the budget is
 * used up, nothing is unwound. The answers of the worker are as hostile as the files are.
 *
 * libunwind reads .eh_frame through the search table of .eh_frame_hdr by itself. If there is no table, and for
 * .debug_frame, the index of rules.h finds the record, and libunwind parses it.
 *
 * From one stack to the next, the worker keeps only open files and words read from them. Not thread safe; worker.h has
 * the rule for threads.
 */
#ifndef UNWIND_LIBUNWINDER_H
#define UNWIND_LIBUNWINDER_H

#include "core/base/err.h"
#include "unwind/unwind.h"

#include <stdbool.h>
#include <sys/types.h>

struct libunwinder;

/** libunwinder_new() - no process is started before the first stack. NULL: no memory. */
struct libunwinder *libunwinder_new(void);
void libunwinder_free(struct libunwinder *l);

/**
 * libunwinder_walk() - the whole stack of one sample, as unwind_walk() does it.
 * @pid:  the process, to count failures by; 0: not known
 * @copy: the copy of the stack. Other memory is read from the mapped files: segments that the process cannot write
 *        to, and unwind records
 * @out:  as of unwind_walk(). @out->left has UNWIND_LEFT_NO_RULES for frames for which libunwind has no rules, else 0
 * Return: 0; -errno: libunwind has failed, or was not used: @out is the interrupted address alone, with UNWIND_BAD.
 */
int libunwinder_walk(struct libunwinder *l, pid_t pid, const struct unwind_regs *regs, const struct unwind_copy *copy,
		     const struct unwind_mappings *mappings, const struct unwind_files *files,
		     struct unwind_result *out);

/** libunwinder_failed() - true if stacks have been lost. @why: out: their number and the first cause. */
bool libunwinder_failed(const struct libunwinder *l, struct err *why);

#endif
