/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for addresses: the one resolver in front of kallsyms and ELF files.
 *
 * Files are read at the first lookup that needs them: /proc/kallsyms at the first kernel address (symbols_ahead() may
 * begin earlier), the symbol table of a file at the first address in it. Files that an option names are read at once. A
 * profiled process may have written any of the ELF files, so everything in them is checked. Not thread safe.
 *
 * A recording may be of another host or boot. Its addresses get names from a file only if the file is proved to be the
 * recorded one, or if nothing in the recording contradicts that: see struct recorded, and kernel_names.h for the
 * kernel. If a recorded file cannot be found, the names come only from a debug file with the same build id.
 *
 * A file's names come from its .symtab and .dynsym together. If .symtab was stripped, that of its debug file or of its
 * .gnu_debugdata replaces it (see debug_files.h). If these have no symbol for an address, the entries of the PLT,
 * "name@plt", and the .gopclntab of Go programs name it (see elf.h). A .symtab may have few symbols left: at the first
 * address without a symbol, or with one that has no size, those of the debug file are read, too. For a vDSO see
 * core/files/vdso.h. Names are as in the files: symbols_demangle() makes them readable.
 *
 * Inlined functions and source lines come from the debug information of files, if they are wanted: see lines.h. There
 * are none for the kernel and the vDSO.
 *
 * If an address has no symbol, the unwind rules of the file or of its debug file, as the unwinder reads them, still
 * show where its function begins: see unwind/rules.h.
 *
 * Code that was made at run time is in no file. It has the names that its process writes: those of jitdump.h, with
 * source lines, else those of perf_map.h. In a recording, they are used if they are proved to be those of the recorded
 * processes.
 *
 * An address in a file belongs to the symbol that covers it by its size and begins closest below it; if there is none,
 * to the one without size before it. A kernel symbol ends where the next one begins. If several kernel symbols begin at
 * the same address, the first one in /proc/kallsyms wins, as in the kernel's own traces. If several symbols of a file
 * (also of a vmlinux) do, the choice is the same on every run: one with size before one without; then the fewest
 * leading underscores; then any before a linker script's mark (__..._start, __..._end); then global before weak before
 * local; then the shortest; then the first in byte order.
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
 * struct symbol - everything known about an address.
 * @name:   NULL: no symbol. Borrowed until symbols_free() or symbols_renew() or, for a user address, tasks_forget().
 * @offset: of the address from the start of the symbol or @function; without both: as @file_address
 * @module: "kernel" (also for unknown kernel addresses), a kernel module's name, "bpf", a mapped file's base name,
 *          "[vdso]", "//anon" and other names as they are; NULL: no known mapping. Borrowed; tasks owns a file's.
 * @file:   base name of the source file; NULL: not known, or not wanted. Borrowed until the next symbols_user().
 * @line:   in @file: the line of the address, or of the call to the function that is inlined there; 0: not known
 * @inlined: it is no symbol, but a function that was inlined into one; @name is borrowed like @file, and there is no
 *          @offset
 * @jit:     code made at run time
 * @build_id: of the mapped file, @build_id_size bytes, borrowed like @name; NULL: not known
 * @function: without @name, and with @has_function: where the function begins by the unwind rules of the file, as the
 *           file's own address
 * @anonymous: @module is memory that has no file, and its name says nothing about code: "//anon", "[heap]"
 * @address: for a kernel frame whose value is no address, the address of its code; else 0
 * @file_address: the file's own address of it, as in its ELF symbols, wherever the file is mapped; 0: not known
 * @reused:  nothing else is known because different files were mapped at the address, see tasks_find()
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
 * symbols_open() - create a resolver that gets mappings from @tasks. Reads the files that options in @cfg name.
 *
 * See mapped_file_open() for the file that is read for a mapping.
 *
 * Return: 0 and the owned *@out; -errno and *@err: a file of @cfg cannot be read, has no names, or (without a
 * recording) is of another kernel than the running one; no memory.
 */
int symbols_open(struct tasks *tasks, const struct symbols_cfg *cfg, struct symbols **out, struct err *err);
void symbols_free(struct symbols *s);

/** symbols_begin() - see kernel_names_begin(). */
int symbols_begin(struct symbols *s, bool no_records);

/**
 * symbols_ahead() - read a little of the file that will name kernel addresses, if it is known already which file that
 * is. Return: true: there is more.
 */
bool symbols_ahead(struct symbols *s);

/**
 * symbols_renew() - another report begins: read the names of code made since the last one, and retry what was skipped.
 * Files that only earlier reports used are dropped when a limit is met (see symbols_skipped()).
 */
void symbols_renew(struct symbols *s);

/**
 * symbols_kernel() - the kernel symbol of @addr, which may be a number instead of an address (kernel_ranges.h).
 * @is_return: @addr is a return address: the call before it is looked up, so that a call at the very end of a function
 *             is not given to the next function. @offset is still that of @addr itself
 */
void symbols_kernel(struct symbols *s, uint64_t addr, bool is_return, struct symbol *out);

/**
 * symbols_user() - the same for an address of process @pid while it was called @comm, in @image (see tasks_find()). The
 * code that a signal handler returns to (__restore_rt) has no call before it, and is found at @addr.
 */
void symbols_user(struct symbols *s, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		  struct symbol *out);

/**
 * enum file_symbols - what became of the symbols of a mapped file.
 * FILE_UNREAD:   not read: it is no ELF file, or a limit was met (see symbols_skipped())
 * FILE_MISSING:  the file is gone or, for a recording, not on this host
 * FILE_REPLACED: another file is at its path (see symbols_mismatched())
 * FILE_STRIPPED: it has no .symtab, and no debug file with one was found
 * FILE_WHOLE:    a .symtab has been read
 */
enum file_symbols { FILE_UNREAD, FILE_MISSING, FILE_REPLACED, FILE_STRIPPED, FILE_WHOLE };

/**
 * struct symbol_source - a file that has code.
 * @file: borrowed until tasks_forget()
 * @id:   build id, used to look for its debug file or, with a recording, for the file itself; unknown if there is none
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

/** symbols_have_map() - true if process @pid has a file with names of code that it made at run time. */
bool symbols_have_map(const struct symbols *s, pid_t pid);

/**
 * symbols_inlined() - the functions inlined at the address of the last symbols_user(), if they are wanted.
 * @out: innermost first, without the symbol itself; borrowed until the next symbols_user()
 * Return: how many.
 */
size_t symbols_inlined(const struct symbols *s, const struct symbol **out);

/**
 * symbols_user_called() - true if the unwind rules of its file show that the function at @addr has a caller: a stack
 * that ends there is incomplete. By the rules, _start and the first function of a thread have none. False also without
 * rules. The other parameters: as symbols_user().
 */
bool symbols_user_called(struct symbols *s, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return);

/** symbols_demangle() - the readable forms of @nr names, as demangler_read(); borrowed until symbols_renew(). */
int symbols_demangle(struct symbols *s, const char *const *names, size_t nr, const char **out);

/** symbols_mangled() - as demangler_skipped(). */
bool symbols_mangled(const struct symbols *s, struct err *why);

/** symbols_lines_skipped() - as symbols_skipped(), of debug information. */
bool symbols_lines_skipped(const struct symbols *s, struct err *why);

/**
 * symbols_kernel_hidden() - true if names of the kernel are missing because the kernel hides them (all zero, or no
 * access), because the recording is of another kernel or boot, or because a vmlinux is not of that kernel. False also
 * if no kernel address was looked up, or if all have names.
 * @why: out: a line with the setting, read now, that hides them, or with an option to give instead
 */
bool symbols_kernel_hidden(const struct symbols *s, struct err *why);

/**
 * symbols_kernel_withheld() - true if frames of the kernel have no names because the code at their addresses may not be
 * the code that was sampled. @why: out: a line with the cause.
 */
bool symbols_kernel_withheld(const struct symbols *s, struct err *why);

/**
 * symbols_kernel_reused() - number of BPF programs and the like without a name because others had their addresses, too.
 */
size_t symbols_kernel_reused(const struct symbols *s);

/**
 * symbols_skipped() - true if files were not read, or not as a whole, because a limit of ours or of the host was met,
 * or because of a fault (see faults.h).
 * @why: out: a line with the limit that was met first, and the number of files. A file counts once in a report; the
 * number is that of the report that left out the most.
 */
bool symbols_skipped(const struct symbols *s, struct err *why);

/**
 * symbols_mismatched() - number of files at the path of a mapping that are not the mapped ones (a package may have been
 * upgraded), while the mapped ones could not be found. They have no names.
 */
size_t symbols_mismatched(const struct symbols *s);

#endif
