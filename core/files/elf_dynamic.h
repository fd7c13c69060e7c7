/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbols of a file without section headers, by the dynamic section that the dynamic linker uses. This section has
 * the address of the first symbol. The number of symbols follows from the hash table for lookups or, without one, from
 * the address of the names, because linkers put the names behind the symbols.
 */
#ifndef CORE_FILES_ELF_DYNAMIC_H
#define CORE_FILES_ELF_DYNAMIC_H

#include "core/files/elf_file.h"

/**
 * elf_dynamic_symbols() - where the dynamic symbols of @f and their names are, like the section headers of .dynsym and
 * .dynstr.
 * @symbols, @strings: out: type, offset, size and size of an entry; all within the file, but not otherwise checked
 * Return: 0; -ENOENT: there are none; -ENOEXEC: damaged; -ENOMEM; others of file_bytes_read().
 */
int elf_dynamic_symbols(const struct elf_file *f, Elf64_Shdr *symbols, Elf64_Shdr *strings);

#endif
