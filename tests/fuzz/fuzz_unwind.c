// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer target for rules_open(), lookups in its result, and unwind_walk() with its rules.
 *
 * Input: struct head, then the words of a stack, then a file. With FLAG_SECTION, the rest is only the .eh_frame, and a
 * file is made for it, so that most inputs get to its records. That file is mapped at all addresses, so that a walk
 * goes on from any return address.
 */
#include "tests/fuzz/fuzz.h"

#include "unwind/rules.h"
#include "unwind/unwind.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FLAG_SECTION 1U
#define FLAG_WRAP    2U           /* after its end the stack begins again, otherwise reads there fail */
#define FLAG_CUT     4U           /* they fail because that part of the stack was not copied */
#define WINDOW       (1ULL << 24) /* bytes of the file, which are mapped repeatedly */
#define MAX_LOOKUPS  128
/* Limit for each frame: for each register and the CFA, an expression that reads with each step, then its own word. */
#define MAX_READS ((ARCH_NR_REGS + 1) * (1024 + 1))

struct head {
	uint8_t flags, nr_words;
	uint16_t cap;  /* limit of frames */
	uint32_t addr; /* address of the section */
	uint64_t regs[ARCH_NR_REGS];
};

struct input {
	struct head head;
	const uint8_t *stack, *file;
	size_t stack_size, file_size;
	struct rules *rules;
	uint64_t reads;
};

static int read_stack(void *ctx, uint64_t addr, void *to, size_t len)
{
	struct input *in = ctx;
	uint64_t at = addr - in->head.regs[ARCH_SP];

	in->reads++;
	if (in->head.flags & FLAG_WRAP && in->stack_size)
		at %= in->stack_size;
	if (at > in->stack_size || len > in->stack_size - at)
		return in->head.flags & FLAG_CUT ? -ENODATA : -EFAULT;
	memcpy(to, in->stack + at, len);
	return 0;
}

static const struct mapping *find_mapping(void *ctx, uint64_t addr)
{
	static const struct mapped_file file = { .path = "/file" };
	static struct mapping m;

	(void)ctx;
	m = (struct mapping){ addr & ~(WINDOW - 1), (addr & ~(WINDOW - 1)) + WINDOW, 0, &file };
	return &m;
}

static struct rules *find_rules(void *ctx, const struct mapping *m)
{
	const struct input *in = ctx;

	(void)m;
	return in->rules;
}

static void check_row(const struct cfi_row *row, uint64_t addr)
{
	unsigned int i;

	check(row->start <= addr && addr < row->end);
	check((row->cfa_expr || row->cfa_reg < ARCH_NR_REGS) && row->return_reg < ARCH_NR_REGS);
	for (i = 0; i < ARCH_NR_REGS; i++)
		check(row->how[i] <= CFI_VAL_EXPR);
}

/* The lookups that libunwind asks for (unwind/libunwinder_serve.c). */
static void look_up_records(struct rules *r, uint64_t addr)
{
	struct rules_table table;
	struct cfi_cie cie;
	struct cfi_fde fde;
	uint8_t bytes[8];
	uint64_t at;

	if (!rules_table(r, &table) && table.nr)
		check(!rules_read_records(r, table.at, false, bytes, sizeof(bytes)));
	if (rules_eh_record(r, addr, &at) > 0)
		rules_read_records(r, at, false, bytes, sizeof(bytes));
	if (rules_debug_record(r, addr, &cie, &fde) > 0)
		check(fde.program <= fde.program_end && cie.program <= cie.end);
	rules_read_records(r, addr, true, bytes, sizeof(bytes));
}

static void look_up(struct rules *r, uint64_t addr)
{
	const struct cfi_row *row;
	int rc = rules_find(r, addr, &row);
	uint64_t start = 0;
	uint8_t bytes[8];
	struct cfi_row kept;

	check(rc <= 1);
	check(rc == 1 ? rules_function(r, addr, &start) == 1 : rules_function(r, addr, &start) <= 1);
	check(!rules_entry(r, addr) || rc == 1);
	if (rc == 1) {
		check_row(row, addr);
		check(start == row->function || start == row->function + 1);
		kept = *row;
		check(rules_find(r, addr, &row) == 1 && !memcmp(&kept, row, sizeof(kept)));
	}
	rules_read(r, addr, bytes, sizeof(bytes));
	look_up_records(r, addr);
}

/* An address in a record is one of its words, perhaps relative to the place of the word. */
static void look_up_all(const struct input *in)
{
	size_t i, step = in->file_size / MAX_LOOKUPS / 4 * 4 + 4;
	uint64_t addr, offset;
	int32_t word;

	look_up(in->rules, 0);
	look_up(in->rules, UINT64_MAX);
	for (i = 0; i + sizeof(word) <= in->file_size; i += step) {
		memcpy(&word, in->file + i, sizeof(word));
		offset = (uint64_t)word;
		look_up(in->rules, offset);
		look_up(in->rules, offset + in->head.addr + i);
		rules_address(in->rules, offset, &addr);
	}
}

/* With cached rules, the stack is the same. */
static void walk(struct input *in)
{
	const struct unwind_memory memory = { in, read_stack };
	const struct unwind_mappings mappings = { in, find_mapping };
	const struct unwind_files files = { in, find_rules };
	struct unwind_regs regs = { .have = (1U << ARCH_NR_REGS) - 1 };
	uint64_t ips[2][UNWIND_MAX_FRAMES];
	struct unwind_result out[2];
	size_t i;

	memcpy(regs.r, in->head.regs, sizeof(regs.r));
	for (i = 0; i < 2; i++) {
		out[i] = (struct unwind_result){ .ips = ips[i], .cap = in->head.cap % (UNWIND_MAX_FRAMES + 1) };
		in->reads = 0;
		unwind_walk(&regs, &memory, &mappings, &files, &out[i]);
		check(out[i].nr <= out[i].cap && out[i].end < UNWIND_NR_ENDS);
		check(!out[i].missing || out[i].end == UNWIND_TRUNCATED);
		check(!out[i].nr || ips[i][0] == regs.r[ARCH_IP]);
		check(in->reads <= (out[i].nr + 1) * MAX_READS);
	}
	check(out[0].nr == out[1].nr && out[0].end == out[1].end && out[0].missing == out[1].missing);
	check(!memcmp(ips[0], ips[1], out[0].nr * sizeof(ips[0][0])));
}

/* A program with only code and the section loaded. Owned by the caller; NULL: no memory. */
static uint8_t *make_file(const uint8_t *section, size_t size, uint32_t addr, size_t *made)
{
	static const char names[] = "\0.eh_frame";
	struct {
		Elf64_Ehdr e;
		Elf64_Phdr p;
		Elf64_Shdr s[2];
		char names[sizeof(names)];
	} h = { .e = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		       .e_type = ET_DYN,
		       .e_machine = EM_X86_64,
		       .e_phoff = sizeof(Elf64_Ehdr),
		       .e_shoff = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
		       .e_phentsize = sizeof(Elf64_Phdr),
		       .e_phnum = 1,
		       .e_shentsize = sizeof(Elf64_Shdr),
		       .e_shnum = 2 } };
	uint8_t *file = malloc(sizeof(h) + size);

	if (!file)
		return NULL;
	h.p = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = WINDOW, .p_memsz = WINDOW };
	h.s[0] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
			       .sh_offset = sizeof(h) - sizeof(h.names),
			       .sh_size = sizeof(names) };
	h.s[1] = (Elf64_Shdr){ .sh_name = 1,
			       .sh_type = SHT_PROGBITS,
			       .sh_flags = SHF_ALLOC,
			       .sh_addr = addr,
			       .sh_offset = sizeof(h),
			       .sh_size = size };
	memcpy(h.names, names, sizeof(names));
	memcpy(file, &h, sizeof(h));
	memcpy(file + sizeof(h), section, size);
	*made = sizeof(h) + size;
	return file;
}

static void run(struct input *in)
{
	char *copy = malloc(in->file_size + 1);
	struct elf_file file;

	if (!copy)
		return;
	memcpy(copy, in->file, in->file_size);
	if (elf_file_adopt(&file, copy, in->file_size))
		return;
	if (rules_open(&file, &ELF_FILE_NONE, &in->rules)) {
		check(!in->rules);
		return;
	}
	walk(in);
	look_up_all(in);
	rules_close(in->rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { 0 };
	uint8_t *made = NULL;

	if (size < sizeof(in.head))
		return -1;
	memcpy(&in.head, data, sizeof(in.head));
	in.stack_size = 8 * (size_t)in.head.nr_words;
	if (size - sizeof(in.head) < in.stack_size)
		return -1;
	in.stack = data + sizeof(in.head);
	in.file = in.stack + in.stack_size;
	in.file_size = size - sizeof(in.head) - in.stack_size;
	if (in.head.flags & FLAG_SECTION) {
		made = make_file(in.file, in.file_size, in.head.addr, &in.file_size);
		if (!made)
			return -1;
		in.file = made;
	}
	run(&in);
	free(made);
	return 0;
}
