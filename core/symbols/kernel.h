/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own symbols, as /proc/kallsyms lists them: "address type name[\t[module]]" on each line.
 *
 * Text symbols (types t, T, w and W, as perf takes them) have names; all others only end the text before
 * them. A symbol ends where the next one begins. One that is the last of its module, before another module or
 * before nothing, ends with the page after the one it begins in, as in perf: kallsyms has no sizes, and
 * without this the last function of the kernel would own the gap up to the first module. Not thread safe.
 */
#ifndef CORE_SYMBOLS_KERNEL_H
#define CORE_SYMBOLS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_symbols;

/** struct kernel_symbol - both strings are borrowed until kernel_symbols_free(). */
struct kernel_symbol {
	const char *name;
	const char *module; /* "kernel" for the kernel proper, "bpf" for BPF programs */
	uint64_t start;
};

/** kernel_address() - can this be an address of the kernel? */
bool kernel_address(uint64_t addr);

/**
 * kernel_symbols_new(), _feed(), _finish() - from memory, in pieces cut anywhere; kernel_file.h reads files.
 * Lines that are not as above are skipped.
 * Return: new: NULL without memory; feed: 0, -ENOMEM, or -E2BIG for more symbols than any kernel has. After a
 * failure only kernel_symbols_free() is allowed; nothing is found before _finish().
 */
struct kernel_symbols *kernel_symbols_new(void);
int kernel_symbols_feed(struct kernel_symbols *ks, const char *text, size_t len);
int kernel_symbols_finish(struct kernel_symbols *ks);
void kernel_symbols_free(struct kernel_symbols *ks);

/** kernel_symbols_feed_text() - _feed() up to the line that makes kernel_symbols_text_ended(). *@used: so many bytes.
 */
int kernel_symbols_feed_text(struct kernel_symbols *ks, const char *text, size_t len, size_t *used);

/** kernel_symbols_find() - the symbol @addr is in. Return: true and *@out, which is untouched otherwise. */
bool kernel_symbols_find(const struct kernel_symbols *ks, uint64_t addr, struct kernel_symbol *out);

/** kernel_symbols_text_ended() - has it come to the kernel's own _etext, behind its _text or _stext? */
bool kernel_symbols_text_ended(const struct kernel_symbols *ks);

/** kernel_symbols_text_end() - where its _etext is; 0: not seen. */
uint64_t kernel_symbols_text_end(const struct kernel_symbols *ks);

/** kernel_symbols_in_text() - is @addr between them? */
bool kernel_symbols_in_text(const struct kernel_symbols *ks, uint64_t addr);

/**
 * kernel_symbols_reference() - the address of "_text" or "_stext", by which perf tells where a kernel was loaded.
 * Return: true and *@addr, which is untouched otherwise: not listed, zero, or another @name.
 */
bool kernel_symbols_reference(const struct kernel_symbols *ks, const char *name, uint64_t *addr);

/** kernel_symbols_empty() - was there not one symbol, of any address? */
bool kernel_symbols_empty(const struct kernel_symbols *ks);

/** kernel_symbols_shown() - was there one of another address than 0? */
bool kernel_symbols_shown(const struct kernel_symbols *ks);

/** kernel_symbols_zeroed() - were there symbols, and all of them at address 0? */
bool kernel_symbols_zeroed(const struct kernel_symbols *ks);

#endif
