/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind user stacks of samples from their registers and stack copies. */
#ifndef PERFRING_UNWINDING_H
#define PERFRING_UNWINDING_H

#include "backend-perfring/decode.h"
#include "core/rows/rows.h"
#include "core/sources/source.h"

struct source_env;
struct stack_roots;
struct unwinding;

/** unwinding_new() - for one run; NULL: no memory. */
struct unwinding *unwinding_new(const struct source_env *env);
void unwinding_free(struct unwinding *u);

/** unwinding_round() - more samples have been read: mapped files may have changed since the last call. */
void unwinding_round(struct unwinding *u);

/** unwinding_roots() - the roots that were found so far (stack_roots.h); borrowed. Call from any thread. */
const struct stack_roots *unwinding_roots(const struct unwinding *u);

/**
 * unwinding_stack() - unwind the user stack of a sample.
 * @pid:  its process; call tasks_learn() before
 * @kernel: its whole kernel stack, wanted or not
 * @user: in: the user stack as the kernel walked it; out: the unwound stack, its frames borrowed until the next call;
 *        if the sample cannot be unwound, the addresses of the kernel's walk that are right
 * @stats: counts how the walk ended
 * Return: with --unwind=auto, the proof that the next samples of this process with the same callchain (PROOF_LEAF: and
 * the same top of stack) have the same user stack, too; PROOF_NONE: there is no proof.
 */
enum proof unwinding_stack(struct unwinding *u, const struct record *r, pid_t pid, const struct stack *kernel,
			   struct stack *user, struct stats *stats);

#endif
