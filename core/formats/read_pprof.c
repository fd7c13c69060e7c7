// SPDX-License-Identifier: Apache-2.0
/*
 * Read pprof profiles, of this program and of others.
 *
 * If there are several types of values, the default type is used, or the last one if there is no default. If that is
 * cpu/nanoseconds, and a type before it is samples/count, then samples/count is used instead. Times become
 * microseconds, whatever their unit.
 */
#include "core/formats/pprof_names.h"
#include "core/formats/pprof_tables.h"
#include "core/formats/read_rows.h"

#include "core/base/base_name.h"
#include "core/base/grow.h"
#include "core/base/saturate.h"
#include "core/files/build_ids.h"
#include "core/tasks/mapping.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * @value_at, @times_at: the indexes of the used values; PPROF_TYPES_MAX: none
 * @ns:                  nanoseconds in a unit of the value; 0: it is not a time
 * @frames:              of locations, see struct read_location
 * @nr_samples:          samples begun so far
 * @named:               bytes of the names of all frames; limited, because each frame may have the same long name
 * @main_comm:           for samples without a comm; @comm and the next ones are scratch
 */
struct pprof_reader {
	struct row_reader rows;
	struct pprof_tables tables;
	struct read_frame *frames;
	size_t nr_frames, frames_cap, value_at, times_at;
	uint64_t ns, nr_samples, named;
	char *main_comm, *comm, *cgroup, *input, *name, *file, *module;
};

static int no_memory(const struct pprof_reader *p, struct err *err)
{
	return row_reader_failed(&p->rows, -ENOMEM, err);
}

static const char *module_name(const char *path)
{
	return path[0] == '/' && path[1] == '/' ? path : base_name(path);
}

static bool is_type(const struct pprof_reader *p, const struct read_type *type, const char *name, const char *unit)
{
	return pprof_is_text(&p->tables, type->type, name) && pprof_is_text(&p->tables, type->unit, unit);
}

/* Nanoseconds in a unit of time; 0: it is not one. */
static uint64_t unit_ns(const struct pprof_reader *p, int64_t unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "nanoseconds", 1 },
		{ "microseconds", 1000 },
		{ "milliseconds", 1000000 },
		{ "seconds", 1000000000 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (pprof_is_text(&p->tables, unit, units[i].name))
			return units[i].ns;
	return 0;
}

/* Find the default type, or the last one, and the last type up to it whose unit is "count". */
static void find_types(struct pprof_reader *p)
{
	size_t i;

	p->value_at = p->tables.nr_types - 1;
	for (i = 0; i < p->tables.nr_types; i++)
		if (p->tables.default_type && p->tables.types[i].type == p->tables.default_type)
			p->value_at = i;
	p->times_at = PPROF_TYPES_MAX;
	for (i = 0; i <= p->value_at; i++)
		if (pprof_is_text(&p->tables, p->tables.types[i].unit, "count"))
			p->times_at = i;
}

static void choose_types(struct pprof_reader *p)
{
	struct read_about *about = p->rows.about;

	find_types(p);
	if (p->times_at < PPROF_TYPES_MAX && is_type(p, &p->tables.types[p->value_at], "cpu", "nanoseconds") &&
	    is_type(p, &p->tables.types[p->times_at], "samples", "count"))
		p->value_at = p->times_at;
	p->ns = unit_ns(p, p->tables.types[p->value_at].unit);
	about->unit = p->ns ? UNIT_USEC : UNIT_SAMPLES;
	about->unit_told = p->ns || pprof_is_text(&p->tables, p->tables.types[p->value_at].type, "samples");
	if (is_type(p, &p->tables.period_type, "cpu", "nanoseconds") && p->tables.period <= INT64_MAX)
		about->period_ns = p->tables.period;
}

/* The name of the program in the first mapping, or "[pprof]". */
static int set_main_comm(struct pprof_reader *p)
{
	const struct read_mapping *first = p->tables.mappings.v;
	int rc = p->tables.mappings.nr ? pprof_get_string(&p->tables, first->file, &p->main_comm) : 0;

	if (rc)
		return rc;
	if (p->main_comm && *p->main_comm) {
		memmove(p->main_comm, module_name(p->main_comm), strlen(module_name(p->main_comm)) + 1);
		return 0;
	}
	free(p->main_comm);
	p->main_comm = strdup("[pprof]");
	return p->main_comm ? 0 : -ENOMEM;
}

/* Names in brackets of mappings in processes; all other such names belong to the kernel. */
static bool is_user_memory(const char *file)
{
	static const char *const names[] = { "[vdso", "[vvar", "[vsyscall]", "[heap]", "[stack", "[anon", "[uprobes]" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(file, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Kernel addresses are the upper ones. A profile may also have been made from text without addresses. */
static bool is_kernel(const char *file, uint64_t address)
{
	size_t len = strlen(file);

	return len > 2 && file[0] == '[' && file[len - 1] == ']' && !is_user_memory(file) &&
	       (!address || address >> 63);
}

/* Set the module and kind of a location's frames from its mapping. p->module has the mapping's name. */
static int set_module(struct pprof_reader *p, const struct read_location *location, struct report_frame *frame,
		      struct build_id *build_id)
{
	const struct read_mapping *mapping = intern_find(&p->tables.mappings, &read_mapping_kind, &location->mapping);
	size_t len;
	int rc;

	if (!location->mapping)
		return 0;
	rc = mapping ? pprof_get_string(&p->tables, mapping->build_id, &p->module) : -EBADMSG;
	if (rc)
		return rc;
	if (build_id_parse(build_id, p->module)) {
		frame->build_id = build_id->bytes;
		frame->build_id_size = build_id->size;
	}
	rc = pprof_get_string(&p->tables, mapping->file, &p->module);
	if (rc || !*p->module)
		return rc;
	len = strlen(p->module);
	frame->module = module_name(p->module);
	if (!strcmp(p->module, PPROF_JIT)) {
		frame->kind = REPORT_FRAME_JIT;
		frame->module = NULL;
	} else if (!strcmp(p->module, "[kernel.kallsyms]")) {
		frame->kind = REPORT_FRAME_KERNEL;
		frame->module = "kernel";
	} else if (is_kernel(p->module, location->address)) {
		frame->kind = REPORT_FRAME_KERNEL;
		p->module[len - 1] = 0;
		frame->module = p->module + 1;
	}
	return 0;
}

/* A frame with neither an address nor a module is not code. */
static void set_kind(const struct read_location *location, struct report_frame *frame)
{
	if (frame->kind == REPORT_FRAME_USER && !location->address && !location->mapping)
		frame->kind = read_is_marker(frame->name) ? REPORT_FRAME_MARKER : REPORT_FRAME_FUNCTION;
}

static int set_function(struct pprof_reader *p, const struct read_line *line, struct report_frame *frame)
{
	const struct read_function *f = intern_find(&p->tables.functions, &read_function_kind, &line->function);
	int rc = f ? pprof_get_string(&p->tables, f->name, &p->name) : -EBADMSG;

	if (!rc && !*p->name)
		rc = pprof_get_string(&p->tables, f->system_name, &p->name);
	if (!rc)
		rc = pprof_get_string(&p->tables, f->file, &p->file);
	if (rc)
		return rc;
	frame->line = line->line;
	if (*p->file)
		frame->file = module_name(p->file);
	frame->name = *p->name ? p->name : NULL;
	p->named += strlen(p->name);
	return p->named > PPROF_LONGEST ? -EFBIG : 0;
}

static int push_frame(struct pprof_reader *p, const struct report_frame *frame)
{
	struct read_frame *frames = grow(p->frames, &p->frames_cap, p->nr_frames, 1, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	p->frames = frames;
	return row_reader_label(&p->rows, frame, &frames[p->nr_frames++]);
}

/* @inlined: it is inlined into the frame before it */
static int push_line(struct pprof_reader *p, const struct read_location *location, const struct read_line *line,
		     struct report_frame frame, bool inlined)
{
	const char *module = frame.module;
	int rc = set_function(p, line, &frame);

	if (rc)
		return rc;
	if (!frame.name) {
		frame.kind = frame.kind == REPORT_FRAME_KERNEL ? frame.kind : REPORT_FRAME_UNKNOWN;
	} else if (inlined) {
		frame.kind = REPORT_FRAME_INLINED;
	} else {
		set_kind(location, &frame);
		if (frame.kind == REPORT_FRAME_USER || frame.kind == REPORT_FRAME_KERNEL)
			read_name(&frame, p->name);
		if (module)
			frame.module = module;
	}
	return push_frame(p, &frame);
}

/* True if the location stands for an empty stack. */
static bool is_no_frame(const struct pprof_reader *p, const struct read_location *location)
{
	const struct read_function *f;

	if (location->nr != 1 || location->address || location->mapping)
		return false;
	f = intern_find(&p->tables.functions, &read_function_kind, &p->tables.lines[location->lines].function);
	return f && pprof_is_text(&p->tables, f->name, PPROF_NO_FRAMES);
}

/* Name the frames of @location, root first. */
static int name_location(struct pprof_reader *p, struct read_location *location)
{
	struct build_id build_id;
	struct report_frame frame = { .address = location->address, .kind = REPORT_FRAME_USER };
	size_t first = p->nr_frames;
	uint32_t i;
	int rc;

	if (is_no_frame(p, location))
		return 0;
	rc = set_module(p, location, &frame, &build_id);
	for (i = location->nr; !rc && i-- > 0;)
		rc = push_line(p, location, &p->tables.lines[location->lines + i], frame, i + 1 < location->nr);
	if (!rc && !location->nr) {
		frame.kind = frame.kind == REPORT_FRAME_USER ? REPORT_FRAME_UNKNOWN : frame.kind;
		rc = push_frame(p, &frame);
	}
	location->frames = first;
	location->nr_frames = (uint32_t)(p->nr_frames - first);
	return rc;
}

static int push_location(struct pprof_reader *p, uint64_t id, struct err *err)
{
	struct read_location *location = intern_find(&p->tables.locations, &read_location_kind, &id);
	uint32_t i;
	int rc = 0;

	if (!location)
		return pprof_refuse(&p->tables, "a sample has location", id, "which is missing", err);
	if (!location->nr_frames)
		rc = name_location(p, location);
	if (rc == -EBADMSG)
		return pprof_refuse(&p->tables, "location", id, "refers to something that is missing", err);
	if (rc == -EFBIG)
		return pprof_refuse(&p->tables, "location", id,
				    "has a name too many: they are longer than 1 GiB together", err);
	for (i = 0; !rc && i < location->nr_frames; i++)
		rc = row_reader_push(&p->rows, &p->frames[location->frames + i]);
	return rc ? row_reader_failed(&p->rows, rc, err) : 0;
}

static int push_locations(struct pprof_reader *p, const Pprof__Sample *sample, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = sample->n_location_id; !rc && i-- > 0;) {
		if (p->rows.nr_frames > READ_DEPTH)
			return pprof_refuse(&p->tables, "sample", p->nr_samples, "has more than 65536 frames", err);
		rc = push_location(p, sample->location_id[i], err);
	}
	return rc;
}

/* @row: all zeros before the first label. Texts stay until the next sample. Return: 0; -EBADMSG: invalid; -ENOMEM. */
static int get_label(struct pprof_reader *p, const Pprof__Label *label, struct read_row *row, bool *is_base)
{
	bool is_pid = pprof_is_text(&p->tables, label->key, PPROF_PID);
	int rc = 0;

	if (is_pid || pprof_is_text(&p->tables, label->key, PPROF_TID)) {
		if (label->str)
			return 0; /* a label of another program, which may mean something else */
		if (label->num < 0 || label->num > INT_MAX)
			return -EBADMSG;
		*(is_pid ? &row->pid : &row->tid) = (pid_t)label->num;
	} else if (pprof_is_text(&p->tables, label->key, PPROF_COMM)) {
		rc = pprof_get_string(&p->tables, label->str, &p->comm);
		row->comm = p->comm;
	} else if (pprof_is_text(&p->tables, label->key, PPROF_CGROUP)) {
		rc = pprof_get_string(&p->tables, label->str, &p->cgroup);
		row->cgroup = p->cgroup;
	} else if (pprof_is_text(&p->tables, label->key, PPROF_INPUT)) {
		rc = pprof_get_string(&p->tables, label->str, &p->input);
		row->input = p->input;
	} else if (pprof_is_text(&p->tables, label->key, PPROF_BASE)) {
		*is_base = true;
	}
	return rc;
}

static int get_labels(struct pprof_reader *p, const Pprof__Sample *sample, struct read_row *row, struct err *err)
{
	bool is_base = false;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < sample->n_label; i++)
		rc = get_label(p, sample->label[i], row, &is_base);
	if (rc == -EBADMSG)
		return pprof_refuse(&p->tables, "sample", p->nr_samples, "has a wrong label", err);
	if (rc)
		return no_memory(p, err);
	if (is_base)
		return pprof_refuse(&p->tables, "sample", p->nr_samples,
				    "compares two profiles, which cannot be read as one", err);
	if (!row->comm)
		row->comm = p->main_comm;
	return 0;
}

/* Scale a value; times are rounded to microseconds. */
static uint64_t scale(const struct pprof_reader *p, uint64_t value)
{
	if (p->ns >= 1000)
		return mul_or_max(value, p->ns / 1000);
	return p->ns ? value / 1000 + (value % 1000 >= 500) : value;
}

static int get_values(const struct pprof_reader *p, const Pprof__Sample *sample, struct read_row *row, struct err *err)
{
	int64_t value, times;

	if (sample->n_value != p->tables.nr_types)
		return pprof_refuse(&p->tables, "sample", p->nr_samples, "has not a value for each type", err);
	value = sample->value[p->value_at];
	times = p->times_at < PPROF_TYPES_MAX ? sample->value[p->times_at] : value > 0;
	if (value < 0 || times < 0)
		return pprof_refuse(&p->tables, "sample", p->nr_samples, "has a negative value", err);
	row->value = scale(p, (uint64_t)value);
	row->times = (uint64_t)times;
	return 0;
}

static int read_sample(struct pprof_reader *p, const Pprof__Sample *sample, struct err *err)
{
	struct read_row row = { 0 };
	int rc = get_labels(p, sample, &row, err);

	if (!rc)
		rc = get_values(p, sample, &row, err);
	if (!rc)
		rc = push_locations(p, sample, err);
	if (rc)
		return rc;
	rc = row_reader_add(&p->rows, &row);
	return rc ? row_reader_failed(&p->rows, rc, err) : 0;
}

static int read_samples(struct pprof_reader *p, struct err *err)
{
	Pprof__Sample *sample;
	int rc;

	while ((rc = pprof_next_sample(&p->tables, &sample)) > 0) {
		p->nr_samples++;
		rc = read_sample(p, sample, err);
		pprof__sample__free_unpacked(sample, NULL);
		if (rc)
			return rc;
	}
	return rc ? pprof_refuse(&p->tables, "sample", p->nr_samples + 1, "is damaged", err) : 0;
}

static int read_profile(struct pprof_reader *p, struct err *err)
{
	int rc = pprof_tables_read(&p->tables, err);

	if (rc)
		return rc;
	choose_types(p);
	rc = set_main_comm(p);
	if (rc == -EBADMSG)
		return pprof_refuse(&p->tables, "mapping", *(const uint64_t *)p->tables.mappings.v, "has no name", err);
	return rc ? no_memory(p, err) : read_samples(p, err);
}

int read_pprof(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
	       struct err *err)
{
	struct pprof_reader p = { .rows = { in, r, cfg, about }, .tables = { .in = in } };
	int rc = read_profile(&p, err);

	row_reader_release(&p.rows);
	pprof_tables_release(&p.tables);
	free(p.frames);
	free(p.main_comm);
	free(p.comm);
	free(p.cgroup);
	free(p.input);
	free(p.name);
	free(p.file);
	free(p.module);
	return rc;
}
