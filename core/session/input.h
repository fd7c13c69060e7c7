/* SPDX-License-Identifier: Apache-2.0 */
/* A run over a recording: all samples have been taken already, and there are no events. */
#ifndef CORE_SESSION_INPUT_H
#define CORE_SESSION_INPUT_H

#include "core/session/state.h"

/** input_open() - open the recording; then @s->recording describes its event. */
int input_open(struct session *s, struct err *err);

/**
 * input_run() - read the recording to its end. For a file, a first signal ends the reading at once. The writer of a
 * pipe has received the same signal: read on until it has written the rest.
 * Return: 0 or -errno.
 */
int input_run(struct session *s, struct err *err);

#endif
