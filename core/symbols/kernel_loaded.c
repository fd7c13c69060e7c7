// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/kernel_loaded.h"

#include "core/base/begins.h"
#include "core/host/host.h"
#include "core/symbols/kernel_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULES_BYTES (1U << 20) /* of /proc/modules; a distribution kernel's has some 20 KiB */

struct kernel_loaded {
	const struct host *host;
	char *began, *now;            /* /proc/modules; NULL: it was not read */
	bool programs;                /* compare BPF programs, too, with @kallsyms */
	struct kernel_file *kallsyms; /* as it was when sampling began; NULL: it was not read */
};

struct kernel_loaded *kernel_loaded_new(const struct host *host)
{
	struct kernel_loaded *kl = calloc(1, sizeof(*kl));

	if (kl)
		kl->host = host;
	return kl;
}

void kernel_loaded_free(struct kernel_loaded *kl)
{
	if (!kl)
		return;
	kernel_file_free(kl->kallsyms);
	free(kl->began);
	free(kl->now);
	free(kl);
}

bool kernel_symbol_made(const struct kernel_symbol *s)
{
	return !strcmp(s->module, "bpf") || begins(s->module, "__builtin__");
}

/* NULL: it cannot be read as a whole. */
static char *read_modules(const struct kernel_loaded *kl)
{
	char *text = malloc(MODULES_BYTES), *fits;
	ssize_t len = text ? host_read(kl->host->proc, "modules", text, MODULES_BYTES) : -ENOMEM;

	if (len < 0 || len == MODULES_BYTES - 1) {
		free(text);
		return NULL;
	}
	fits = realloc(text, (size_t)len + 1);
	return fits ? fits : text;
}

/* Without net.core.bpf_jit_kallsyms, the kernel lists no BPF program (since 4.11). */
static bool lists_programs(const struct kernel_loaded *kl)
{
	long long v;

	return !host_setting(kl->host, "net/core/bpf_jit_kallsyms", &v) && v > 0;
}

static void read_programs(struct kernel_loaded *kl)
{
	struct kernel_symbol unused;
	char path[PATH_MAX];

	if (!lists_programs(kl) || snprintf(path, sizeof(path), "%s/kallsyms", kl->host->proc) >= (int)sizeof(path) ||
	    kernel_file_open(path, false, &kl->kallsyms))
		return;
	/* No symbol has this address. Looking it up reads everything behind the kernel's text. */
	if (kernel_file_shows(kl->kallsyms))
		kernel_file_find(kl->kallsyms, UINT64_MAX, &unused);
}

void kernel_loaded_begin(struct kernel_loaded *kl, bool programs)
{
	kl->began = read_modules(kl);
	kl->programs = programs;
	if (programs)
		read_programs(kl);
}

/* The line of @module: "name size references users state address". NULL: there is none. */
static const char *find_module(const char *text, const char *module)
{
	size_t len = strlen(module);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, module, len) && text[len] == ' ')
			return text;
	}
	return NULL;
}

/* The address is the last word with "0x": a module that taints the kernel has " (OE)" behind it. */
static uint64_t address_of(const char *line)
{
	const char *at = line + strcspn(line, "\n");

	while (at > line && strncmp(at, " 0x", 3) != 0)
		at--;
	return strtoull(at + 1, NULL, 16);
}

static uint64_t size_of(const char *line)
{
	return strtoull(line + strcspn(line, " "), NULL, 10);
}

/* Compare two lines of one module: the size, and the address if the kernel shows it. */
static bool same_module(const char *a, const char *b)
{
	return size_of(a) == size_of(b) && address_of(a) == address_of(b);
}

static bool module_stayed(struct kernel_loaded *kl, const char *module)
{
	const char *began, *now;

	if (!kl->began)
		return true;
	if (!kl->now)
		kl->now = read_modules(kl);
	if (!kl->now)
		return true;
	began = find_module(kl->began, module);
	now = find_module(kl->now, module);
	return began && now && same_module(began, now);
}

static bool program_stayed(struct kernel_loaded *kl, const struct kernel_symbol *s)
{
	struct kernel_symbol began;

	if (!kl->programs)
		return true;
	return kl->kallsyms && kernel_file_find(kl->kallsyms, s->start, &began) && began.start == s->start &&
	       !strcmp(began.name, s->name);
}

bool kernel_loaded_stayed(struct kernel_loaded *kl, const struct kernel_symbol *s)
{
	if (!strcmp(s->module, "kernel"))
		return true;
	return kernel_symbol_made(s) ? program_stayed(kl, s) : module_stayed(kl, s->module);
}

void kernel_loaded_renew(struct kernel_loaded *kl)
{
	if (!kl->now)
		return;
	free(kl->began);
	kl->began = kl->now;
	kl->now = NULL;
}
