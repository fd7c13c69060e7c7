/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read a pprof profile: the tables to which its samples refer, and the samples, one at a time.
 *
 * The whole file is in memory, because samples may come before the entries to which they refer. This file splits it
 * into the fields of a Profile, and protobuf-c unpacks these, one at a time: a hostile file could make it need many
 * times as much memory for all at once.
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

/* @lines: its first of @nr lines, innermost first. @frames: its @nr_frames frames, root first; 0: not named yet */
struct read_location {
	uint64_t id, mapping, address;
	size_t lines, frames;
	uint32_t nr, nr_frames;
};

struct read_type {
	int64_t type, unit;
};

/**
 * struct pprof_tables - all zeros but @in is valid; see pprof_tables_release(). Find ids with intern_find().
 * @at: where pprof_next_sample() continues
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

/** pprof_tables_read() - read everything except the samples. Return: 0; -errno, described. */
int pprof_tables_read(struct pprof_tables *p, struct err *err);
void pprof_tables_release(struct pprof_tables *p);

/**
 * pprof_next_sample() - read the next sample; the caller frees it. Return: 1; 0: there is none; -EBADMSG: it is
 * damaged.
 */
int pprof_next_sample(struct pprof_tables *p, Pprof__Sample **sample);

/** pprof_is_text() - true if the string is @text. */
bool pprof_is_text(const struct pprof_tables *p, int64_t string, const char *text);

/**
 * pprof_get_string() - copy a string into *@scratch, which was allocated, or is NULL; truncated as names are.
 * Return: 0; -EBADMSG: there is no such string; -ENOMEM.
 */
int pprof_get_string(const struct pprof_tables *p, int64_t string, char **scratch);

/** pprof_refuse() - describe "WHAT NR WHY" for the file. Return: -EBADMSG. */
int pprof_refuse(const struct pprof_tables *p, const char *what, uint64_t nr, const char *why, struct err *err);

#endif
