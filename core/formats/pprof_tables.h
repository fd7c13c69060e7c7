/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile of pprof that is read: what its samples refer to, and the samples, one at a time.
 *
 * The file is in memory meanwhile, because samples may come before what they refer to. It is cut into the fields of a
 * Profile here, and protobuf-c takes these apart, one at a time: all of them at once would need many times as much
 * memory as a file that was made to do that.
 */
#ifndef CORE_FORMATS_PPROF_TABLES_H
#define CORE_FORMATS_PPROF_TABLES_H

#include "core/base/intern.h"
#include "core/formats/infile.h"
#include "core/formats/profile.pb-c.h"
#include "core/report/writer.h"

#define PPROF_LONGEST   (1ULL << 30) /* bytes of a file */
#define PPROF_TYPES_MAX 64

struct read_function {
	uint64_t id;
	int64_t name, system_name, file;
};

struct read_mapping {
	uint64_t id;
	int64_t file, build_id;
};

struct read_line {
	uint64_t function;
	unsigned int line;
};

/* @lines: @nr from there on, innermost first. @frames: @nr_frames of them, root first; 0: not named yet */
struct read_location {
	uint64_t id, mapping, address;
	size_t lines, frames;
	uint32_t nr, nr_frames;
};

struct read_type {
	int64_t type, unit;
};

/**
 * struct pprof_tables - all zeros but @in is valid; see pprof_tables_release(). Ids are found with intern_find().
 * @at: what pprof_next_sample() goes on with
 */
struct pprof_tables {
	struct infile *in;
	uint8_t *bytes;
	size_t len, cap, at;
	struct text_ref *strings;
	size_t nr_strings, strings_cap;
	struct intern_table functions, mappings, locations;
	struct read_line *lines;
	size_t nr_lines, lines_cap;
	struct read_type types[PPROF_TYPES_MAX], period_type;
	size_t nr_types;
	int64_t default_type;
	uint64_t period;
};

extern const struct intern_kind read_function_kind, read_mapping_kind, read_location_kind;

/** pprof_tables_read() - all but the samples. Return: 0; -errno, described. */
int pprof_tables_read(struct pprof_tables *p, struct err *err);
void pprof_tables_release(struct pprof_tables *p);

/** pprof_next_sample() - to be freed. Return: 1; 0: there is none; -EBADMSG: it is damaged. */
int pprof_next_sample(struct pprof_tables *p, Pprof__Sample **sample);

/** pprof_is_text() - is it that string? */
bool pprof_is_text(const struct pprof_tables *p, int64_t string, const char *text);

/**
 * pprof_get_string() - a copy of a string in *@scratch, which was allocated, or is NULL; cut where names are.
 * Return: 0; -EBADMSG: there is no such string; -ENOMEM.
 */
int pprof_get_string(const struct pprof_tables *p, int64_t string, char **scratch);

/** pprof_refuse() - "WHAT NR WHY", of the file. Return: -EBADMSG, described. */
int pprof_refuse(const struct pprof_tables *p, const char *what, uint64_t nr, const char *why, struct err *err);

#endif
