/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for addresses: the one resolver in front of kallsyms and ELF files.
 *
 * Nothing is read before the first lookup that needs it, but files that were asked for: /proc/kallsyms at the first
 * kernel address, the symbol table of a file at the first address in it. All of it may be written by a profiled process
 * and is checked. Not thread safe.
 *
 * A recording may be of another host or boot. Its addresses are named by what is proved, or not contradicted by all
 * that it tells, to be what was recorded: see struct recorded, and kernel_names.h for the kernel.
 *
 * Where a recorded file is not to be had, its debug file of the same build has its names alone.
 *
 * Names of a file are those of its .symtab and .dynsym together; if it was stripped of the former, of its debug file's
 * or its .gnu_debugdata's in its place (see debug_files.h); then of the entries of its PLT, "name@plt". A .symtab may
 * have few symbols left: at the first address without one the debug file's are read beside them. Those of [vdso]
 * are our own vDSO's. They are as they are in the files: symbols_demangle() reads them.
 *
 * Inlined functions and source lines are read of the debug information of files, where they are wanted: see lines.h.
 * There are none of the kernel and the vDSO.
 *
 * Where a file has no symbol, its unwind rules tell at least where the function begins, see unwind/rules.h: of the file
 * itself, or of its debug file, as the unwinder reads them.
 *
 * Code in no file, made at run time, has the names that its process writes for it, and source lines, see jitdump.h;
 * else those of perf_map.h; of a recording, where they are proved to be of the recorded processes.
 *
 * An address in a file belongs to the symbol that covers it by its size and begins closest below it; where
 * there is none, to the one without size before it. A kernel symbol ends where the next one begins; of
 * several that begin at the same address it is the first in /proc/kallsyms, as in the kernel's own traces.
 * Of those in a file (also a vmlinux) one is chosen, the same on every run: one with size before one
 * without; then the fewest leading underscores; then any before a linker script's mark (__..._start,
 * __..._end); then global before weak before local; then the shortest; then the least in byte order.
 */
#ifndef CORE_SYMBOLS_H
#define CORE_SYMBOLS_H

#include "core/base/err.h"
#include "core/files/build_ids.h"
#include "core/symbols/symbols_cfg.h"
#include "core/tasks/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct symbols;
struct tasks;

/**
 * struct symbol - what is known of an address.
 * @name:   NULL: no symbol. Borrowed until symbols_free() or symbols_renew() or, of a user address, tasks_forget().
 * @offset: of the address from the start of the symbol or @function; without both: the file's own address of it, 0: not
 *          known
 * @module: "kernel" (of unknown kernel addresses, too), a kernel module's name, "bpf", a mapped file's base
 *          name, "[vdso]", "//anon" and so on as they are; NULL: no known mapping. Borrowed, a file's from
 *          tasks.
 * @file:   base name of the source file; NULL: not known, or not wanted. Borrowed until the next symbols_user().
 * @line:   in it, of the address, or where what is inlined there is called; 0: not known
 * @inlined: it is no symbol, but a function that was inlined into one; @name is as @file is, and there is no @offset
 * @jit:     code made at run time
 * @build_id: of the mapped file, @build_id_size bytes, borrowed as @name is; NULL: not known
 * @function: without @name, and with @has_function: where the function begins by the unwind rules of the file, as the
 *           file's own address
 * @anonymous: @module is memory that has no file, and what it is called says nothing of code: "//anon", "[heap]"
 * @address: of a kernel frame that is no address; else 0
 * @file_address: the file's own address of what was looked up, wherever the file is mapped; 0: not known
 * @reused:  nothing else is known because the address showed different files, see tasks_find()
 */
struct symbol {
	const char *name;
	uint64_t offset;
	const char *module;
	const char *file;
	unsigned int line;
	bool inlined, jit;
	const unsigned char *build_id;
	unsigned int build_id_size;
	uint64_t function;
	bool has_function, anonymous, reused;
	uint64_t address, file_address;
};

/**
 * symbols_open() - a resolver that asks @tasks for mappings; the files that @cfg names are read now.
 *
 * Which files are read, and which are not: see mapped_file_open().
 *
 * Return: 0 and the owned *@out; -errno and *@err: a file of @cfg cannot be read, names nothing, or is of another
 * kernel than the one that runs (without recording); no memory.
 */
int symbols_open(struct tasks *tasks, const struct symbols_cfg *cfg, struct symbols **out, struct err *err);
void symbols_free(struct symbols *s);

/** symbols_begin() - see kernel_names_begin(). */
int symbols_begin(struct symbols *s, bool no_records);

/** symbols_ahead() - read a little of what kernel addresses will need, if it is known already. Return: is there more?
 */
bool symbols_ahead(struct symbols *s);

/**
 * symbols_renew() - another report begins: the names of code made since the last one are read. Files that only earlier
 * ones asked for give way where a limit is met (see symbols_skipped()), and what was not read for it is tried again.
 */
void symbols_renew(struct symbols *s);

/**
 * symbols_kernel() - the kernel symbol of @addr, which may be a frame of kernel_ranges.h.
 * @is_return: @addr is a return address: the call before it is looked up, so that a call at the very end of a
 *             function is not given to the next one. @offset still counts from @addr. What signal handlers
 *             return to (__restore_rt), where there is no call, is found at @addr.
 */
void symbols_kernel(struct symbols *s, uint64_t addr, bool is_return, struct symbol *out);

/** symbols_user() - the same for an address of process @pid while it was called @comm, in @image (see tasks_find()). */
void symbols_user(struct symbols *s, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		  struct symbol *out);

/**
 * enum file_symbols - what became of the symbols of a mapped file.
 * FILE_UNREAD:   they were not read: it is no ELF file, or met a limit (see symbols_skipped())
 * FILE_MISSING:  it is not there any more or, of a recording, not on this host
 * FILE_REPLACED: another file is at its path (see symbols_mismatched())
 * FILE_STRIPPED: it has no .symtab, and no debug file with one was found
 * FILE_WHOLE:    that has been read
 */
enum file_symbols { FILE_UNREAD, FILE_MISSING, FILE_REPLACED, FILE_STRIPPED, FILE_WHOLE };

/**
 * struct symbol_source - a file that has code.
 * @file: borrowed until tasks_forget()
 * @id:   by which its debug file, or of a recording the file itself was looked for; unknown if there is none
 */
struct symbol_source {
	const struct mapped_file *file;
	struct build_id id;
	enum file_symbols symbols;
};

/**
 * symbols_source() - the file in which symbols_user() looked for @addr, with the same arguments, in this report.
 * Return: true and *@out; false: no file.
 */
bool symbols_source(struct symbols *s, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		    struct symbol_source *out);

/** symbols_older_maps() - as perf_maps_older(). */
bool symbols_older_maps(const struct symbols *s, struct err *why);

/** symbols_have_map() - does process @pid have a file with names of code that it made at run time? */
bool symbols_have_map(const struct symbols *s, pid_t pid);

/**
 * symbols_inlined() - what was inlined at the address of the last symbols_user(), if that is wanted.
 * @out: innermost first, without the symbol itself; borrowed until the next symbols_user()
 * Return: how many.
 */
size_t symbols_inlined(const struct symbols *s, const struct symbol **out);

/**
 * symbols_user_called() - do the unwind rules of its file say that the function at @addr has a caller? A stack that
 * ends there is incomplete. Those of _start and of the first function of a thread say that it has none; without rules
 * neither is known. The other parameters: as symbols_user().
 */
bool symbols_user_called(struct symbols *s, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return);

/** symbols_demangle() - the readable forms of @nr names, as demangler_read(); borrowed until symbols_renew(). */
int symbols_demangle(struct symbols *s, const char *const *names, size_t nr, const char **out);

/** symbols_mangled() - as demangler_skipped(). */
bool symbols_mangled(const struct symbols *s, struct err *why);

/** symbols_lines_skipped() - as symbols_skipped(), of debug information. */
bool symbols_lines_skipped(const struct symbols *s, struct err *why);

/**
 * symbols_kernel_hidden() - did names of the kernel miss because it hides them (all zero, or no access), because the
 * recording is of another kernel or boot, or because a vmlinux is not of that kernel?
 * Return: true and a line in @why naming the setting, read now, that does it, or what to give instead; false also when
 * no address of the kernel was looked up, or all have names.
 */
bool symbols_kernel_hidden(const struct symbols *s, struct err *why);

/**
 * symbols_kernel_withheld() - have frames of the kernel no names because the code at their addresses may be other code
 * than was sampled? Return: true and a line in @why with the cause.
 */
bool symbols_kernel_withheld(const struct symbols *s, struct err *why);

/** symbols_kernel_reused() - BPF programs and the like that have no name because others had their addresses, too. */
size_t symbols_kernel_reused(const struct symbols *s);

/**
 * symbols_skipped() - were files not read, or not as a whole: a limit of ours or of the host was met, or there was a
 * fault (see faults.h)?
 * Return: true and a line in @why with the limit that was met first, and the number of files. A file counts once in a
 * report; the number is that of the report that left out the most.
 */
bool symbols_skipped(const struct symbols *s, struct err *why);

/**
 * symbols_mismatched() - files at the path of a mapping that are not the ones that were mapped (a package may have been
 * upgraded), where those were not to be had; so they have no names.
 */
size_t symbols_mismatched(const struct symbols *s);

#endif
