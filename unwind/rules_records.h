/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of .eh_frame or .debug_frame in a file: read one by one, and indexed if the section has no search table.
 * Not thread safe.
 */
#ifndef UNWIND_RULES_RECORDS_H
#define UNWIND_RULES_RECORDS_H

#include "unwind/cfi.h"
#include "unwind/extent.h"

#define RULES_MAX_INDEX (1u << 20) /* records of a section without a search table; further ones are ignored */

#define RECORDS_SCAN_MAX 64 /* records that are tried one by one */

#define RECORDS_CIE_MAX 1024 /* bytes of a CIE; real ones have about 24 */

/** struct record_start - the position of the FDE for the code at address @start. */
struct record_start {
	uint64_t start, at;
};

/**
 * struct records - @bytes: of the section, owned. Empty: it has no records.
 * @data_base: see cfi_fde_parse()
 * @work: bytes of records that were searched for rows
 * @record: the FDE that was read last
 * @cie: the one that was read last, from @cie_bytes; records have few different ones
 * @index: @nr_index entries in the order of their @start
 * @indexed: making the index was tried, with result @index_rc
 */
struct records {
	enum cfi_section section;
	struct extent bytes;
	uint64_t data_base, work;
	uint8_t *record;
	size_t cap_record;
	bool have_cie;
	uint64_t cie_at;
	struct cfi_cie cie;
	uint8_t cie_bytes[RECORDS_CIE_MAX];
	struct record_start *index;
	size_t nr_index, cap_index;
	int index_rc;
	bool indexed;
};

void records_release(struct records *rs);

/** records_memory() - bytes of memory that they use. */
size_t records_memory(const struct records *rs);

/**
 * records_fde() - the FDE at @at, and its CIE in @rs->cie, borrowed until the next record is read.
 * @size: out: bytes of the record
 * Return: 0; errors as records_row().
 */
int records_fde(struct records *rs, uint64_t at, struct cfi_fde *out, uint64_t *size);

/**
 * records_row() - the row for @addr in the FDE at @at.
 * Return: 1 and *@row; 0: it is not for @addr; -EBADMSG: see cfi.h, also if there is no FDE at @at; -ENOTSUP: see
 * cfi.h; -ENOMEM; as extent_read().
 */
int records_row(struct records *rs, uint64_t at, uint64_t addr, struct cfi_row *row);

/**
 * records_function() - the beginning of the function of the FDE at @at.
 *
 * Signal handlers return to a trampoline. Its FDE begins one byte before it, because unwinders look up a return address
 * minus one. So for such an FDE (cfi_cie.signal) *@start is its start plus one, even if @addr is that first byte. The
 * trampoline ends with a system call. During this call, the kernel reports the address behind the trampoline: this
 * address belongs to the trampoline, too.
 *
 * Return: 1 and *@start; 0: the FDE is not for @addr; others as records_row().
 */
int records_function(struct records *rs, uint64_t at, uint64_t addr, uint64_t *start);

/**
 * records_search() - the last FDE that begins at or before @addr. The first call makes the index.
 * Return: 1 and *@at; 0: there is none; -ENOMEM or as extent_read(): the first call could not make the index.
 *
 * The index ends at a record that is so damaged that the next one cannot be found. It leaves out other damaged or
 * unknown records.
 */
int records_search(struct records *rs, uint64_t addr, uint64_t *at);

/**
 * records_scan() - the row for @addr in the first FDE that has one. For few records: it makes no index, and gives up
 * after RECORDS_SCAN_MAX records.
 * Return: as records_row().
 */
int records_scan(struct records *rs, uint64_t addr, struct cfi_row *row);

#endif
