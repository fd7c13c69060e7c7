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

/** struct fake_map - a map that was created with a name. Read only. */
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

/** fake_has_map() - true if a map with this name was created. */
bool fake_has_map(const char *name);

/** fake_map_put() - write an entry, as a program does: one value, for a per-CPU map the value of @cpu. */
void fake_map_put(struct fake_map *m, const void *key, const void *value, unsigned int cpu);

/** fake_map_get() - the value of the entry; NULL: the map has no such entry. */
const void *fake_map_get(const struct fake_map *m, const void *key);

/** fake_nr_programs() - how many programs with names were loaded. */
size_t fake_nr_programs(void);

/** fake_program() - the name of the program with this descriptor; fails the test if it is of none. */
const char *fake_program(int fd);

/**
 * fake_bpf_refuse() - let the call number @nth from now (0: the next one) fail with @code, -errno. Only calls about
 * maps and programs with names count; calls that test what the kernel supports do not. A program that was refused once
 * is refused again, because libbpf tries twice.
 */
void fake_bpf_refuse(size_t nth, int code);

/** fake_bpf_accept() - refuse nothing from now on. Return: true if a call was refused since fake_bpf_refuse(). */
bool fake_bpf_accept(void);

/** fake_bpf_lacks - set by the test: programs of this type are refused with -EINVAL; 0: of none. */
extern enum bpf_prog_type fake_bpf_lacks;

/** fake_bpf_meanwhile - set by the test: called before each lookup in a map with a name; NULL: nothing is. */
extern void (*fake_bpf_meanwhile)(void);

#endif
