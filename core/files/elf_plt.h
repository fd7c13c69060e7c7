/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of procedure linkage tables, and the symbol that each jumps to. Only for 64-bit files of
 * ARCH_ELF_MACHINE: others have no entries here.
 *
 * We recognise an entry by its jump through a slot of the global offset table, and find the symbol by the relocation
 * that fills the slot. The order of entries and of relocations, and the other bytes of an entry, depend on the linker.
 * The input may be hostile.
 */
#ifndef CORE_FILES_ELF_PLT_H
#define CORE_FILES_ELF_PLT_H

#include "core/files/elf_file.h"

#define ELF_PLT_SECTIONS 4 /* .plt, .plt.sec, .plt.got, .iplt */
#define ELF_PLT_RELAS    4 /* .rela.plt, .rela.dyn, and room for others */

/* @size bytes at @offset of the file, which are loaded at @addr. */
struct elf_extent {
	uint64_t addr, offset, size;
};

/**
 * struct elf_plt_sections - where the sections are; all zero: the file has none.
 * @stubs: the procedure linkage tables
 * @relas: the loaded relocation sections, in the order of the file
 * @symbols: offset of the symbol table that the relocations refer to, with @nr_symbols; set by the caller
 */
struct elf_plt_sections {
	struct elf_extent stubs[ELF_PLT_SECTIONS];
	struct elf_extent relas[ELF_PLT_RELAS];
	unsigned int nr_stubs, nr_relas;
	uint64_t symbols, nr_symbols;
};

/**
 * struct elf_plt_entry - @len bytes of code at @addr that jump to a symbol.
 * @slot:     address of the slot that has the target of the jump; @symbol: index of the symbol; 0: none
 * @name:     st_name of the symbol, not checked; 0: none
 * @resolver: of an indirect function (IRELATIVE) without symbol: the address of its resolver, which chooses the target
 *            of the jump; 0: none
 */
struct elf_plt_entry {
	uint64_t addr, slot, resolver;
	uint32_t len, symbol, name;
	bool known; /* a relocation of the slot gave the symbol or the resolver */
};

/** elf_plt_note() - keep in @p where section @sh of @f is, if it is a table or relocations, and @p has room. */
void elf_plt_note(struct elf_plt_sections *p, const struct elf_file *f, const Elf64_Shdr *sh, const char *name);

/** elf_plt_covers() - true if @addr lies in a procedure linkage table. */
bool elf_plt_covers(const struct elf_plt_sections *p, uint64_t addr);

/**
 * elf_plt_read() - the entries of @f, sorted by address and disjoint, that have a name or a resolver.
 * Return: 0 and the owned *@out, from malloc(3), with *@nr of them; -ENOMEM; others of file_bytes_read().
 */
int elf_plt_read(const struct elf_file *f, const struct elf_plt_sections *p, struct elf_plt_entry **out, size_t *nr);

#endif
