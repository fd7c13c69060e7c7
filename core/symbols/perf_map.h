/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that was made at run time: just-in-time compilers write them to /tmp/perf-PID.map, one line for each
 * function ("START SIZE name", both in hex), and append to it as they compile. PID is the one that the process knows
 * itself by, and /tmp that of its own root: both may be those of a container.
 *
 * Where lines overlap, memory was used again: each address belongs to the last line that covers it.
 *
 * The file is hostile. It is read only if it is a regular file without other names (hard links), of the effective user
 * of the process or of root; no symlink on the way is followed, and nothing else is opened. No more of it is read than
 * its size, or 64 MiB, and 1 million lines; a line ends at 4 KiB. Lines that are not like the above, without size or
 * name, or that reach beyond the last address are skipped, and so is a last one without newline, which is being
 * written.
 *
 * A process that is gone tells nothing of its root and its user. Then the file is looked for in the root of the host,
 * by the number that we know the process by, and has to be of root or of our own effective user: in /tmp, any other may
 * be anybody's. A file that was last written before a process began is left by another one with the same number.
 * Whether a process with the number of one that is gone is another one is not told when the first one was never looked
 * up.
 *
 * Not thread safe.
 */
#ifndef CORE_SYMBOLS_PERF_MAP_H
#define CORE_SYMBOLS_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapped_files_cfg;
struct perf_map;
struct perf_maps;

/**
 * struct perf_map_symbol
 * @name:  as in the file, of at most 4 KiB; borrowed, see who returned it
 * @start: that of its line; later lines may have taken the address itself
 */
struct perf_map_symbol {
	const char *name;
	uint64_t start;
};

/*
 * The lines of one file.
 */

/** perf_map_new() - without lines. NULL: no memory. */
struct perf_map *perf_map_new(void);
void perf_map_free(struct perf_map *m);
/** perf_map_feed() - the next piece of the text, cut anywhere. Return: 0 or -ENOMEM; then only free it. */
int perf_map_feed(struct perf_map *m, const char *text, size_t len);
/** perf_map_finish() - there is no more; lookups may begin. Return: 0 or -ENOMEM; then only free it. */
int perf_map_finish(struct perf_map *m);
/** perf_map_find() - Return: true and *@out, borrowed until perf_map_free(); it is untouched otherwise. */
bool perf_map_find(const struct perf_map *m, uint64_t addr, struct perf_map_symbol *out);

/*
 * The files of processes, each read at the first lookup in its process.
 */

/** perf_maps_new() - @where: /proc and the root of the host; borrowed until perf_maps_free(). NULL: no memory. */
struct perf_maps *perf_maps_new(const struct mapped_files_cfg *where);
void perf_maps_free(struct perf_maps *pm);

/**
 * perf_maps_renew() - time has passed: at the next lookup in its process a file that has changed is read again, while a
 * process that is gone keeps its names. Those that were not looked up since the last time are dropped.
 */
void perf_maps_renew(struct perf_maps *pm);

/**
 * perf_maps_find() - the name of @addr in process @pid.
 * Return: 1 and *@out, borrowed until perf_maps_renew(); it is untouched otherwise. 0: it has none. -EMFILE, -ENFILE,
 * -ENOMEM, -E2BIG (all files together take 256 MiB): the file of @pid was not read; told once, then it has no names.
 */
int perf_maps_find(struct perf_maps *pm, pid_t pid, uint64_t addr, struct perf_map_symbol *out);

#endif
