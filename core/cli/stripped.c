// SPDX-License-Identifier: Apache-2.0
#include "core/cli/stripped.h"

#include "core/base/intern.h"
#include "core/base/printable.h"
#include "core/base/saturate.h"
#include "core/cli/debug_package.h"
#include "core/files/mapped_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file, and the values of the rows that lack its symbols. */
struct blamed {
	const struct mapped_file *file;
	uint64_t value;
	struct stripped what;
};

static const struct intern_kind blamed_kind = INTERN_BYTES(struct blamed, file);

/* A frame of the task at position @task of report_quality.tasks. Rows have many frames, but few distinct ones. */
struct judged {
	struct {
		uint64_t addr;
		uint32_t task, image, is_return, zero;
	} key;
	unsigned int traits;
};

static const struct intern_kind judged_kind = INTERN_BYTES(struct judged, key);

struct search {
	const struct advised *a;
	bool *chosen; /* for each of report_quality.tasks: it belongs to the program */
	struct intern_table blamed, judged;
};

/* Return: true if the row's task was chosen. @task: out: its position */
static bool find_task(const struct search *s, const struct row *row, uint32_t *task)
{
	const struct task_quality *found;
	struct task_key key = { .pid = row->key.pid };

	memcpy(key.comm, row->key.comm, COMM_LEN);
	found = report_quality_find(s->a->quality, &key);
	if (!found)
		return false;
	*task = (uint32_t)(found - (const struct task_quality *)s->a->quality->tasks.v);
	return s->chosen[*task];
}

static uint64_t address_of(const struct stack *user, uint32_t i, bool *is_return)
{
	bool exact = frame_is_exact(user->frames[i]);

	*is_return = i && !exact;
	return exact ? user->frames[i] ^ FRAME_EXACT : user->frames[i];
}

/* The traits of frame @i of @row, as counted by the report. */
static int judge(struct search *s, const struct row *row, uint32_t task, uint32_t i, unsigned int *traits)
{
	const struct report_names *names = s->a->names;
	struct judged key = { .key = { .task = task, .image = row->key.image } }, *j;
	struct symbol sym;
	bool is_return, is_new;

	*traits = 0;
	if (frame_names_text(names->frames, row->key.user.frames[i]))
		return 0;
	key.key.addr = address_of(&row->key.user, i, &is_return);
	key.key.is_return = is_return;
	j = intern(&s->judged, &judged_kind, &key.key, &is_new);
	if (!j)
		return -ENOMEM;
	if (is_new) {
		names->user(names->ctx, row->key.pid, row->key.comm, row->key.image, key.key.addr, is_return, &sym);
		j->traits = frame_traits(&sym);
	}
	*traits = j->traits;
	return 0;
}

/*
 * Return: 1, and the position of the innermost frame without a symbol, if the stack has FLAW_NO_SYMBOLS; 0: it does
 * not; -errno.
 */
static int find_frame(struct search *s, const struct row *row, uint32_t task, uint32_t *at)
{
	struct stack_quality q = { 0 };
	unsigned int traits;
	uint32_t i;
	int rc;

	for (i = row->key.user.nr; i-- > 0;) {
		rc = judge(s, row, task, i, &traits);
		if (rc)
			return rc;
		stack_quality_add(&q, traits);
		if ((traits & FRAME_LACK) == LACKS_SYMBOLS)
			*at = i;
	}
	return stack_quality_names(&q) == 1u << FLAW_NO_SYMBOLS;
}

static int blame(struct search *s, const struct row *row, uint64_t value)
{
	struct stripped what = { .pid = row->key.pid };
	bool is_return, is_new;
	struct blamed *b;
	uint32_t task, at = 0;
	uint64_t addr;
	int rc = find_task(s, row, &task) ? find_frame(s, row, task, &at) : 0;

	if (rc <= 0)
		return rc;
	addr = address_of(&row->key.user, at, &is_return);
	if (!symbols_source(s->a->symbols, row->key.pid, row->key.comm, row->key.image, addr, is_return, &what.source))
		return 0;
	b = intern(&s->blamed, &blamed_kind, &what.source.file, &is_new);
	if (!b)
		return -ENOMEM;
	if (is_new || what.pid < b->what.pid)
		b->what = what;
	b->value = add_or_max(b->value, value);
	return 0;
}

static int blame_all(struct search *s)
{
	struct row row;
	size_t i, k;
	int rc = 0;

	for (i = 0; i < s->a->nr_parts; i++)
		for (k = 0; !rc && k < rows_nr(s->a->parts[i].rows); k++) {
			rows_get(s->a->parts[i].rows, k, &row);
			rc = blame(s, &row, mul_or_max(row.value, s->a->parts[i].weight));
		}
	return rc;
}

/* If several have the same value, take the first path, so that the order of rows does not matter. */
static const struct blamed *most_blamed(const struct search *s)
{
	const struct blamed *v = s->blamed.v, *most = NULL;
	size_t i;

	for (i = 0; i < s->blamed.nr; i++)
		if (!most || v[i].value > most->value ||
		    (v[i].value == most->value && strcmp(v[i].file->path, most->file->path) < 0))
			most = &v[i];
	return most;
}

/* True if a debug file of build @id exists, even if it has no symbols or cannot be opened. */
static bool has_debug_file(const struct mapped_files_cfg *files, const struct build_id *id)
{
	int fd = id->size ? mapped_file_open_debug(files, id) : -ENOENT;

	if (fd >= 0)
		close(fd);
	return fd != -ENOENT;
}

/*
 * True if stripped_print() can give a remedy. A missing file has one only for a recording. In a live run, the file of
 * an ended process cannot be read any more.
 */
static bool is_explained(const struct advised *a, const struct stripped *s)
{
	switch (s->source.symbols) {
	case FILE_STRIPPED:
		return !has_debug_file(&a->session->files, &s->source.id);
	case FILE_REPLACED:
		return true;
	case FILE_MISSING:
		return a->session->files.recorded;
	default:
		return false;
	}
}

bool stripped_find(const struct advised *a, const struct program *p, struct stripped *out)
{
	struct search s = { .a = a, .chosen = calloc(a->quality->tasks.nr, sizeof(*s.chosen)) };
	const struct blamed *most = NULL;
	size_t i;

	for (i = 0; s.chosen && i < p->nr; i++)
		s.chosen[p->tasks[i]] = true;
	if (s.chosen && !blame_all(&s))
		most = most_blamed(&s);
	if (most)
		*out = most->what;
	free(s.chosen);
	intern_release(&s.blamed);
	intern_release(&s.judged);
	return most && is_explained(a, out);
}

/* Print the @i-th of @nr places. */
static void print_place(FILE *out, size_t i, size_t nr, const char *option, const char *dir)
{
	static const char *const before[] = { "not in ", "neither in ", "in none of " };
	const char *last = nr == 2 ? " nor in " : " and ";
	char shown[NAME_SHOWN + 1];

	fprintf(out, "%s%s'%s'",
		!i           ? before[nr < 3 ? nr - 1 : 2]
		: i + 1 < nr ? ", "
			     : last,
		option, name_shown(dir, shown));
}

/* @suffix: of the file named after the build id @hex */
static void print_searched(FILE *out, const struct mapped_files_cfg *files, const char *hex, const char *suffix)
{
	size_t nr = 1 + !!files->debug_dir + !!files->symfs + !!files->perf_cache, i = 0;

	fprintf(out, "'.build-id/%.2s/%s%s' is ", hex, hex + 2, suffix);
	if (files->debug_dir)
		print_place(out, i++, nr, "--debug-dir ", files->debug_dir);
	if (files->symfs)
		print_place(out, i++, nr, "--symfs ", files->symfs);
	if (files->perf_cache)
		print_place(out, i++, nr, "", files->perf_cache);
	print_place(out, i, nr, "", "/usr/lib/debug");
}

/*
 * True if a file is at the path. FILE_MISSING does not mean that there is none: a file that cannot be proved to be the
 * recorded one may not have been opened.
 */
static bool is_at_path(const struct mapped_files_cfg *files, const struct symbol_source *source)
{
	int fd;

	if (source->symbols == FILE_REPLACED)
		return true;
	fd = linked_file_open(files, 0, source->file->path, NULL);
	if (fd >= 0)
		close(fd);
	return fd != -ENOENT;
}

/* Without the build id, the recorded file is not found at another place. @path: safe to print */
static void print_no_build_id(FILE *out, const struct mapped_files_cfg *files, const struct symbol_source *source,
			      const char *path)
{
	if (is_at_path(files, source))
		fprintf(out, "'%s' of this host may be another file than the recorded one", path);
	else
		fprintf(out, "'%s' is not on this host, or you may not read it", path);
	fprintf(out, ", and the recording does not have its build id (use perf record --buildid-mmap)");
}

/* This host's file differs from that of the recording, or there is none that can be read. */
static void print_recorded(FILE *out, const struct mapped_files_cfg *files, const struct symbol_source *source,
			   const char *path, const char *hex)
{
	if (source->id.size < 2) {
		print_no_build_id(out, files, source, path);
		return;
	}
	fprintf(out, "the recorded build of '%s' is not %son this host, %sand ", path,
		files->symfs ? "at its path below --symfs or " : "",
		source->symbols == FILE_MISSING ? "or you may not read it, " : "");
	print_searched(out, files, hex, "");
	if (!files->debug_dir)
		fprintf(out, " (use --debug-dir with a copy of ~/.debug of the recorded host: perf record keeps its "
			     "files there)");
}

static void print_package(FILE *out, const struct mapped_files_cfg *files, const struct stripped *file, const char *hex)
{
	struct debug_package package = { .path = file->source.file->path, .hex = hex };

	debug_package_find(files, file->source.file, file->pid, &package);
	fprintf(out, " (");
	debug_package_print(out, &package);
	fprintf(out, ")");
}

void stripped_print(FILE *out, const struct mapped_files_cfg *files, const struct stripped *file)
{
	char path[NAME_SHOWN + 1], hex[2 * BUILD_ID_MAX + 1];

	name_shown(file->source.file->path, path);
	build_id_hex(&file->source.id, hex);
	if (file->source.symbols != FILE_STRIPPED && files->recorded) {
		print_recorded(out, files, &file->source, path, hex);
	} else if (file->source.symbols != FILE_STRIPPED) {
		fprintf(out, "'%s' has been replaced since it was mapped (restart the program)", path);
	} else if (file->source.id.size < 2) {
		fprintf(out, "'%s' has no symbols, and no build id to find a debug file by (build it with symbols)",
			path);
	} else {
		fprintf(out, "'%s' has no symbols, and its debug file ", path);
		print_searched(out, files, hex, ".debug");
		print_package(out, files, file, hex);
	}
}
