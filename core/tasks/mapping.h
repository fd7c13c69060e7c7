/* SPDX-License-Identifier: Apache-2.0 */
/* The mapping of a file to an address range of a process: shared by tasks, symbols and unwind/. */
#ifndef CORE_TASKS_MAPPING_H
#define CORE_TASKS_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#define VDSO32 "[vdso32]" /* the vDSO of a 32-bit process; perf uses this name, too */

#define BUILD_ID_MAX 20 /* bytes of a SHA-1, the longest id that linkers make themselves and that the kernel reads */

/**
 * struct mapped_file - a file that some process has mapped, as the kernel named it.
 * @path:  as seen from the process's own root (in a chroot, the path in /proc differs), or "[vdso]", "//anon", ...;
 *         never NULL; without " (deleted)" if @ino or @build_id is known. For the vDSO of a 32-bit process VDSO32, see
 *         tasks_mmap().
 * @maj,@min,@ino: device and inode from MMAP2 records or /proc/PID/maps; all 0 if unknown (plain MMAP records)
 * @build_id:      from MMAP2 records that have it instead of device and inode; zero from its size on
 * @build_id_size: its bytes, at most BUILD_ID_MAX; 0: unknown
 *
 * Owned by struct tasks, one for each distinct file. It stays in its place in memory while an image of a process (see
 * tasks.h) has a mapping of it.
 */
struct mapped_file {
	const char *path;
	uint32_t maj, min;
	uint64_t ino;
	unsigned char build_id[BUILD_ID_MAX];
	uint8_t build_id_size;
};

/**
 * mapped_file_equal() - true if two struct mapped_file are the same file by all that the kernel records.
 * mapped_file_hash() - of one; equal ones have equal hashes. Both have the types that struct intern_kind wants.
 */
bool mapped_file_equal(const void *have, const void *key);
uint64_t mapped_file_hash(const void *key);
/** mapped_file_is_memory() - true if it is no file, and never was: "[vdso]", "//anon", "anon_inode:[x]". */
bool mapped_file_is_memory(const struct mapped_file *file);
/** mapped_file_is_vdso() - true for the code that the kernel maps into each process, also a 32-bit one. */
bool mapped_file_is_vdso(const struct mapped_file *file);
/**
 * mapped_file_has_path() - true if its path may lead to it. False for memory, also of memfd_create(2), shmget(2) and
 * MAP_HUGETLB, for everything below /dev, and for a file whose path the kernel could not write to a record.
 */
bool mapped_file_has_path(const struct mapped_file *file);
/** mapped_file_may_be_copy() - true if it is memory that may have a copy of a file's code. See copied_code.h. */
bool mapped_file_may_be_copy(const struct mapped_file *file);
/**
 * mapped_file_is_jitdump() - true if it has the name of a jitdump, "jit-PID.dump". JIT compilers map it so that a
 * record has its path.
 */
bool mapped_file_is_jitdump(const struct mapped_file *file);
/** mapped_file_is_uprobes() - true for the kernel's "[uprobes]": functions with a uretprobe return to its first byte.
 */
bool mapped_file_is_uprobes(const struct mapped_file *file);

/** struct mapping - addresses [@start, @end) map @file from byte @pgoff on. Ranges of one image never overlap. */
struct mapping {
	uint64_t start, end;
	uint64_t pgoff; /* bytes, not pages */
	const struct mapped_file *file;
};

/**
 * mapping_alike() - true if each address in both @a and @b has the same byte of a file. All memory except the vDSO
 * counts as the same.
 */
bool mapping_alike(const struct mapping *a, const struct mapping *b);

/** mapping_offset() - the offset in its file of the byte at @addr of @m. */
uint64_t mapping_offset(const struct mapping *m, uint64_t addr);

#endif
