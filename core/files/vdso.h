/* SPDX-License-Identifier: Apache-2.0 */
/* The code that the kernel maps into every process, "[vdso]": our own copy, and which processes have the same. */
#ifndef CORE_FILES_VDSO_H
#define CORE_FILES_VDSO_H

#include <stdbool.h>

struct elf_file;
struct mapped_file;
struct mapped_files_cfg;

/**
 * vdso_open() - our own vDSO, copied. The kernel maps one image into all processes of a kind, so other processes have
 * the same.
 * Return: 0 and @f, owned: elf_file_release(); -ENOENT: there is none; -errno: /proc/self/maps cannot be read, or as
 * elf_file_adopt().
 */
int vdso_open(struct elf_file *f);

/**
 * vdso_open_mapped() - a copy of the image that the running kernel maps into processes as @file: our own vDSO, or for
 * VDSO32 the one of 32-bit processes. A worker process asks the kernel for that one: no sampled process, which could
 * write to its own copy, is trusted.
 * Return: as vdso_open(); for VDSO32: -ENOEXEC: the kernel does not give it; or as worker_call().
 */
int vdso_open_mapped(const struct mapped_file *file, struct elf_file *f);

/**
 * vdso_is_ours() - true if the vDSO of a process, @file, is an image of the running kernel: see vdso_open_mapped().
 * Without a recording it is. In a recording its build id decides; if that is unknown, whether the recorded kernel is
 * the running one, see recorded_kernel_runs().
 */
bool vdso_is_ours(const struct mapped_files_cfg *cfg, const struct mapped_file *file);

#endif
