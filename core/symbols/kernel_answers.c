// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/kernel_answers.h"

#include "core/base/faults.h"
#include "core/base/intern.h"

#include <stdlib.h>
#include <string.h>

/* If a name leaves open whose code it is, look at addresses on both sides, at twice the distance each time. */
#define LOOK_FROM (64ULL << 10)
#define LOOK_TO   (16ULL << 20)

struct answer {
	uint64_t addr, start;
	char *name;         /* owned; NULL: use /proc/kallsyms */
	const char *module; /* a constant, or in the same memory */
};

static const struct intern_kind answer_kind = INTERN_BYTES(struct answer, addr);

struct kernel_answers {
	const struct used_namer *namer;
	struct intern_table answers;
	/* The kernel proper, which is contiguous, reaches at least from here to there */
	uint64_t proper_low, proper_high;
};

struct kernel_answers *kernel_answers_new(const struct used_namer *namer)
{
	struct kernel_answers *ka = calloc(1, sizeof(*ka));

	if (!ka)
		return NULL;
	ka->namer = namer;
	ka->proper_low = UINT64_MAX;
	return ka;
}

static void forget(struct kernel_answers *ka)
{
	struct answer *v = ka->answers.v;
	size_t i;

	for (i = 0; i < ka->answers.nr; i++)
		free(v[i].name);
	intern_release(&ka->answers);
}

void kernel_answers_free(struct kernel_answers *ka)
{
	if (!ka)
		return;
	forget(ka);
	free(ka);
}

void kernel_answers_renew(struct kernel_answers *ka)
{
	forget(ka);
}

/*
 * bpf_prog_0123456789abcdef_name, bpf_trampoline_6442549100 (kernel/bpf/core.c, trampoline.c): no function of the
 * kernel has such a name.
 */
static bool is_made_by_bpf(const char *name)
{
	static const char program[] = "bpf_prog_", trampoline[] = "bpf_trampoline_";
	size_t digits;

	if (!strncmp(name, program, strlen(program))) {
		name += strlen(program);
		digits = strspn(name, "0123456789abcdef");
		return digits == 16 && (!name[digits] || name[digits] == '_');
	}
	if (strncmp(name, trampoline, strlen(trampoline)) != 0)
		return false;
	name += strlen(trampoline);
	return *name && !name[strspn(name, "0123456789_")];
}

/* Other code that bpf(2) makes has names such as bpf_dispatcher_xdp; functions of the kernel have similar ones. */
static bool may_be_bpf(const char *name)
{
	return !strncmp(name, "bpf_", 4);
}

static bool is_proper(const struct kernel_answers *ka, uint64_t addr)
{
	return addr >= ka->proper_low && addr <= ka->proper_high;
}

static void add_proper(struct kernel_answers *ka, uint64_t addr)
{
	if (addr < ka->proper_low)
		ka->proper_low = addr;
	if (addr > ka->proper_high)
		ka->proper_high = addr;
}

static void look_at(struct kernel_answers *ka, uint64_t addr)
{
	const char *text;

	if (!ka->namer->ops->ask(ka->namer->state, addr, &text) && strstr(text, "+0x") && !strchr(text, ' ') &&
	    !may_be_bpf(text))
		add_proper(ka, addr);
}

/* Return true if the kernel proper is on both sides of @addr: it is contiguous. */
static bool is_inside(struct kernel_answers *ka, uint64_t addr)
{
	uint64_t away;

	for (away = LOOK_FROM; away <= LOOK_TO && !is_proper(ka, addr); away *= 2) {
		look_at(ka, addr - away);
		look_at(ka, addr + away);
	}
	return is_proper(ka, addr);
}

/* The "module" of code that belongs to no module; NULL: unknown. */
static const char *outside_modules(struct kernel_answers *ka, uint64_t addr, const char *name)
{
	if (is_proper(ka, addr))
		return "kernel";
	if (is_made_by_bpf(name))
		return "bpf";
	if (may_be_bpf(name))
		return is_inside(ka, addr) ? "kernel" : NULL;
	add_proper(ka, addr);
	return "kernel";
}

/* "name+0xoffset/0xsize [module]"; the name may have any character but a space. */
static bool read_answer(struct kernel_answers *ka, const char *text, struct answer *a)
{
	const char *space = strchr(text, ' '), *at = NULL, *next;
	size_t len = space ? (size_t)(space - text) : strlen(text), module_len = 0;
	char *end;
	uint64_t offset;

	for (next = strstr(text, "+0x"); next && next < text + len; next = strstr(next + 1, "+0x"))
		at = next;
	if (!at || at == text)
		return false;
	offset = strtoull(at + 1, &end, 16);
	if (*end != '/' || offset > a->addr)
		return false;
	if (space) {
		module_len = strlen(space);
		if (module_len < 4 || space[1] != '[' || space[module_len - 1] != ']')
			return false;
	}
	len = (size_t)(at - text);
	a->start = a->addr - offset;
	a->name = malloc(len + 1 + module_len);
	if (!a->name) {
		fault(-ENOMEM);
		return false;
	}
	memcpy(a->name, text, len);
	a->name[len] = 0;
	if (space) {
		char *module = a->name + len + 1;

		memcpy(module, space + 2, module_len - 3);
		module[module_len - 3] = 0;
		a->module = module;
	} else {
		a->module = outside_modules(ka, a->addr, a->name);
	}
	if (a->module)
		return true;
	free(a->name);
	a->name = NULL;
	return false;
}

static void ask(struct kernel_answers *ka, struct answer *a)
{
	const char *text;

	if (!ka->namer->ops->ask(ka->namer->state, a->addr, &text))
		read_answer(ka, text, a);
}

bool kernel_answers_find(struct kernel_answers *ka, uint64_t addr, struct kernel_symbol *out)
{
	bool is_new;
	struct answer *a = kernel_address(addr) ? intern(&ka->answers, &answer_kind, &addr, &is_new) : NULL;

	if (!a)
		return false;
	if (is_new)
		ask(ka, a);
	if (!a->name)
		return false;
	*out = (struct kernel_symbol){ a->name, a->module, a->start };
	return true;
}
