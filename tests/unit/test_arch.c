// SPDX-License-Identifier: Apache-2.0
/* Machine code, as read by the header of the architecture. */
#include "core/arch/arch.h"
#include "tests/unit/unit.h"

#define ADDR 0x401000ULL

/* @code: the bytes before ADDR; nop is in front of them. @target: of the call; 0: indirect; NONE: no call. */
#define NONE UINT64_MAX

static const struct {
	const char *what;
	uint8_t code[8], len;
	uint64_t target;
} calls[] = {
	{ "call forward", { 0xe8, 0x10, 0, 0, 0 }, 5, ADDR + 0x10 },
	{ "call back", { 0xe8, 0xf0, 0xff, 0xff, 0xff }, 5, ADDR - 0x10 },
	{ "call *%rax", { 0xff, 0xd0 }, 2, 0 },
	{ "call *%r8", { 0x41, 0xff, 0xd0 }, 3, 0 },
	{ "notrack call *%rdx", { 0x3e, 0xff, 0xd2 }, 3, 0 },
	{ "call *(%rax)", { 0xff, 0x10 }, 2, 0 },
	{ "call *(%rax,%rbx,8)", { 0xff, 0x14, 0xd8 }, 3, 0 },
	{ "call *0x8(%rax)", { 0xff, 0x50, 8 }, 3, 0 },
	{ "call *0x8(%rsp)", { 0xff, 0x54, 0x24, 8 }, 4, 0 },
	{ "call *0x100(%rax)", { 0xff, 0x90, 0, 1, 0, 0 }, 6, 0 },
	{ "call *0x100(%rip)", { 0xff, 0x15, 0, 1, 0, 0 }, 6, 0 },
	{ "call *0x100(%rsp)", { 0xff, 0x94, 0x24, 0, 1, 0, 0 }, 7, 0 },
	{ "call *0x100(,%rbx,8)", { 0xff, 0x14, 0xdd, 0, 1, 0, 0 }, 7, 0 },
	{ "jmp *%rax", { 0xff, 0xe0 }, 2, NONE },
	{ "jmp", { 0xe9, 0x10, 0, 0, 0 }, 5, NONE },
	{ "push (%rax)", { 0xff, 0x30 }, 2, NONE },
	{ "call *0x8(%rax), cut", { 0xff, 0x50 }, 2, NONE },
	{ "call *(%rsp) without its SIB byte", { 0xff, 0x14 }, 2, NONE },
	{ "a call before the last instruction", { 0xe8, 0x10, 0, 0, 0, 0x90 }, 6, NONE },
	{ "nothing", { 0 }, 0, NONE },
};

START_TEST(test_call)
{
	uint8_t code[ARCH_CALL_MAX];
	uint64_t target = 7;
	bool found;

	memset(code, 0x90, sizeof(code));
	memcpy(code + sizeof(code) - calls[_i].len, calls[_i].code, calls[_i].len);
	found = arch_call_decode(code, ADDR, &target);
	ck_assert_msg(found == (calls[_i].target != NONE), "%s", calls[_i].what);
	ck_assert_msg(!found || target == calls[_i].target, "%s: %#lx", calls[_i].what, target);
}
END_TEST

#define PROLOGUE 0x55, 0x48, 0x89, 0xe5 /* push %rbp; mov %rsp,%rbp */

static const struct {
	const char *what;
	uint8_t code[24];
	uint64_t size; /* NONE: not known */
	bool whole;
} prologues[] = {
	{ "nothing else", { PROLOGUE }, 0 },
	{ "endbr64", { 0xf3, 0x0f, 0x1e, 0xfa, PROLOGUE, 0x48, 0x83, 0xec, 0x20 }, 0x20, true },
	{ "locals", { PROLOGUE, 0x48, 0x83, 0xec, 0x70 }, 0x70, true },
	{ "128 bytes", { PROLOGUE, 0x48, 0x83, 0xc4, 0x80 }, 128, true },
	{ "room that is given back", { PROLOGUE, 0x48, 0x83, 0xc4, 0x10 }, NONE },
	{ "sub of a register", { PROLOGUE, 0x48, 0x29, 0xc4 }, NONE },
	{ "lea to the stack pointer", { PROLOGUE, 0x48, 0x8d, 0x64, 0x24, 0xf0 }, NONE },
	{ "a push after a lea", { PROLOGUE, 0x41, 0x56, 0x41, 0x55, 0x48, 0x8d, 0x05, 1, 2, 3, 4, 0x41, 0x54 }, 16 },
	{ "many", { PROLOGUE, 0x48, 0x81, 0xec, 0x10, 0x20, 0, 0 }, 0x2010, true },
	{ "saved registers", { PROLOGUE, 0x41, 0x54, 0x53 }, 16 },
	{ "saved registers and locals", { PROLOGUE, 0x41, 0x54, 0x53, 0x48, 0x83, 0xec, 0x10 }, 32, true },
	{ "moves between",
	  { PROLOGUE, 0x41, 0x54, 0x49, 0x89, 0xfc, 0x53, 0x89, 0xf3, 0x48, 0x83, 0xec, 0x10 },
	  32,
	  true },
	{ "no multiple of 16", { PROLOGUE, 0x53 }, NONE },
	{ "mov to the stack pointer", { PROLOGUE, 0x48, 0x89, 0xc4, 0x48, 0x83, 0xec, 0x10 }, NONE },
	{ "a realigned stack", { PROLOGUE, 0x48, 0x83, 0xe4, 0xe0, 0x48, 0x83, 0xec, 0x10 }, NONE },
	{ "a frame pointer that is only saved", { 0x55, 0x53, 0x48, 0x83, 0xec, 0x08 }, NONE },
	{ "no frame", { 0x48, 0x83, 0xec, 0x08 }, NONE },
};

START_TEST(test_prologue)
{
	uint64_t size = 0;
	int found = arch_prologue_decode(prologues[_i].code, sizeof(prologues[_i].code), &size);
	size_t len;

	ck_assert_msg(found == (prologues[_i].size == NONE ? 0 : 1 + prologues[_i].whole), "%s", prologues[_i].what);
	ck_assert_msg(!found || size == prologues[_i].size, "%s: %#lx", prologues[_i].what, size);
	/* Read no byte beyond the code. */
	for (len = 0; len < sizeof(prologues[_i].code); len++) {
		uint8_t *part = malloc(len + 1);

		memcpy(part, prologues[_i].code, len);
		arch_prologue_decode(part, len, &size);
		free(part);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("arch");
	TCase *tc = tcase_create("arch");

	tcase_add_loop_test(tc, test_call, 0, ARRAY_SIZE(calls));
	tcase_add_loop_test(tc, test_prologue, 0, ARRAY_SIZE(prologues));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
