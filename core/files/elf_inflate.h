/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inflate compressed parts of ELF files: sections with SHF_COMPRESSED, and .gnu_debugdata, a small ELF file with only
 * symbols that some distributions put into each program.
 */
#ifndef CORE_FILES_ELF_INFLATE_H
#define CORE_FILES_ELF_INFLATE_H

#include "core/files/file_bytes.h"

#include <elf.h>

#ifndef ELFCOMPRESS_ZSTD /* glibc 2.37 */
#define ELFCOMPRESS_ZSTD 2
#endif

/**
 * elf_inflate_section() - inflate the @size bytes at @offset, a section with SHF_COMPRESSED in a file of 64 bits.
 * Return: 0 and the owned *@out, from malloc(3), of *@len bytes, at least one; -ENOTSUP: neither zlib nor zstd,
 * more than 16 MiB inflated, or zstd and built without it; -EBADMSG: damaged; -ENOMEM; others of file_bytes_read().
 */
int elf_inflate_section(const struct file_bytes *b, uint64_t offset, uint64_t size, char **out, size_t *len);

/** elf_inflate_gnu() - the same for a section named .zdebug_..., which compilers made before 2015: only zlib. */
int elf_inflate_gnu(const struct file_bytes *b, uint64_t offset, uint64_t size, char **out, size_t *len);

/**
 * elf_inflate_zstd() - as elf_inflate_section(), for @len bytes in memory, behind the header of such a section: one
 * zstd frame, or several, as mold writes them. They must inflate to exactly @size bytes, which may be more than 16 MiB.
 * Return: 0 and the owned *@out; -ENOTSUP: this program was built without zstd; -EBADMSG; -ENOMEM.
 */
int elf_inflate_zstd(const void *from, size_t len, uint64_t size, char **out);

/**
 * elf_inflate_xz() - as elf_inflate_section(), for the @size bytes of an .xz stream at @offset. *@len may be 0;
 * after a failure it is untouched, or the number of bytes inflated so far.
 * Return: also -E2BIG: more than 16 MiB, or its contents more than 64 MiB, or 80 MiB of working memory; -EBADMSG: not
 * such a stream, or its end is missing.
 */
int elf_inflate_xz(const struct file_bytes *b, uint64_t offset, uint64_t size, char **out, size_t *len);

#endif
