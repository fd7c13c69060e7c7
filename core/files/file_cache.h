/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache of mapped files, found by struct mapped_file, the kernel's description of a file. For each file it decides
 * which process to try, when to try again, and when to give up. Code that uses the files keeps its data of each one
 * behind the struct cached_file.
 *
 * A file is looked for in the root of a process that has it mapped. That process may have exited already, so a few
 * processes are tried, never the same one twice in a row. The cache gives up on memory that has no file, and after an
 * error that neither another process nor time will mend, such as a file that is not ELF; for a recording, whose
 * processes cannot be tried, after any error. For a vDSO, the image of the running kernel is opened if the process has
 * the same (vdso_is_ours()); else, for a recording, the copy that perf has kept.
 *
 * One file may have many names: hard links, and mounts. Each name has an entry, because only the name that a process
 * has mapped can be opened there. The entries of one file share the data made from it, see file_cache_open().
 *
 * Not thread safe: each thread has a cache of its own.
 */
#ifndef CORE_FILES_FILE_CACHE_H
#define CORE_FILES_FILE_CACHE_H

#include "core/base/intern.h"
#include "core/files/elf_file.h"
#include "core/tasks/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define FILE_CACHE_HINTS 256 /* a power of two */

struct mapped_files_cfg;
struct tasks;

/**
 * struct file_id - identifies a file, whatever its name. Two files that are open at the same time never have the same
 * id; the size and the time change when the file is written to. All zero: unknown.
 */
struct file_id {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec written;
};

/**
 * struct cached_file - each entry begins with one. Do not write to it, except to @given_up and @shares.
 * @file:       a copy of the mapping's, with its own copy of the path: valid as long as the entry
 * @used:       file_cache.clock at its last lookup
 * @vdso_size:  bytes of the vDSO that was opened; 0: none was, or the file is not a vDSO
 * @id:         of the file that was opened last
 * @foreign:    the file opened last belongs neither to root nor to our effective user, or it has no link. A deleted
 *              file has none, nor has a copy in memory (open_files.h), whose owner is not the file's
 * @shares:     set by the user of the cache: data made from the file keeps it open and serves its other names, too
 * @given_up:   do not try to open it again until cached_file_renew()
 * @mismatched: another file was at its path
 * @missing:    no file was at its path, or none that we may read
 * @tries_left: 0: do not try to open it before file_cache.again_ns have passed since @tried_ns
 */
struct cached_file {
	struct mapped_file file;
	uint64_t used, vdso_size;
	struct file_id id;
	bool foreign, shares, given_up, mismatched, missing;
	pid_t tried_pid;
	uint64_t tried_ns;
	unsigned int tries_left;
};

/**
 * struct file_cache - @files has the entries.
 * @nr_mismatched: how many entries are mismatched, or were when they were deleted
 * @hints: position in @files of the entry of a struct mapped_file, by the address of that struct; valid as long as
 *         tasks_forgotten() returns @forgotten
 */
struct file_cache {
	const struct mapped_files_cfg *cfg;
	const struct tasks *tasks;
	struct intern_kind kind;
	uint64_t again_ns;
	struct intern_table files;
	uint64_t clock, forgotten;
	size_t nr_mismatched;
	struct {
		const struct mapped_file *file;
		size_t at;
	} hints[FILE_CACHE_HINTS];
};

/**
 * file_cache_init() - no files yet.
 * @cfg:   how to open files; borrowed
 * @tasks: owns the mapped files that will be looked up; borrowed
 * @entry_size: bytes of an entry, which begins with a struct cached_file
 * @again_ns: after so long, more processes are tried; UINT64_MAX: never
 */
void file_cache_init(struct file_cache *c, const struct mapped_files_cfg *cfg, const struct tasks *tasks,
		     size_t entry_size, uint64_t again_ns);

/** file_cache_clear() - free all entries, but not what the data behind each struct cached_file owns. */
void file_cache_clear(struct file_cache *c);

/**
 * file_cache_get() - the entry of @file; a new one, zeros behind struct cached_file, if there is none.
 * Return: the entry, until another one is added or deleted; NULL: no memory.
 */
void *file_cache_get(struct file_cache *c, const struct mapped_file *file);

/** file_cache_delete() - delete @cf; the last entry moves to its position. */
void file_cache_delete(struct file_cache *c, struct cached_file *cf);

/** file_cache_wants() - true if it is worth trying to open @cf for @pid now. If so, this call uses up a try. */
bool file_cache_wants(struct file_cache *c, struct cached_file *cf, pid_t pid);

/**
 * file_cache_open() - open @cf as @pid has mapped it.
 * @twin: out: another entry that has the file under another name and shares the data made from it; @f is untouched
 *        then. NULL: there is none; if @twin is NULL, none is looked for
 * Return: 0 and @f, owned: elf_file_release(); -errno as mapped_file_open() and elf_file_open(); -ENOEXEC also for a
 * vDSO that is neither ours nor kept by perf; -ECANCELED: signals_overdue().
 */
int file_cache_open(struct file_cache *c, struct cached_file *cf, pid_t pid, struct elf_file *f,
		    struct cached_file **twin);

/** file_cache_tried() - @rc is the result of opening and reading @cf. Running out of descriptors does not count. */
void file_cache_tried(struct file_cache *c, struct cached_file *cf, int rc);

/** cached_file_renew() - start over with @cf: any process may be tried again. Clears @given_up and @shares. */
void cached_file_renew(struct cached_file *cf);

/** cached_file_serves() - true if what was opened for @cf fits @m, a mapping of its file: a vDSO must have its size. */
bool cached_file_serves(const struct cached_file *cf, const struct mapping *m);

#endif
