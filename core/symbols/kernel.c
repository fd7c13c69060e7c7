// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/kernel.h"

#include "core/arch/arch.h"
#include "core/base/err.h"
#include "core/base/faults.h"
#include "core/base/grow.h"
#include "core/base/search.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_BASE  0xffff000000000000ULL /* 48 bits of address: arm64; x86 begins at 0xffff800000000000 */
#define NAME_LEN_MAX 511                   /* KSYM_NAME_LEN - 1 since 6.1; 127 before */
#define MODULE_MAX   127                   /* MODULE_NAME_LEN is about 60 */
#define LINE_LEN_MAX 1024                  /* longer than any line of such a name and module */
#define SYMBOLS_MAX  (4u << 20)            /* distribution kernels: 100,000 to 300,000 */
#define NAMES_MAX    (1u << 30)            /* the limit of 30 bits */
#define HIGH_DIGITS  8                     /* most addresses begin with the same ones as the address before */

/* 12 bytes, not 16: there are 120,000 of them. */
struct ksym {
	uint64_t addr;
	uint32_t name : 30;  /* offset in names */
	uint32_t is_end : 1; /* it is not text, and has no name */
} __attribute__((packed));

/* Symbols whose address perf writes into a recording. */
static const char *const references[] = { "_text", "_stext" };

/* Names are stored in the file's order, those of a module together, so that a ksym need not have its module. */
struct name_range {
	uint32_t first;  /* names from this offset on ... */
	uint32_t module; /* ... are of the module whose name is at this offset ... */
	uint32_t len;    /* ... and so long */
};

struct kernel_symbols {
	struct ksym *syms;
	size_t nr, cap;
	char *names;
	size_t names_len, names_cap;
	struct name_range *ranges;
	size_t nr_ranges, ranges_cap;
	bool in_kernel; /* the last of @ranges is of the kernel proper, as nearly all symbols are */
	bool seen_symbol, seen_address;
	bool finished;
	uint64_t reference[ARRAY_SIZE(references)]; /* 0: not seen */
	uint64_t text_end;                          /* _etext; 0: not seen */

	/* The first digits of an address, and their value. */
	char high_digits[HIGH_DIGITS];
	uint64_t high;

	/* The beginning of a line whose end has not been read yet. */
	char line[LINE_LEN_MAX];
	size_t line_len;
	bool line_too_long;
};

/* The fields of a line, pointing into it. */
struct line {
	uint64_t addr;
	char type;
	const char *name, *module;
	size_t name_len, module_len;
};

bool kernel_address(uint64_t addr)
{
	return addr >= KERNEL_BASE;
}

struct kernel_symbols *kernel_symbols_new(void)
{
	struct kernel_symbols *ks = calloc(1, sizeof(*ks));

	if (ks)
		memset(ks->high_digits, '0', HIGH_DIGITS);
	return ks;
}

void kernel_symbols_free(struct kernel_symbols *ks)
{
	if (!ks)
		return;
	free(ks->syms);
	free(ks->names);
	free(ks->ranges);
	free(ks);
}

/* Return 16 or more if @c is no digit. Uses a table because the CPU cannot predict a branch on the next digit. */
static unsigned int hex_digit(char c)
{
	static const unsigned char plus_one[256] = {
		['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
		['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	};

	return plus_one[(unsigned char)c] - 1U;
}

/* A word ends at the first space, control character or NUL. Eight characters are compared at once. */
static const char *word_end(const char *p, const char *end)
{
	static const uint64_t ones = UINT64_MAX / 0xff;
	uint64_t eight, ends;

	for (; end - p >= 8; p += 8) {
		memcpy(&eight, p, sizeof(eight));
		eight = le64toh(eight);
		ends = (eight - ones * (' ' + 1)) & ~eight & ones << 7;
		if (ends)
			return p + __builtin_ctzll(ends) / 8;
	}
	while (p < end && (unsigned char)*p > ' ')
		p++;
	return p;
}

/* Append digits to @value. Return: the first character that is none */
static const char *hex_number(const char *p, const char *end, uint64_t *value)
{
	unsigned int digit;

	for (; p < end && (digit = hex_digit(*p)) < 16; p++)
		*value = *value << 4 | digit;
	return p;
}

/* @addr: out. Return: the first character that is no digit */
static const char *parse_address(struct kernel_symbols *ks, const char *p, const char *end, uint64_t *addr)
{
	const char *low = p + HIGH_DIGITS;

	*addr = 0;
	if (end - p < HIGH_DIGITS)
		return hex_number(p, end, addr);
	if (memcmp(p, ks->high_digits, HIGH_DIGITS) != 0) {
		const char *behind = hex_number(p, low, addr);

		if (behind < low)
			return behind;
		memcpy(ks->high_digits, p, HIGH_DIGITS);
		ks->high = *addr;
	}
	*addr = ks->high;
	return hex_number(low, end, addr);
}

static bool parse_line(struct kernel_symbols *ks, const char *p, const char *end, struct line *l)
{
	const char *start = p;

	p = parse_address(ks, p, end, &l->addr);
	if (p == start || p - start > 16)
		return false;
	if (end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	l->type = p[1];
	l->name = p + 3;
	p = word_end(l->name, end);
	l->name_len = (size_t)(p - l->name);
	if (!l->name_len || l->name_len > NAME_LEN_MAX)
		return false;
	l->module = NULL;
	l->module_len = 0;
	if (p == end)
		return true;
	if (end - p < 4 || p[0] != '\t' || p[1] != '[' || end[-1] != ']')
		return false;
	l->module = p + 2;
	l->module_len = (size_t)(end - 1 - l->module);
	return l->module_len <= MODULE_MAX && word_end(l->module, end) == end;
}

static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static int add_name(struct kernel_symbols *ks, const char *name, size_t len, uint32_t *offset)
{
	char *names;

	if (ks->names_len + len + 1 > NAMES_MAX)
		return -E2BIG;
	names = grow(ks->names, &ks->names_cap, ks->names_len, len + 1, 1);
	if (!names)
		return -ENOMEM;
	ks->names = names;
	*offset = (uint32_t)ks->names_len;
	memcpy(ks->names + ks->names_len, name, len);
	ks->names[ks->names_len + len] = 0;
	ks->names_len += len + 1;
	return 0;
}

/* The names that follow are those of @l's module. */
static int enter_module(struct kernel_symbols *ks, const struct line *l)
{
	const char *name = l->module ? l->module : "kernel";
	size_t len = l->module ? l->module_len : strlen(name);
	struct name_range *ranges;
	uint32_t offset;
	int rc;

	if (ks->in_kernel && !l->module)
		return 0;
	if (ks->nr_ranges) {
		const struct name_range *now = &ks->ranges[ks->nr_ranges - 1];

		if (now->len == len && !memcmp(ks->names + now->module, name, len))
			return 0;
	}
	rc = add_name(ks, name, len, &offset);
	if (rc)
		return rc;
	ranges = grow(ks->ranges, &ks->ranges_cap, ks->nr_ranges, 1, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	ks->ranges = ranges;
	ks->ranges[ks->nr_ranges++] = (struct name_range){ (uint32_t)ks->names_len, offset, (uint32_t)len };
	ks->in_kernel = !l->module;
	return 0;
}

static bool is_called(const struct line *l, const char *name)
{
	return !l->module && l->name_len == strlen(name) && !memcmp(l->name, name, l->name_len);
}

static void note_reference(struct kernel_symbols *ks, const struct line *l)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(references); i++)
		if (!ks->reference[i] && is_called(l, references[i]))
			ks->reference[i] = l->addr;
	if (is_called(l, "_etext"))
		ks->text_end = l->addr;
}

/* 0: not seen */
static uint64_t text_start(const struct kernel_symbols *ks)
{
	return ks->reference[0] ? ks->reference[0] : ks->reference[1];
}

static int add_line(struct kernel_symbols *ks, const char *p, const char *end)
{
	uint32_t offset = 0;
	struct ksym *syms;
	struct line l;
	int rc;

	if (!parse_line(ks, p, end, &l))
		return 0;
	ks->seen_symbol = true;
	ks->seen_address |= l.addr != 0;
	if (!kernel_address(l.addr)) /* per-CPU offsets and other absolute values */
		return 0;
	if (*l.name == '_')
		note_reference(ks, &l);
	if (ks->nr == SYMBOLS_MAX)
		return -E2BIG;
	if (is_text(l.type)) {
		rc = enter_module(ks, &l);
		if (!rc)
			rc = add_name(ks, l.name, l.name_len, &offset);
		if (rc)
			return rc;
	}
	syms = grow(ks->syms, &ks->cap, ks->nr, 1, sizeof(*syms));
	if (!syms)
		return -ENOMEM;
	ks->syms = syms;
	ks->syms[ks->nr++] = (struct ksym){ l.addr, offset & (NAMES_MAX - 1), !is_text(l.type) };
	return 0;
}

/* Keep the beginning of a line for the next piece. */
static void keep_rest(struct kernel_symbols *ks, const char *p, size_t len)
{
	if (len > sizeof(ks->line) - ks->line_len) {
		ks->line_too_long = true;
		return;
	}
	memcpy(ks->line + ks->line_len, p, len);
	ks->line_len += len;
}

bool kernel_symbols_text_ended(const struct kernel_symbols *ks)
{
	return text_start(ks) && ks->text_end > text_start(ks);
}

uint64_t kernel_symbols_text_end(const struct kernel_symbols *ks)
{
	return ks->text_end;
}

bool kernel_symbols_in_text(const struct kernel_symbols *ks, uint64_t addr)
{
	return addr >= text_start(ks) && addr < ks->text_end;
}

/* @p, @newline: the end of a line, or the whole line if no beginning of it is kept. */
static int take_line(struct kernel_symbols *ks, const char *p, const char *newline)
{
	int rc = 0;

	if (!ks->line_len && !ks->line_too_long)
		return add_line(ks, p, newline);
	keep_rest(ks, p, (size_t)(newline - p));
	if (!ks->line_too_long)
		rc = add_line(ks, ks->line, ks->line + ks->line_len);
	ks->line_len = 0;
	ks->line_too_long = false;
	return rc;
}

/* @text_only: the line with the end of the text is the last one */
static int feed(struct kernel_symbols *ks, const char *text, size_t len, bool text_only, size_t *used)
{
	const char *p = text, *end = text + len, *newline;
	int rc = 0;

	*used = len;
	for (; !rc && (newline = memchr(p, '\n', (size_t)(end - p))); p = newline + 1) {
		rc = take_line(ks, p, newline);
		if (!rc && text_only && kernel_symbols_text_ended(ks)) {
			*used = (size_t)(newline + 1 - text);
			return 0;
		}
	}
	if (!rc)
		keep_rest(ks, p, (size_t)(end - p));
	return rc;
}

int kernel_symbols_feed(struct kernel_symbols *ks, const char *text, size_t len)
{
	size_t used;

	return feed(ks, text, len, false, &used);
}

int kernel_symbols_feed_text(struct kernel_symbols *ks, const char *text, size_t len, size_t *used)
{
	return feed(ks, text, len, true, used);
}

/* The order of the file decides between equals, so the result is the same with every qsort(). */
static int by_address(const void *va, const void *vb)
{
	const struct ksym *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/*
 * Keep one symbol for each address, and one end for each run of data symbols. Of several names the kernel uses the
 * first in its own traces (get_symbol_pos(), kernel/kallsyms.c; find_kallsyms_symbol(), kernel/module/kallsyms.c).
 */
static void reduce(struct kernel_symbols *ks)
{
	size_t i, n = 0;

	for (i = 0; i < ks->nr; i++) {
		const struct ksym *s = &ks->syms[i];
		struct ksym *last = n ? &ks->syms[n - 1] : NULL;

		if (last && last->addr == s->addr) {
			if (last->is_end)
				*last = *s;
		} else if (!s->is_end || (last && !last->is_end)) {
			ks->syms[n++] = *s;
		}
	}
	ks->nr = n;
}

static void *shrink(void *p, size_t size)
{
	void *smaller = size ? realloc(p, size) : NULL;

	return smaller ? smaller : p;
}

/* The kernel proper is sorted already; modules and BPF programs behind it are not: sort them and merge them into it. */
static int sort(struct kernel_symbols *ks)
{
	size_t nr = 1, nr_rest, to = ks->nr;
	struct ksym *rest;

	while (nr < ks->nr && ks->syms[nr - 1].addr <= ks->syms[nr].addr)
		nr++;
	if (nr >= ks->nr)
		return 0;
	nr_rest = ks->nr - nr;
	rest = malloc(nr_rest * sizeof(*rest));
	if (!rest)
		return fault(-ENOMEM);
	memcpy(rest, ks->syms + nr, nr_rest * sizeof(*rest));
	qsort(rest, nr_rest, sizeof(*rest), by_address);
	/* From the end on, so that nothing is overwritten before it is moved. */
	while (nr_rest) {
		bool from_rest = !nr || by_address(&rest[nr_rest - 1], &ks->syms[nr - 1]) > 0;

		ks->syms[--to] = from_rest ? rest[--nr_rest] : ks->syms[--nr];
	}
	free(rest);
	return 0;
}

int kernel_symbols_finish(struct kernel_symbols *ks)
{
	int rc;

	if (ks->line_len && !ks->line_too_long) {
		rc = add_line(ks, ks->line, ks->line + ks->line_len);
		if (rc)
			return rc;
	}
	rc = sort(ks);
	if (rc)
		return rc;
	reduce(ks);
	ks->syms = shrink(ks->syms, ks->nr * sizeof(*ks->syms));
	ks->cap = ks->nr;
	ks->names = shrink(ks->names, ks->names_len);
	ks->names_cap = ks->names_len;
	ks->finished = true;
	return 0;
}

static const char *module_of(const struct kernel_symbols *ks, uint32_t name)
{
	size_t lo = 0, hi = ks->nr_ranges;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (ks->ranges[mid].first <= name)
			lo = mid;
		else
			hi = mid;
	}
	return ks->names + ks->ranges[lo].module;
}

/* Return true if @addr, not below symbol @i and below the next one, still belongs to it. */
static bool covers(const struct kernel_symbols *ks, size_t i, uint64_t addr)
{
	const struct ksym *s = &ks->syms[i];

	if (i + 1 < ks->nr) {
		const struct ksym *next = s + 1;

		if (next->is_end || !strcmp(module_of(ks, s->name), module_of(ks, next->name)))
			return true;
	}
	return addr - (s->addr & ~(ARCH_PAGE - 1)) < 2 * ARCH_PAGE;
}

bool kernel_symbols_find(const struct kernel_symbols *ks, uint64_t addr, struct kernel_symbol *out)
{
	const struct ksym *s;
	size_t i;

	if (!ks->finished || !kernel_address(addr))
		return false;
	i = first_above(ks->syms, ks->nr, addr, addr);
	if (!i)
		return false;
	s = &ks->syms[i - 1];
	if (s->is_end || !covers(ks, i - 1, addr))
		return false;
	out->name = ks->names + s->name;
	out->module = module_of(ks, s->name);
	out->start = s->addr;
	return true;
}

bool kernel_symbols_reference(const struct kernel_symbols *ks, const char *name, uint64_t *addr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(references); i++) {
		if (ks->reference[i] && !strcmp(name, references[i])) {
			*addr = ks->reference[i];
			return true;
		}
	}
	return false;
}

bool kernel_symbols_empty(const struct kernel_symbols *ks)
{
	return !ks->seen_symbol;
}

bool kernel_symbols_shown(const struct kernel_symbols *ks)
{
	return ks->seen_address;
}

bool kernel_symbols_zeroed(const struct kernel_symbols *ks)
{
	return ks->seen_symbol && !ks->seen_address;
}
