// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/symbols.h"

#include "core/files/build_ids.h"
#include "core/files/debug_files.h"
#include "core/files/elf.h"
#include "core/files/file_cache.h"
#include "core/files/vdso.h"
#include "core/host/priority.h"
#include "core/symbols/demangler.h"
#include "core/symbols/kernel_names.h"
#include "core/symbols/lines.h"
#include "core/symbols/perf_maps.h"
#include "core/tasks/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Of all files together, 24 bytes each; when it is reached no more files are read. A desktop's have 2 million. */
#define ALL_SYMBOLS_MAX (8u << 20)

/* A mapped file, from the first address in it that was looked up. */
struct symbol_file {
	struct cached_file in;
	struct elf_symbols *elf; /* NULL: none yet, or none to be had */
	uint64_t asked;          /* the last report, by its number, that asked for it */
	bool skipped;            /* that report met a limit */
	int64_t lines_file;      /* its number there + 1; 0: none yet */
};

struct symbols {
	struct tasks *tasks;
	struct kernel_names *kernel;
	struct perf_maps *perf_maps;
	struct debug_files debug;

	struct file_cache cache; /* of struct symbol_file */
	uint64_t nr_read;        /* symbols, of all files */
	uint64_t forgotten;      /* tasks_forgotten() when the first of them was looked at */
	uint64_t report;         /* the number of this one */
	size_t nr_skipped;
	int skipped_rc; /* why the first one was */

	struct demangler *demangler;
	struct lines *lines; /* NULL: nothing of them is wanted */
	struct symbol inlined[LINES_DEPTH];
	size_t nr_inlined;
};

static int open_workers(struct symbols *s, const struct symbols_cfg *cfg)
{
	unsigned int wanted = (cfg->inlined ? LINES_INLINED : 0) | (cfg->source ? LINES_SOURCE : 0);

	if (wanted)
		s->lines = lines_new(wanted);
	s->demangler = demangler_new();
	return (wanted && !s->lines) || !s->demangler ? -ENOMEM : 0;
}

int symbols_open(struct tasks *tasks, const struct symbols_cfg *cfg, struct symbols **out, struct err *err)
{
	struct symbols *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_sys(err, -ENOMEM, "cannot name the stacks");
	s->tasks = tasks;
	file_cache_init(&s->cache, cfg->files, tasks, sizeof(struct symbol_file), UINT64_MAX);
	s->debug.mapped = cfg->files;
	s->perf_maps = cfg->perf_maps;
	rc = open_workers(s, cfg);
	rc = rc ? err_sys(err, rc, "cannot name the stacks") : kernel_names_open(cfg, &s->kernel, err);
	if (rc) {
		lines_free(s->lines);
		demangler_free(s->demangler);
		free(s);
	} else {
		*out = s;
	}
	return rc;
}

static struct symbol_file *file_at(const struct symbols *s, size_t i)
{
	return (struct symbol_file *)s->cache.files.v + i;
}

static void drop_files(struct symbols *s)
{
	size_t i;

	for (i = 0; i < s->cache.files.nr; i++)
		elf_symbols_free(file_at(s, i)->elf);
	if (s->lines)
		lines_forget(s->lines);
	file_cache_clear(&s->cache);
	s->nr_read = 0;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	drop_files(s);
	kernel_names_free(s->kernel);
	lines_free(s->lines);
	demangler_free(s->demangler);
	free(s);
}

/* Beginning anew: nothing is read, and every process may be asked. */
static void try_again(struct symbol_file *f)
{
	f->elf = NULL;
	f->skipped = false;
	cached_file_renew(&f->in);
}

bool symbols_ahead(struct symbols *s)
{
	return kernel_names_ahead(s->kernel);
}

void symbols_renew(struct symbols *s)
{
	size_t i;

	for (i = 0; i < s->cache.files.nr; i++)
		if (file_at(s, i)->skipped)
			try_again(file_at(s, i));
	s->report++;
	if (s->perf_maps)
		perf_maps_renew(s->perf_maps);
	if (s->lines)
		lines_renew(s->lines);
	demangler_renew(s->demangler);
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

static void skip(struct symbols *s, int rc)
{
	if (!s->nr_skipped++)
		s->skipped_rc = rc;
}

/* A limit was met: @f is not tried again in this report. */
static void skip_file(struct symbols *s, struct symbol_file *f, int rc)
{
	f->skipped = f->in.given_up = true;
	skip(s, rc);
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

	for (i = 0; i < s->cache.files.nr; i++) {
		struct symbol_file *f = file_at(s, i);

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
	struct elf_file file;
	int rc = file_cache_open(&s->cache, &f->in, pid, &file);

	priority_check_now();
	if (!rc)
		rc = elf_symbols_of(&file, &f->elf);
	if (rc || f->in.vdso_size)
		return rc;
	if (s->lines)
		elf_symbols_want_lines(f->elf);
	/* That there is none is usual, and no reason to try again. */
	rc = debug_files_add(&s->debug, pid, &f->in.file, f->elf);
	if (is_limit(rc) && make_room(s))
		rc = debug_files_add(&s->debug, pid, &f->in.file, f->elf);
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
	return s->cache.nr_mismatched;
}

static struct elf_symbols *file_symbols(struct symbols *s, struct symbol_file *f, pid_t pid)
{
	int rc;

	if (f->elf || !file_cache_wants(&s->cache, &f->in, pid))
		return f->elf;
	if (s->nr_read >= ALL_SYMBOLS_MAX && !vdso_is_file(&f->in.file) && !make_room(s)) {
		skip_file(s, f, -E2BIG);
		return NULL;
	}
	rc = load(s, f, pid);
	if (is_limit(rc) && make_room(s))
		rc = load(s, f, pid);
	file_cache_tried(&s->cache, &f->in, rc);
	if (is_limit(rc))
		skip_file(s, f, rc);
	if (f->elf)
		s->nr_read += elf_symbols_read(f->elf);
	return f->elf;
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

	if (fd >= 0 && f->lines_file <= 0)
		f->lines_file = lines_add_file(s->lines) + 1;
	if (fd < 0 || f->lines_file <= 0)
		return;
	nr = lines_find(s->lines, (uint32_t)(f->lines_file - 1), fd, vaddr, &frames);
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

int symbols_demangle(struct symbols *s, const char *const *names, size_t nr, const char **out)
{
	return demangler_read(s->demangler, names, nr, out);
}

bool symbols_mangled(const struct symbols *s, struct err *why)
{
	return demangler_skipped(s->demangler, why);
}

bool symbols_lines_skipped(const struct symbols *s, struct err *why)
{
	return s->lines && lines_skipped(s->lines, why);
}

void symbols_user(struct symbols *s, pid_t pid, const char *comm, uint64_t addr, bool is_return, struct symbol *out)
{
	uint64_t lookup = addr - (is_return && addr), offset, vaddr;
	struct elf_symbols *elf;
	struct elf_symbol found;
	struct symbol_file *f;
	struct mapping m;

	*out = (struct symbol){ 0 };
	s->nr_inlined = 0;
	/* In a run of many reports some files end, and others take their place. */
	if (s->forgotten != tasks_forgotten(s->tasks)) {
		drop_files(s);
		s->forgotten = tasks_forgotten(s->tasks);
	}
	if (tasks_find(s->tasks, pid, comm, lookup, &m) != 1) {
		name_made(s, pid, addr, lookup, out);
		return;
	}
	out->module = base_name(m.file->path);
	f = file_cache_get(&s->cache, m.file);
	if (f)
		f->asked = s->report;
	elf = f ? file_symbols(s, f, pid) : NULL;
	if (elf && !cached_file_serves(&f->in, &m))
		elf = NULL;
	offset = lookup - m.start;
	/* The whole vDSO is mapped; before 4.x its page offset is its address. */
	if (!vdso_is_file(m.file)) {
		offset += m.pgoff;
		/* Also in memory that has a file without a path: code may be made there, too. */
		if (!elf && !mapped_file_has_path(m.file))
			name_made(s, pid, addr, lookup, out);
	}
	set_build_id(m.file, elf, out);
	if (!elf || !elf_symbols_vaddr(elf, offset, &vaddr))
		return;
	find_lines(s, f, vaddr, out);
	if (!elf_symbols_find(elf, vaddr, &found) && !(is_return && find_signal_return(elf, vaddr + 1, &found)))
		return;
	out->name = found.name;
	out->offset = vaddr - found.start + (addr - lookup);
}
