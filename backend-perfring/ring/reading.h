/* SPDX-License-Identifier: Apache-2.0 */
/* Records from the rings to the queue: which event each is of, and whether it belongs to this run. */
#ifndef PERFRING_READING_H
#define PERFRING_READING_H

#include "backend-perfring/ring/rings.h"

/** rings_read() - what is there in all rings now. Return: 0 or -errno, described. */
int rings_read(struct source *b, struct err *err);

/** rings_read_place() - the same of place @i alone. */
int rings_read_place(struct source *b, uint32_t i, struct err *err);

/**
 * rings_mark_gap() - switches of place @i may have been lost. The ring tells of them in front of the next record that
 * has room, which may take long, and until then nobody knows: a thread that came back and left again would seem to have
 * been away all the time. Return: 0 or -ENOMEM.
 */
int rings_mark_gap(struct source *b, uint32_t i, uint64_t time, enum record_gap what);

#endif
