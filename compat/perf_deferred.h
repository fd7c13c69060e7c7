/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deferred user callchains: the kernel has them since 6.19, and older headers do not. If a sample has the marker,
 * its user part comes later, in a record that the kernel writes when the thread returns to user space. The record and
 * all samples of the thread since it entered the kernel have the same cookie. Source: include/uapi/linux/perf_event.h
 * of 6.19, where the names are PERF_CONTEXT_USER_DEFERRED and PERF_RECORD_CALLCHAIN_DEFERRED.
 */
#ifndef COMPAT_PERF_DEFERRED_H
#define COMPAT_PERF_DEFERRED_H

#include <stdint.h>

/* The marker; the cookie follows it, as the last entry of a sample's callchain. */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

/* header, u64 cookie, u64 nr, u64 ips[nr], sample_id; ips are user addresses, without a marker */
#define RECORD_CALLCHAIN_DEFERRED 22

/*
 * Limit on the addresses of such a callchain: UNWIND_MAX_ENTRIES of kernel/unwind/deferred.c, a page less a header of
 * 16 bytes. perf_event_attr.sample_max_stack does not apply.
 */
#define DEFERRED_MAX_STACK 510

#endif
