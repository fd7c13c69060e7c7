/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of kernel symbols, usually /proc/kallsyms, that is read only as far as needed.
 *
 * The kernel prints each line anew for each reader, which takes longer than all other work of naming. The kernel's own
 * text comes first, sorted, up to _etext, and never changes: it can be read ahead of time. Behind it are data, modules,
 * BPF programs and trampolines, which come and go: they are read when an address outside of the kernel's text is looked
 * up. Not thread safe.
 */
#ifndef CORE_SYMBOLS_KERNEL_FILE_H
#define CORE_SYMBOLS_KERNEL_FILE_H

#include "core/symbols/kernel.h"

struct kernel_file;

/**
 * kernel_file_open() - open a file, and read nothing yet.
 * @whole: it is perhaps not in the kernel's order, so the first lookup reads all of it
 * Return: 0 and the owned *@out; -EINVAL: not a regular file (files of /proc are regular); -errno.
 */
int kernel_file_open(const char *path, bool whole, struct kernel_file **out);
/**
 * kernel_file_adopt() - the same for the regular file @fd, which is taken over, also on failure. Return: 0; -ENOMEM.
 */
int kernel_file_adopt(int fd, bool whole, struct kernel_file **out);
void kernel_file_free(struct kernel_file *f);

/** kernel_file_ahead() - read a little of the kernel's text. Return: true: there is more. */
bool kernel_file_ahead(struct kernel_file *f);

/**
 * kernel_file_shows() - true if the kernel shows addresses; false if it hides them from the user who opened the file
 * (kernel.kptr_restrict). Reads a little, unless an address was read already.
 */
bool kernel_file_shows(struct kernel_file *f);

/**
 * kernel_file_text() - read all of the kernel's text, or the whole file if it has no _etext.
 * Return: 0; -EFBIG: larger than any such file; -E2BIG: more symbols than any kernel has; -errno. After a failure
 * nothing more is read.
 */
int kernel_file_text(struct kernel_file *f);

/**
 * kernel_file_find() - as kernel_symbols_find(); reads the parts it needs. Strings are borrowed until
 * kernel_file_free().
 */
bool kernel_file_find(struct kernel_file *f, uint64_t addr, struct kernel_symbol *out);

/** kernel_file_symbols() - the symbols of the text; call kernel_file_text() first. */
const struct kernel_symbols *kernel_file_symbols(const struct kernel_file *f);

/** kernel_file_error() - the first error of any of these functions, or 0. */
int kernel_file_error(const struct kernel_file *f);

#endif
