/* SPDX-License-Identifier: Apache-2.0 */
/* A run over a recording: all samples have been taken, and there are no events. */
#ifndef CORE_SESSION_INPUT_H
#define CORE_SESSION_INPUT_H

#include "core/session/state.h"

/** input_open() - then @s->recording tells of which event. */
int input_open(struct session *s, struct err *err);

/**
 * input_run() - read it to its end. A first signal ends that of a file; whoever writes a stream has got that signal,
 * too, and what it still has to say is waited for.
 * Return: 0 or -errno.
 */
int input_run(struct session *s, struct err *err);

#endif
