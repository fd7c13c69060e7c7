/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf(2) without a kernel: backend-bpf/ and libbpf call fake_kernel.h's syscall(), which calls this. Maps are lists of
 * entries. Programs are loaded, but never run: the test puts into the maps what a program would. It is a kernel without
 * BTF and without BPF_MAP_LOOKUP_BATCH.
 */
#ifndef TESTS_UNIT_FAKE_BPF_H
#define TESTS_UNIT_FAKE_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

/** struct fake_map - a map of backend-bpf/. Read only. */
struct fake_map {
	char name[BPF_OBJ_NAME_LEN];
	uint32_t type, key_size, value_size, max_entries;
	size_t value_bytes; /* of one entry: of a per-CPU map, the values of all CPUs */
	size_t nr;          /* entries that were written */
	char *keys, *values;
	uint64_t inode;
};

/** fake_bpf_begin() - be a new kernel, which has no maps and programs and refuses nothing. */
void fake_bpf_begin(void);

/** fake_bpf_end() - free everything. */
void fake_bpf_end(void);

/** fake_map() - the @nth map with this name, counted from 0; fails the test if there is none. */
struct fake_map *fake_map(const char *name, size_t nth);

/** fake_nr_maps() - how many maps with this name were created. */
size_t fake_nr_maps(const char *name);

/** fake_map_put() - write an entry, as a program does: one value, for a per-CPU map the value of @cpu. */
void fake_map_put(struct fake_map *m, const void *key, const void *value, unsigned int cpu);

/** fake_map_has() - true if the map has such an entry. fake_map_get() - its value; fails the test if there is none. */
bool fake_map_has(const struct fake_map *m, const void *key);
const void *fake_map_get(const struct fake_map *m, const void *key);

/** struct fake_program - a program of backend-bpf/. @reads: it calls bpf_probe_read() */
struct fake_program {
	char name[BPF_OBJ_NAME_LEN]; /* the kernel keeps only 15 characters */
	size_t nr_insns;
	bool reads;
	uint64_t inode;
};

/** fake_nr_programs() - how many programs were loaded. */
size_t fake_nr_programs(void);

/** fake_program() - the program with this descriptor; fails the test if it is of none. */
const struct fake_program *fake_program(int fd);

/** struct fake_raw - the last program that was attached to a raw tracepoint; @name "": none was. */
struct fake_raw {
	char name[32];
	const struct fake_program *program;
};
extern struct fake_raw fake_raw;

/**
 * fake_bpf_refuse() - let the call number @nth from now (0: the next one) fail with @code, -errno. Calls about maps and
 * programs of backend-bpf/ count; libbpf also tests the features of the kernel, and those calls do not. A program that
 * was refused once is refused again, because libbpf tries twice.
 */
void fake_bpf_refuse(size_t nth, int code);

/** fake_bpf_accept() - refuse nothing from now on. Return: true if a call was refused since fake_bpf_refuse(). */
bool fake_bpf_accept(void);

/** fake_bpf_lacks - set by the test: programs of this type are refused with -EINVAL; 0: of none. */
extern enum bpf_prog_type fake_bpf_lacks;

/** fake_bpf_cannot_read - set by the test: programs that call bpf_probe_read() are refused. */
extern bool fake_bpf_cannot_read;

/** fake_bpf_hides_stacks - set by the test: the keys of stack maps are not listed (before 4.16). */
extern bool fake_bpf_hides_stacks;

/** fake_bpf_meanwhile - set by the test: called before each lookup in a map; NULL: nothing is. */
extern void (*fake_bpf_meanwhile)(void);

#endif
