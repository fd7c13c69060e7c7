/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF expressions, as far as call frame information uses them (DWARF 5 sections 2.5 and 6.4.2: no calls, no object
 * addresses, no thread-local storage, no pieces). Hostile bytes give an error after bounded work. Thread safe.
 */
#ifndef UNWIND_EXPR_H
#define UNWIND_EXPR_H

#include "unwind/unwind.h"

#include <stddef.h>
#include <stdint.h>

#define EXPR_MAX_BYTES 1024 /* of an expression */
#define EXPR_MAX_STEPS 256  /* operations: an expression may loop */
#define EXPR_MAX_STACK 64

/**
 * expr_eval() - evaluate an expression.
 * @bytes:  its @len bytes, without its length
 * @regs:   of the frame
 * @memory: for DW_OP_deref and DW_OP_deref_size
 * @push:   the first value on the stack (the CFA, for a register's rule); NULL: none
 * @out:    the value on top of the stack at the end
 *
 * DW_OP_regN as the whole expression is not supported: there is a rule of its own for a value in a register.
 * Arithmetic is unsigned modulo 2^64 where DWARF does not say signed (DW_OP_div, _shra, and comparisons are signed).
 * Return: 0; -EBADMSG: damaged, too long, a stack over- or underflow, division by zero, a jump out of the expression,
 * too many steps; -ENOENT: a register of @regs is not known; -ENOTSUP: an unknown operation; an error of @memory->read.
 */
int expr_eval(const uint8_t *bytes, size_t len, const struct unwind_regs *regs, const struct unwind_memory *memory,
	      const uint64_t *push, uint64_t *out);

#endif
