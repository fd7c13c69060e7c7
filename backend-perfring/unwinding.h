/* SPDX-License-Identifier: Apache-2.0 */
/* User stacks of samples from their registers and stack copies. */
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

/** unwinding_round() - the next samples have been read: files that processes have mapped may have been written since.
 */
void unwinding_round(struct unwinding *u);

/** unwinding_roots() - of the stacks so far; borrowed. By any thread. */
const struct stack_roots *unwinding_roots(const struct unwinding *u);

/**
 * unwinding_stack() - unwind the user stack of a sample.
 * @pid:  its process, of which tasks has learned
 * @kernel: the whole of its kernel stack, asked for or not
 * @user: what the kernel says of that stack; left as it is where there is nothing to unwind, else out: frames borrowed
 *        until the next call
 * @stats: the end it came to is counted here
 * Return: with --unwind=auto, what is proved: the next samples of this process with the same callchain have the same
 * user stack, too; else none
 */
enum proof unwinding_stack(struct unwinding *u, const struct record *r, pid_t pid, const struct stack *kernel,
			   struct stack *user, struct stats *stats);

#endif
