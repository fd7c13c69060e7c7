// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/symbols.h"

#include "core/base/intern.h"
#include "core/files/build_ids.h"
#include "core/files/debug_files.h"
#include "core/files/elf.h"
#include "core/files/mapped_files.h"
#include "core/files/vdso.h"
#include "core/host/priority.h"
#include "core/symbols/kernel_names.h"
#include "core/symbols/lines.h"
#include "core/symbols/perf_maps.h"
#include "core/tasks/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Processes whose root is searched for a file: the first may have exited before the lookup. */
#define TRIES_MAX 4

/* Of all files together, 24 bytes each; when it is reached no more files are read. A desktop's have 2 million. */
#define ALL_SYMBOLS_MAX (8u << 20)

/* A mapped file, from the first address in it that was looked up. */
struct symbol_file {
	const struct mapped_file *file;
	struct elf_symbols *elf; /* NULL: none yet, or none to be had */
	pid_t tried_pid;
	unsigned int tries_left; /* 0: do not try to open it any more */
	uint64_t asked;          /* the last report, by its number, that asked for it */
	bool mismatched;
	bool skipped;       /* that report met a limit */
	int64_t lines_file; /* its number there; -1: none yet */
};

static const struct intern_kind file_kind = INTERN_BYTES(struct symbol_file, file);

struct symbols {
	struct tasks *tasks;
	const struct mapped_files_cfg *files_cfg;
	struct kernel_names *kernel;
	struct perf_maps *perf_maps;
	struct debug_files debug;

	struct intern_table files;
	uint64_t nr_read;   /* symbols, of all files */
	uint64_t forgotten; /* tasks_forgotten() when the first of them was looked at */
	uint64_t report;    /* the number of this one */
	size_t nr_skipped;
	int skipped_rc; /* why the first one was */
	size_t nr_mismatched;

	struct elf_symbols *vdso;
	uint64_t vdso_len;
	bool vdso_asked;
	const struct mapped_file *vdso_file; /* the last one that was compared with it; NULL: none yet */
	bool vdso_ours;

	struct lines *lines; /* NULL: nothing of them is wanted */
	struct symbol inlined[LINES_DEPTH];
	size_t nr_inlined;
};

static int open_lines(struct symbols *s, const struct symbols_cfg *cfg)
{
	unsigned int wanted = (cfg->inlined ? LINES_INLINED : 0) | (cfg->source ? LINES_SOURCE : 0);

	if (wanted)
		s->lines = lines_new(wanted);
	return wanted && !s->lines ? -ENOMEM : 0;
}

int symbols_open(struct tasks *tasks, const struct symbols_cfg *cfg, struct symbols **out, struct err *err)
{
	struct symbols *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_sys(err, -ENOMEM, "cannot name the stacks");
	s->tasks = tasks;
	s->files_cfg = cfg->files;
	s->debug.mapped = cfg->files;
	s->perf_maps = cfg->perf_maps;
	rc = open_lines(s, cfg);
	rc = rc ? err_sys(err, rc, "cannot name the stacks") : kernel_names_open(cfg, &s->kernel, err);
	if (rc) {
		lines_free(s->lines);
		free(s);
	} else {
		*out = s;
	}
	return rc;
}

static void drop_files(struct symbols *s)
{
	struct symbol_file *files = s->files.v;
	size_t i;

	for (i = 0; i < s->files.nr; i++)
		elf_symbols_free(files[i].elf);
	if (s->lines)
		lines_forget(s->lines);
	intern_release(&s->files);
	s->vdso_file = NULL;
	s->nr_read = 0;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	drop_files(s);
	elf_symbols_free(s->vdso);
	kernel_names_free(s->kernel);
	lines_free(s->lines);
	free(s);
}

/* Beginning anew: nothing is read, and every process may be asked. */
static void try_again(struct symbol_file *f)
{
	f->elf = NULL;
	f->tried_pid = 0;
	f->tries_left = TRIES_MAX;
	f->skipped = false;
}

bool symbols_ahead(struct symbols *s)
{
	return kernel_names_ahead(s->kernel);
}

void symbols_renew(struct symbols *s)
{
	struct symbol_file *files = s->files.v;
	size_t i;

	for (i = 0; i < s->files.nr; i++)
		if (files[i].skipped)
			try_again(&files[i]);
	s->report++;
	if (s->perf_maps)
		perf_maps_renew(s->perf_maps);
	if (s->lines)
		lines_renew(s->lines);
}

void symbols_kernel(struct symbols *s, uint64_t addr, bool is_return, struct symbol *out)
{
	struct kernel_symbol found;

	*out = (struct symbol){ 0 };
	if (!kernel_address(addr))
		return;
	out->module = "kernel";
	if (!kernel_names_find(s->kernel, addr - is_return, &found))
		return;
	out->name = found.name;
	out->offset = addr - found.start;
	out->module = found.module;
}

bool symbols_kernel_hidden(const struct symbols *s, struct err *why)
{
	return kernel_names_hidden(s->kernel, why);
}

/* The entry of @file, made when there is none. NULL: no memory. */
static struct symbol_file *file_entry(struct symbols *s, const struct mapped_file *file)
{
	bool is_new;
	struct symbol_file *f = intern(&s->files, &file_kind, &file, &is_new);

	if (f && is_new) {
		f->tries_left = mapped_file_is_memory(file) ? 0 : TRIES_MAX;
		f->lines_file = -1;
	}
	return f;
}

static void skip(struct symbols *s, int rc)
{
	if (!s->nr_skipped++)
		s->skipped_rc = rc;
}

static bool is_limit(int rc)
{
	return rc == -EMFILE || rc == -ENFILE;
}

/* Drop what only earlier reports asked for: nobody has names of it any more. Return: was there anything? */
static bool make_room(struct symbols *s)
{
	bool made = false;
	size_t i;

	for (i = 0; i < s->files.nr; i++) {
		struct symbol_file *f = (struct symbol_file *)s->files.v + i;

		if (!f->elf || f->asked == s->report)
			continue;
		s->nr_read -= elf_symbols_read(f->elf);
		elf_symbols_free(f->elf);
		try_again(f);
		made = true;
	}
	return made;
}

static int load(struct symbols *s, struct symbol_file *f, pid_t pid)
{
	int fd = mapped_file_open(s->files_cfg, pid, f->file), rc;

	priority_check_now();
	s->nr_mismatched -= f->mismatched;
	f->mismatched = fd == -ESTALE;
	s->nr_mismatched += f->mismatched;
	if (fd < 0)
		return fd;
	rc = elf_symbols_open(fd, &f->elf);
	close(fd);
	if (rc)
		return rc;
	if (s->lines)
		elf_symbols_want_lines(f->elf);
	/* That there is none is usual, and no reason to try again. */
	rc = debug_files_add(&s->debug, pid, f->file, f->elf);
	if (is_limit(rc) && make_room(s))
		rc = debug_files_add(&s->debug, pid, f->file, f->elf);
	if (is_limit(rc))
		skip(s, rc);
	return 0;
}

bool symbols_skipped(const struct symbols *s, struct err *why)
{
	struct rlimit rl;

	if (!s->nr_skipped)
		return false;
	if (s->skipped_rc == -EMFILE && !getrlimit(RLIMIT_NOFILE, &rl))
		err_set(why, -EMFILE, "the symbols of %zu files were not read: RLIMIT_NOFILE is %llu", s->nr_skipped,
			(unsigned long long)rl.rlim_cur);
	else
		err_set(why, s->skipped_rc, "the symbols of %zu files were not read: %s", s->nr_skipped,
			s->skipped_rc == -E2BIG ? "there are too many" : strerror(-s->skipped_rc));
	return true;
}

size_t symbols_mismatched(const struct symbols *s)
{
	return s->nr_mismatched;
}

/*
 * Try once for each process, until it is found or there were enough tries. A broken file is final; so is the first
 * answer for a recording, whose processes are not asked.
 */
static struct elf_symbols *file_symbols(struct symbols *s, struct symbol_file *f, pid_t pid)
{
	int rc;

	if (f->elf || !f->tries_left || f->tried_pid == pid)
		return f->elf;
	if (s->nr_read >= ALL_SYMBOLS_MAX && !make_room(s)) {
		f->tries_left = 0;
		f->skipped = true;
		skip(s, -E2BIG);
		return NULL;
	}
	f->tried_pid = pid;
	f->tries_left--;
	rc = load(s, f, pid);
	if (is_limit(rc) && make_room(s))
		rc = load(s, f, pid);
	if (s->files_cfg->recorded || (rc != -ENOENT && rc != -ESTALE))
		f->tries_left = 0;
	f->skipped = is_limit(rc);
	if (f->skipped)
		skip(s, rc);
	if (f->elf)
		s->nr_read += elf_symbols_read(f->elf);
	return f->elf;
}

/* Most recordings have one, and each of its addresses asks. */
static bool is_our_vdso(struct symbols *s, const struct mapped_file *file)
{
	if (s->vdso_file != file)
		s->vdso_ours = vdso_is_ours(s->files_cfg, file);
	s->vdso_file = file;
	return s->vdso_ours;
}

/* Ours serves for theirs. A 32-bit process has another one, below 4 GiB. */
static struct elf_symbols *vdso_symbols(struct symbols *s, const struct mapping *m)
{
	const void *image;
	size_t len;

	if (!s->vdso_asked && !vdso_image(&image, &len) && !elf_symbols_parse(image, len, &s->vdso))
		s->vdso_len = len;
	s->vdso_asked = true;
	if (m->end - m->start != s->vdso_len || (sizeof(long) == 8 && m->start <= UINT32_MAX))
		return NULL;
	return s->vdso && is_our_vdso(s, m->file) ? s->vdso : NULL;
}

/* "[vdso]", "//anon" and "anon_inode:[x]" stay as they are. */
static const char *base_name(const char *path)
{
	const char *slash = path[0] == '/' && path[1] != '/' ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

/* Code made at run time, for all that is known. */
static void name_made(struct symbols *s, pid_t pid, uint64_t addr, uint64_t lookup, struct symbol *out)
{
	struct perf_map_symbol found;
	int rc = s->perf_maps ? perf_maps_find(s->perf_maps, pid, lookup, &found) : 0;

	if (rc < 0)
		skip(s, rc);
	if (rc <= 0)
		return;
	out->name = found.name;
	out->offset = addr - found.start;
	out->jit = true;
}

/* What signal handlers return to was never called: they return to its first byte. */
static bool find_signal_return(struct elf_symbols *elf, uint64_t vaddr, struct elf_symbol *out)
{
	struct elf_symbol found;

	if (!elf_symbols_find(elf, vaddr, &found) || found.start != vaddr ||
	    (strncmp(found.name, "__restore", strlen("__restore")) != 0 && !strstr(found.name, "sigreturn")))
		return false;
	*out = found;
	return true;
}

/* As the mapping tells it, or the file that was opened for it. */
static void set_build_id(const struct mapped_file *file, const struct elf_symbols *elf, struct symbol *out)
{
	const struct build_id *id = elf ? elf_symbols_build_id(elf) : NULL;

	if (id && id->size) {
		out->build_id = id->bytes;
		out->build_id_size = id->size;
	} else if (file->build_id_size) {
		out->build_id = file->build_id;
		out->build_id_size = file->build_id_size;
	}
}

/* What is known of @vaddr beside its symbol. */
static void find_lines(struct symbols *s, struct symbol_file *f, uint64_t vaddr, struct symbol *out)
{
	int fd = s->lines ? elf_symbols_lines_fd(f->elf) : -1;
	const struct lines_frame *frames;
	size_t nr, i;

	if (fd >= 0 && f->lines_file < 0)
		f->lines_file = lines_add_file(s->lines);
	if (fd < 0 || f->lines_file < 0)
		return;
	nr = lines_find(s->lines, (uint32_t)f->lines_file, fd, vaddr, &frames);
	for (i = 0; i + 1 < nr; i++)
		s->inlined[i] = (struct symbol){ .name = frames[i].name,
						 .module = out->module,
						 .file = frames[i].file,
						 .line = frames[i].line,
						 .inlined = true,
						 .build_id = out->build_id,
						 .build_id_size = out->build_id_size };
	if (!nr)
		return;
	s->nr_inlined = nr - 1;
	out->file = frames[nr - 1].file;
	out->line = frames[nr - 1].line;
}

size_t symbols_inlined(const struct symbols *s, const struct symbol **out)
{
	*out = s->inlined;
	return s->nr_inlined;
}

bool symbols_lines_skipped(const struct symbols *s, struct err *why)
{
	return s->lines && lines_skipped(s->lines, why);
}

void symbols_user(struct symbols *s, pid_t pid, const char *comm, uint64_t addr, bool is_return, struct symbol *out)
{
	uint64_t lookup = addr - (is_return && addr), offset, vaddr;
	struct elf_symbols *elf = NULL;
	struct elf_symbol found;
	struct symbol_file *f = NULL;
	struct mapping m;

	*out = (struct symbol){ 0 };
	s->nr_inlined = 0;
	/* Files are known by their address. In a run of many reports some end, and others take their place. */
	if (s->forgotten != tasks_forgotten(s->tasks)) {
		drop_files(s);
		s->forgotten = tasks_forgotten(s->tasks);
	}
	if (tasks_find(s->tasks, pid, comm, lookup, &m) != 1) {
		name_made(s, pid, addr, lookup, out);
		return;
	}
	out->module = base_name(m.file->path);
	offset = lookup - m.start;
	if (!strcmp(m.file->path, "[vdso]")) {
		/* The whole image from its beginning; before 4.x its page offset is its address. */
		elf = vdso_symbols(s, &m);
	} else {
		f = file_entry(s, m.file);
		if (f)
			f->asked = s->report;
		elf = f ? file_symbols(s, f, pid) : NULL;
		offset += m.pgoff;
		/* Also in memory that has a file without a path: code may be made there, too. */
		if (!elf && !mapped_file_has_path(m.file))
			name_made(s, pid, addr, lookup, out);
	}
	set_build_id(m.file, elf, out);
	if (!elf || !elf_symbols_vaddr(elf, offset, &vaddr))
		return;
	if (f)
		find_lines(s, f, vaddr, out);
	if (!elf_symbols_find(elf, vaddr, &found) && !(is_return && find_signal_return(elf, vaddr + 1, &found)))
		return;
	out->name = found.name;
	out->offset = vaddr - found.start + (addr - lookup);
}
