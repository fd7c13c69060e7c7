/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read a pprof profile: the tables to which its samples refer, and the samples, one at a time.
 *
 * The whole file is in memory, because samples may come before the entries to which they refer. pprof_tables.c splits
 * the bytes into the fields of a Profile, and protobuf-c unpacks one field at a time: to unpack a whole hostile file,
 * it could need many times as much memory.
 */
#ifndef CORE_FORMATS_PPROF_TABLES_H
#define CORE_FORMATS_PPROF_TABLES_H

#include "core/base/intern.h"
#include "core/formats/infile.h"
#include "core/formats/profile.pb-c.h"
#include "core/report/writer.h"

#define PPROF_LONGEST   (1ULL << 30) /* bytes of a file, uncompressed */
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

/*
 * @lines:  index in pprof_tables.lines of the first of its @nr lines, innermost first
 * @frames: the same for its @nr_frames frames in the array of read_pprof.c, root first; @nr_frames 0: not named
 *          yet, or it stands for no frame
 */
struct read_location {
	uint64_t id, mapping, address;
	size_t lines, frames;
	uint32_t nr, nr_frames;
};

struct read_type {
	int64_t type, unit;
};

/**
 * struct pprof_tables - set @in, and leave all else zero; see pprof_tables_release(). Find entries by id with
 * intern_find().
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
 * damaged, or there is no memory.
 */
int pprof_next_sample(struct pprof_tables *p, Pprof__Sample **sample);

/** pprof_is_text() - true if string number @string is @text. */
bool pprof_is_text(const struct pprof_tables *p, int64_t string, const char *text);

/**
 * pprof_get_string() - copy string number @string, at most NAME_MAX_BYTES of it, into *@scratch. That is NULL or from
 * malloc(3), and is reallocated.
 * Return: 0; -EBADMSG: there is no such string; -ENOMEM.
 */
int pprof_get_string(const struct pprof_tables *p, int64_t string, char **scratch);

/** pprof_refuse() - describe "WHAT NR WHY" for the file. Return: -EBADMSG. */
int pprof_refuse(const struct pprof_tables *p, const char *what, uint64_t nr, const char *why, struct err *err);

#endif
