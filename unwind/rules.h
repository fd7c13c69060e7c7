/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind rules of one ELF file: find the row of call frame information for an address, and the bytes of segments
 * that processes cannot write to.
 *
 * The program headers lead to .eh_frame, through the binary search table of .eh_frame_hdr. If there is no table, we
 * make an index of the records of .eh_frame. If .eh_frame has no record for the address, .debug_frame is used, of the
 * file or of its separate debug file, by an index that is made when it is first needed. Only for files of
 * ARCH_ELF_MACHINE, 64-bit and little endian.
 *
 * Code that a process makes at run time, which is in no file, may have rules in the form of .eh_frame, too.
 *
 * The file may be hostile, and may change or shrink while it is read (see elf_file.h). At most FILE_PAGES_NR pages of
 * it (see file_bytes.h) are kept in memory: most addresses lie close together. Not thread safe.
 */
#ifndef UNWIND_RULES_H
#define UNWIND_RULES_H

#include "core/files/elf_file.h"
#include "unwind/cfi.h"
#include "unwind/extent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rules;

/**
 * rules_open() - open the rules of a file.
 * @file:  taken over, also on failure
 * @debug: its separate debug file, for .debug_frame; taken over, also on failure; ELF_FILE_NONE: there is none. An
 *         unsupported one has no effect
 *
 * Return: 0 and the owned *@out, which may be without any rules; -ENOEXEC: not a file of the supported kind; -ENOMEM;
 * others of elf_section_find().
 */
int rules_open(struct elf_file *file, struct elf_file *debug, struct rules **out);
void rules_close(struct rules *r);

/** struct rules_code - the source of rules for code that is in no file. */
struct rules_code {
	void *ctx;
	/*
	 * Get the data in the form of .eh_frame for the code at @addr of the process, in memory that @out owns from now
	 * on, and the address of the data in the form of .eh_frame_hdr. Return: 1; 0: there are none; -errno.
	 */
	int (*frames)(void *ctx, uint64_t addr, struct extent *out, uint64_t *hdr);
};

/**
 * rules_open_code() - the rules of code that a process makes at run time. Addresses are those of the process; the bytes
 * of the code are not known. Return: 0 and the owned *@out, or -ENOMEM.
 */
int rules_open_code(const struct rules_code *code, struct rules **out);

/** rules_of_code() - true if they are of code that is in no file. */
bool rules_of_code(const struct rules *r);

/** rules_forget() - for rules_open_code(): the code has changed, so forget the rows that were found. */
void rules_forget(struct rules *r);

/** rules_memory() - bytes of memory that they use: headers, indexes, pages of the file, rows. */
size_t rules_memory(const struct rules *r);

/** rules_address() - the address of byte @offset of the file by its program headers. False: not in executable code. */
bool rules_address(const struct rules *r, uint64_t offset, uint64_t *addr);

/**
 * rules_find() - the row for @addr, one of the file's own addresses.
 * Return: 1 and *@out, borrowed until the next rules_find() or rules_entry() with @r; 0: there is no rule for it;
 * -errno: there is one, but it is damaged (-EBADMSG), not supported (-ENOTSUP), or cannot be read (-ENOEXEC: the file
 * shrank), or there is no memory (-ENOMEM). A .debug_frame that cannot be read as a whole is ignored, so that the
 * unwinder tries other ways to leave the frame.
 */
int rules_find(struct rules *r, uint64_t addr, const struct cfi_row **out);

/**
 * rules_function() - the beginning of the function that @addr is in. This does not run its rules: they may be damaged.
 * Return: 1 and *@start, the file's own address of its first byte (see records_function()); 0 and -errno: as
 * rules_find().
 */
int rules_function(struct rules *r, uint64_t addr, uint64_t *start);

/**
 * rules_begun() - the beginning of the last function that begins at or before @addr, wherever it ends.
 * Return: as rules_function(); 0: there is none.
 */
int rules_begun(struct rules *r, uint64_t addr, uint64_t *start);

/** rules_entry() - true if by the rules the frame at @addr has no caller, because its return address is undefined. */
bool rules_entry(struct rules *r, uint64_t addr);

/** rules_work() - bytes of the records that were read so far, for rows that were not known already. */
uint64_t rules_work(const struct rules *r);

/**
 * rules_expr() - the bytes of the expression that a row of this file refers to.
 * @at:  value of the row
 * @buf: room for EXPR_MAX_BYTES
 * Return: their number; -EBADMSG: longer than that, or not there; -errno.
 */
int rules_expr(struct rules *r, const struct cfi_row *row, uint64_t at, uint8_t *buf);

/**
 * rules_read() - read @len bytes at @addr, in a segment that a process cannot write to (code, constants).
 * Return: 0; -EFAULT: not all of it is in one; -errno.
 */
int rules_read(struct rules *r, uint64_t addr, void *to, size_t len);

/* ---- for another unwinder, which reads the records itself */

/** rules_serial() - a number that no other rules of this process have, or had; 0 for those of rules_open_code(). */
uint64_t rules_serial(const struct rules *r);

/** rules_fds() - the descriptors of both files, borrowed; -1: it is in memory, or there is none. */
void rules_fds(const struct rules *r, int *file, int *debug);

/** struct rules_table - the file's own addresses of .eh_frame_hdr and of its search table, which has @nr entries. */
struct rules_table {
	uint64_t hdr, at, nr;
};

/** rules_table() - Return: 0; -errno: .eh_frame_hdr cannot be read. @out->nr 0: it has no usable table. */
int rules_table(struct rules *r, struct rules_table *out);

/** rules_eh_record() - the record of .eh_frame that may be for @addr, by an index. Return: 1 and *@at; 0: none; -errno.
 */
int rules_eh_record(struct rules *r, uint64_t addr, uint64_t *at);

/**
 * rules_debug_record() - the record of .debug_frame that may be for @addr, and its CIE; borrowed until the next call.
 * Return: 1; 0: there is none; -errno as rules_find().
 */
int rules_debug_record(struct rules *r, uint64_t addr, struct cfi_cie *cie, struct cfi_fde *fde);

/**
 * rules_read_records() - read @len bytes at @addr, in .eh_frame or .eh_frame_hdr.
 * @any: also in any other segment, from the file; a process may have changed these bytes in memory
 * Return: as rules_read().
 */
int rules_read_records(struct rules *r, uint64_t addr, bool any, void *to, size_t len);

#endif
