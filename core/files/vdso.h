/* SPDX-License-Identifier: Apache-2.0 */
/* The code that the kernel maps into every process, "[vdso]": our own copy, and whose else it is. */
#ifndef CORE_FILES_VDSO_H
#define CORE_FILES_VDSO_H

#include <stdbool.h>

struct elf_file;
struct mapped_file;
struct mapped_files_cfg;

/** vdso_is_file() - is @file the vDSO of a process? */
bool vdso_is_file(const struct mapped_file *file);

/**
 * vdso_open() - our own vDSO, copied. The kernel maps one image into all processes of a kind, so it serves for others',
 * too.
 * Return: 0 and @f, owned: elf_file_release(); -ENOENT: there is none; -errno: /proc/self/maps cannot be read, or as
 * elf_file_adopt().
 */
int vdso_open(struct elf_file *f);

/**
 * vdso_is_ours() - is the "[vdso]" of a process, @file, our own image?
 * If nothing was recorded it is, because the kernel that runs made both. In a recording its build id decides; if that
 * is unknown, whether the kernel that was sampled is the one that runs, see recorded_kernel_runs(). A 32-bit process
 * has another image: cached_file_serves() tells.
 */
bool vdso_is_ours(const struct mapped_files_cfg *cfg, const struct mapped_file *file);

#endif
