/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf's cache of the files that it recorded, "~/.debug": below ".build-id/xx/..." it has a directory for each build,
 * with the file as "elf" or "vdso", or the names of a kernel as "kallsyms".
 */
#ifndef CORE_FILES_PERF_CACHE_H
#define CORE_FILES_PERF_CACHE_H

/**
 * perf_cache_find() - the cache of the user who runs this.
 * @home: $HOME; NULL: not set
 * Return: its path, from malloc(3); NULL: there is none, or no memory. The directory has to belong to that user (the
 * real user id), and must not have mode o+w: with sudo(8), $HOME may be the directory of another user.
 */
char *perf_cache_find(const char *home);

#endif
