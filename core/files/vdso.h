/* SPDX-License-Identifier: Apache-2.0 */
/* The code that the kernel maps into every process, "[vdso]": our own copy, and which processes have the same. */
#ifndef CORE_FILES_VDSO_H
#define CORE_FILES_VDSO_H

#include <stdbool.h>

struct elf_file;
struct mapped_file;
struct mapped_files_cfg;

/** vdso_is_file() - true if @file is the vDSO of a process. */
bool vdso_is_file(const struct mapped_file *file);

/**
 * vdso_open() - our own vDSO, copied. The kernel maps one image into all processes of a kind, so other processes have
 * the same.
 * Return: 0 and @f, owned: elf_file_release(); -ENOENT: there is none; -errno: /proc/self/maps cannot be read, or as
 * elf_file_adopt().
 */
int vdso_open(struct elf_file *f);

/**
 * vdso_is_ours() - true if the "[vdso]" of a process, @file, is our own image.
 * Without a recording it is, because the running kernel made both. In a recording its build id decides; if that is
 * unknown, whether the recorded kernel is the running one, see recorded_kernel_runs(). A 32-bit process has another
 * image: see cached_file_serves().
 */
bool vdso_is_ours(const struct mapped_files_cfg *cfg, const struct mapped_file *file);

#endif
