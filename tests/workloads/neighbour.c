// SPDX-License-Identifier: Apache-2.0
/*
 * neighbour SECONDS WHAT DIR N - an unprivileged process that gives a profiler much work. It makes its files in
 * DIR, which the caller removes.
 *
 * WHAT is one of
 *   symbols  run code of one file with N symbols: only the names of all but the last show that they are no functions
 *   links    run code of that file under 1000 names
 *   paths    map one file under N names of 3.7 KB, and run code of the last one
 *
 * Expected: ...;main;run_mapped;mapped_code, if the profiler reads the symbols of the file.
 */
#include "spin_code.h"
#include "workload.h"

#include <elf.h>
#include <stdbool.h>
#include <sys/mman.h>

#define PAGE     4096
#define NR_LINKS 1000
#define DEEP     250 /* characters of a directory's name, 14 of which make a path of 3.7 KB */
#define NR_DEEP  14

typedef void (*mapped_fn)(uint64_t n);

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

static const char names[] = "\0$no_function\0mapped_code";
static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

/* The offsets of the parts of the file: a page with headers, a page with code, then the tables. */
struct layout {
	uint64_t symbols, nr, names, section_names, sections;
};

static struct layout layout_of(uint64_t nr)
{
	struct layout l = { .symbols = 2 * PAGE, .nr = nr };

	l.names = l.symbols + nr * sizeof(Elf64_Sym);
	l.section_names = l.names + sizeof(names);
	l.sections = (l.section_names + sizeof(section_names) + 7) & ~7ULL;
	return l;
}

static void put(FILE *f, const void *bytes, size_t len, uint64_t at)
{
	if (fseek(f, (long)at, SEEK_SET) || fwrite(bytes, len, 1, f) != 1)
		workload_die("cannot write a program");
}

static void put_headers(FILE *f, const struct layout *l)
{
	const Elf64_Ehdr ehdr = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
				  .e_type = ET_DYN,
				  .e_machine = MACHINE,
				  .e_version = EV_CURRENT,
				  .e_phoff = sizeof(ehdr),
				  .e_shoff = l->sections,
				  .e_ehsize = sizeof(ehdr),
				  .e_phentsize = sizeof(Elf64_Phdr),
				  .e_phnum = 1,
				  .e_shentsize = sizeof(Elf64_Shdr),
				  .e_shnum = 5,
				  .e_shstrndx = 4 };
	const Elf64_Phdr phdr = { PT_LOAD, PF_R | PF_X, PAGE, PAGE, PAGE, PAGE, PAGE, PAGE };
	const Elf64_Shdr sections[] = {
		{ 0 },
		{ 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, PAGE, PAGE, PAGE, 0, 0, 16, 0 },
		{ 7, SHT_SYMTAB, 0, 0, l->symbols, l->nr * sizeof(Elf64_Sym), 3, 1, 8, sizeof(Elf64_Sym) },
		{ 15, SHT_STRTAB, 0, 0, l->names, sizeof(names), 0, 0, 1, 0 },
		{ 23, SHT_STRTAB, 0, 0, l->section_names, sizeof(section_names), 0, 0, 1, 0 },
	};

	put(f, &ehdr, sizeof(ehdr), 0);
	put(f, &phdr, sizeof(phdr), sizeof(ehdr));
	put(f, sections, sizeof(sections), l->sections);
	put(f, section_names, sizeof(section_names), l->section_names);
}

/* The last symbol is the name of the code. */
static void put_symbols(FILE *f, const struct layout *l)
{
	Elf64_Sym sym = { .st_name = 1,
			  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE),
			  .st_shndx = 1,
			  .st_value = PAGE,
			  .st_size = sizeof(spin_code) };
	uint64_t i;

	if (fseek(f, (long)l->symbols, SEEK_SET))
		workload_die("cannot write a program");
	for (i = 0; i + 1 < l->nr; i++)
		if (fwrite(&sym, sizeof(sym), 1, f) != 1)
			workload_die("cannot write a program");
	sym.st_name = sizeof("$no_function") + 1;
	sym.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	put(f, &sym, sizeof(sym), l->symbols + (l->nr - 1) * sizeof(sym));
}

static void make_program(const char *path, uint64_t nr)
{
	const struct layout l = layout_of(nr);
	FILE *f = fopen(path, "w");

	if (!f)
		workload_die("cannot make a program");
	put_headers(f, &l);
	put(f, spin_code, sizeof(spin_code), PAGE);
	put_symbols(f, &l);
	put(f, names, sizeof(names), l.names);
	if (fclose(f))
		workload_die("cannot write a program");
}

/* The page of code of the file at @path. */
static mapped_fn map_code(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *page = fd < 0 ? MAP_FAILED : mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, PAGE);

	if (page == MAP_FAILED)
		workload_die("cannot map a program");
	close(fd);
	return (mapped_fn)(uintptr_t)page;
}

static mapped_fn link_and_map(const char *program, const char *name)
{
	if (link(program, name))
		workload_die("cannot link a program");
	return map_code(name);
}

static void go_deep(void)
{
	char name[DEEP + 1];
	int i;

	memset(name, 'd', DEEP);
	name[DEEP] = 0;
	for (i = 0; i < NR_DEEP; i++)
		if (mkdir(name, 0755) || chdir(name))
			workload_die("cannot make a deep directory");
}

/* Return: the number of functions to run. */
static size_t map_all(const char *what, uint64_t nr, mapped_fn *fns)
{
	bool links = !strcmp(what, "links"), paths = !strcmp(what, "paths");
	char name[32];
	size_t i, nr_links = links ? NR_LINKS : paths ? nr : 0;

	if (paths)
		go_deep();
	make_program(what, paths ? 1 : nr);
	fns[0] = map_code(what);
	for (i = 0; i < nr_links; i++) {
		snprintf(name, sizeof(name), "%s-%zu", what, i);
		fns[links ? i : 0] = link_and_map(what, name);
	}
	return links ? NR_LINKS : 1;
}

static NOINLINE void run_mapped(mapped_fn mapped)
{
	mapped(100000);
	workload_sink++;
}

int main(int argc, char **argv)
{
	static mapped_fn fns[NR_LINKS];
	size_t nr, i;

	workload_live(argc, argv);
	if (argc < 5 || chdir(argv[3]))
		workload_die("neighbour SECONDS WHAT DIR N");
	nr = map_all(argv[2], (uint64_t)workload_arg(argc, argv, 4, 1), fns);
	workload_ready();
	while (!workload_stop)
		for (i = 0; i < nr; i++)
			run_mapped(fns[i]);
	return 0;
}
