/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind rules of one ELF file: which row of call frame information holds for an address of it, and the bytes that
 * it shows to a process that may only read them.
 *
 * .eh_frame is found by the program headers, through the binary search table of .eh_frame_hdr, or where there is none
 * by an index of its records; .debug_frame, of the file or of its separate debug file, serves where .eh_frame has no
 * record, by an index that is made when it is first needed. Files of ARCH_ELF_MACHINE only, 64-bit and little endian.
 *
 * The file may be hostile, and may change or shrink while it is read (see elf_file.h). Little of it is in memory: pages
 * that are kept, since most addresses lie close together. Not thread safe.
 */
#ifndef UNWIND_RULES_H
#define UNWIND_RULES_H

#include "core/files/elf_file.h"
#include "unwind/cfi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rules;

/**
 * rules_open() - the rules of a file that was opened.
 * @file:  taken over, also on failure
 * @debug: its separate debug file, for .debug_frame; taken over, also on failure; ELF_FILE_NONE: there is none. One
 * that is not of the supported kind is as good as none. Return: 0 and the owned *@out, which may be without any rules;
 * -ENOEXEC: not a file of the supported kind; -ENOMEM; others of elf_section_find().
 */
int rules_open(struct elf_file *file, struct elf_file *debug, struct rules **out);
void rules_close(struct rules *r);

/** rules_memory() - bytes of memory it holds: headers, indexes, pages of the file, rows. */
size_t rules_memory(const struct rules *r);

/** rules_address() - the file's own address of its byte @offset, which is loaded executable. False: it is not. */
bool rules_address(const struct rules *r, uint64_t offset, uint64_t *addr);

/**
 * rules_find() - the row for @addr, one of the file's own addresses.
 * Return: 1 and *@out, borrowed until the next rules_find() with @r; 0: there is no rule for it; -errno: there
 * is one, but it is damaged (-EBADMSG), not supported (-ENOTSUP), or cannot be read (-ENOEXEC: the file shrank).
 * A .debug_frame that cannot be had as a whole is none, so that other ways are tried where .eh_frame has no record.
 */
int rules_find(struct rules *r, uint64_t addr, const struct cfi_row **out);

/** rules_work() - bytes of the records that were read so far, for rows that were not kept from before. */
uint64_t rules_work(const struct rules *r);

/**
 * rules_expr() - the bytes of the expression that a row of this file names.
 * @at:  value of the row
 * @buf: room for EXPR_MAX_BYTES
 * Return: their number; -EBADMSG: longer than that, or not there; -errno.
 */
int rules_expr(struct rules *r, const struct cfi_row *row, uint64_t at, uint8_t *buf);

/**
 * rules_read() - @len bytes at @addr, of a segment that a process cannot write to (code, constants).
 * Return: 0; -EFAULT: not all of it is in one; -errno.
 */
int rules_read(struct rules *r, uint64_t addr, void *to, size_t len);

#endif
