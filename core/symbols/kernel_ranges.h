/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that the kernel added or removed during the sampling (BPF programs, trampolines), by PERF_RECORD_KSYMBOL
 * records.
 *
 * /proc/kallsyms has the code that is there when it is read. A program that was unloaded before that is missing, and
 * another program may have its addresses. The records have both programs, with the times.
 *
 * If samples are added in time order, each address is given to the code that was there at that time:
 * kernel_ranges_at(). Counts that a BPF program makes have only addresses, without times. Then an address that belonged
 * to two programs within an interval has no name. Not thread safe.
 */
#ifndef CORE_SYMBOLS_KERNEL_RANGES_H
#define CORE_SYMBOLS_KERNEL_RANGES_H

#include "core/symbols/kernel.h"

/*
 * A frame of the kernel that is not an address: code at addresses that other code had before. The bits from 32 on have
 * the number of the range, and those below the offset from its start.
 */
#define KERNEL_RANGE_FRAME (1ULL << 60)

struct kernel_ranges;

/** struct kernel_range - one record. @name: borrowed. @time: CLOCK_MONOTONIC, or the clock of the recording. */
struct kernel_range {
	uint64_t start, len;
	const char *name;
	bool bpf;     /* made by bpf(2); else by ftrace or kprobes */
	bool removed; /* it was removed; else added */
	uint64_t time;
};

/**
 * enum kernel_range_found - RANGE_REUSED: its addresses were reused, there were too many ranges, or records were lost.
 */
enum kernel_range_found { RANGE_NONE, RANGE_FOUND, RANGE_REUSED };

/** kernel_ranges_new() - Return: NULL: no memory. */
struct kernel_ranges *kernel_ranges_new(void);
void kernel_ranges_free(struct kernel_ranges *kr);

/** kernel_ranges_by_address() - set whether samples are added without their times. */
void kernel_ranges_by_address(struct kernel_ranges *kr, bool by_address);

/**
 * kernel_ranges_add() - add a record. Call it in time order with kernel_ranges_at(). An impossible range is ignored.
 * Return: 0; -ENOMEM.
 */
int kernel_ranges_add(struct kernel_ranges *kr, const struct kernel_range *r);

/**
 * kernel_ranges_lost() - records were lost: from now on kernel_ranges_find() returns RANGE_REUSED for all addresses
 * from the lowest to the highest of any record. kernel_ranges_incomplete() is true then.
 */
void kernel_ranges_lost(struct kernel_ranges *kr);
bool kernel_ranges_incomplete(const struct kernel_ranges *kr);

/**
 * kernel_ranges_at() - the frames for @nr addresses of a kernel stack that was sampled now, leaf first.
 * @time: of the sample, or 0. If the code at an address was removed long before, a record is missing: the frame then
 * has no name.
 * Return: @ips, if all frames are addresses; else frames that are borrowed until the next call.
 */
const uint64_t *kernel_ranges_at(struct kernel_ranges *kr, const uint64_t *ips, uint32_t nr, uint64_t time);

/**
 * kernel_ranges_find() - find the code of a frame.
 * @is_return: @frame is a return address: look up the call before it
 * @addr: out: the address of the frame: @frame itself if it is an address, 0 if it has the number of an unknown range
 * Return: RANGE_FOUND and *@out, whose strings are borrowed until kernel_ranges_interval(); else *@out is untouched.
 * RANGE_NONE: no record is about it.
 */
enum kernel_range_found kernel_ranges_find(struct kernel_ranges *kr, uint64_t frame, bool is_return,
					   struct kernel_symbol *out, uint64_t *addr);

/**
 * kernel_ranges_interval() - kernel_ranges_find() is called next for samples of the time from @since to @until. Forget
 * code that was removed more than a second before @since: no row has it any more.
 */
void kernel_ranges_interval(struct kernel_ranges *kr, uint64_t since, uint64_t until);

/** kernel_ranges_withheld() - number of ranges with a nameless frame: other code was there in the same interval. */
size_t kernel_ranges_withheld(const struct kernel_ranges *kr);

#endif
