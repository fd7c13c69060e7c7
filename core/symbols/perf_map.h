/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of one file with names of code that was made at run time, see perf_maps.h: "START SIZE name", with
 * START and SIZE in hex.
 *
 * If lines overlap, memory was reused: each address belongs to the last line that covers it.
 *
 * The text is hostile. Only the last lines of a long file are kept: half a million to a million. The bytes of a line
 * beyond 4 KiB are dropped. Lines in another format, with size 0, without a name, or that reach beyond the last address
 * are skipped, and so is a last line without newline, which is still being written.
 *
 * Not thread safe.
 */
#ifndef CORE_SYMBOLS_PERF_MAP_H
#define CORE_SYMBOLS_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_map;

/**
 * struct perf_map_symbol - the line that an address belongs to.
 * @name:  as in the file, of at most 4 KiB; borrowed, see the function that returned it
 * @start: where the code of its line begins; that address itself may belong to a later line
 */
struct perf_map_symbol {
	const char *name;
	uint64_t start;
};

/** perf_map_new() - without lines. NULL: no memory. */
struct perf_map *perf_map_new(void);
void perf_map_free(struct perf_map *m);
/** perf_map_feed() - the next piece of the text, of any length. Return: 0 or -ENOMEM; then only free it. */
int perf_map_feed(struct perf_map *m, const char *text, size_t len);
/** perf_map_finish() - there is no more; lookups may begin. Return: 0 or -ENOMEM; then only free it. */
int perf_map_finish(struct perf_map *m);
/** perf_map_find() - Return: true and *@out, borrowed until perf_map_free(); it is untouched otherwise. */
bool perf_map_find(const struct perf_map *m, uint64_t addr, struct perf_map_symbol *out);

/** perf_map_memory() - bytes it takes; NULL: 0. */
size_t perf_map_memory(const struct perf_map *m);

#endif
