// SPDX-License-Identifier: Apache-2.0
/* Code as the header of the architecture reads it. */
#include "core/arch/arch.h"
#include "tests/unit/unit.h"

#define ADDR 0x401000ULL

/* @target: 0: indirect; NONE: no call. What is in front of the call are bytes that are none. */
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

int main(void)
{
	Suite *s = suite_create("arch");
	TCase *tc = tcase_create("arch");

	tcase_add_loop_test(tc, test_call, 0, ARRAY_SIZE(calls));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
