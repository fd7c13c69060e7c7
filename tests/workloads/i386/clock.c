// SPDX-License-Identifier: Apache-2.0
/*
 * A 32-bit program that reads the clock in the vDSO, until it is killed. With an argument, it only exits: with status 0
 * if it has found the clock function there, else 1. It has no C library: few hosts have a 32-bit one.
 *
 *   gcc -m32 -O1 -static -nostdlib -ffreestanding -fno-omit-frame-pointer -fno-pic -no-pie -fno-stack-protector
 *
 * Expected: ...;ask_time;__vdso_clock_gettime, of [vdso32], most of the time.
 */
#define AT_NULL         0
#define AT_SYSINFO_EHDR 33
#define PT_LOAD         1
#define PT_DYNAMIC      2
#define DT_HASH         4
#define DT_STRTAB       5
#define DT_SYMTAB       6
#define NR_exit         1
#define NR_write        4

struct elf {
	unsigned char ident[16];
	unsigned short type, machine;
	unsigned int version, entry, phoff, shoff, flags;
	unsigned short ehsize, phentsize, phnum;
};

struct segment {
	unsigned int type, offset, vaddr, paddr, filesz, memsz, flags, align;
};

struct dynamic {
	unsigned int tag, value;
};

struct symbol {
	unsigned int name, value, size;
	unsigned char info, other;
	unsigned short section;
};

typedef int (*clock_fn)(int clock, long *ts);

static int call(int nr, int a, const void *b, int c)
{
	int rc;

	__asm__ volatile("int $0x80" : "=a"(rc) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return rc;
}

static int is(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static clock_fn find_clock(const char *vdso)
{
	const struct elf *elf = (const void *)vdso;
	const struct segment *p = (const void *)(vdso + elf->phoff);
	const struct dynamic *d = 0;
	const struct symbol *symbols = 0;
	const unsigned int *hash = 0;
	const char *names = 0, *base = vdso;
	unsigned int i;

	for (i = 0; i < elf->phnum; i++) {
		if (p[i].type == PT_LOAD)
			base = vdso + p[i].offset - p[i].vaddr;
		if (p[i].type == PT_DYNAMIC)
			d = (const void *)(vdso + p[i].offset);
	}
	for (; d && d->tag; d++) {
		if (d->tag == DT_HASH)
			hash = (const void *)(base + d->value);
		if (d->tag == DT_STRTAB)
			names = base + d->value;
		if (d->tag == DT_SYMTAB)
			symbols = (const void *)(base + d->value);
	}
	for (i = 0; hash && names && symbols && i < hash[1]; i++)
		if (is(names + symbols[i].name, "__vdso_clock_gettime"))
			return (clock_fn)(base + symbols[i].value);
	return 0;
}

static __attribute__((noinline)) void ask_time(clock_fn clock)
{
	long ts[2];
	int i;

	for (i = 0; i < 1000; i++)
		clock(1, ts);
}

__attribute__((used)) static void begin(char **stack)
{
	long argc = (long)stack[0];
	clock_fn clock = 0;
	unsigned int *aux;

	stack += 1 + argc + 1; /* argc, the arguments, NULL */
	while (*stack++)
		;
	for (aux = (unsigned int *)stack; aux[0] != AT_NULL; aux += 2)
		if (aux[0] == AT_SYSINFO_EHDR)
			clock = find_clock((const char *)aux[1]);
	if (!clock || argc > 1)
		call(NR_exit, !clock, 0, 0);
	call(NR_write, 1, "ready\n", 6);
	for (;;)
		ask_time(clock);
}

__asm__(".globl _start\n_start:\n\txor %ebp,%ebp\n\tmov %esp,%eax\n\tand $-16,%esp\n\tsub $12,%esp\n\tpush "
	"%eax\n\tcall begin\n");
