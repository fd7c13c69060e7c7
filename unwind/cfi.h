/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information: from the bytes of .eh_frame and .debug_frame records to the row of rules for one address.
 *
 * Formats: DWARF 5 section 6.4, System V psABI (x86-64: sections 3.7 and 4.2.4), LSB 5.0 core chapter 10.5 (.eh_frame
 * and its pointer encodings). 64-bit addresses, little endian, versions 1, 3 and 4 of a CIE.
 *
 * Everything here works on bytes in memory that may be hostile: each length is checked, the work for a record is
 * bounded by its bytes, nothing is kept. Thread safe.
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "unwind/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFI_RECORD_MAX (64u << 10) /* bytes of a record; the largest in real files have some 10,000 */

/** enum cfi_section - which of the two formats. */
enum cfi_section { CFI_EH_FRAME, CFI_DEBUG_FRAME };

/** enum cfi_how - where the caller's value of a register is. @value is that of struct cfi_row. */
enum cfi_how {
	CFI_SAME,       /* it did not change */
	CFI_UNDEFINED,  /* lost, or in a register from ARCH_NR_REGS on. how[return_reg]: the frame is the outermost */
	CFI_OFFSET,     /* in memory at CFA + value */
	CFI_VAL_OFFSET, /* it is CFA + value */
	CFI_REGISTER,   /* in register number value */
	CFI_EXPR,       /* in memory at the result of an expression, whose length (ULEB128) is at address value */
	CFI_VAL_EXPR,   /* the result of that expression */
};

/**
 * struct cfi_row - how to find the caller's registers from those of a frame whose address is in [@start, @end).
 *
 * Addresses of code are the file's own, or those of the process for code in no file. This holds for addresses of
 * expressions in .eh_frame, too. With @debug_frame, addresses of expressions are offsets in .debug_frame.
 */
struct cfi_row {
	uint64_t start, end;
	uint64_t function; /* the first address that its record has rules for */
	int64_t cfa_value; /* CFA = register @cfa_reg + this, or the address of an expression */
	int64_t value[ARCH_NR_REGS];
	uint8_t how[ARCH_NR_REGS]; /* enum cfi_how */
	arch_regs changed;         /* bit N: how[N] is not CFI_SAME */
	uint8_t cfa_reg;           /* below ARCH_NR_REGS; not valid with @cfa_expr */
	bool cfa_expr;
	bool signal; /* a signal frame: the caller was interrupted, and did not call */
	bool debug_frame;
	uint8_t return_reg; /* whose value is the return address; below ARCH_NR_REGS */
};

/**
 * struct cfi_cie - a parsed Common Information Entry. Borrows the bytes that were parsed.
 */
struct cfi_cie {
	enum cfi_section section;
	uint64_t addr;                /* of its first byte */
	const uint8_t *program, *end; /* initial instructions */
	uint64_t program_addr;        /* of @program */
	uint64_t code_align;
	int64_t data_align;
	uint8_t return_reg; /* below ARCH_NR_REGS */
	uint8_t encoding;   /* DW_EH_PE_* of the FDEs' addresses */
	bool sized;         /* FDEs have augmentation data with a length */
	bool signal;
};

/** struct cfi_fde - a Frame Description Entry: rules for addresses [@start, @end). Borrows the bytes it was made of. */
struct cfi_fde {
	uint64_t start, end;
	const uint8_t *program, *program_end;
	uint64_t program_addr;
};

/** struct cfi_record - the header that CIE and FDE have in common. */
struct cfi_record {
	uint64_t size;   /* of the whole record, including its length field; 4 for the terminator of .eh_frame */
	bool terminator; /* a length of 0 */
	bool is_cie;
	uint64_t cie_addr; /* of an FDE: the address of its CIE */
};

/**
 * cfi_record() - parse the head of the record that begins at address @addr.
 * @bytes: @len bytes: at least its first 20, or the rest of the section
 * Return: 0; -EBADMSG: it is malformed, or is longer than CFI_RECORD_MAX.
 */
int cfi_record(enum cfi_section section, const uint8_t *bytes, size_t len, uint64_t addr, struct cfi_record *out);

/**
 * cfi_cie_parse() - parse a whole CIE.
 * @bytes: all @len bytes of it, at address @addr
 * Return: 0; -EBADMSG: damaged; -ENOTSUP: an unknown version, augmentation, address size or return address register.
 */
int cfi_cie_parse(enum cfi_section section, const uint8_t *bytes, size_t len, uint64_t addr, struct cfi_cie *out);

/**
 * cfi_fde_parse() - parse a whole FDE of @cie.
 * @data_base: base of DW_EH_PE_datarel addresses: the beginning of .eh_frame_hdr
 * Return: as above; -ENOTSUP also for an encoding that is not absolute, DW_EH_PE_pcrel or DW_EH_PE_datarel.
 */
int cfi_fde_parse(const struct cfi_cie *cie, const uint8_t *bytes, size_t len, uint64_t addr, uint64_t data_base,
		  struct cfi_fde *out);

/**
 * cfi_row_find() - run the programs of @cie and @fde up to @addr, which is in [fde->start, fde->end).
 * Return: 0 and *@out; -EBADMSG: damaged, without a rule for the CFA, more than 16 states remembered, or the CFA or
 * the return address is in a register from ARCH_NR_REGS on (rules for the values of such registers are ignored);
 * -ENOTSUP: an
 * unknown instruction, or DW_CFA_set_loc with a DW_EH_PE_datarel address.
 */
int cfi_row_find(const struct cfi_cie *cie, const struct cfi_fde *fde, uint64_t addr, struct cfi_row *out);

/**
 * cfi_pointer() - read a pointer in encoding @encoding (DW_EH_PE_*, without the indirect bit) from the front of @bytes.
 * @addr:  of the first byte, for DW_EH_PE_pcrel
 * @value: out
 * Return: bytes read; -EBADMSG: the pointer is longer than @len; -ENOTSUP: as for cfi_fde_parse().
 */
int cfi_pointer(const uint8_t *bytes, size_t len, uint8_t encoding, uint64_t addr, uint64_t data_base, uint64_t *value);

#define CFI_PE_OMIT 0xff

#endif
