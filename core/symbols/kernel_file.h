/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of kernel symbols, /proc/kallsyms above all, read no further than it is asked for.
 *
 * The kernel prints each line anew for each reader, which takes longer than anything else that names need. Its own text
 * comes first, sorted, up to _etext, and never changes: it can be read ahead, while nobody waits for it. Behind it are
 * data, modules, BPF programs and trampolines: they come and go, and are read when an address outside of that text is
 * asked for. Not thread safe.
 */
#ifndef CORE_SYMBOLS_KERNEL_FILE_H
#define CORE_SYMBOLS_KERNEL_FILE_H

#include "core/symbols/kernel.h"

struct kernel_file;

/**
 * kernel_file_open() - nothing is read yet. @whole: not sorted as the kernel does it, perhaps: read all at once.
 * Return: 0 and the owned *@out; -EINVAL: not a regular file (as those of /proc are); -errno.
 */
int kernel_file_open(const char *path, bool whole, struct kernel_file **out);
/** kernel_file_adopt() - the same of the regular file @fd, which is taken over, also on failure. Return: 0; -ENOMEM. */
int kernel_file_adopt(int fd, bool whole, struct kernel_file **out);
void kernel_file_free(struct kernel_file *f);

/** kernel_file_ahead() - read a little of the kernel's text. Return: is there more of it? */
bool kernel_file_ahead(struct kernel_file *f);

/**
 * kernel_file_shows() - are there addresses, or does the kernel hide them from who opened it (kernel.kptr_restrict)?
 * Reads a little, and no more where it has been told.
 */
bool kernel_file_shows(struct kernel_file *f);

/**
 * kernel_file_text() - have read the kernel's text; all of the file, where that does not tell its end.
 * Return: 0; -EFBIG: larger than any; -E2BIG: more symbols than any; -errno. After that nothing more is read.
 */
int kernel_file_text(struct kernel_file *f);

/** kernel_file_find() - kernel_symbols_find() in what it needs to read; strings are borrowed until kernel_file_free().
 */
bool kernel_file_find(struct kernel_file *f, uint64_t addr, struct kernel_symbol *out);

/** kernel_file_symbols() - those of the text, which kernel_file_text() has read. */
const struct kernel_symbols *kernel_file_symbols(const struct kernel_file *f);

/** kernel_file_error() - the first failure of any of them, or 0. */
int kernel_file_error(const struct kernel_file *f);

#endif
