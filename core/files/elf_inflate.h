/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is compressed in ELF files: sections with SHF_COMPRESSED, and the small ELF file, with no more than symbols,
 * that some distributions put into each program: .gnu_debugdata.
 */
#ifndef CORE_FILES_ELF_INFLATE_H
#define CORE_FILES_ELF_INFLATE_H

#include "core/files/file_bytes.h"

/**
 * elf_inflate_section() - what the @size bytes at @offset, of a section with SHF_COMPRESSED in a file of 64 bits, stand
 * for.
 * Return: 0 and the owned *@out, from malloc(3), of *@len bytes, which are some; -ENOTSUP: not zlib, or more than 16
 * MiB; -EBADMSG: damaged; -ENOMEM; others of file_bytes_read().
 */
int elf_inflate_section(const struct file_bytes *b, uint64_t offset, uint64_t size, char **out, size_t *len);

/**
 * elf_inflate_xz() - the same of an .xz stream.
 * Return: also -E2BIG: more than 16 MiB, 64 MiB of contents, or 80 MiB of memory for the work; -EBADMSG: not such a
 * stream, or its end is missing.
 */
int elf_inflate_xz(const struct file_bytes *b, uint64_t offset, uint64_t size, char **out, size_t *len);

#endif
