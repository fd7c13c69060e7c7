/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inflate debug sections that are compressed with zstd, which libdw before elfutils 0.189 cannot read. Call this only
 * in a process that may call libdw: see lines_dwarf.h.
 */
#ifndef CORE_SYMBOLS_LINES_SECTIONS_H
#define CORE_SYMBOLS_LINES_SECTIONS_H

#include <gelf.h>
#include <stddef.h>

#define LINES_SECTIONS_MAX 16 /* more than libdw reads for lines_dwarf.c */

/** struct lines_sections - inflated contents, from malloc(3), of the sections of an Elf. All zero is empty. */
struct lines_sections {
	void *v[LINES_SECTIONS_MAX];
	size_t nr;
};

/**
 * lines_sections_open() - open the ELF file @fd so that libdw can read its debug sections.
 * @s: owned by the caller, and used by *@out: call lines_sections_release() after elf_end()
 * Return: 0 and the owned *@out; -ENOEXEC: not an ELF file, or a section is damaged; -ENOTSUP: the compression method
 * of a section is unknown, or this program and libelf were built without it; -ENOMEM. There is nothing to release after
 * a failure.
 */
int lines_sections_open(int fd, struct lines_sections *s, Elf **out);
void lines_sections_release(struct lines_sections *s);

#endif
