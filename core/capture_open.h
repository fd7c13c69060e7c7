/* SPDX-License-Identifier: Apache-2.0 */
/* The backends of a run: which way to sample is taken, and their events. Private to core/capture*.c. */
#ifndef CORE_CAPTURE_OPEN_H
#define CORE_CAPTURE_OPEN_H

#include "core/capture.h"

/** backends_attach() - event @event is open: all backends are told, those that read first. Return: 0 or -errno. */
int backends_attach(struct capture *cap, size_t event, struct err *err);
/** backends_detach() - event @event is about to be closed. Return: 0 or -errno. */
int backends_detach(struct capture *cap, size_t event, struct err *err);
void backends_close(struct capture *cap);

#endif
