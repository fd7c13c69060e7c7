/* SPDX-License-Identifier: Apache-2.0 */
/* The small ELF file, with no more than symbols, that some distributions put into each program: .gnu_debugdata. */
#ifndef CORE_FILES_ELF_XZ_H
#define CORE_FILES_ELF_XZ_H

#include "core/files/elf_file.h"

/**
 * elf_xz_inflate() - the .xz stream of @size bytes at @offset of @f, in memory of its own.
 * Return: 0 and the owned *@out, from malloc(3), of *@len bytes; -E2BIG: more than 16 MiB, 64 MiB of contents, or 64
 * MiB of memory for the work; -EBADMSG: not such a stream, or its end is missing; -ENOMEM; others of elf_file_read().
 */
int elf_xz_inflate(const struct elf_file *f, uint64_t offset, uint64_t size, char **out, size_t *len);

#endif
