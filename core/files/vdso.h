/* SPDX-License-Identifier: Apache-2.0 */
/* The code that the kernel maps into every process, "[vdso]": our own copy, and which processes have the same. */
#ifndef CORE_FILES_VDSO_H
#define CORE_FILES_VDSO_H

#include <stdbool.h>

struct elf_file;
struct mapped_file;
struct mapped_files_cfg;

/**
 * vdso_open() - our own vDSO, copied. The kernel maps the same image into all 64-bit processes.
 * Return: 0 and @f, owned: elf_file_release(); -ENOENT: there is none; -ENOMEM; -errno: /proc/PID/maps of this process
 * cannot be read, or as elf_file_adopt().
 */
int vdso_open(struct elf_file *f);

/**
 * vdso_open_mapped() - a copy of the image that the running kernel maps into processes as @file: our own vDSO, or for
 * VDSO32 (core/tasks/mapping.h) the one of 32-bit processes. A worker process asks the kernel to map that image. It is
 * not read from a sampled process, which could have written to its own copy.
 * The kernel's answer for VDSO32 is kept: once it is known, no worker is started. Call this from one thread.
 * Return: as vdso_open(); for VDSO32 also -ENOEXEC: it cannot be mapped; -EMFILE, -ENFILE, -EAGAIN, -ECANCELED: try
 * again later.
 */
int vdso_open_mapped(const struct mapped_file *file, struct elf_file *f);

/**
 * vdso_is_ours() - true if the vDSO of a process, @file, is an image of the running kernel: see vdso_open_mapped().
 * Always true without a recording. For a recording, true if the build ids are equal; if that of @file is unknown, true
 * if recorded_kernel_runs().
 */
bool vdso_is_ours(const struct mapped_files_cfg *cfg, const struct mapped_file *file);

#endif
