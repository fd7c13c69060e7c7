// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi.h"

#include "unwind/cursor.h"

#include <errno.h>

#define MAX_STATES 16
#define NO_REG     UINT8_MAX

/* LSB 5.0 core, section 10.5.1: the low four bits are the form; three others select the base to add. */
enum {
	DW_EH_PE_absptr = 0x00,
	DW_EH_PE_uleb128 = 0x01,
	DW_EH_PE_udata2 = 0x02,
	DW_EH_PE_udata4 = 0x03,
	DW_EH_PE_udata8 = 0x04,
	DW_EH_PE_sleb128 = 0x09,
	DW_EH_PE_sdata2 = 0x0a,
	DW_EH_PE_sdata4 = 0x0b,
	DW_EH_PE_sdata8 = 0x0c,
	DW_EH_PE_form = 0x0f,
	DW_EH_PE_pcrel = 0x10,
	DW_EH_PE_datarel = 0x30,
	DW_EH_PE_aligned = 0x50,
};

/* DWARF 5, section 7.24, and the additions of GNU. The first three hold an operand in their low six bits. */
enum {
	DW_CFA_advance_loc = 0x40,
	DW_CFA_offset = 0x80,
	DW_CFA_restore = 0xc0,
	DW_CFA_nop = 0x00,
	DW_CFA_set_loc,
	DW_CFA_advance_loc1,
	DW_CFA_advance_loc2,
	DW_CFA_advance_loc4,
	DW_CFA_offset_extended,
	DW_CFA_restore_extended,
	DW_CFA_undefined,
	DW_CFA_same_value,
	DW_CFA_register,
	DW_CFA_remember_state,
	DW_CFA_restore_state,
	DW_CFA_def_cfa,
	DW_CFA_def_cfa_register,
	DW_CFA_def_cfa_offset,
	DW_CFA_def_cfa_expression,
	DW_CFA_expression,
	DW_CFA_offset_extended_sf,
	DW_CFA_def_cfa_sf,
	DW_CFA_def_cfa_offset_sf,
	DW_CFA_val_offset,
	DW_CFA_val_offset_sf,
	DW_CFA_val_expression,
	DW_CFA_GNU_args_size = 0x2e,
	DW_CFA_GNU_negative_offset_extended = 0x2f,
};

/* ---- records */

static int pointer(struct cursor *c, uint8_t encoding, uint64_t data_base, uint64_t *value)
{
	uint64_t base = 0;

	if ((encoding & ~DW_EH_PE_form) == DW_EH_PE_pcrel)
		base = cursor_addr(c);
	else if ((encoding & ~DW_EH_PE_form) == DW_EH_PE_datarel)
		base = data_base;
	else if (encoding & ~DW_EH_PE_form)
		return -ENOTSUP;
	switch (encoding & DW_EH_PE_form) {
	case DW_EH_PE_uleb128:
		*value = cursor_uleb(c);
		break;
	case DW_EH_PE_sleb128:
		*value = (uint64_t)cursor_sleb(c);
		break;
	case DW_EH_PE_udata2:
		*value = cursor_fixed(c, 2);
		break;
	case DW_EH_PE_udata4:
		*value = cursor_fixed(c, 4);
		break;
	case DW_EH_PE_sdata2:
		*value = (uint64_t)cursor_signed(c, 2);
		break;
	case DW_EH_PE_sdata4:
		*value = (uint64_t)cursor_signed(c, 4);
		break;
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		*value = cursor_fixed(c, 8);
		break;
	default:
		return -ENOTSUP;
	}
	*value += base; /* wraps: a distance may be negative in any form of 8 bytes */
	return c->bad ? -EBADMSG : 0;
}

int cfi_pointer(const uint8_t *bytes, size_t len, uint8_t encoding, uint64_t addr, uint64_t data_base, uint64_t *value)
{
	struct cursor c = cursor_new(bytes, bytes + len, addr);
	int rc = pointer(&c, encoding, data_base, value);

	return rc ? rc : (int)(c.at - c.begin);
}

/* Leaves @c behind the CIE id or pointer. In .eh_frame that always has 4 bytes, also if the length has 8 (LSB). */
static int header(enum cfi_section section, struct cursor *c, struct cfi_record *out)
{
	uint64_t length = cursor_fixed(c, 4), id, id_addr, none = UINT32_MAX;
	size_t id_size = 4;

	*out = (struct cfi_record){ .size = 4, .terminator = !c->bad && !length };
	if (out->terminator)
		return 0;
	if (length == UINT32_MAX) {
		length = cursor_fixed(c, 8);
		if (section == CFI_DEBUG_FRAME) {
			id_size = 8;
			none = UINT64_MAX;
		}
	} else if (length >= 0xfffffff0) {
		return -EBADMSG;
	}
	if (length < id_size || length > CFI_RECORD_MAX)
		return -EBADMSG;
	out->size = (uint64_t)(c->at - c->begin) + length;
	id_addr = cursor_addr(c);
	id = cursor_fixed(c, id_size);
	if (c->bad || out->size > CFI_RECORD_MAX || c->addr + out->size < c->addr)
		return -EBADMSG;
	out->is_cie = id == (section == CFI_EH_FRAME ? 0 : none);
	if (out->is_cie)
		return 0;
	if (section == CFI_EH_FRAME && id > id_addr)
		return -EBADMSG;
	out->cie_addr = section == CFI_EH_FRAME ? id_addr - id : id;
	return 0;
}

int cfi_record(enum cfi_section section, const uint8_t *bytes, size_t len, uint64_t addr, struct cfi_record *out)
{
	struct cursor c = cursor_new(bytes, bytes + len, addr);

	return header(section, &c, out);
}

/* Parse the head of a record whose bytes must all be there, and let @c end where the record ends. */
static int whole(enum cfi_section section, struct cursor *c, struct cfi_record *out)
{
	int rc = header(section, c, out);

	if (rc)
		return rc;
	if (out->terminator || out->size > (uint64_t)(c->end - c->begin))
		return -EBADMSG;
	c->end = c->begin + out->size;
	return 0;
}

/*
 * Like libgcc: an unknown letter ends the augmentation, whose length is known. Then the encoding of addresses must be
 * known already. Without 'z', only letters without data can be skipped; gas writes "S" in .debug_frame.
 */
static int augmentation(struct cursor *c, const char *letters, struct cfi_cie *out)
{
	bool encoded = out->section == CFI_DEBUG_FRAME;
	struct cursor data = *c;
	uint64_t ignored, len;
	uint8_t encoding;
	int rc = 0;

	if (*letters == 'z') {
		out->sized = true;
		letters++;
		len = cursor_uleb(c);
		data = *c;
		cursor_skip(c, len);
		if (c->bad)
			return -EBADMSG;
		data.end = c->at;
	}
	for (; *letters && !rc; letters++) {
		if (*letters == 'S') {
			out->signal = true;
		} else if (*letters == 'B') {
			continue; /* of another architecture, without data */
		} else if (!out->sized) {
			return -ENOTSUP;
		} else if (*letters == 'R') {
			encoding = (uint8_t)cursor_fixed(&data, 1);
			if (out->section == CFI_EH_FRAME)
				out->encoding = encoding;
			encoded = true;
		} else if (*letters == 'L') {
			cursor_skip(&data, 1);
		} else if (*letters == 'P') {
			encoding = (uint8_t)cursor_fixed(&data, 1);
			if (encoding == DW_EH_PE_aligned)
				rc = -ENOTSUP;
			else if (encoding != CFI_PE_OMIT)
				rc = pointer(&data, encoding & DW_EH_PE_form, 0, &ignored);
		} else {
			return data.bad ? -EBADMSG : encoded ? 0 : -ENOTSUP;
		}
	}
	return data.bad ? -EBADMSG : rc;
}

int cfi_cie_parse(enum cfi_section section, const uint8_t *bytes, size_t len, uint64_t addr, struct cfi_cie *out)
{
	struct cursor c = cursor_new(bytes, bytes + len, addr);
	struct cfi_record record;
	const char *letters;
	uint64_t return_reg;
	unsigned int version;
	int rc = whole(section, &c, &record);

	if (rc || !record.is_cie)
		return rc ? rc : -EBADMSG;
	*out = (struct cfi_cie){ .section = section, .addr = addr, .encoding = DW_EH_PE_absptr };
	version = (unsigned int)cursor_fixed(&c, 1);
	if (c.bad)
		return -EBADMSG;
	if (version != 1 && version != 3 && version != 4)
		return -ENOTSUP;
	letters = (const char *)c.at;
	cursor_skip(&c, strnlen(letters, cursor_left(&c)) + 1);
	if (c.bad)
		return -EBADMSG;
	/* Sizes of an address and of a segment selector. */
	if (version == 4 && (cursor_fixed(&c, 1) != 8 || cursor_fixed(&c, 1) != 0))
		return c.bad ? -EBADMSG : -ENOTSUP;
	if (!strncmp(letters, "eh", 2)) /* gcc before 3.0: a pointer comes next */
		return -ENOTSUP;
	out->code_align = cursor_uleb(&c);
	out->data_align = cursor_sleb(&c);
	return_reg = version == 1 ? cursor_fixed(&c, 1) : cursor_uleb(&c);
	if (c.bad)
		return -EBADMSG;
	if (return_reg >= ARCH_NR_REGS)
		return -ENOTSUP;
	out->return_reg = (uint8_t)return_reg;
	rc = augmentation(&c, letters, out);
	if (rc)
		return rc;
	out->program = c.at;
	out->end = c.end;
	out->program_addr = cursor_addr(&c);
	return 0;
}

int cfi_fde_parse(const struct cfi_cie *cie, const uint8_t *bytes, size_t len, uint64_t addr, uint64_t data_base,
		  struct cfi_fde *out)
{
	struct cursor c = cursor_new(bytes, bytes + len, addr);
	struct cfi_record record;
	uint64_t size;
	int rc = whole(cie->section, &c, &record);

	if (rc)
		return rc;
	if (record.is_cie || record.cie_addr != cie->addr)
		return -EBADMSG;
	rc = pointer(&c, cie->encoding, data_base, &out->start);
	if (!rc)
		rc = pointer(&c, cie->encoding & DW_EH_PE_form, 0, &size);
	if (rc)
		return rc;
	out->end = out->start + size;
	if (out->end <= out->start) /* also if it wrapped */
		return -EBADMSG;
	if (cie->sized)
		cursor_skip(&c, cursor_uleb(&c));
	if (c.bad)
		return -EBADMSG;
	out->program = c.at;
	out->program_end = c.end;
	out->program_addr = cursor_addr(&c);
	return 0;
}

/* ---- rows */

/* The current row is valid from @row->start to the end of the FDE, unless a later instruction ends it. */
struct machine {
	struct cursor c;
	const struct cfi_cie *cie;
	struct cfi_row *row;
	const struct cfi_row *initial; /* the state after the CIE's program; NULL while that runs */
	uint64_t wanted;               /* address */
	size_t nr_saved;
	struct cfi_row saved[MAX_STATES];
};

/* Return: 1 if the instructions that follow are for addresses behind the wanted one. */
static int move(struct machine *m, uint64_t to)
{
	if (m->c.bad || !m->initial || to < m->row->start)
		return -EBADMSG;
	if (to > m->wanted) {
		if (to < m->row->end)
			m->row->end = to;
		return 1;
	}
	m->row->start = to;
	return 0;
}

static int advance(struct machine *m, uint64_t delta)
{
	uint64_t to;

	if (__builtin_mul_overflow(delta, m->cie->code_align, &to) || __builtin_add_overflow(to, m->row->start, &to))
		return -EBADMSG;
	return move(m, to);
}

static int set_loc(struct machine *m)
{
	uint64_t to;
	int rc;

	if ((m->cie->encoding & ~DW_EH_PE_form) == DW_EH_PE_datarel)
		return -ENOTSUP;
	rc = pointer(&m->c, m->cie->encoding, 0, &to);
	return rc ? rc : move(m, to);
}

/* Products wrap: an absurd offset gives an absurd address, where no read succeeds. */
static int64_t factored(const struct machine *m, uint64_t n)
{
	return (int64_t)(n * (uint64_t)m->cie->data_align);
}

static int64_t unsigned_offset(struct machine *m)
{
	return factored(m, cursor_uleb(&m->c));
}

static int64_t signed_offset(struct machine *m)
{
	return factored(m, (uint64_t)cursor_sleb(&m->c));
}

/* Skip an expression. Return: the address of its length. */
static int64_t expression(struct machine *m)
{
	uint64_t addr = cursor_addr(&m->c);

	cursor_skip(&m->c, cursor_uleb(&m->c));
	return (int64_t)addr;
}

static int set_rule(struct machine *m, uint64_t reg, enum cfi_how how, int64_t value)
{
	if (reg < ARCH_NR_REGS) {
		m->row->how[reg] = (uint8_t)how;
		m->row->value[reg] = value;
	}
	return 0;
}

/* A value in a register from ARCH_NR_REGS on counts as lost; but a lost return address means the outermost frame. */
static int in_register(struct machine *m, uint64_t reg)
{
	uint64_t from = cursor_uleb(&m->c);

	if (from < ARCH_NR_REGS)
		return set_rule(m, reg, CFI_REGISTER, (int64_t)from);
	return reg == m->cie->return_reg ? -EBADMSG : set_rule(m, reg, CFI_UNDEFINED, 0);
}

static int restore(struct machine *m, uint64_t reg)
{
	if (!m->initial)
		return -EBADMSG;
	if (reg < ARCH_NR_REGS)
		set_rule(m, reg, m->initial->how[reg], m->initial->value[reg]);
	return 0;
}

static int remember_state(struct machine *m)
{
	if (m->nr_saved == MAX_STATES)
		return -EBADMSG;
	m->saved[m->nr_saved++] = *m->row;
	return 0;
}

static int restore_state(struct machine *m)
{
	uint64_t start = m->row->start;

	if (!m->nr_saved)
		return -EBADMSG;
	*m->row = m->saved[--m->nr_saved];
	m->row->start = start;
	return 0;
}

static int def_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg >= ARCH_NR_REGS)
		return -EBADMSG;
	m->row->cfa_reg = (uint8_t)reg;
	m->row->cfa_value = offset;
	m->row->cfa_expr = false;
	return 0;
}

static int def_cfa_expression(struct machine *m)
{
	m->row->cfa_value = expression(m);
	m->row->cfa_expr = true;
	m->row->cfa_reg = NO_REG; /* so that half of a new rule does not complete an older one */
	return 0;
}

static int step_cfa(struct machine *m, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cursor_uleb(&m->c);
		return def_cfa(m, reg, (int64_t)cursor_uleb(&m->c));
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(&m->c);
		return def_cfa(m, reg, signed_offset(m));
	case DW_CFA_def_cfa_expression:
		return def_cfa_expression(m);
	case DW_CFA_def_cfa_offset:
		return def_cfa(m, m->row->cfa_reg, (int64_t)cursor_uleb(&m->c));
	case DW_CFA_def_cfa_offset_sf:
		return def_cfa(m, m->row->cfa_reg, signed_offset(m));
	case DW_CFA_def_cfa_register:
		reg = cursor_uleb(&m->c);
		return m->row->cfa_reg == NO_REG ? -EBADMSG : def_cfa(m, reg, m->row->cfa_value);
	}
	return -ENOTSUP;
}

/* Instructions whose first operand is a register, and those of the CFA. */
static int step_register(struct machine *m, uint8_t op)
{
	uint64_t reg;

	if (op >= DW_CFA_def_cfa && op <= DW_CFA_def_cfa_expression)
		return step_cfa(m, op);
	if (op == DW_CFA_def_cfa_sf || op == DW_CFA_def_cfa_offset_sf)
		return step_cfa(m, op);
	reg = cursor_uleb(&m->c);
	switch (op) {
	case DW_CFA_offset_extended:
		return set_rule(m, reg, CFI_OFFSET, unsigned_offset(m));
	case DW_CFA_offset_extended_sf:
		return set_rule(m, reg, CFI_OFFSET, signed_offset(m));
	case DW_CFA_GNU_negative_offset_extended:
		return set_rule(m, reg, CFI_OFFSET, factored(m, -cursor_uleb(&m->c)));
	case DW_CFA_val_offset:
		return set_rule(m, reg, CFI_VAL_OFFSET, unsigned_offset(m));
	case DW_CFA_val_offset_sf:
		return set_rule(m, reg, CFI_VAL_OFFSET, signed_offset(m));
	case DW_CFA_expression:
		return set_rule(m, reg, CFI_EXPR, expression(m));
	case DW_CFA_val_expression:
		return set_rule(m, reg, CFI_VAL_EXPR, expression(m));
	case DW_CFA_register:
		return in_register(m, reg);
	case DW_CFA_restore_extended:
		return restore(m, reg);
	case DW_CFA_undefined:
		return set_rule(m, reg, CFI_UNDEFINED, 0);
	case DW_CFA_same_value:
		return set_rule(m, reg, CFI_SAME, 0);
	}
	return -ENOTSUP;
}

static int step(struct machine *m, uint8_t op)
{
	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(m, op & 0x3f);
	case DW_CFA_offset:
		return set_rule(m, op & 0x3f, CFI_OFFSET, unsigned_offset(m));
	case DW_CFA_restore:
		return restore(m, op & 0x3f);
	}
	switch (op) {
	case DW_CFA_nop:
		return 0;
	case DW_CFA_set_loc:
		return set_loc(m);
	case DW_CFA_advance_loc1:
		return advance(m, cursor_fixed(&m->c, 1));
	case DW_CFA_advance_loc2:
		return advance(m, cursor_fixed(&m->c, 2));
	case DW_CFA_advance_loc4:
		return advance(m, cursor_fixed(&m->c, 4));
	case DW_CFA_remember_state:
		return remember_state(m);
	case DW_CFA_restore_state:
		return restore_state(m);
	case DW_CFA_GNU_args_size:
		cursor_uleb(&m->c);
		return 0;
	}
	return step_register(m, op);
}

/* Return: 1 if the row is complete, 0 at the end of the program. */
static int run(struct machine *m, const uint8_t *program, const uint8_t *end, uint64_t addr)
{
	int rc = 0;

	m->c = cursor_new(program, end, addr);
	while (!rc && m->c.at < m->c.end)
		rc = step(m, *m->c.at++);
	return m->c.bad && rc >= 0 ? -EBADMSG : rc;
}

int cfi_row_find(const struct cfi_cie *cie, const struct cfi_fde *fde, uint64_t addr, struct cfi_row *out)
{
	struct cfi_row initial;
	struct machine m;
	unsigned int reg;
	int rc;

	m.cie = cie;
	m.row = out;
	m.initial = NULL;
	m.wanted = addr;
	m.nr_saved = 0;
	*out = (struct cfi_row){
		.start = fde->start,
		.end = fde->end,
		.function = fde->start,
		.cfa_reg = NO_REG,
		.signal = cie->signal,
		.debug_frame = cie->section == CFI_DEBUG_FRAME,
		.return_reg = cie->return_reg,
	};
	/* The others are CFI_SAME, 0. The stack pointer before the call is the CFA by definition. */
	out->how[ARCH_SP] = CFI_VAL_OFFSET;
	rc = run(&m, cie->program, cie->end, cie->program_addr);
	if (rc < 0)
		return rc;
	initial = *out;
	m.initial = &initial;
	rc = run(&m, fde->program, fde->program_end, fde->program_addr);
	if (rc < 0)
		return rc;
	for (reg = 0; reg < ARCH_NR_REGS; reg++)
		out->changed |= (arch_regs)(out->how[reg] != CFI_SAME) << reg;
	return out->cfa_expr || out->cfa_reg != NO_REG ? 0 : -EBADMSG;
}
