// SPDX-License-Identifier: Apache-2.0
#include "core/formats/pprof_tables.h"

#include "core/base/grow.h"
#include "core/formats/pprof_names.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST (1u << 20) /* bytes of a message */
#define MANY    (1u << 24) /* strings, functions ... */
#define CHUNK   (1 << 20)

/* Fields of a Profile. */
enum {
	FIELD_SAMPLE_TYPE = 1,
	FIELD_SAMPLE = 2,
	FIELD_MAPPING = 3,
	FIELD_LOCATION = 4,
	FIELD_FUNCTION = 5,
	FIELD_STRING = 6,
	FIELD_PERIOD_TYPE = 11,
	FIELD_PERIOD = 12,
	FIELD_DEFAULT_TYPE = 14
};

struct bytes {
	const uint8_t *at, *end;
};

/* A field. @bytes: its contents if it has any; otherwise its @number */
struct field {
	uint64_t nr, number;
	struct bytes bytes;
	bool has_bytes;
};

const struct intern_kind read_function_kind = INTERN_BYTES(struct read_function, id);
const struct intern_kind read_mapping_kind = INTERN_BYTES(struct read_mapping, id);
const struct intern_kind read_location_kind = INTERN_BYTES(struct read_location, id);

int pprof_refuse(const struct pprof_tables *p, const char *what, uint64_t nr, const char *why, struct err *err)
{
	return err_set(err, -EBADMSG, "cannot read '%s': %s %" PRIu64 " %s", infile_name(p->in), what, nr, why);
}

static int read_all(struct pprof_tables *p, struct err *err)
{
	uint8_t *bytes;
	ssize_t n;

	do {
		if (p->len > PPROF_LONGEST)
			return err_set(err, -E2BIG, "cannot read '%s': it is longer than 1 GiB, uncompressed",
				       infile_name(p->in));
		bytes = grow(p->bytes, &p->cap, p->len, CHUNK, 1);
		if (!bytes)
			return err_sys(err, -ENOMEM, "cannot read '%s'", infile_name(p->in));
		p->bytes = bytes;
		n = infile_read(p->in, bytes + p->len, CHUNK, err);
		if (n < 0)
			return (int)n;
		p->len += (size_t)n;
	} while (n == CHUNK);
	return 0;
}

static bool get_varint(struct bytes *b, uint64_t *out)
{
	unsigned int shift;

	*out = 0;
	for (shift = 0; shift < 64 && b->at < b->end; shift += 7) {
		*out |= (uint64_t)(*b->at & 0x7f) << shift;
		if (!(*b->at++ & 0x80))
			return true;
	}
	return false;
}

static bool skip_bytes(struct bytes *b, uint64_t len)
{
	if (len > (uint64_t)(b->end - b->at))
		return false;
	b->at += len;
	return true;
}

/* Read the next field of a message. Return: true if it is complete, and its type exists. */
static bool get_field(struct bytes *b, struct field *out)
{
	uint64_t tag, len;

	if (!get_varint(b, &tag))
		return false;
	*out = (struct field){ .nr = tag >> 3 };
	switch (tag & 7) {
	case 0:
		return get_varint(b, &out->number);
	case 1:
		return skip_bytes(b, 8);
	case 2:
		out->has_bytes = true;
		if (!get_varint(b, &len))
			return false;
		out->bytes.at = b->at;
		out->bytes.end = b->at + (len > (uint64_t)(b->end - b->at) ? 0 : len);
		return skip_bytes(b, len);
	case 5:
		return skip_bytes(b, 4);
	default:
		return false;
	}
}

/* Unpack a message. NULL: it is damaged or larger than LARGEST, or there is no memory. */
static void *unpack(const ProtobufCMessageDescriptor *type, const struct field *field)
{
	size_t len = (size_t)(field->bytes.end - field->bytes.at);

	return field->has_bytes && len <= LARGEST ? protobuf_c_message_unpack(type, NULL, len, field->bytes.at) : NULL;
}

static int add_string(struct pprof_tables *p, const struct field *field)
{
	struct text_ref *strings;

	if (!field->has_bytes)
		return -EBADMSG;
	strings = p->nr_strings < MANY ? grow(p->strings, &p->strings_cap, p->nr_strings, 1, sizeof(*strings)) : NULL;
	if (!strings)
		return -ENOMEM;
	p->strings = strings;
	strings[p->nr_strings++] =
		(struct text_ref){ (const char *)field->bytes.at, (size_t)(field->bytes.end - field->bytes.at) };
	return 0;
}

/* Add a new entry with this id. NULL: *@rc has the reason. */
static void *add_id(struct intern_table *t, const struct intern_kind *kind, const uint64_t *id, int *rc)
{
	bool is_new = false;
	void *entry = *id && t->nr < MANY ? intern(t, kind, id, &is_new) : NULL;

	*rc = !*id ? -EBADMSG : !entry ? -ENOMEM : is_new ? 0 : -EEXIST;
	return *rc ? NULL : entry;
}

static int add_function(struct pprof_tables *p, const struct field *field)
{
	Pprof__Function *m = unpack(&pprof__function__descriptor, field);
	struct read_function *f;
	int rc = -EBADMSG;

	f = m ? add_id(&p->functions, &read_function_kind, &m->id, &rc) : NULL;
	if (f) {
		f->name = m->name;
		f->system_name = m->system_name;
		f->file = m->filename;
	}
	if (m)
		pprof__function__free_unpacked(m, NULL);
	return rc;
}

static int add_mapping(struct pprof_tables *p, const struct field *field)
{
	Pprof__Mapping *m = unpack(&pprof__mapping__descriptor, field);
	struct read_mapping *mapping;
	int rc = -EBADMSG;

	mapping = m ? add_id(&p->mappings, &read_mapping_kind, &m->id, &rc) : NULL;
	if (mapping) {
		mapping->file = m->filename;
		mapping->build_id = m->build_id;
	}
	if (m)
		pprof__mapping__free_unpacked(m, NULL);
	return rc;
}

static int add_lines(struct pprof_tables *p, struct read_location *location, const Pprof__Location *m)
{
	struct read_line *lines =
		p->nr_lines < MANY ? grow(p->lines, &p->lines_cap, p->nr_lines, m->n_line, sizeof(*lines)) : NULL;
	size_t i;

	if (!lines)
		return -ENOMEM;
	p->lines = lines;
	location->lines = p->nr_lines;
	location->nr = (uint32_t)m->n_line;
	for (i = 0; i < m->n_line; i++) {
		if (m->line[i]->line < 0 || m->line[i]->line > UINT_MAX)
			return -EBADMSG;
		lines[p->nr_lines++] = (struct read_line){ m->line[i]->function_id, (unsigned int)m->line[i]->line };
	}
	return 0;
}

static int add_location(struct pprof_tables *p, const struct field *field)
{
	Pprof__Location *m = unpack(&pprof__location__descriptor, field);
	struct read_location *location;
	int rc = -EBADMSG;

	location = m ? add_id(&p->locations, &read_location_kind, &m->id, &rc) : NULL;
	if (location) {
		location->mapping = m->mapping_id;
		location->address = m->address;
		rc = m->n_line > PPROF_INLINED_MAX ? -EBADMSG : add_lines(p, location, m);
	}
	if (m)
		pprof__location__free_unpacked(m, NULL);
	return rc;
}

static int set_type(struct read_type *out, const struct field *field)
{
	Pprof__ValueType *m = unpack(&pprof__value_type__descriptor, field);

	if (!m)
		return -EBADMSG;
	*out = (struct read_type){ m->type, m->unit };
	pprof__value_type__free_unpacked(m, NULL);
	return 0;
}

static int add_type(struct pprof_tables *p, const struct field *field)
{
	return p->nr_types < PPROF_TYPES_MAX ? set_type(&p->types[p->nr_types++], field) : -EBADMSG;
}

/* Store a field that must be known before the samples are read. Ignore all others. */
static int keep_field(struct pprof_tables *p, const struct field *field)
{
	switch (field->nr) {
	case FIELD_SAMPLE_TYPE:
		return add_type(p, field);
	case FIELD_MAPPING:
		return add_mapping(p, field);
	case FIELD_LOCATION:
		return add_location(p, field);
	case FIELD_FUNCTION:
		return add_function(p, field);
	case FIELD_STRING:
		return add_string(p, field);
	case FIELD_PERIOD_TYPE:
		return set_type(&p->period_type, field);
	case FIELD_PERIOD:
		p->period = field->number;
		return 0;
	case FIELD_DEFAULT_TYPE:
		p->default_type = (int64_t)field->number;
		return 0;
	default:
		return 0;
	}
}

static int keep_fields(struct pprof_tables *p, struct err *err)
{
	struct bytes b = { p->bytes, p->bytes + p->len };
	struct field field;
	uint64_t at;
	int rc = 0;

	while (!rc && b.at < b.end) {
		at = (uint64_t)(b.at - p->bytes);
		rc = get_field(&b, &field) ? keep_field(p, &field) : -EBADMSG;
		if (rc == -EBADMSG)
			return pprof_refuse(p, "what is at byte", at, "is no field of a pprof profile", err);
		if (rc == -EEXIST)
			return pprof_refuse(p, "what is at byte", at, "has the id of another one", err);
	}
	return rc ? err_sys(err, -ENOMEM, "cannot read '%s'", infile_name(p->in)) : 0;
}

bool pprof_is_text(const struct pprof_tables *p, int64_t string, const char *text)
{
	const struct text_ref *s = string > 0 && (uint64_t)string < p->nr_strings ? &p->strings[string] : NULL;

	return s && s->len == strlen(text) && !memcmp(s->bytes, text, s->len);
}

int pprof_get_string(const struct pprof_tables *p, int64_t string, char **scratch)
{
	struct text_ref text = { "", 0 };
	char *copy;

	if (string < 0 || (string && (uint64_t)string >= p->nr_strings))
		return -EBADMSG;
	if (string)
		text = p->strings[string];
	if (text.len > NAME_MAX_BYTES)
		text.len = NAME_MAX_BYTES;
	copy = realloc(*scratch, text.len + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text.bytes, text.len);
	copy[text.len] = 0;
	*scratch = copy;
	return 0;
}

int pprof_tables_read(struct pprof_tables *p, struct err *err)
{
	int rc = read_all(p, err);

	if (!rc)
		rc = keep_fields(p, err);
	if (!rc && !p->nr_types)
		rc = err_set(err, -EBADMSG, "cannot read '%s': it has no value types", infile_name(p->in));
	return rc;
}

int pprof_next_sample(struct pprof_tables *p, Pprof__Sample **sample)
{
	struct bytes b = { p->bytes + p->at, p->bytes + p->len };
	struct field field = { 0 };

	while (field.nr != FIELD_SAMPLE)
		if (b.at == b.end || !get_field(&b, &field))
			return 0;
	p->at = (size_t)(b.at - p->bytes);
	*sample = unpack(&pprof__sample__descriptor, &field);
	return *sample ? 1 : -EBADMSG;
}

void pprof_tables_release(struct pprof_tables *p)
{
	intern_release(&p->functions);
	intern_release(&p->mappings);
	intern_release(&p->locations);
	free(p->bytes);
	free(p->strings);
	free(p->lines);
}
