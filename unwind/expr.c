// SPDX-License-Identifier: Apache-2.0
#include "unwind/expr.h"

#include "unwind/cursor.h"

#include <errno.h>

/* DWARF 5, section 7.7.1. */
enum {
	DW_OP_addr = 0x03,
	DW_OP_deref = 0x06,
	DW_OP_const1u = 0x08,
	DW_OP_const1s,
	DW_OP_const2u,
	DW_OP_const2s,
	DW_OP_const4u,
	DW_OP_const4s,
	DW_OP_const8u,
	DW_OP_const8s,
	DW_OP_constu,
	DW_OP_consts,
	DW_OP_dup,
	DW_OP_drop,
	DW_OP_over,
	DW_OP_pick,
	DW_OP_swap,
	DW_OP_rot,
	DW_OP_abs = 0x19,
	DW_OP_and,
	DW_OP_div,
	DW_OP_minus,
	DW_OP_mod,
	DW_OP_mul,
	DW_OP_neg,
	DW_OP_not,
	DW_OP_or,
	DW_OP_plus,
	DW_OP_plus_uconst,
	DW_OP_shl,
	DW_OP_shr,
	DW_OP_shra,
	DW_OP_xor,
	DW_OP_bra,
	DW_OP_eq,
	DW_OP_ge,
	DW_OP_gt,
	DW_OP_le,
	DW_OP_lt,
	DW_OP_ne,
	DW_OP_skip,
	DW_OP_lit0,
	DW_OP_lit31 = 0x4f,
	DW_OP_breg0 = 0x70,
	DW_OP_breg31 = 0x8f,
	DW_OP_bregx = 0x92,
	DW_OP_deref_size = 0x94,
	DW_OP_nop = 0x96,
};

/* A stack that has too few or too many entries makes the cursor bad, as bytes that are missing do. */
struct machine {
	struct cursor c;
	const struct unwind_regs *regs;
	const struct unwind_memory *memory;
	size_t nr;
	uint64_t stack[EXPR_MAX_STACK];
};

static int push(struct machine *m, uint64_t v)
{
	if (m->nr == EXPR_MAX_STACK)
		cursor_fail(&m->c);
	else
		m->stack[m->nr++] = v;
	return 0;
}

static uint64_t pop(struct machine *m)
{
	return m->nr ? m->stack[--m->nr] : cursor_fail(&m->c);
}

static int pick(struct machine *m, uint64_t nth)
{
	return push(m, nth < m->nr ? m->stack[m->nr - 1 - nth] : cursor_fail(&m->c));
}

static int push_register(struct machine *m, uint64_t reg)
{
	int64_t offset = cursor_sleb(&m->c);

	if (reg >= ARCH_NR_REGS || !(m->regs->have & ARCH_BIT(reg)))
		return -ENOENT;
	return push(m, m->regs->r[reg] + (uint64_t)offset);
}

static int dereference(struct machine *m, uint64_t size)
{
	uint64_t addr = pop(m), v = 0;
	int rc;

	if (m->c.bad || !size || size > sizeof(v))
		return -EBADMSG;
	rc = m->memory->read(m->memory->ctx, addr, &v, size);
	return rc ? rc : push(m, le64toh(v));
}

/* A jump to the end ends the expression. */
static int jump(struct machine *m, int64_t distance)
{
	if (distance < m->c.begin - m->c.at || distance > m->c.end - m->c.at)
		return -EBADMSG;
	m->c.at += distance;
	return 0;
}

static int branch(struct machine *m)
{
	int64_t distance = cursor_signed(&m->c, 2);

	return pop(m) ? jump(m, distance) : 0;
}

static uint64_t divide(struct machine *m, int64_t a, int64_t b)
{
	if (!b)
		return cursor_fail(&m->c);
	return b == -1 ? -(uint64_t)a : (uint64_t)(a / b); /* INT64_MIN / -1 wraps */
}

static uint64_t shift_signed(int64_t a, uint64_t by)
{
	return (uint64_t)(a >> (by < 64 ? by : 63));
}

static int rotate(struct machine *m)
{
	uint64_t first = pop(m), second = pop(m), third = pop(m);

	push(m, first);
	push(m, third);
	return push(m, second);
}

static int swap(struct machine *m)
{
	uint64_t first = pop(m), second = pop(m);

	push(m, first);
	return push(m, second);
}

static int step_binary(struct machine *m, uint8_t op)
{
	uint64_t b = pop(m), a = pop(m);

	switch (op) {
	case DW_OP_and:
		return push(m, a & b);
	case DW_OP_div:
		return push(m, divide(m, (int64_t)a, (int64_t)b));
	case DW_OP_minus:
		return push(m, a - b);
	case DW_OP_mod:
		return push(m, b ? a % b : cursor_fail(&m->c));
	case DW_OP_mul:
		return push(m, a * b);
	case DW_OP_or:
		return push(m, a | b);
	case DW_OP_plus:
		return push(m, a + b);
	case DW_OP_shl:
		return push(m, b < 64 ? a << b : 0);
	case DW_OP_shr:
		return push(m, b < 64 ? a >> b : 0);
	case DW_OP_shra:
		return push(m, shift_signed((int64_t)a, b));
	case DW_OP_xor:
		return push(m, a ^ b);
	case DW_OP_eq:
		return push(m, a == b);
	case DW_OP_ge:
		return push(m, (int64_t)a >= (int64_t)b);
	case DW_OP_gt:
		return push(m, (int64_t)a > (int64_t)b);
	case DW_OP_le:
		return push(m, (int64_t)a <= (int64_t)b);
	case DW_OP_lt:
		return push(m, (int64_t)a < (int64_t)b);
	case DW_OP_ne:
		return push(m, a != b);
	}
	return -ENOTSUP;
}

static int step_unary(struct machine *m, uint8_t op)
{
	uint64_t a;

	switch (op) {
	case DW_OP_abs:
		a = pop(m);
		return push(m, a >> 63 ? -a : a);
	case DW_OP_neg:
		return push(m, -pop(m));
	case DW_OP_not:
		return push(m, ~pop(m));
	case DW_OP_plus_uconst:
		a = pop(m);
		return push(m, a + cursor_uleb(&m->c));
	case DW_OP_bra:
		return branch(m);
	case DW_OP_skip:
		return jump(m, cursor_signed(&m->c, 2));
	case DW_OP_deref:
		return dereference(m, 8);
	case DW_OP_deref_size:
		return dereference(m, cursor_fixed(&m->c, 1));
	case DW_OP_bregx:
		return push_register(m, cursor_uleb(&m->c));
	case DW_OP_nop:
		return 0;
	}
	return op >= DW_OP_and && op <= DW_OP_ne ? step_binary(m, op) : -ENOTSUP;
}

static int step(struct machine *m, uint8_t op)
{
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return push(m, op - DW_OP_lit0);
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		return push_register(m, op - DW_OP_breg0);
	switch (op) {
	case DW_OP_const1u:
	case DW_OP_const2u:
	case DW_OP_const4u:
		return push(m, cursor_fixed(&m->c, 1U << (op - DW_OP_const1u) / 2));
	case DW_OP_const1s:
	case DW_OP_const2s:
	case DW_OP_const4s:
		return push(m, (uint64_t)cursor_signed(&m->c, 1U << (op - DW_OP_const1s) / 2));
	case DW_OP_addr:
	case DW_OP_const8u:
	case DW_OP_const8s:
		return push(m, cursor_fixed(&m->c, 8));
	case DW_OP_constu:
		return push(m, cursor_uleb(&m->c));
	case DW_OP_consts:
		return push(m, (uint64_t)cursor_sleb(&m->c));
	case DW_OP_dup:
		return pick(m, 0);
	case DW_OP_over:
		return pick(m, 1);
	case DW_OP_pick:
		return pick(m, cursor_fixed(&m->c, 1));
	case DW_OP_drop:
		pop(m);
		return 0;
	case DW_OP_swap:
		return swap(m);
	case DW_OP_rot:
		return rotate(m);
	}
	return step_unary(m, op);
}

int expr_eval(const uint8_t *bytes, size_t len, const struct unwind_regs *regs, const struct unwind_memory *memory,
	      const uint64_t *first, uint64_t *out)
{
	struct machine m;
	unsigned int steps;
	int rc;

	if (len > EXPR_MAX_BYTES)
		return -EBADMSG;
	m.c = cursor_new(bytes, bytes + len, 0);
	m.regs = regs;
	m.memory = memory;
	m.nr = 0;
	if (first)
		push(&m, *first);
	for (steps = 0; m.c.at < m.c.end; steps++) {
		if (steps == EXPR_MAX_STEPS)
			return -EBADMSG;
		rc = step(&m, *m.c.at++);
		if (m.c.bad)
			return -EBADMSG;
		if (rc)
			return rc;
	}
	if (!m.nr)
		return -EBADMSG;
	*out = m.stack[m.nr - 1];
	return 0;
}
