// SPDX-License-Identifier: Apache-2.0
/*
 * name_all [N] - look up the name of every function in /proc/kallsyms, at its first byte and at the next one, in
 * two ways: from the file, and from the kernel itself. Of the functions of the kernel proper it looks up one in N. It
 * prints a line for each of the first 20 lookups that differ, and the numbers of lookups, of functions in modules and
 * BPF programs, of answers by the kernel, and of differences. It fails if the kernel cannot give names.
 */
#include "backend-bpf/namer.h"
#include "core/base/err.h"
#include "core/files/mapped_files.h"
#include "core/host/host.h"
#include "core/symbols/kernel_answers.h"
#include "core/symbols/kernel_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct used_namer namer = { .ops = &namer_bpf };
static struct kernel_names *file, *both;
static struct kernel_answers *answers;
static unsigned long asked, of_modules, of_bpf, told, different;

static const char *name_of(struct kernel_names *names, uint64_t addr, char *buf, size_t size)
{
	struct kernel_symbol s;

	if (!kernel_names_find(names, addr, &s))
		return "-";
	snprintf(buf, size, "%s+0x%" PRIx64 " [%s]", s.name, addr - s.start, s.module);
	return buf;
}

static void compare(uint64_t addr)
{
	char a[1024], b[1024];
	struct kernel_symbol s;

	asked++;
	told += kernel_answers_find(answers, addr, &s);
	if (!strcmp(name_of(file, addr, a, sizeof(a)), name_of(both, addr, b, sizeof(b))))
		return;
	if (different++ < 20)
		printf("0x%" PRIx64 ": file %s, kernel %s\n", addr, name_of(file, addr, a, sizeof(a)),
		       name_of(both, addr, b, sizeof(b)));
}

static void fail(const char *what)
{
	fprintf(stderr, "name_all: %s\n", what);
	exit(2);
}

int main(int argc, char **argv)
{
	unsigned long one_of = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, own = 0;
	struct mapped_files_cfg files = { .host = &host_here };
	struct symbols_cfg cfg = { .files = &files };
	struct err err;
	char line[1024], *end;
	uint64_t addr;
	FILE *f;

	host_here_look();
	if (kernel_names_open(&cfg, &file, &err))
		fail(err.msg);
	if (namer_bpf.open(&namer.state))
		fail("the kernel cannot be asked");
	cfg.namer = &namer;
	if (kernel_names_open(&cfg, &both, &err))
		fail(err.msg);
	answers = kernel_answers_new(&namer);
	f = fopen("/proc/kallsyms", "re");
	if (!answers || !f)
		fail("cannot begin");
	while (fgets(line, sizeof(line), f)) {
		addr = strtoull(line, &end, 16);
		if (*end != ' ' || !end[1] || !strchr("tTwW", end[1]) || !kernel_address(addr))
			continue;
		if (strstr(line, "\t[bpf]"))
			of_bpf++;
		else if (strstr(line, "\t["))
			of_modules += !strstr(line, "\t[__builtin__");
		else if (own++ % one_of)
			continue;
		compare(addr);
		compare(addr + 1);
	}
	fclose(f);
	printf("%lu addresses, %lu of modules, %lu of BPF, %lu told, %lu differ\n", asked, of_modules, of_bpf, told,
	       different);
	kernel_answers_free(answers);
	kernel_names_free(both);
	kernel_names_free(file);
	namer_close(&namer);
	return different ? 1 : 0;
}
