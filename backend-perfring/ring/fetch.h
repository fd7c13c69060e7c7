/* SPDX-License-Identifier: Apache-2.0 */
/* Rings emptied into memory by another thread, while the reader works. */
#ifndef PERFRING_FETCH_H
#define PERFRING_FETCH_H

#include "backend-perfring/ring/rings.h"

/** rings_fetch() - see source_ops.fetch. */
int rings_fetch(struct source *b, struct err *err);

#endif
