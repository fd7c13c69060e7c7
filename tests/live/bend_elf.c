// SPDX-License-Identifier: Apache-2.0
/*
 * bend_elf WAY IN OUT [ARGUMENT] - copy a 64-bit ELF file of this host and damage the parts that loaders do not read:
 * its section headers, and sections that are not loaded or that a running program does not use. `bend_elf` alone lists
 * the ways that suit any file.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MORE 8192 /* bytes that a way may append */

static unsigned char *image;
static size_t size;
static const char *argument;

static void die(const char *what)
{
	fprintf(stderr, "bend_elf: %s\n", what);
	exit(2);
}

static Elf64_Ehdr *ehdr(void)
{
	return (Elf64_Ehdr *)(void *)image;
}

static Elf64_Shdr *section_at(size_t i)
{
	return (Elf64_Shdr *)(void *)(image + ehdr()->e_shoff) + i;
}

static const char *section_name(const Elf64_Shdr *sh)
{
	return (char *)image + section_at(ehdr()->e_shstrndx)->sh_offset + sh->sh_name;
}

static Elf64_Shdr *section(const char *name)
{
	size_t i;

	for (i = 1; i < ehdr()->e_shnum; i++)
		if (!strcmp(section_name(section_at(i)), name))
			return section_at(i);
	die(name);
	return NULL;
}

static bool is_symtab(const Elf64_Shdr *sh)
{
	return sh->sh_type == SHT_SYMTAB || sh->sh_type == SHT_DYNSYM;
}

/* Call @fn for both symbol tables. */
static void each_symtab(void (*fn)(Elf64_Shdr *sh))
{
	size_t i;

	for (i = 1; i < ehdr()->e_shnum; i++)
		if (is_symtab(section_at(i)))
			fn(section_at(i));
}

/* Call @fn for the symbols of .symtab only: ld.so reads the others. */
static void each_symbol(void (*fn)(Elf64_Sym *sym))
{
	Elf64_Shdr *sh = section(".symtab");
	Elf64_Sym *sym = (Elf64_Sym *)(void *)(image + sh->sh_offset);
	size_t i;

	for (i = 1; i < sh->sh_size / sizeof(*sym); i++)
		fn(&sym[i]);
}

/* Call @fn for all sections called .debug_*. */
static void each_debug(void (*fn)(Elf64_Shdr *sh))
{
	size_t i;

	for (i = 1; i < ehdr()->e_shnum; i++)
		if (!strncmp(section_name(section_at(i)), ".debug_", 7))
			fn(section_at(i));
}

/* Move @sh to the end of the file, with @len bytes of @data, as a section that is not loaded. */
static void append(Elf64_Shdr *sh, const void *data, size_t len)
{
	if (len > MORE)
		die("too much to append");
	memcpy(image + size, data, len);
	sh->sh_offset = size;
	sh->sh_size = len;
	sh->sh_flags = 0;
	size += len;
}

/* ---- the ways */

static void not_at_all(void)
{
}

static void headers_beyond(void)
{
	ehdr()->e_shoff = 1ULL << 62;
}

static void headers_wrap(void)
{
	ehdr()->e_shoff = UINT64_MAX - 32;
}

static void headers_cut(void)
{
	ehdr()->e_shoff = size - 100;
}

static void headers_none(void)
{
	ehdr()->e_shoff = 0;
	ehdr()->e_shnum = 0;
}

static void headers_many(void)
{
	ehdr()->e_shnum = 0xfeff;
}

/* If a file has more than 65,279 sections, e_shnum is 0 and their number is in section 0. */
static void headers_2_32(void)
{
	section_at(0)->sh_size = 1ULL << 32;
	ehdr()->e_shnum = 0;
}

static void headers_sized_0(void)
{
	ehdr()->e_shentsize = 0;
}

static void headers_sized_1(void)
{
	ehdr()->e_shentsize = 1;
}

static void names_index(void)
{
	ehdr()->e_shstrndx = 0xfff0;
}

static void names_nobits(void)
{
	section_at(ehdr()->e_shstrndx)->sh_type = SHT_NOBITS;
}

static void names_beyond(void)
{
	size_t i;

	for (i = 1; i < ehdr()->e_shnum; i++)
		section_at(i)->sh_name = UINT32_MAX;
}

static void symtab_2_32(Elf64_Shdr *sh)
{
	sh->sh_size = (1ULL << 32) * sizeof(Elf64_Sym);
}

static void symbols_2_32(void)
{
	each_symtab(symtab_2_32);
}

static void symtab_wraps(Elf64_Shdr *sh)
{
	sh->sh_offset = UINT64_MAX - 23;
	sh->sh_size = 48;
}

static void symbols_wrap(void)
{
	each_symtab(symtab_wraps);
}

static void symtab_to_end(Elf64_Shdr *sh)
{
	sh->sh_offset = 0;
	sh->sh_size = size - size % sizeof(Elf64_Sym);
}

static void symbols_everywhere(void)
{
	each_symtab(symtab_to_end);
}

static void symtab_entsize(Elf64_Shdr *sh)
{
	sh->sh_entsize = sh->sh_type == SHT_SYMTAB ? 0 : 1;
}

static void symbols_sized(void)
{
	each_symtab(symtab_entsize);
}

static void symtab_link(Elf64_Shdr *sh)
{
	sh->sh_link = sh->sh_type == SHT_SYMTAB ? UINT32_MAX : (uint32_t)(sh - section_at(0));
}

static void symbols_link(void)
{
	each_symtab(symtab_link);
}

static void symtab_compressed(Elf64_Shdr *sh)
{
	sh->sh_flags |= SHF_COMPRESSED;
}

static void symbols_compressed(void)
{
	each_symtab(symtab_compressed);
}

static void strings_2_40(void)
{
	section(".strtab")->sh_size = 1ULL << 40;
}

static void strings_endless(void)
{
	Elf64_Shdr *sh = section(".strtab");

	memset(image + sh->sh_offset, 'A', sh->sh_size);
}

static void strings_nobits(void)
{
	section(".strtab")->sh_type = SHT_NOBITS;
}

static void symbol_name_beyond(Elf64_Sym *sym)
{
	sym->st_name = UINT32_MAX - (sym->st_name & 7);
}

static void symbol_names_beyond(void)
{
	each_symbol(symbol_name_beyond);
}

static void symbol_widest(Elf64_Sym *sym)
{
	sym->st_size = UINT64_MAX;
	sym->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	sym->st_shndx = (uint16_t)(section(".text") - section_at(0));
}

static void symbols_widest(void)
{
	each_symbol(symbol_widest);
}

static void symbol_last(Elf64_Sym *sym)
{
	sym->st_value = UINT64_MAX - (sym->st_value & 7);
}

static void symbols_last(void)
{
	each_symbol(symbol_last);
}

static void symbol_section(Elf64_Sym *sym)
{
	sym->st_shndx = 0xfeff;
}

static void symbols_section(void)
{
	each_symbol(symbol_section);
}

/* ARGUMENT may be longer than the old names. Both functions get it, because a few samples may all be of one of them. */
static void rename_symbol(Elf64_Sym *sym)
{
	Elf64_Shdr *sh = section(".strtab");
	const char *name = (char *)image + sh->sh_offset + sym->st_name;

	if (!strcmp(name, "func_a") || !strcmp(name, "func_b"))
		sym->st_name = (uint32_t)(sh->sh_size - strlen(argument) - 1);
}

static void symbol_name(void)
{
	Elf64_Shdr *sh = section(".strtab");
	size_t old = sh->sh_size, len = strlen(argument) + 1;
	unsigned char *all = malloc(old + len);

	if (!all)
		die("no memory");
	memcpy(all, image + sh->sh_offset, old);
	memcpy(all + old, argument, len);
	append(sh, all, old + len);
	free(all);
	each_symbol(rename_symbol);
}

static void text_elsewhere(void)
{
	Elf64_Shdr *sh = section(".text");

	sh->sh_addr = 1ULL << 60;
	sh->sh_offset = 1ULL << 60;
	sh->sh_size = UINT64_MAX;
}

/* Many relocations of the PLT, for symbols that do not exist. */
static void plt_lies(void)
{
	Elf64_Shdr *sh = section(".rela.plt");

	sh->sh_offset = section(".text")->sh_offset;
	sh->sh_size = size - sh->sh_offset;
	sh->sh_size -= sh->sh_size % sizeof(Elf64_Rela);
	section(".plt")->sh_size = 1ULL << 32;
	section(".plt")->sh_entsize = 1;
}

static void notes_lie(void)
{
	size_t i;

	for (i = 1; i < ehdr()->e_shnum; i++) {
		Elf64_Shdr *sh = section_at(i);
		Elf64_Nhdr *note = (Elf64_Nhdr *)(void *)(image + sh->sh_offset);

		if (sh->sh_type != SHT_NOTE || !strcmp(section_name(sh), ".note.gnu.property"))
			continue;
		*note = (Elf64_Nhdr){ UINT32_MAX - 2, UINT32_MAX, note->n_type };
		sh->sh_addralign = 1ULL << 63;
	}
}

/* A name, zeros, and a CRC. The name may contain directories. */
static void debuglink(void)
{
	char link[4096 + 8] = "";
	size_t len = strlen(argument);

	if (len > 4096)
		die("the name is too long");
	memcpy(link, argument, len);
	append(section(".gnu_debuglink"), link, (len + 4) / 4 * 4 + 4);
}

static void debuglink_endless(void)
{
	unsigned char as[4096];

	memset(as, 'A', sizeof(as));
	append(section(".gnu_debuglink"), as, sizeof(as));
}

static void fill(Elf64_Shdr *sh)
{
	memset(image + sh->sh_offset, 0xff, sh->sh_size);
}

static void debug_ones(void)
{
	each_debug(fill);
}

/* The 64-bit length of the unit is the largest that a file can have, or larger. */
static void lengthen(Elf64_Shdr *sh)
{
	static const unsigned char lengths[][12] = {
		{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f },
		{ 0xff, 0xff, 0xff, 0xff, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
	};

	if (sh->sh_size >= sizeof(lengths[0]))
		memcpy(image + sh->sh_offset, lengths[sh->sh_size & 1], sizeof(lengths[0]));
}

static void debug_lengths(void)
{
	each_debug(lengthen);
}

/* Behind the header of the first unit, replace about one byte in 16, always in the same way. */
static void scramble(Elf64_Shdr *sh)
{
	uint32_t r = 1;
	uint64_t i;

	for (i = 24; i < sh->sh_size; i++) {
		r = r * 1664525 + 1013904223;
		if (!(r >> 28))
			image[sh->sh_offset + i] = (unsigned char)(r >> 16);
	}
}

static void debug_scrambled(void)
{
	each_debug(scramble);
}

static void debug_beyond_one(Elf64_Shdr *sh)
{
	sh->sh_size = 1ULL << 61;
}

static void debug_beyond(void)
{
	each_debug(debug_beyond_one);
}

/* Pretend that the section is compressed, and has 1 TiB when it is expanded. */
static void explode_one(Elf64_Shdr *sh)
{
	Elf64_Chdr *ch = (Elf64_Chdr *)(void *)(image + sh->sh_offset);

	if (sh->sh_size < sizeof(*ch))
		return;
	sh->sh_flags |= SHF_COMPRESSED;
	*ch = (Elf64_Chdr){ .ch_type = ELFCOMPRESS_ZLIB, .ch_size = 1ULL << 40, .ch_addralign = 1 };
}

static void debug_explodes(void)
{
	each_debug(explode_one);
}

/* These sections are loaded, but only used while an exception is thrown. */
static void frames_lie(void)
{
	Elf64_Shdr *hdr = section(".eh_frame_hdr"), *sh = section(".eh_frame");
	uint32_t *words = (uint32_t *)(void *)(image + sh->sh_offset);
	size_t i;

	/*
	 * Claim 2^32 - 1 entries in the table, which keeps its size. Entries are CIEs, or FDEs that are their own CIE;
	 * the length of each is nearly 4 GiB.
	 */
	memset(image + hdr->sh_offset + 8, 0xff, 4);
	for (i = 0; i + 1 < sh->sh_size / 4; i += 6) {
		words[i] = 0xfffffff0;
		words[i + 1] = i % 4 ? 4 : 0;
	}
}

static void frames_ones(void)
{
	fill(section(".eh_frame"));
	fill(section(".eh_frame_hdr"));
}

static const struct {
	const char *name;
	void (*bend)(void);
} ways[] = {
	{ "good", not_at_all },
	{ "headers-beyond", headers_beyond },
	{ "headers-wrap", headers_wrap },
	{ "headers-cut", headers_cut },
	{ "headers-none", headers_none },
	{ "headers-many", headers_many },
	{ "headers-2-32", headers_2_32 },
	{ "headers-0", headers_sized_0 },
	{ "headers-1", headers_sized_1 },
	{ "names-index", names_index },
	{ "names-nobits", names_nobits },
	{ "names-beyond", names_beyond },
	{ "symbols-2-32", symbols_2_32 },
	{ "symbols-wrap", symbols_wrap },
	{ "symbols-all", symbols_everywhere },
	{ "symbols-sized", symbols_sized },
	{ "symbols-link", symbols_link },
	{ "symbols-zip", symbols_compressed },
	{ "symbols-beyond", symbol_names_beyond },
	{ "symbols-widest", symbols_widest },
	{ "symbols-last", symbols_last },
	{ "symbols-where", symbols_section },
	{ "strings-2-40", strings_2_40 },
	{ "strings-end", strings_endless },
	{ "strings-nobits", strings_nobits },
	{ "text-elsewhere", text_elsewhere },
	{ "plt-lies", plt_lies },
	{ "notes-lie", notes_lie },
	{ "debug-ones", debug_ones },
	{ "debug-lengths", debug_lengths },
	{ "debug-scramble", debug_scrambled },
	{ "debug-beyond", debug_beyond },
	{ "debug-explodes", debug_explodes },
	{ "frames-lie", frames_lie },
	{ "frames-ones", frames_ones },
	/* These ways need an ARGUMENT, or a file with .gnu_debuglink. "=": not in the list of ways. */
	{ "=name", symbol_name },
	{ "=debuglink", debuglink },
	{ "=debuglink-end", debuglink_endless },
};

static void read_image(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		die(path);
	size = (size_t)st.st_size;
	image = calloc(1, size + MORE);
	if (!image || read(fd, image, size) != (ssize_t)size || size < sizeof(Elf64_Ehdr) ||
	    image[EI_CLASS] != ELFCLASS64)
		die(path);
	close(fd);
}

/* The appended data is behind the section headers, which stay where they are. */
static void write_image(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0 || write(fd, image, size) != (ssize_t)size || close(fd))
		die(path);
}

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (*ways[i].name != '=')
			puts(ways[i].name);
	if (argc == 1)
		return 0;
	if (argc != 4 && argc != 5)
		die("usage: bend_elf [WAY IN OUT [ARGUMENT]]");
	argument = argc == 5 ? argv[4] : "";
	read_image(argv[2]);
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name + (*ways[i].name == '='), argv[1]))
			continue;
		ways[i].bend();
		write_image(argv[3]);
		return 0;
	}
	die(argv[1]);
}
