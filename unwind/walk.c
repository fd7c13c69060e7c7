// SPDX-License-Identifier: Apache-2.0
#include "unwind/expr.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"

#include <errno.h>

/* The current stack. */
struct walk {
	const struct unwind_memory *memory;
	const struct unwind_mappings *mappings;
	const struct unwind_files *files;
	struct unwind_regs regs; /* of the frame */
	bool exact;              /* it was interrupted at its address; else the address is a return address */
	struct rules *rules;     /* of the file its code is in, NULL: none */
	uint64_t bias;           /* addresses of the process minus those of that file */
	struct mapping mapping;  /* for which @rules and @bias are valid; zeros: look them up */
	uint64_t missing;        /* a needed address beyond the copy of the stack; 0: none */
	uint64_t root;           /* stack pointer of the frame that has no caller by its rules; 0: not reached */
	bool unknown;            /* the frame was not left: a register whose value is not known is needed */
	bool by_fp;              /* the @unknown register is the frame pointer, by which the return address is found */
	bool fp_changed;         /* since the first frame, a frame has changed the frame pointer */
	arch_regs popped;        /* registers whose values we know only because we assume that they were popped */
	arch_regs restored;      /* registers that the current step assumes to have been popped */
	bool guessed;            /* the stack pointer comes from a frame that was left by its frame pointer */
	unsigned int left;       /* UNWIND_LEFT_*, of this frame */
	enum unwind_chain chain; /* so far */
	bool leaf;               /* this is the first frame */
	unsigned int evaluated;  /* expressions */
	uint64_t work;           /* see rules_work(), spent on this stack */
};

/* Limits of the work for one stack. Real stacks have a few expressions, and frames with some 100 bytes of rules. */
#define EVALUATIONS_MAX 4096
#define WORK_MAX        (1u << 20)

/* The result of leaving a frame: STEPPED, or the end of the stack. */
#define STEPPED UNWIND_NR_ENDS

static bool known(const struct unwind_regs *regs, unsigned int reg)
{
	return regs->have & ARCH_BIT(reg);
}

static void set_reg(struct unwind_regs *regs, unsigned int reg, uint64_t value)
{
	regs->have |= ARCH_BIT(reg);
	regs->r[reg] = value;
}

/* Read the copy of the stack, else the file of this frame, if it is memory that no process can write to. */
static int read_memory(void *ctx, uint64_t addr, void *to, size_t len)
{
	struct walk *w = ctx;
	int rc = w->memory->read(w->memory->ctx, addr, to, len);

	if (rc == -ENODATA)
		w->missing = addr;
	if (rc != -EFAULT || !w->rules)
		return rc;
	return rules_read(w->rules, addr - w->bias, to, len);
}

static int read_word(struct walk *w, uint64_t addr, uint64_t *out)
{
	return read_memory(w, addr, out, sizeof(*out));
}

/* A frame that could not be left. */
static enum unwind_end failed(struct walk *w, int rc)
{
	w->unknown = rc == -ENOENT;
	return rc == -ENODATA ? UNWIND_TRUNCATED : UNWIND_BAD;
}

static int evaluate(struct walk *w, const struct cfi_row *row, int64_t at, const uint64_t *push, uint64_t *out)
{
	const struct unwind_memory memory = { w, read_memory };
	uint8_t bytes[EXPR_MAX_BYTES];
	int len;

	/* We do not know which registers the expression uses. */
	w->left |= (w->popped ? UNWIND_LEFT_POPPED : 0) | (w->guessed ? UNWIND_LEFT_GUESSED : 0);
	len = ++w->evaluated > EVALUATIONS_MAX ? -EBADMSG : rules_expr(w->rules, row, (uint64_t)at, bytes);

	return len < 0 ? len : expr_eval(bytes, (size_t)len, &w->regs, &memory, push, out);
}

static int find_cfa(struct walk *w, const struct cfi_row *row, uint64_t *cfa)
{
	if (row->cfa_expr)
		return evaluate(w, row, row->cfa_value, NULL, cfa);
	if (!known(&w->regs, row->cfa_reg))
		return -ENOENT;
	w->left |= w->popped & ARCH_BIT(row->cfa_reg) ? UNWIND_LEFT_POPPED : 0;
	w->guessed &= row->cfa_reg == ARCH_SP;
	w->left |= w->guessed ? UNWIND_LEFT_GUESSED : 0;
	*cfa = w->regs.r[row->cfa_reg] + (uint64_t)row->cfa_value;
	return 0;
}

/*
 * When the end of a function pops a register, compilers do not change the rule for it, because the value in memory is
 * still good. But it is below the stack pointer, where nothing was copied, and the register has its value again. (A
 * leaf that saves a register without moving the stack pointer, and then uses it, would be different; we have seen no
 * compiler make one.)
 */
static bool is_popped(const struct walk *w, unsigned int reg, uint64_t addr)
{
	return w->exact && reg != ARCH_RA && addr < w->regs.r[ARCH_SP];
}

/*
 * In a function that aligns its stack, gcc's rules compute from the frame pointer where registers are saved; the frame
 * pointer itself is saved where it points to. The last instructions run after the function has popped it, so it has the
 * caller's value and usually points out of the frame. Then the computed places are wrong, and all of these registers
 * have their values again. Return these registers.
 */
static arch_regs popped_by_fp(struct walk *w, const struct cfi_row *row, uint64_t cfa)
{
	uint64_t fp = w->regs.r[ARCH_FP], sp = w->regs.r[ARCH_SP], place;
	arch_regs changed, popped = 0;
	unsigned int reg;

	if (!w->exact || row->signal || row->how[ARCH_FP] != CFI_EXPR || !known(&w->regs, ARCH_FP))
		return 0;
	if (fp >= sp && (fp < cfa || cfa <= sp)) /* on another stack the CFA may be below */
		return 0;
	if (evaluate(w, row, row->value[ARCH_FP], &cfa, &place) || place != fp)
		return 0;
	for (changed = row->changed & ~ARCH_BIT(row->return_reg); changed; changed &= changed - 1) {
		reg = (unsigned int)__builtin_ctzll(changed);
		popped |= (arch_regs)(row->how[reg] == CFI_EXPR) << reg;
	}
	return popped;
}

/* True if the caller's value of @reg depends on a register that we assume to have been popped. */
static bool from_popped(const struct walk *w, const struct cfi_row *row, unsigned int reg)
{
	if (w->restored & ARCH_BIT(reg))
		return true;
	if (row->how[reg] == CFI_REGISTER && row->value[reg] < ARCH_NR_REGS)
		reg = (unsigned int)row->value[reg];
	else if (row->how[reg] != CFI_SAME)
		return false;
	return w->popped & ARCH_BIT(reg);
}

/* Note the registers of the caller whose values depend on registers that we assume to have been popped. */
static void note_popped(struct walk *w, const struct cfi_row *row)
{
	arch_regs changed, popped = w->popped & ~row->changed;
	unsigned int reg;

	for (changed = row->changed & ~ARCH_BIT(ARCH_IP); changed; changed &= changed - 1) {
		reg = (unsigned int)__builtin_ctzll(changed);
		popped |= (arch_regs)from_popped(w, row, reg) << reg;
	}
	w->left |= from_popped(w, row, row->return_reg) ? UNWIND_LEFT_POPPED : 0;
	w->popped = popped;
}

/* The caller's value of @reg. -ENOENT: it is not known. */
static int caller_reg(struct walk *w, const struct cfi_row *row, uint64_t cfa, unsigned int reg, uint64_t *out)
{
	int64_t value = row->value[reg];
	uint64_t addr = cfa + (uint64_t)value;
	unsigned int from = reg;
	int rc;

	switch (row->how[reg]) {
	case CFI_OFFSET:
		if (!is_popped(w, reg, addr))
			return read_word(w, addr, out);
		w->restored |= ARCH_BIT(reg);
		break;
	case CFI_VAL_OFFSET:
		*out = addr;
		return 0;
	case CFI_EXPR:
		if (w->restored & ARCH_BIT(reg))
			break;
		rc = evaluate(w, row, value, &cfa, &addr);
		if (rc)
			return rc;
		if (row->signal || !is_popped(w, reg, addr))
			return read_word(w, addr, out);
		w->restored |= ARCH_BIT(reg);
		break;
	case CFI_VAL_EXPR:
		return evaluate(w, row, value, &cfa, out);
	case CFI_REGISTER:
		from = (unsigned int)value;
		break;
	case CFI_SAME:
		break;
	default:
		return -ENOENT;
	}
	if (from >= ARCH_NR_REGS || !known(&w->regs, from))
		return -ENOENT;
	*out = w->regs.r[from];
	return 0;
}

/*
 * The stack grows down, so a caller's frame is above. It may begin at the same address only if the function has pushed
 * nothing yet. A function that a signal interrupted may have used another stack.
 */
static bool advances(const struct walk *w, const struct unwind_regs *next, bool signal)
{
	uint64_t from = w->regs.r[ARCH_SP], to = next->r[ARCH_SP];

	return signal || to > from || (to == from && w->exact && next->r[ARCH_IP] != w->regs.r[ARCH_IP]);
}

/* Go on to the caller, whose registers are @next. If its address is 0, there is none. */
static enum unwind_end go_on(struct walk *w, const struct unwind_regs *next, bool signal)
{
	/* A signal may have interrupted a call of NULL. */
	if (!next->r[ARCH_IP])
		return signal ? UNWIND_BAD : UNWIND_ROOT;
	if (!known(next, ARCH_SP) || !advances(w, next, signal)) {
		w->left |= UNWIND_LEFT_NOT_ABOVE;
		return UNWIND_BAD;
	}
	w->regs = *next;
	w->exact = signal;
	return STEPPED;
}

_Static_assert(offsetof(struct arch_frame, ret) + sizeof(uint64_t) == sizeof(struct arch_frame), "as has_frame() says");

/* True if the CFA is @size bytes above register @reg, with the return address directly below the CFA. */
static bool has_frame(const struct cfi_row *row, unsigned int reg, size_t size)
{
	return !row->cfa_expr && row->cfa_reg == reg && row->cfa_value == (int64_t)size &&
	       row->how[row->return_reg] == CFI_OFFSET && row->value[row->return_reg] == -(int64_t)sizeof(uint64_t);
}

/* True if the return address is where step_by_fp() would read it. */
static bool is_fp_form(const struct cfi_row *row)
{
	return has_frame(row, ARCH_FP, sizeof(struct arch_frame));
}

/* True if the caller's address and stack pointer follow from the frame as for any call. */
static bool is_call(const struct cfi_row *row)
{
	return row->return_reg == ARCH_RA && row->how[ARCH_SP] == CFI_VAL_OFFSET && !row->value[ARCH_SP] &&
	       !row->signal;
}

/* True after the usual prologue with a frame pointer: the memory that it points to is enough to find the caller. */
static bool is_chained(const struct cfi_row *row)
{
	const int64_t saved = offsetof(struct arch_frame, fp) - (int64_t)sizeof(struct arch_frame);

	return is_fp_form(row) && is_call(row) && row->how[ARCH_FP] == CFI_OFFSET && row->value[ARCH_FP] == saved;
}

/* True for a function without a frame, or before its prologue or behind its epilogue. See is_popped(). */
static bool is_frameless(const struct cfi_row *row)
{
	const size_t size = sizeof(uint64_t);
	bool keeps_fp = !(row->changed & ARCH_BIT(ARCH_FP)) ||
			(row->how[ARCH_FP] == CFI_OFFSET && row->value[ARCH_FP] < -(int64_t)size);

	return has_frame(row, ARCH_SP, size) && is_call(row) && keeps_fp;
}

static void note_chain(struct walk *w, const struct cfi_row *row)
{
	if (w->chain == UNWIND_CHAIN_NONE)
		return;
	if (w->leaf && is_frameless(row))
		w->chain = UNWIND_CHAIN_BEHIND_LEAF;
	else if (!is_chained(row) || is_popped(w, ARCH_FP, w->regs.r[ARCH_FP]))
		w->chain = UNWIND_CHAIN_NONE;
}

static enum unwind_end step_by_row(struct walk *w, const struct cfi_row *row)
{
	struct unwind_regs next = w->regs;
	arch_regs changed;
	unsigned int reg;
	uint64_t cfa, value;
	int rc;

	if (row->how[row->return_reg] == CFI_UNDEFINED) {
		w->root = w->regs.r[ARCH_SP];
		return UNWIND_ROOT;
	}
	note_chain(w, row);
	rc = find_cfa(w, row, &cfa);
	w->by_fp = rc == -ENOENT && is_fp_form(row);
	if (rc)
		return failed(w, rc);
	w->restored = popped_by_fp(w, row, cfa);
	rc = caller_reg(w, row, cfa, row->return_reg, &value);
	if (rc)
		return failed(w, rc);
	for (changed = row->changed & ~ARCH_BIT(ARCH_IP); changed; changed &= changed - 1) {
		uint64_t saved;

		/* An unknown register is no failure: perhaps no frame needs it. */
		reg = (unsigned int)__builtin_ctzll(changed);
		if (!caller_reg(w, row, cfa, reg, &saved))
			set_reg(&next, reg, saved);
		else
			next.have &= ~ARCH_BIT(reg);
		w->fp_changed |= reg == ARCH_FP;
	}
	if (w->exact || w->popped)
		note_popped(w, row);
	set_reg(&next, ARCH_IP, value);
	return go_on(w, &next, row->signal);
}

static enum unwind_end step_signal(struct walk *w)
{
	uint64_t saved[sizeof(arch_signal_regs)];
	struct unwind_regs next = { 0 };
	unsigned int i;
	int rc = read_memory(w, w->regs.r[ARCH_SP] + ARCH_SIGNAL_REGS, saved, sizeof(saved));

	if (rc)
		return failed(w, rc);
	for (i = 0; i < sizeof(arch_signal_regs); i++)
		set_reg(&next, arch_signal_regs[i], saved[i]);
	w->popped = 0;
	w->guessed = false;
	return go_on(w, &next, true);
}

/* The return address is @pushed bytes above the stack pointer, and no register has been changed. */
static enum unwind_end step_entry(struct walk *w, uint64_t pushed)
{
	struct unwind_regs next = w->regs;
	int rc = read_word(w, w->regs.r[ARCH_SP] + pushed, &next.r[ARCH_IP]);

	if (rc)
		return failed(w, rc);
	next.r[ARCH_SP] += pushed + sizeof(uint64_t);
	return go_on(w, &next, false);
}

/* The calling thread and the new one both run this code; in the new one, which has no caller, ARCH_RESULT is 0. */
static enum unwind_end step_clone(struct walk *w)
{
	if (!known(&w->regs, ARCH_RESULT))
		return failed(w, -ENOENT);
	return w->regs.r[ARCH_RESULT] ? step_entry(w, 0) : UNWIND_ROOT;
}

/* The frame pointer points to a struct arch_frame; in the outermost frame it is 0. */
static enum unwind_end step_by_fp(struct walk *w)
{
	struct unwind_regs next = { 0 };
	uint64_t fp = w->regs.r[ARCH_FP];
	struct arch_frame frame;
	int rc;

	if (!known(&w->regs, ARCH_FP)) {
		w->unknown = w->by_fp = true;
		return UNWIND_NO_RULES;
	}
	w->left |= w->popped & ARCH_BIT(ARCH_FP) ? UNWIND_LEFT_POPPED : 0;
	w->popped = 0;
	/* The register is 0 at the start of a thread, and stays so in functions that do not use it for their frame. */
	if (!fp)
		return w->exact ? UNWIND_NO_RULES : UNWIND_ROOT;
	if (fp % sizeof(uint64_t) || fp < w->regs.r[ARCH_SP])
		return UNWIND_NO_RULES;
	rc = w->memory->read(w->memory->ctx, fp, &frame, sizeof(frame));
	if (rc == -ENODATA)
		w->missing = fp;
	if (rc)
		return rc == -ENODATA ? UNWIND_TRUNCATED : UNWIND_NO_RULES;
	/* If no code is mapped there, the function uses the register for something else. */
	if (frame.ret && !w->mappings->find(w->mappings->ctx, frame.ret - 1))
		return UNWIND_NO_RULES;
	set_reg(&next, ARCH_FP, frame.fp);
	set_reg(&next, ARCH_SP, fp + sizeof(frame));
	set_reg(&next, ARCH_IP, frame.ret);
	w->guessed = true;
	return go_on(w, &next, false);
}

static bool is_code(struct walk *w, uint64_t addr, size_t i)
{
	uint8_t bytes[sizeof(arch_codes[i].bytes) / sizeof(arch_codes[i].bytes[0])];
	size_t k;

	if (rules_read(w->rules, addr - arch_codes[i].before, bytes, arch_codes[i].nr))
		return false;
	for (k = 0; k < arch_codes[i].nr; k++)
		if (arch_codes[i].bytes[k] != ARCH_CODE_ANY && arch_codes[i].bytes[k] != bytes[k])
			return false;
	return true;
}

/* @addr: of the frame, in its file. An interrupted frame may be in any of arch_codes, a caller only in a trampoline. */
static enum unwind_end step_by_code(struct walk *w, uint64_t addr)
{
	size_t i;

	for (i = 0; i < sizeof(arch_codes) / sizeof(arch_codes[0]); i++) {
		if ((!w->exact && arch_codes[i].pushed != ARCH_CODE_SIGNAL) || !is_code(w, addr, i))
			continue;
		w->chain = w->leaf && !arch_codes[i].pushed ? UNWIND_CHAIN_BEHIND_LEAF : UNWIND_CHAIN_NONE;
		if (arch_codes[i].pushed != ARCH_CODE_SIGNAL) {
			w->left |= UNWIND_LEFT_ENTRY;
			return arch_codes[i].pushed == ARCH_CODE_CLONE ? step_clone(w)
								       : step_entry(w, arch_codes[i].pushed);
		}
		w->left |= arch_codes[i].before ? UNWIND_LEFT_SIGNAL : 0;
		return step_signal(w);
	}
	return step_by_fp(w);
}

/* The address in @rules for @ip. False: none. */
static bool code_address(const struct rules *rules, const struct mapping *m, uint64_t ip, uint64_t *addr)
{
	*addr = ip;
	return rules_of_code(rules) || rules_address(rules, mapping_offset(m, ip), addr);
}

/* @addr: out: that of the frame's code, in its file */
static bool find_rules(struct walk *w, const struct mapping *m, uint64_t ip, uint64_t *addr)
{
	if (m->file == w->mapping.file && ip >= w->mapping.start && ip < w->mapping.end) {
		*addr = ip - w->bias;
		return true;
	}
	w->mapping.file = NULL;
	w->rules = w->files->find(w->files->ctx, m);
	if (!w->rules || !code_address(w->rules, m, ip, addr))
		w->rules = NULL;
	else
		w->bias = ip - *addr;
	if (w->rules)
		w->mapping = *m;
	return w->rules;
}

/* Code of the process: the rules of its file, and its address in the file. */
struct code {
	struct rules *rules;
	uint64_t addr;
};

/* Return: 1; 0: nothing is mapped at @ip; -ENOENT: there are no rules for the code there */
static int code_at(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t ip,
		   struct code *out)
{
	const struct mapping *m = mappings->find(mappings->ctx, ip);

	if (!m)
		return 0;
	out->rules = files->find(files->ctx, m);
	return out->rules && code_address(out->rules, m, ip, &out->addr) ? 1 : -ENOENT;
}

/* The same, but only for code in a file, which has the same bytes as memory. Other code: -ENOENT. */
static int file_code_at(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t ip,
			struct code *out)
{
	int rc = code_at(mappings, files, ip, out);

	return rc > 0 && rules_of_code(out->rules) ? -ENOENT : rc;
}

/* Return: as rules_find(). @work: its cost is added */
static int code_row(const struct code *code, const struct cfi_row **row, uint64_t *work)
{
	uint64_t before = rules_work(code->rules);
	int rc = rules_find(code->rules, code->addr, row);

	*work += rules_work(code->rules) - before;
	return rc;
}

bool unwind_function(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t ip,
		     uint64_t *start)
{
	const struct cfi_row *row;
	struct code code;
	uint64_t work = 0;

	if (code_at(mappings, files, ip, &code) <= 0 || code_row(&code, &row, &work) <= 0)
		return false;
	*start = ip - code.addr + row->function;
	return true;
}

int unwind_called(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t ip,
		  uint64_t *target)
{
	uint8_t bytes[ARCH_CALL_MAX];
	struct code code;
	int rc = file_code_at(mappings, files, ip - 1, &code);

	if (rc > 0 && rules_read(code.rules, code.addr + 1 - sizeof(bytes), bytes, sizeof(bytes)))
		rc = -ENOENT;
	return rc > 0 ? arch_call_decode(bytes, ip, target) : rc;
}

int unwind_frame_size(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t start,
		      uint64_t *size)
{
	uint8_t bytes[ARCH_PROLOGUE_MAX];
	size_t len = sizeof(bytes);
	struct code code;

	if (file_code_at(mappings, files, start, &code) <= 0)
		return 0;
	while (len && rules_read(code.rules, code.addr, bytes, len))
		len /= 2;
	return arch_prologue_decode(bytes, len, size);
}

bool unwind_keeps_fp(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t ip,
		     uint64_t *work)
{
	const struct cfi_row *row;
	struct code code;
	int rc = code_at(mappings, files, ip, &code);

	if (rc <= 0)
		return rc < 0;
	if (*work > WORK_MAX)
		return false;
	rc = code_row(&code, &row, work);
	return rc > 0 ? is_chained(row) : !rc;
}

bool unwind_chained(const struct unwind_mappings *mappings, const struct unwind_files *files, const uint64_t *ips,
		    size_t nr)
{
	const struct cfi_row *row;
	struct code code;
	uint64_t work = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		/* Not for code made at run time, which changes without a new mapping: see step(). */
		if (file_code_at(mappings, files, ips[i] - 1, &code) <= 0 || code_row(&code, &row, &work) <= 0 ||
		    work > WORK_MAX)
			return false;
		if (i + 1 < nr ? !is_chained(row) : row->how[row->return_reg] != CFI_UNDEFINED)
			return false;
	}
	return nr;
}

static enum unwind_end step(struct walk *w)
{
	uint64_t ip = w->regs.r[ARCH_IP] - !w->exact, addr;
	const struct mapping *m = w->mappings->find(w->mappings->ctx, ip);
	const struct cfi_row *row;
	int rc;

	if (!m) {
		w->rules = NULL;
		return UNWIND_BAD;
	}
	if (!find_rules(w, m, ip, &addr)) {
		w->left |= UNWIND_LEFT_NO_RULES;
		return step_by_fp(w);
	}
	rc = code_row(&(struct code){ w->rules, addr }, &row, &w->work);
	if (w->work > WORK_MAX)
		return UNWIND_BAD;
	/*
	 * Code made at run time changes without a new mapping, and its rules may come later: so nothing is proven for
	 * later stacks with the same addresses.
	 */
	if (rules_of_code(w->rules)) {
		w->left |= UNWIND_LEFT_MADE;
		w->chain = UNWIND_CHAIN_NONE;
	}
	if (rc > 0)
		return step_by_row(w, row);
	w->left |= rc ? 0 : UNWIND_LEFT_NO_RULES;
	return rc ? UNWIND_BAD : step_by_code(w, addr + !w->exact);
}

void unwind_walk(const struct unwind_regs *regs, const struct unwind_memory *memory,
		 const struct unwind_mappings *mappings, const struct unwind_files *files, struct unwind_result *out)
{
	struct walk w = { .memory = memory,
			  .mappings = mappings,
			  .files = files,
			  .regs = *regs,
			  .exact = true,
			  .chain = UNWIND_CHAIN_WHOLE,
			  .leaf = true };
	size_t cap = out->cap < UNWIND_MAX_FRAMES ? out->cap : UNWIND_MAX_FRAMES;

	out->nr = 0;
	out->missing = out->root = out->sp = 0;
	out->unknown = out->by_fp = false;
	out->chain = UNWIND_CHAIN_NONE;
	out->end = UNWIND_BAD;
	if (!known(regs, ARCH_IP) || !known(regs, ARCH_SP) || !regs->r[ARCH_IP])
		return;
	do {
		out->end = UNWIND_TRUNCATED;
		if (out->nr == cap)
			return;
		out->ips[out->nr] = w.regs.r[ARCH_IP] | (out->nr && w.exact ? UNWIND_EXACT : 0);
		w.left = 0;
		out->end = step(&w);
		w.leaf = false;
		if (out->left)
			out->left[out->nr] = (uint8_t)w.left;
		out->nr++;
	} while (out->end == STEPPED);
	out->root = w.root;
	out->unknown = w.unknown;
	out->by_fp = w.unknown && w.by_fp && !w.fp_changed;
	out->sp = w.regs.r[ARCH_SP];
	out->chain = w.chain;
	if (out->end == UNWIND_TRUNCATED)
		out->missing = w.missing;
}
