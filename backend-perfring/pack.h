/* SPDX-License-Identifier: Apache-2.0 */
/* Shrink records that wait: drop the bytes that are not needed. */
#ifndef PERFRING_PACK_H
#define PERFRING_PACK_H

#include <linux/perf_event.h>
#include <stddef.h>

struct stack_roots;

/**
 * pack_record() - copy one record. If it is a sample, leave out the unused room behind the copy of its user stack, and
 * the part of the stack above its root, see stack_roots_needed(). If a stack is smaller than the copy may be, as most
 * are, the kernel leaves the rest of the room unwritten. The result is a valid record that only lacks these bytes.
 * @roots: the roots known so far; NULL: none
 * @attr, @bytes, @size: as of decode_record(); a record that it would refuse is copied as it is
 * @to: room for @size bytes, aligned to 8; it may be @bytes
 * Return: bytes of the copy, a multiple of 8
 */
size_t pack_record(const struct perf_event_attr *attr, const struct stack_roots *roots, const void *bytes, size_t size,
		   void *to);

#endif
