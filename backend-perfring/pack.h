/* SPDX-License-Identifier: Apache-2.0 */
/* Records that wait, without what nobody needs of them. */
#ifndef PERFRING_PACK_H
#define PERFRING_PACK_H

#include <linux/perf_event.h>
#include <stddef.h>

struct stack_roots;

/**
 * pack_record() - copy one record, a sample without the room behind the copy of its user's stack, and without what is
 * there of the stack above its root. The kernel leaves the room unwritten where a stack is smaller than the copy may
 * be, and most are. What is left is a record, with the same contents but for that.
 * @roots: as far as they are known; NULL: none are
 * @attr, @bytes, @size: as of decode_record(); a record that it would refuse is copied as it is
 * @to: room for @size bytes, aligned to 8; it may be @bytes
 * Return: bytes of the copy, a multiple of 8
 */
size_t pack_record(const struct perf_event_attr *attr, const struct stack_roots *roots, const void *bytes, size_t size,
		   void *to);

#endif
