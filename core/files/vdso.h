/* SPDX-License-Identifier: Apache-2.0 */
/* The code that the kernel maps into every process, "[vdso]": our own copy, and whose else it is. */
#ifndef CORE_FILES_VDSO_H
#define CORE_FILES_VDSO_H

#include <stdbool.h>
#include <stddef.h>

struct elf_file;
struct mapped_file;
struct mapped_files_cfg;

/**
 * vdso_image() - our own vDSO. The kernel maps one image into all processes of a kind, so it serves for others', too.
 * @start: out: its @len bytes, there for as long as this process is
 * Return: 0; -ENOENT: there is none; -errno: /proc/self/maps cannot be read. Both are untouched then.
 */
int vdso_image(const void **start, size_t *len);

/**
 * vdso_open() - the same as an ELF file, copied.
 * Return: 0 and @f, owned: elf_file_release(); also -ENOMEM, and others of elf_file_adopt().
 */
int vdso_open(struct elf_file *f);

/**
 * vdso_is_ours() - is the "[vdso]" of a process, @file, our own image?
 * If nothing was recorded it is, because the kernel that runs made both. In a recording its build id decides; if that
 * is unknown, whether the kernel that was sampled is the one that runs, see recorded_kernel_runs(). A 32-bit process
 * has another image below 4 GiB, which is for the caller to tell from the addresses.
 */
bool vdso_is_ours(const struct mapped_files_cfg *cfg, const struct mapped_file *file);

#endif
