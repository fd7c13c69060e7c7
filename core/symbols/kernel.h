/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own symbols, as /proc/kallsyms lists them: "address type name[\t[module]]" on each line.
 *
 * Text symbols (types t, T, w and W, as in perf) have names; all others only end the text before them. A symbol ends
 * where the next one begins. But if the next one is text of another module, or if there is none, it ends with the page
 * after the one it begins in, as in perf. The reason is that kallsyms has no sizes: otherwise the last function of the
 * kernel would own the gap up to the first module. Not thread safe.
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

/** kernel_address() - true if @addr can be an address of the kernel. */
bool kernel_address(uint64_t addr);

/**
 * kernel_symbols_new(), _feed(), _finish() - read the text from memory, in pieces of any length; kernel_file.h reads
 * files. Lines in another format are skipped.
 * Return: new: NULL without memory; feed, finish: 0, -ENOMEM, or -E2BIG for more symbols than any kernel has. After a
 * failure only kernel_symbols_free() is allowed; nothing is found before _finish().
 */
struct kernel_symbols *kernel_symbols_new(void);
int kernel_symbols_feed(struct kernel_symbols *ks, const char *text, size_t len);
int kernel_symbols_finish(struct kernel_symbols *ks);
void kernel_symbols_free(struct kernel_symbols *ks);

/** kernel_symbols_feed_text() - _feed() up to the line that makes kernel_symbols_text_ended() true. *@used: bytes read.
 */
int kernel_symbols_feed_text(struct kernel_symbols *ks, const char *text, size_t len, size_t *used);

/** kernel_symbols_find() - the symbol @addr is in. Return: true and *@out, which is untouched otherwise. */
bool kernel_symbols_find(const struct kernel_symbols *ks, uint64_t addr, struct kernel_symbol *out);

/** kernel_symbols_text_ended() - true once the kernel's own _etext was read, and _text or _stext at a lower address. */
bool kernel_symbols_text_ended(const struct kernel_symbols *ks);

/** kernel_symbols_text_end() - the address of the kernel's own _etext; 0: not seen. */
uint64_t kernel_symbols_text_end(const struct kernel_symbols *ks);

/**
 * kernel_symbols_in_text() - true if @addr is below _etext, and not below _text (without _text: _stext). Do not call it
 * before kernel_symbols_text_ended() is true.
 */
bool kernel_symbols_in_text(const struct kernel_symbols *ks, uint64_t addr);

/**
 * kernel_symbols_reference() - the address of "_text" or "_stext", which perf records as the kernel's load address.
 * Return: true and *@addr, which is untouched otherwise: not listed, zero, or another @name.
 */
bool kernel_symbols_reference(const struct kernel_symbols *ks, const char *name, uint64_t *addr);

/** kernel_symbols_empty() - true if there was no symbol at all, at any address. */
bool kernel_symbols_empty(const struct kernel_symbols *ks);

/** kernel_symbols_shown() - true if there was a symbol at another address than 0. */
bool kernel_symbols_shown(const struct kernel_symbols *ks);

/** kernel_symbols_zeroed() - true if there were symbols, and all of them at address 0. */
bool kernel_symbols_zeroed(const struct kernel_symbols *ks);

#endif
