// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/symbols.h"

#include "core/arch/arch.h"
#include "core/base/base_name.h"
#include "core/base/begins.h"
#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/faults.h"
#include "core/base/printable.h"
#include "core/files/build_ids.h"
#include "core/files/debug_files.h"
#include "core/files/elf.h"
#include "core/files/file_cache.h"
#include "core/files/mapped_files.h"
#include "core/host/causes.h"
#include "core/symbols/demangler.h"
#include "core/symbols/jitdumps.h"
#include "core/symbols/kernel_names.h"
#include "core/symbols/lines.h"
#include "core/symbols/perf_maps.h"
#include "core/tasks/tasks.h"
#include "unwind/rule_files.h"
#include "unwind/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Limit on the symbols of all files together, functions or not; a function takes 24 bytes. The files of a desktop have
 * 2 million. When this limit, or that on CPU time in a report, is reached, no more files are read. Files of other users
 * get half of both, so that they cannot take away the names of our files.
 */
#define ALL_SYMBOLS_MAX (16u << 20)
#define READ_CPU_NS     (10 * NSEC_PER_SEC)
#define SEARCHED_MAX    (256u << 10) /* symbols searched for one name at the end of a run, which takes 0.2 s */

/* A mapped file, from the first address in it that was looked up. */
struct symbol_file {
	struct cached_file in;
	struct elf_symbols *elf; /* NULL: none yet, or none found; other names of the file share it */
	uint64_t asked;          /* the number of the last report that used it */
	bool no_elf;             /* it can be read, and is not an ELF file */
	bool skipped;            /* a limit was met in this report; counted in nr_skipped */
	bool symbols_skipped;    /* the symbols or the debug information of the file were not read in this report */
	bool names_tried;        /* the debug file was looked for because an address had no name */
	bool rules_skipped;      /* the unwind rules were not read in this report */
	int64_t lines_file;      /* its number in lines.h, + 1; 0 or less: none yet */
};

/* The cost of symbols: their number in memory, and CPU time in this report, including failed attempts. */
struct spent {
	uint64_t nr, ns;
};

/* A mapped address of process @pid. @lookup: the address to look up; for a return address, the byte before it. */
struct place {
	pid_t pid;
	uint64_t lookup;
	bool is_return;
	struct mapping mapping;
};

struct symbols {
	struct tasks *tasks;
	struct kernel_names *kernel;
	struct perf_maps *perf_maps;
	struct jitdumps *jitdumps;
	struct debug_files debug;

	struct file_cache cache; /* of struct symbol_file */
	struct rule_files *rules;
	struct spent all, foreign; /* on all files; of that, on those with cached_file.foreign */
	uint64_t forgotten;        /* tasks_forgotten() at the last lookup */
	uint64_t report;           /* the number of this one */
	size_t nr_skipped;         /* in this report */
	size_t max_skipped;        /* in the report that skipped the most: the warning is for the whole run */
	int skipped_rc;            /* the limit that was met first */

	struct demangler *demangler;
	struct lines *lines; /* NULL: neither inlined functions nor lines are wanted */
	struct symbol inlined[LINES_DEPTH];
	size_t nr_inlined;
	bool lines_wanted;             /* of code made at run time */
	struct jitdump_line made_line; /* backs symbol.file for the last symbols_user() */
};

static int open_parts(struct symbols *s, const struct symbols_cfg *cfg)
{
	unsigned int wanted = (cfg->inlined ? LINES_INLINED : 0) | (cfg->source ? LINES_SOURCE : 0);

	if (wanted)
		s->lines = lines_new(wanted, cfg->interval_ns);
	s->demangler = demangler_new(cfg->interval_ns);
	s->rules = rule_files_new(cfg->files, s->tasks, UINT64_MAX);
	return (wanted && !s->lines) || !s->demangler || !s->rules ? -ENOMEM : 0;
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
	s->jitdumps = cfg->jitdumps;
	s->lines_wanted = cfg->source;
	rc = open_parts(s, cfg);
	rc = rc ? err_sys(err, rc, "cannot name the stacks") : kernel_names_open(cfg, &s->kernel, err);
	if (rc) {
		lines_free(s->lines);
		demangler_free(s->demangler);
		rule_files_free(s->rules);
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
	rule_files_clear(s->rules);
	s->all.nr = s->foreign.nr = 0;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	drop_files(s);
	kernel_names_free(s->kernel);
	lines_free(s->lines);
	demangler_free(s->demangler);
	rule_files_free(s->rules);
	free(s);
}

static void charge_nr(struct symbols *s, const struct symbol_file *f, uint64_t nr)
{
	s->all.nr += nr;
	s->foreign.nr += f->in.foreign ? nr : 0;
}

/* Count the symbols of @f, or (@sign -1) subtract them. If several paths of the file share them, count them once. */
static void charge(struct symbols *s, const struct symbol_file *f, int sign)
{
	charge_nr(s, f, elf_symbols_shared(f->elf) ? 0 : elf_symbols_read(f->elf) * (uint64_t)sign);
}

/* Forget the symbols of @f: the next lookup reads them again, for any process. */
static void try_again(struct symbols *s, struct symbol_file *f)
{
	if (f->elf)
		charge(s, f, -1);
	elf_symbols_free(f->elf);
	f->elf = NULL;
	f->names_tried = false;
	cached_file_renew(&f->in);
}

/* Prepare @f for another report. */
static void renew_file(struct symbols *s, struct symbol_file *f)
{
	if (f->symbols_skipped)
		try_again(s, f);
	f->skipped = f->symbols_skipped = f->rules_skipped = false;
}

int symbols_begin(struct symbols *s, bool no_records)
{
	return kernel_names_begin(s->kernel, no_records);
}

bool symbols_ahead(struct symbols *s)
{
	return kernel_names_ahead(s->kernel);
}

void symbols_renew(struct symbols *s)
{
	size_t i;

	for (i = 0; i < s->cache.files.nr; i++)
		renew_file(s, file_at(s, i));
	s->nr_skipped = 0;
	s->all.ns = s->foreign.ns = 0;
	rule_files_renew(s->rules);
	kernel_names_renew(s->kernel);
	s->report++;
	if (s->perf_maps)
		perf_maps_renew(s->perf_maps);
	if (s->jitdumps)
		jitdumps_renew(s->jitdumps);
	if (s->lines)
		lines_renew(s->lines);
	demangler_renew(s->demangler);
}

bool symbols_kernel_hidden(const struct symbols *s, struct err *why)
{
	return kernel_names_hidden(s->kernel, why);
}

bool symbols_kernel_withheld(const struct symbols *s, struct err *why)
{
	return kernel_names_withheld(s->kernel, why);
}

size_t symbols_kernel_reused(const struct symbols *s)
{
	return kernel_names_reused(s->kernel);
}

static void skip(struct symbols *s, int rc)
{
	if (!s->max_skipped)
		s->skipped_rc = rc;
	if (++s->nr_skipped > s->max_skipped)
		s->max_skipped = s->nr_skipped;
}

/* Return true if @rc is a limit that has nothing to do with the file: out of descriptors, or of time. */
static bool met_limit(int rc)
{
	return descriptors_ran_out(rc) || rc == -ECANCELED;
}

/* A limit was met for @f, which counts once in a report. */
static void skip_file(struct symbols *s, struct symbol_file *f, int rc)
{
	if (!f->skipped)
		skip(s, rc);
	f->skipped = true;
}

/*
 * If there are more faults than @before, some of @f was not read: try it again in the next report.
 * @f: NULL: the fault is of a mapping, or of the kernel
 */
static void skip_faults(struct symbols *s, struct symbol_file *f, uint64_t before)
{
	if (faults.nr == before)
		return;
	if (!f) {
		skip(s, faults.last);
		return;
	}
	f->symbols_skipped = true;
	skip_file(s, f, faults.last);
}

/* The symbols of @f or its debug file were not read: do not try them again in this report. */
static void skip_symbols(struct symbols *s, struct symbol_file *f, int rc)
{
	f->symbols_skipped = f->in.given_up = true;
	skip_file(s, f, rc);
}

void symbols_kernel(struct symbols *s, uint64_t addr, bool is_return, struct symbol *out)
{
	uint64_t before = faults.nr;
	struct kernel_symbol found;
	uint64_t frame = addr;
	bool known;

	*out = (struct symbol){ 0 };
	known = kernel_names_frame(s->kernel, frame, is_return, &found, &addr);
	if (!kernel_address(addr))
		return;
	out->module = "kernel";
	out->address = addr == frame ? 0 : addr;
	skip_faults(s, NULL, before);
	if (!known)
		return;
	out->name = found.name;
	out->offset = addr - found.start;
	out->module = found.module;
}

/* Drop files that only earlier reports used: their names are not needed any more. Return true if there were any. */
static bool make_room(struct symbols *s)
{
	bool made = false;
	size_t i;

	for (i = 0; i < s->cache.files.nr; i++) {
		struct symbol_file *f = file_at(s, i);

		if (!f->elf || f->asked == s->report)
			continue;
		try_again(s, f);
		made = true;
	}
	return made;
}

/* Free descriptors for reading symbols: rules can be read again when needed. Return true if some were closed. */
static bool spare_descriptors(struct symbols *s)
{
	bool closed = rule_files_close(s->rules);

	return make_room(s) || closed;
}

static bool is_within(const struct spent *spent, unsigned int part)
{
	return spent->nr < ALL_SYMBOLS_MAX / part && spent->ns < READ_CPU_NS / part;
}

static bool has_room(const struct symbols *s, const struct symbol_file *f)
{
	return f->in.vdso_size || (is_within(&s->all, 1) && (!f->in.foreign || is_within(&s->foreign, 2)));
}

/* Make room for the symbols of @f, if need be by dropping files of earlier reports. Return true if there is room. */
static bool find_room(struct symbols *s, const struct symbol_file *f)
{
	return has_room(s, f) || (make_room(s) && has_room(s, f));
}

/* For a recording: the program itself is missing, so read its debug file. Return: 0 or -errno. */
static int load_debug(struct symbols *s, struct symbol_file *f)
{
	struct elf_file file;
	struct build_id id;
	int fd, rc;

	if (!mapped_file_build(s->cache.cfg, &f->in.file, &id))
		return -ENOENT;
	if (!find_room(s, f))
		return -E2BIG;
	fd = mapped_file_open_debug(s->cache.cfg, &id);
	if (fd < 0)
		return fd;
	rc = elf_file_open(&file, fd);
	close(fd);
	return rc ? rc : elf_symbols_of_debug(&file, &f->elf);
}

/* Share the symbols of another name of the same file. */
static int share(struct symbol_file *f, const struct symbol_file *twin)
{
	f->elf = elf_symbols_share(twin->elf);
	f->in.shares = true;
	f->in.foreign = twin->in.foreign;
	return 0;
}

/* Takes over @file. */
static int read_symbols(struct symbols *s, struct symbol_file *f, struct elf_file *file)
{
	if (find_room(s, f))
		return elf_symbols_of(file, &f->elf);
	elf_file_release(file);
	return -E2BIG;
}

static int load_file(struct symbols *s, struct symbol_file *f, pid_t pid)
{
	struct cached_file *twin;
	struct elf_file file;
	int rc = file_cache_open(&s->cache, &f->in, pid, &file, &twin), debug;

	f->no_elf = rc == -ENOEXEC;
	if (!rc)
		return twin ? share(f, (struct symbol_file *)twin) : read_symbols(s, f, &file);
	if (rc != -ENOENT && rc != -ESTALE)
		return rc;
	debug = load_debug(s, f);
	return !debug || debug == -E2BIG || met_limit(debug) ? debug : rc;
}

/* Usually there is no debug file. That is final: only after a limit (descriptors, time) a later report tries again. */
static int add_debug(struct symbols *s, struct symbol_file *f, pid_t pid, bool *by_path)
{
	int rc = debug_files_add(&s->debug, pid, &f->in.file, f->elf, by_path);

	if (descriptors_ran_out(rc) && spare_descriptors(s))
		rc = debug_files_add(&s->debug, pid, &f->in.file, f->elf, by_path);
	if (met_limit(rc))
		skip_symbols(s, f, rc);
	return rc;
}

static int load(struct symbols *s, struct symbol_file *f, pid_t pid)
{
	int rc = load_file(s, f, pid);
	bool by_path;

	if (rc || f->in.vdso_size || f->in.shares)
		return rc;
	if (s->lines)
		elf_symbols_want_lines(f->elf);
	rc = add_debug(s, f, pid, &by_path);
	f->in.shares = !by_path && !met_limit(rc);
	return 0;
}

/* NULL: the code says it. */
static const char *skip_reason(int rc)
{
	switch (rc) {
	case -E2BIG:
		return "there are too many";
	case -ECANCELED:
		return "a signal left no time for them";
	default:
		return NULL;
	}
}

bool symbols_skipped(const struct symbols *s, struct err *why)
{
	const char *reason = skip_reason(s->skipped_rc);
	struct cause cause;

	if (!s->max_skipped)
		return false;
	cause_of_files(s->debug.mapped->host, s->skipped_rc, &cause);
	if (reason)
		err_set(why, s->skipped_rc, "the symbols or unwind rules of %zu files were not read: %s",
			s->max_skipped, reason);
	else
		cause_err(why, s->skipped_rc, &cause, "the symbols or unwind rules of %zu files were not read",
			  s->max_skipped);
	return true;
}

size_t symbols_mismatched(const struct symbols *s)
{
	return s->cache.nr_mismatched;
}

/* Count the CPU time spent on @f since own_cpu_ns() was @began. */
static void charge_time(struct symbols *s, const struct symbol_file *f, uint64_t began)
{
	uint64_t took = own_cpu_ns() - began;

	s->all.ns += took;
	s->foreign.ns += f->in.foreign ? took : 0;
}

static struct elf_symbols *file_symbols(struct symbols *s, struct symbol_file *f, pid_t pid)
{
	uint64_t began;
	int rc;

	if (f->elf || !file_cache_wants(&s->cache, &f->in, pid))
		return f->elf;
	began = own_cpu_ns();
	rc = load(s, f, pid);
	if (descriptors_ran_out(rc) && spare_descriptors(s))
		rc = load(s, f, pid);
	charge_time(s, f, began);
	file_cache_tried(&s->cache, &f->in, rc);
	if (met_limit(rc) || rc == -E2BIG)
		skip_symbols(s, f, rc);
	if (f->elf)
		charge(s, f, 1);
	return f->elf;
}

/*
 * An address of @f has no symbol, or only one without a size: the .symtab of @f may lack most symbols. Few files need
 * their debug file for this, so look for it only now, and once. Return true if names were added.
 */
static bool add_names(struct symbols *s, struct symbol_file *f, pid_t pid)
{
	uint64_t began;
	bool by_path;
	int rc;

	if (f->in.vdso_size || f->names_tried || !elf_symbols_want_names(f->elf))
		return false;
	f->names_tried = true;
	if (!find_room(s, f)) {
		skip_symbols(s, f, -E2BIG);
		return false;
	}
	began = own_cpu_ns();
	rc = add_debug(s, f, pid, &by_path);
	charge_time(s, f, began);
	return !rc;
}

/* Return true for memory without a file, except the kernel's own code. The last two: shared memory, MAP_HUGETLB. */
static bool is_anonymous(const struct mapped_file *file)
{
	if (mapped_file_is_memory(file))
		return !mapped_file_is_vdso(file) && !mapped_file_is_uprobes(file) &&
		       strcmp(file->path, "[vsyscall]") != 0;
	return begins(file->path, "/dev/zero") || begins(file->path, "/anon_hugepage");
}

/* JIT compilers put code into memory, also a memfd (which has no path), or into a file that they unlink. */
static bool may_be_made(const struct symbol_file *f, const struct mapped_file *file)
{
	bool no_program = f && (f->no_elf || f->in.missing);

	return !mapped_file_is_vdso(file) && (no_program || !mapped_file_has_path(file));
}

/* "[vdso]", "//anon" and "anon_inode:[x]" stay as they are. */
static const char *module_name(const char *path)
{
	return path[0] == '/' && path[1] != '/' ? base_name(path) : path;
}

/* Look for @lookup in the jitdumps. */
static bool find_dumped(struct symbols *s, pid_t pid, const char *comm, uint32_t image, uint64_t lookup,
			struct perf_map_symbol *found, struct symbol *out)
{
	struct jitdump_line *line = s->lines_wanted ? &s->made_line : NULL;
	struct jitdump_code code;
	int rc = s->jitdumps ? jitdumps_find(s->jitdumps, pid, comm, image, lookup, &code, line) : 0;

	if (rc < 0)
		skip(s, rc);
	if (rc <= 0)
		return false;
	*found = (struct perf_map_symbol){ code.name, code.start };
	if (line && line->line) {
		out->file = line->file;
		out->line = line->line;
	}
	return true;
}

static bool find_mapped(struct symbols *s, pid_t pid, uint64_t lookup, struct perf_map_symbol *found)
{
	int rc = s->perf_maps ? perf_maps_find(s->perf_maps, pid, lookup, found) : 0;

	if (rc < 0)
		skip(s, rc);
	return rc > 0;
}

/* Name an address that, as far as we know, is in code made at run time. */
static void name_made(struct symbols *s, pid_t pid, const char *comm, uint32_t image, uint64_t addr, uint64_t lookup,
		      struct symbol *out)
{
	struct perf_map_symbol found;

	if (!find_dumped(s, pid, comm, image, lookup, &found, out) && !find_mapped(s, pid, lookup, &found))
		return;
	out->name = found.name;
	out->offset = addr - found.start;
	out->jit = true;
}

/* A signal handler returns to the first byte of a function like __restore_rt, and no call is in front of it. */
static bool find_signal_return(struct elf_symbols *elf, uint64_t vaddr, struct elf_symbol *out)
{
	struct elf_symbol found;

	if (!elf_symbols_find(elf, vaddr, &found) || found.start != vaddr ||
	    (!begins(found.name, "__restore") && !strstr(found.name, "sigreturn")))
		return false;
	*out = found;
	return true;
}

/* From the file that was opened for the mapping, else from the mapping itself. */
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

/* The number of @f in lines.h plus one; 0 or less: none. Other paths of the file have the same. */
static int64_t lines_number(struct symbols *s, const struct symbol_file *f)
{
	const struct symbol_file *other = file_at(s, 0), *end = other + s->cache.files.nr;

	for (; other < end; other++)
		if (other->elf == f->elf && other->lines_file > 0)
			return other->lines_file;
	return lines_add_file(s->lines) + 1;
}

/* Set the source line of @vaddr, and the functions inlined there. */
static void find_lines(struct symbols *s, struct symbol_file *f, uint64_t vaddr, struct symbol *out)
{
	int fd = s->lines ? elf_symbols_lines_fd(f->elf) : -1;
	const struct lines_frame *frames;
	size_t nr, i;

	if (fd >= 0 && f->lines_file <= 0)
		f->lines_file = lines_number(s, f);
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
						 .build_id_size = out->build_id_size,
						 .file_address = out->file_address };
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

/* Find the path of an open file that has the symbol @name; NULL: there is none, or there are too many to look at. */
static const char *file_of_symbol(const struct symbols *s, const char *name)
{
	const struct symbol_file *files = s->cache.files.v;
	uint64_t addr;
	size_t i;

	if (s->all.nr > SEARCHED_MAX)
		return NULL;
	for (i = 0; i < s->cache.files.nr; i++)
		if (files[i].elf && elf_symbols_address(files[i].elf, name, &addr))
			return files[i].in.file.path;
	return NULL;
}

bool symbols_mangled(const struct symbols *s, struct err *why)
{
	const char *bad = demangler_bad(s->demangler);
	const char *path = bad ? file_of_symbol(s, bad) : NULL;
	char name[NAME_SHOWN + 1], file[NAME_SHOWN + 1];
	struct err skipped;

	if (!demangler_skipped(s->demangler, &skipped))
		return false;
	if (!bad)
		*why = skipped;
	else
		err_set(why, skipped.code, "%s, first for '%s'%s%s%s", skipped.msg, name_shown(bad, name),
			path ? " of '" : "", path ? name_shown(path, file) : "", path ? "'" : "");
	return true;
}

bool symbols_lines_skipped(const struct symbols *s, struct err *why)
{
	return s->lines && lines_skipped(s->lines, why);
}

/* A limit was met: do not try the rules of @f again in this report. */
static void skip_rules(struct symbols *s, struct symbol_file *f, int rc)
{
	f->rules_skipped = true;
	skip_file(s, f, rc);
}

/* The rules of @f, which is mapped at @at, and the file's own address of @at. NULL: there are none. */
static struct rules *open_rules(struct symbols *s, struct symbol_file *f, const struct place *at, uint64_t *vaddr)
{
	struct rules *rules;
	int rc;

	if (f->rules_skipped)
		return NULL;
	rules = rule_files_find(s->rules, at->pid, &at->mapping, &rc);
	if (descriptors_ran_out(rc) && make_room(s))
		rules = rule_files_find(s->rules, at->pid, &at->mapping, &rc);
	if (rc)
		skip_rules(s, f, rc);
	return rules && rules_address(rules, mapping_offset(&at->mapping, at->lookup), vaddr) ? rules : NULL;
}

/* Call after rules were used. Return false if their answer cannot be used: they grew too large and were closed. */
static bool settle_rules(struct symbols *s, struct symbol_file *f)
{
	bool kept = rule_files_settle(s->rules);

	if (!kept)
		skip_rules(s, f, -E2BIG);
	return kept;
}

/*
 * A symbol without size ends where the next one begins, if the file has all symbols. A stripped file may have few, but
 * its rules still show where each function begins. Return true if another function begins between the symbol and @at.
 * @behind_start: bytes from the start of the symbol to @at
 */
static bool has_ended(struct symbols *s, struct symbol_file *f, const struct place *at, uint64_t behind_start)
{
	uint64_t vaddr, start;
	struct rules *rules = open_rules(s, f, at, &vaddr);
	bool ended = rules && rules_begun(rules, vaddr, &start) > 0 && vaddr - start < behind_start;

	return rules && settle_rules(s, f) && ended;
}

static bool find_name(struct elf_symbols *elf, const struct place *at, uint64_t vaddr, struct elf_symbol *out)
{
	return elf_symbols_find(elf, vaddr, out) || (at->is_return && find_signal_return(elf, vaddr + 1, out));
}

/* As find_name(), also in the debug file if the file itself has no symbol with a size there. */
static bool find_any_name(struct symbols *s, struct symbol_file *f, const struct place *at, uint64_t vaddr,
			  struct elf_symbol *out)
{
	uint64_t read = elf_symbols_read(f->elf);
	bool found = find_name(f->elf, at, vaddr, out);

	if (!(found && (out->sized || vaddr <= out->start)) && !elf_symbols_is_plt(f->elf, vaddr) &&
	    add_names(s, f, at->pid))
		found = find_name(f->elf, at, vaddr, out);
	/* Lookups may read more symbols than there were when the file was charged. */
	charge_nr(s, f, elf_symbols_read(f->elf) - read);
	return found;
}

/* @vaddr: for a return address, of the call before it. */
static void find_symbol(struct symbols *s, struct symbol_file *f, const struct place *at, uint64_t vaddr,
			struct symbol *out)
{
	struct elf_symbol found;

	out->offset = out->file_address = vaddr + at->is_return;
	find_lines(s, f, vaddr, out);
	if (!find_any_name(s, f, at, vaddr, &found))
		return;
	if (!found.sized && vaddr > found.start && has_ended(s, f, at, vaddr - found.start))
		return;
	out->name = found.name;
	out->offset -= found.start;
}

/* Find the function of an address without a symbol. A linkage table has rules, but is not a function. */
static void find_function(struct symbols *s, struct symbol_file *f, const struct place *at,
			  const struct elf_symbols *elf, struct symbol *out)
{
	uint64_t vaddr, start;
	struct rules *rules = open_rules(s, f, at, &vaddr);
	bool found = rules && !(elf && elf_symbols_is_plt(elf, vaddr)) && rules_function(rules, vaddr, &start) > 0;

	if (!rules || !settle_rules(s, f))
		return;
	out->offset = out->file_address = vaddr + at->is_return;
	if (!found)
		return;
	out->has_function = true;
	out->function = start;
	out->offset -= start < out->offset ? start : out->offset;
}

/* A function with a uretprobe returns to the first byte of the mapping [uprobes], and no call is in front of it. */
static bool is_probe_return(struct symbols *s, pid_t pid, const char *comm, uint32_t image, uint64_t addr)
{
	struct mapping m;

	return !(addr & (ARCH_PAGE - 1)) && tasks_find(s->tasks, pid, comm, image, addr, &m) == 1 && m.start == addr &&
	       mapped_file_is_uprobes(m.file);
}

/* Return: as tasks_find(). In a long run tasks may forget mapped files, and reuse the memory: then drop all files. */
static int find_place(struct symbols *s, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		      struct place *out)
{
	if (s->forgotten != tasks_forgotten(s->tasks)) {
		drop_files(s);
		s->forgotten = tasks_forgotten(s->tasks);
	}
	out->pid = pid;
	out->is_return = is_return && addr && !is_probe_return(s, pid, comm, image, addr);
	out->lookup = addr - out->is_return;
	return tasks_find(s->tasks, pid, comm, image, out->lookup, &out->mapping);
}

/* Return: the file that @addr is in; NULL: none, or there is no memory to look for one. */
static struct symbol_file *name_user(struct symbols *s, pid_t pid, const char *comm, uint32_t image, uint64_t addr,
				     bool is_return, struct symbol *out)
{
	const struct mapped_file *file;
	struct elf_symbols *elf;
	struct symbol_file *f;
	struct place at;
	uint64_t vaddr;
	int rc = find_place(s, pid, comm, image, addr, is_return, &at);

	out->reused = rc < 0;
	if (!rc)
		name_made(s, pid, comm, image, addr, at.lookup, out);
	if (rc <= 0)
		return NULL;
	file = at.mapping.file;
	out->module = module_name(file->path);
	out->anonymous = is_anonymous(file);
	f = file_cache_get(&s->cache, file);
	if (f)
		f->asked = s->report;
	elf = f ? file_symbols(s, f, pid) : NULL;
	if (elf && !cached_file_serves(&f->in, &at.mapping))
		elf = NULL;
	if (!elf && may_be_made(f, file))
		name_made(s, pid, comm, image, addr, at.lookup, out);
	set_build_id(file, elf, out);
	if (elf && elf_symbols_vaddr(elf, &at.mapping, at.lookup, &vaddr))
		find_symbol(s, f, &at, vaddr, out);
	if (!out->name && f)
		find_function(s, f, &at, elf, out);
	return f;
}

void symbols_user(struct symbols *s, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		  struct symbol *out)
{
	uint64_t before = faults.nr;
	struct symbol_file *f;

	*out = (struct symbol){ 0 };
	s->nr_inlined = 0;
	f = name_user(s, pid, comm, image, addr, is_return, out);
	skip_faults(s, f, before);
}

bool symbols_user_called(struct symbols *s, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return)
{
	uint64_t vaddr, start;
	struct symbol_file *f;
	struct rules *rules;
	struct place at;
	uint64_t before = faults.nr;
	bool called;

	if (find_place(s, pid, comm, image, addr, is_return, &at) <= 0)
		return false;
	f = file_cache_get(&s->cache, at.mapping.file);
	rules = f ? open_rules(s, f, &at, &vaddr) : NULL;
	called = rules && rules_function(rules, vaddr, &start) > 0 && !rules_entry(rules, vaddr);
	called = rules && settle_rules(s, f) && called;
	skip_faults(s, f, before);
	return called;
}

static enum file_symbols state_of(const struct symbol_file *f)
{
	if (f->elf)
		return elf_symbols_stripped(f->elf) ? FILE_STRIPPED : FILE_WHOLE;
	if (f->in.mismatched)
		return FILE_REPLACED;
	return f->in.missing ? FILE_MISSING : FILE_UNREAD;
}

bool symbols_source(struct symbols *s, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		    struct symbol_source *out)
{
	const struct symbol_file *f;
	struct place at;

	if (find_place(s, pid, comm, image, addr, is_return, &at) <= 0 || !mapped_file_has_path(at.mapping.file))
		return false;
	f = file_cache_get(&s->cache, at.mapping.file);
	*out = (struct symbol_source){ .file = at.mapping.file, .symbols = f ? state_of(f) : FILE_UNREAD };
	if (f && f->elf)
		out->id = *elf_symbols_build_id(f->elf);
	else
		mapped_file_build(s->cache.cfg, at.mapping.file, &out->id);
	return true;
}

bool symbols_older_maps(const struct symbols *s, struct err *why)
{
	return s->perf_maps && perf_maps_older(s->perf_maps, why);
}

bool symbols_have_map(const struct symbols *s, pid_t pid)
{
	return (s->perf_maps && perf_maps_have(s->perf_maps, pid)) || (s->jitdumps && jitdumps_have(s->jitdumps, pid));
}
