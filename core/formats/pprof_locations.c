// SPDX-License-Identifier: Apache-2.0
#include "core/formats/pprof_locations.h"

#include "core/base/grow.h"
#include "core/formats/pprof_names.h"
#include "core/report/forms.h"

#include <stdlib.h>
#include <string.h>

struct pprof_function {
	struct {
		uint32_t name, file;
	} key;
};

struct pprof_mapping {
	struct {
		uint32_t file, build_id;
	} key;
};

/*
 * A frame inside another location, or in none. @key.parent: 1 + the position of that location in
 * pprof_locations.locations; 0: none. @id: of the location that ends with this frame; 0: not written yet
 */
struct pprof_location {
	struct {
		uint32_t parent, frame;
	} key;
	uint32_t id;
};

static const struct intern_kind function_kind = INTERN_BYTES(struct pprof_function, key);
static const struct intern_kind mapping_kind = INTERN_BYTES(struct pprof_mapping, key);
static const struct intern_kind location_kind = INTERN_BYTES(struct pprof_location, key);

/* The facts about a frame of the table. @location: for the frame alone, without frames inlined there; 0: none yet */
struct pprof_frame {
	uint64_t address;
	uint32_t mapping, function, line, location;
};

void pprof_locations_release(struct pprof_locations *p)
{
	intern_release(&p->functions);
	intern_release(&p->mappings);
	intern_release(&p->locations);
	frame_table_release(&p->table);
	free(p->frames);
	free(p->ids);
}

static int add_function(struct pprof_locations *p, const struct report_frame *frame, uint32_t *id)
{
	struct pprof_function f = { 0 }, *found;
	Pprof__Function message = PPROF__FUNCTION__INIT, *messages = &message;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	bool is_new;
	int rc;

	p->pieces->text.len = 0;
	report_frame_name(&p->pieces->text, frame, report_pprof.semicolon);
	rc = pieces_add_text(p->pieces, &f.key.name);
	p->pieces->text.len = 0;
	if (frame->file)
		textbuf_name(&p->pieces->text, frame->file, report_pprof.semicolon);
	if (!rc)
		rc = pieces_add_text(p->pieces, &f.key.file);
	if (rc)
		return rc;
	found = intern(&p->functions, &function_kind, &f.key, &is_new);
	if (!found)
		return -ENOMEM;
	*id = (uint32_t)(found - (struct pprof_function *)p->functions.v) + 1;
	if (!is_new)
		return 0;
	message.id = *id;
	message.name = f.key.name; /* no system_name: if it equals the name, pprof leaves out text in "<>" or "()" */
	message.filename = f.key.file;
	piece.function = &messages;
	piece.n_function = 1;
	return pieces_add(p->pieces, &piece);
}

/* Mark the mapping as complete: pprof must not look for files with that name on its own host. */
static int write_mapping(struct pprof_locations *p, const struct pprof_mapping *mapping, uint32_t id)
{
	Pprof__Mapping message = PPROF__MAPPING__INIT, *messages = &message;
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	message.id = id;
	message.memory_limit = UINT64_MAX;
	message.filename = mapping->key.file;
	message.build_id = mapping->key.build_id;
	message.has_functions = message.has_filenames = message.has_line_numbers = message.has_inline_frames = true;
	piece.mapping = &messages;
	piece.n_mapping = 1;
	return pieces_add(p->pieces, &piece);
}

/* Put the name of the module of @frame into the scratch buffer. Return: it has one. */
static bool put_module(struct textbuf *b, const struct report_frame *frame)
{
	b->len = 0;
	if (frame->kind == REPORT_FRAME_JIT)
		textbuf_put(b, PPROF_JIT, strlen(PPROF_JIT));
	else if (frame->kind == REPORT_FRAME_KERNEL && frame->module)
		report_frame_module(b, frame, report_pprof.semicolon);
	else if (frame->kind == REPORT_FRAME_KERNEL)
		textbuf_put(b, PPROF_KERNEL, strlen(PPROF_KERNEL));
	else if (frame->module)
		textbuf_name(b, frame->module, report_pprof.semicolon);
	return b->len || b->failed;
}

static int add_mapping(struct pprof_locations *p, const struct report_frame *frame, uint32_t *id)
{
	struct pprof_mapping m = { 0 }, *found;
	bool is_new;
	int rc;

	*id = 0;
	if (!put_module(&p->pieces->text, frame))
		return 0;
	rc = pieces_add_text(p->pieces, &m.key.file);
	p->pieces->text.len = 0;
	report_frame_build_id(&p->pieces->text, frame);
	if (!rc)
		rc = pieces_add_text(p->pieces, &m.key.build_id);
	if (rc)
		return rc;
	found = intern(&p->mappings, &mapping_kind, &m.key, &is_new);
	if (!found)
		return -ENOMEM;
	*id = (uint32_t)(found - (struct pprof_mapping *)p->mappings.v) + 1;
	return is_new ? write_mapping(p, &m, *id) : 0;
}

/* Frames get numbers in the order in which they are added. */
static int add_frame(struct pprof_locations *p, const struct report_frame *frame)
{
	struct pprof_frame *frames = grow(p->frames, &p->frames_cap, p->nr_frames, 1, sizeof(*frames)), *f;
	int rc;

	if (!frames)
		return -ENOMEM;
	p->frames = frames;
	f = &frames[p->nr_frames++];
	*f = (struct pprof_frame){ .address = report_frame_address(frame), .line = frame->line };
	rc = add_mapping(p, frame, &f->mapping);
	return rc ? rc : add_function(p, frame, &f->function);
}

static size_t count_lines(const struct pprof_locations *p, const struct pprof_location *location)
{
	const struct pprof_location *all = p->locations.v;
	size_t nr = 1;

	for (; location->key.parent; location = &all[location->key.parent - 1])
		nr++;
	return nr;
}

static int write_location(struct pprof_locations *p, const struct pprof_location *location)
{
	size_t nr = count_lines(p, location), i;
	Pprof__Line *lines = calloc(nr, sizeof(*lines)), **refs = calloc(nr, sizeof(Pprof__Line *));
	Pprof__Location message = PPROF__LOCATION__INIT, *messages = &message;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	const struct pprof_location *all = p->locations.v;
	const struct pprof_frame *frame = NULL;
	int rc = lines && refs ? 0 : -ENOMEM;

	for (i = 0; !rc && i < nr; i++) {
		frame = &p->frames[location->key.frame];
		refs[i] = &lines[i];
		pprof__line__init(refs[i]);
		lines[i].function_id = frame->function;
		lines[i].line = frame->line;
		if (location->key.parent)
			location = &all[location->key.parent - 1];
	}
	if (!rc) {
		message.id = ++p->nr;
		message.mapping_id = frame->mapping;
		message.address = frame->address;
		message.line = refs;
		message.n_line = nr;
		piece.location = &messages;
		piece.n_location = 1;
		rc = pieces_add(p->pieces, &piece);
	}
	free(lines);
	free(refs);
	return rc;
}

static int find_frame(struct pprof_locations *p, const struct report_row *row, size_t i, uint32_t *frame)
{
	bool is_new;
	int rc = frame_table_add(&p->table, row, i, frame, &is_new);

	return rc || !is_new ? rc : add_frame(p, row->frames[i]);
}

/* Find or add the location of @frame inside @parent; @parent becomes its number. */
static int add_location(struct pprof_locations *p, uint32_t frame, uint32_t *parent, struct pprof_location **out)
{
	struct pprof_location new = { .key = { *parent, frame } };
	bool is_new;

	*out = intern(&p->locations, &location_kind, &new.key, &is_new);
	if (!*out)
		return -ENOMEM;
	*parent = (uint32_t)(*out - (struct pprof_location *)p->locations.v) + 1;
	return 0;
}

static int settle_location(struct pprof_locations *p, struct pprof_location *location, uint64_t *id)
{
	int rc = 0;

	if (!location->id) {
		rc = write_location(p, location);
		location->id = p->nr;
	}
	*id = location->id;
	return rc;
}

static bool is_inlined(const struct report_row *row, size_t i)
{
	return i < row->nr && row->frames[i]->kind == REPORT_FRAME_INLINED;
}

/* Find the location of the frames of @row from @i on; @i moves past them. */
static int find_location(struct pprof_locations *p, const struct report_row *row, size_t *i, uint64_t *id)
{
	struct pprof_location *found;
	uint32_t parent = 0, frame, nr;
	bool is_alone;
	int rc = find_frame(p, row, (*i)++, &frame);

	if (rc)
		return rc;
	is_alone = !is_inlined(row, *i);
	*id = p->frames[frame].location;
	if (is_alone && *id)
		return 0;
	rc = add_location(p, frame, &parent, &found);
	for (nr = 1; !rc && nr < PPROF_INLINED_MAX && is_inlined(row, *i); nr++) {
		rc = find_frame(p, row, (*i)++, &frame);
		if (!rc)
			rc = add_location(p, frame, &parent, &found);
	}
	if (!rc)
		rc = settle_location(p, found, id);
	if (!rc && is_alone)
		p->frames[frame].location = (uint32_t)*id;
	return rc;
}

static int find_no_frames(struct pprof_locations *p, uint64_t *id)
{
	static const struct report_frame none = { .name = PPROF_NO_FRAMES, .kind = REPORT_FRAME_MARKER };
	static const struct text_ref label = { PPROF_NO_FRAMES, sizeof(PPROF_NO_FRAMES) };
	struct pprof_location *found;
	uint32_t frame, parent = 0;
	bool is_new;
	int rc = frame_table_find(&p->table, &label, &frame, &is_new);

	if (!rc && is_new)
		rc = add_frame(p, &none);
	if (!rc)
		rc = add_location(p, frame, &parent, &found);
	return rc ? rc : settle_location(p, found, id);
}

int pprof_locations_of(struct pprof_locations *p, const struct report_row *row, Pprof__Sample *sample)
{
	uint64_t *ids = grow(p->ids, &p->ids_cap, 0, row->nr + 1, sizeof(*ids));
	size_t first = row->nr, i = 0;
	int rc = 0;

	if (!ids)
		return -ENOMEM;
	p->ids = ids;
	if (!row->nr) {
		sample->location_id = ids;
		sample->n_location_id = 1;
		return find_no_frames(p, ids);
	}
	/* Leaf first: fill the room from its end. */
	while (!rc && i < row->nr)
		rc = find_location(p, row, &i, &ids[--first]);
	sample->location_id = ids + first;
	sample->n_location_id = row->nr - first;
	return rc;
}

/*
 * The kind is part of the label, but the file has no field for it. When the file is read back, the mapping, the
 * address, the name, or the place among the lines of a location implies it.
 */
void pprof_label(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *frame)
{
	const uint64_t numbers[] = { report_frame_address(frame), frame->line, frame->kind };

	(void)cfg;
	report_frame_name(b, frame, report_pprof.semicolon);
	textbuf_put(b, "", 1);
	if (frame->module)
		textbuf_name(b, frame->module, report_pprof.semicolon);
	textbuf_put(b, "", 1);
	if (frame->file)
		textbuf_name(b, frame->file, report_pprof.semicolon);
	textbuf_put(b, "", 1);
	if (frame->build_id_size)
		textbuf_put(b, (const char *)frame->build_id, frame->build_id_size);
	textbuf_put(b, (const char *)numbers, sizeof(numbers));
}
