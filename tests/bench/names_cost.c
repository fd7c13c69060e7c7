// SPDX-License-Identifier: Apache-2.0
/*
 * names_cost kallsyms | file FILE | report FILE FOLDER: measure the cost of names in CPU time. Each run measures one
 * of the three.
 *
 * kallsyms: the cost of reading /proc/kallsyms, and of reading it and loading all its symbols. file: the cost of the
 * first lookup in FILE, of 100000 lookups of addresses all over its code, of the same lookups again, and the memory.
 * report: the cost of a report of 100000 distinct stacks of 20 frames all over the code of 500 copies of FILE. The
 * copies are written to FOLDER, each with a build id of its own.
 */
#include "tests/bench/bench.h"
#include "tests/row_key.h"

#include "core/base/grow.h"
#include "core/host/host.h"
#include "core/report/report.h"
#include "core/rows/rows.h"
#include "core/files/elf_file.h"
#include "core/symbols/kernel_file.h"
#include "core/files/mapped_files.h"
#include "core/symbols/symbols.h"
#include "core/tasks/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PID = 4242, FILES = 500, STACKS = 100000, FRAMES = 20, PLACES = 100000, ROUNDS = 10 };

static long peak_kib(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return ru.ru_maxrss;
}

/* CPU time of child processes that have ended, in seconds. */
static double children_time(void)
{
	struct rusage ru;

	getrusage(RUSAGE_CHILDREN, &ru);
	return (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
	       (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
}

static void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

static void die(const char *fmt, ...)
{
	va_list ap;

	fputs("names_cost: error: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* Only read the file: the time in which the kernel prints it. */
static double read_only(const char *path)
{
	static char buf[256 << 10];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	double start = cpu_time();
	ssize_t n;

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		;
	if (fd < 0 || n < 0)
		die("cannot read '%s': %s", path, strerror(errno));
	close(fd);
	return cpu_time() - start;
}

static void cost_kallsyms(void)
{
	static const char path[] = "/proc/kallsyms";
	struct kernel_file *f;
	double reading = read_only(path), start = cpu_time();
	int rc = kernel_file_open(path, true, &f);

	if (!rc)
		rc = kernel_file_text(f);
	if (rc)
		die("cannot load '%s': %s", path, strerror(-rc));
	printf("read_ms: %.2f\nload_ms: %.2f\n", reading * 1e3, (cpu_time() - start) * 1e3);
	kernel_file_free(f);
}

/* The code segment of a file. */
static struct elf_segment code_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_segment seg;
	struct elf_file f;
	unsigned int i;

	if (fd < 0 || elf_file_open(&f, fd))
		die("cannot read '%s'", path);
	for (i = 0; i < f.nr_segments && !(f.segments[i].flags & PF_X); i++)
		;
	if (i == f.nr_segments)
		die("'%s' has no code", path);
	seg = f.segments[i];
	elf_file_release(&f);
	close(fd);
	return seg;
}

static void map(struct tasks *tasks, const char *path, uint64_t start, const struct elf_segment *seg)
{
	const struct mapped_file file = { .path = path };
	const uint64_t page = 4095, pgoff = seg->offset & ~page;
	const struct mapping m = { start, start + ((seg->offset + seg->size - pgoff + page) & ~page), pgoff, &file };

	if (tasks_mmap(tasks, PID, &m))
		die("cannot map '%s'", path);
}

static struct symbols *open_symbols(const struct host *host, struct tasks **tasks)
{
	static struct mapped_files_cfg files;
	struct symbols *s;
	struct err err;

	files.host = host;
	*tasks = tasks_new(host);
	if (!*tasks || symbols_open(*tasks, &(struct symbols_cfg){ .files = &files }, &s, &err))
		die("no memory");
	return s;
}

static void cost_file(const char *path)
{
	static const uint64_t base = 0x7f0000000000;
	struct elf_segment seg = code_of(path);
	uint64_t *places = malloc(PLACES * sizeof(*places)), named = 0;
	struct tasks *tasks;
	struct symbols *s;
	struct symbol sym;
	size_t i, round;
	double start, first, new;
	long before;

	if (!places)
		die("no memory");
	for (i = 0; i < PLACES; i++)
		places[i] = base + (seg.offset & 4095) + rng() % seg.size;
	s = open_symbols(&host_here, &tasks);
	map(tasks, path, base, &seg);
	before = peak_kib();
	start = cpu_time();
	symbols_user(s, PID, "bench", 0, places[0], false, &sym);
	first = cpu_time() - start;
	printf("first_ms: %.2f\nfirst_peak_kib: %ld\n", first * 1e3, peak_kib() - before);
	start = cpu_time();
	for (i = 0; i < PLACES; i++)
		symbols_user(s, PID, "bench", 0, places[i], false, &sym);
	new = cpu_time() - start;
	start = cpu_time();
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < PLACES; i++) {
			symbols_user(s, PID, "bench", 0, places[i], false, &sym);
			named += sym.name != NULL;
		}
	}
	printf("next_ns: %.0f\nagain_ns: %.0f\n", new / PLACES * 1e9, (cpu_time() - start) / ROUNDS / PLACES * 1e9);
	printf("named_percent: %.1f\npeak_kib: %ld\n", 100.0 * (double)named / ROUNDS / PLACES, peak_kib() - before);
	symbols_free(s);
	tasks_free(tasks);
	free(places);
}

static char *read_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *bytes;

	if (fd < 0 || fstat(fd, &st))
		die("cannot read '%s': %s", path, strerror(errno));
	*len = (size_t)st.st_size;
	bytes = malloc(*len + 1);
	if (!bytes || read(fd, bytes, *len) != (ssize_t)*len)
		die("cannot read '%s'", path);
	close(fd);
	return bytes;
}

/* The position of the build id of @path in @bytes, which are its contents. */
static char *find_build_id(const char *path, char *bytes, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file f;
	char *at;

	if (fd < 0 || elf_file_open(&f, fd) || !f.build_id.size)
		die("'%s' has no build id", path);
	at = memmem(bytes, len, f.build_id.bytes, f.build_id.size);
	elf_file_release(&f);
	close(fd);
	return at;
}

static void write_copies(const char *path, const char *folder)
{
	char name[PATH_MAX], *bytes, *id;
	uint32_t i;
	size_t len;

	bytes = read_file(path, &len);
	id = find_build_id(path, bytes, len);
	for (i = 0; i < FILES; i++) {
		int fd;

		snprintf(name, sizeof(name), "%s/lib%u.so", folder, i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		memcpy(id, &i, sizeof(i));
		if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
			die("cannot write '%s'", name);
		close(fd);
	}
	free(bytes);
}

static uint64_t base_of(uint64_t file)
{
	return 0x7f0000000000 + (file << 28);
}

static void count(struct rows *t, const struct elf_segment *seg)
{
	const char comm[COMM_LEN] = "bench";
	uint64_t user[FRAMES];
	const struct stack none = { 0 }, u = { user, FRAMES, STACK_TAKEN, false };
	size_t i, k;

	for (i = 0; i < STACKS; i++) {
		for (k = 0; k < FRAMES; k++)
			user[k] = base_of(rng() % FILES) + (seg->offset & 4095) + rng() % seg->size;
		if (row_add(t, comm, PID, &none, &u, 1, 1))
			die("no memory");
	}
}

static void name_kernel(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	symbols_kernel(ctx, addr, is_return, out);
}

static void name_user(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		      struct symbol *out)
{
	symbols_user(ctx, pid, comm, image, addr, is_return, out);
}

static int demangle_names(void *ctx, const char *const *names, size_t nr, const char **out)
{
	return symbols_demangle(ctx, names, nr, out);
}

static void cost_report(const char *path, const char *folder)
{
	const struct report_cfg cfg = { .form = &report_folded };
	struct elf_segment seg = code_of(path);
	struct report_names names = { NULL, name_kernel, name_user, .demangle = demangle_names };
	struct rows *t = rows_new();
	struct symbols *s;
	struct tasks *tasks;
	char name[PATH_MAX];
	struct err err;
	double start;
	FILE *out = fopen("/dev/null", "we");
	unsigned int i;

	if (!t || !out)
		die("no memory");
	write_copies(path, folder);
	s = open_symbols(&host_here, &tasks);
	for (i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "%s/lib%u.so", folder, i);
		map(tasks, name, base_of(i), &seg);
	}
	count(t, &seg);
	names.ctx = s;
	start = cpu_time();
	if (report_write(out, t, &names, &cfg, &err))
		die("%s", err.msg);
	if (symbols_skipped(s, &err) || symbols_mangled(s, &err))
		die("%s", err.msg);
	fclose(out);
	symbols_free(s); /* this ends the worker process */
	printf("report_ms: %.1f\npeak_kib: %ld\n", (cpu_time() - start + children_time()) * 1e3, peak_kib());
	tasks_free(tasks);
	rows_free(t);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "kallsyms"))
		cost_kallsyms();
	else if (argc == 3 && !strcmp(argv[1], "file"))
		cost_file(argv[2]);
	else if (argc == 4 && !strcmp(argv[1], "report"))
		cost_report(argv[2], argv[3]);
	else
		die("usage: names_cost kallsyms | file FILE | report FILE FOLDER");
	return 0;
}
