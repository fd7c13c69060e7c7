/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a Go program from .gopclntab, the table that its runtime prints stack traces with. strip(1) does not
 * remove it. We know the layouts of Go 1.2, 1.16, 1.18 and 1.20 (also used by later versions).
 */
#ifndef CORE_FILES_ELF_GO_H
#define CORE_FILES_ELF_GO_H

#include "core/files/elf_file.h"
#include "core/files/elf_names.h"
#include "core/files/elf_spans.h"

/** struct elf_go_table - @offset and @size of the section; size 0: there is none. @text: the address of .text */
struct elf_go_table {
	uint64_t offset, size, text;
};

/**
 * elf_go_read() - read the functions of table @go of @f.
 * @names: the names in the table are added to it as one string table, perhaps also on failure
 * @out: @nr functions, owned, from malloc(3); NULL after a failure
 * Return: 0; -ENOEXEC: not such a table, one that is damaged, or one of more than 2^20 functions; -ENOMEM; others of
 * elf_names_add() and file_bytes_read().
 */
int elf_go_read(const struct elf_file *f, const struct elf_go_table *go, struct elf_names *names,
		struct elf_entry **out, size_t *nr);

#endif
