// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -O2 -ffreestanding -nostdlib -fno-pie -static -fno-stack-protector -fcf-protection=none
/*
 * chained [MODE] - works for ever, without a C library, so that each function has either a frame pointer or no frame.
 * With "l" it is always in a leaf without a frame, with "t" it walks through a tree of 1024 paths. With another MODE
 * its frame pointers are wrong: with "r", a function uses the register for something else; with "a", a function in
 * assembler does so, without unwind rules; with "f", a function forges a chain of frames that lead to functions which
 * did not call it.
 */
#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

/* A leaf without a frame: the register has the frame pointer of its caller. */
static NOINLINE void leaf(unsigned long n)
{
	while (n--)
		sink += n;
}

/* A leaf with a frame. */
static NOINLINE void framed(unsigned long n)
{
	volatile unsigned long words[4] = { n };

	while (words[0]--)
		sink += words[0];
}

static NOINLINE void left(void)
{
	leaf(100000);
	sink++;
}

static NOINLINE void right(void)
{
	framed(300000);
	sink++;
}

static NOINLINE void deep(unsigned int n)
{
	if (n)
		deep(n - 1);
	else
		framed(100000);
	sink++;
}

static NOINLINE void go_right(unsigned long path, unsigned int levels);

static NOINLINE void go_left(unsigned long path, unsigned int levels)
{
	if (!levels)
		framed(2000);
	else if (path & 1)
		go_right(path >> 1, levels - 1);
	else
		go_left(path >> 1, levels - 1);
	sink++;
}

static NOINLINE void go_right(unsigned long path, unsigned int levels)
{
	if (!levels)
		framed(2001);
	else if (path & 1)
		go_right(path >> 1, levels - 1);
	else
		go_left(path >> 1, levels - 1);
	sink++;
}

static NOINLINE void tree(void)
{
	unsigned long path;

	for (path = 0; path < 1024; path++)
		go_left(path, 10);
}

/* The system call getpid, from a function with a frame. */
static NOINLINE void kernel(void)
{
	volatile unsigned long words[4] = { 200 };
	long rc = 0;

	while (words[0]--)
		__asm__ volatile("syscall" : "=a"(rc) : "a"(39L) : "rcx", "r11", "memory");
	sink += (unsigned long)rc;
}

/* With "f", this function never runs: the forged frames contain addresses in it. */
static NOINLINE void innocent(void)
{
	leaf(1);
	sink++;
}

/* Use rbp as a counter, and restore it at the end. */
NOINLINE void general_register(unsigned long n);
__asm__(".type general_register, @function\n"
	"general_register:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"mov %rdi, %rbp\n"
	"1: dec %rbp\n"
	"jnz 1b\n"
	"pop %rbp\n"
	".cfi_restore %rbp\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size general_register, . - general_register\n");

/* The same, without unwind rules. */
NOINLINE void without_rules(unsigned long n);
__asm__(".type without_rules, @function\n"
	"without_rules:\n"
	"push %rbp\n"
	"mov %rdi, %rbp\n"
	"1: dec %rbp\n"
	"jnz 1b\n"
	"pop %rbp\n"
	"ret\n"
	".size without_rules, . - without_rules\n");

/* According to its rules it has a frame. That frame is forged, in other memory. */
NOINLINE void forger(unsigned long n, const void *frame);
__asm__(".type forger, @function\n"
	"forger:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"mov %rsi, %rbp\n"
	"1: dec %rdi\n"
	"jnz 1b\n"
	"mov %rsp, %rbp\n"
	"pop %rbp\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size forger, . - forger\n");

extern const char end_of_start[];

static NOINLINE void forge(void)
{
	static struct {
		const void *next, *ret;
	} frames[3];

	frames[0].next = &frames[1];
	frames[0].ret = (const char *)innocent + 8;
	frames[1].next = &frames[2];
	frames[1].ret = (const char *)innocent + 8;
	frames[2].ret = end_of_start;
	forger(1000000, frames);
	sink++;
}

__attribute__((noreturn)) void run(long argc, char **argv);

__attribute__((used, noreturn)) void run(long argc, char **argv)
{
	char mode = argc > 1 ? argv[1][0] : 0;

	for (;;) {
		if (mode == 'r') {
			general_register(1000000);
		} else if (mode == 'a') {
			without_rules(1000000);
		} else if (mode == 'f') {
			forge();
		} else if (mode == 't') {
			tree();
		} else if (mode == 'l') {
			left();
		} else {
			left();
			right();
			deep(20);
			kernel();
			innocent();
		}
	}
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined %rip\n"
	"xor %ebp, %ebp\n"
	"mov (%rsp), %rdi\n"
	"lea 8(%rsp), %rsi\n"
	"call run\n"
	"end_of_start:\n"
	"hlt\n"
	".cfi_endproc\n"
	".size _start, . - _start\n");
