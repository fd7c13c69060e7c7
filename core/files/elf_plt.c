// SPDX-License-Identifier: Apache-2.0
#include "core/files/elf_plt.h"

#include "core/arch/arch.h"
#include "core/base/faults.h"
#include "core/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX (1u << 18) /* of all tables of a file; libLLVM has 500 */
#define RELAS_MAX   (4u << 20) /* of one section; libLLVM has 350,000 */

struct reader {
	const struct elf_file *f;
	const struct elf_plt_sections *p;
	struct elf_plt_entry *v;
	size_t nr, cap;
	size_t nr_known;
};

void elf_plt_note(struct elf_plt_sections *p, const struct elf_file *f, const Elf64_Shdr *sh, const char *name)
{
	static const char *const tables[ELF_PLT_SECTIONS] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	struct elf_extent e = { sh->sh_addr, sh->sh_offset, sh->sh_size };
	size_t i;

	if (f->machine != ARCH_ELF_MACHINE || f->class != ELFCLASS64 || !(sh->sh_flags & SHF_ALLOC) ||
	    !elf_section_readable(f, sh) || e.size > UINT64_MAX - e.addr)
		return;
	if (sh->sh_type == SHT_RELA && p->nr_relas < ELF_PLT_RELAS)
		p->relas[p->nr_relas++] = e;
	if (sh->sh_type != SHT_PROGBITS || !(sh->sh_flags & SHF_EXECINSTR))
		return;
	for (i = 0; i < ELF_PLT_SECTIONS && p->nr_stubs < ELF_PLT_SECTIONS; i++)
		if (!strcmp(name, tables[i]))
			p->stubs[p->nr_stubs++] = e;
}

bool elf_plt_covers(const struct elf_plt_sections *p, uint64_t addr)
{
	unsigned int i;

	for (i = 0; i < p->nr_stubs; i++)
		if (addr >= p->stubs[i].addr && addr - p->stubs[i].addr < p->stubs[i].size)
			return true;
	return false;
}

static int add_entry(struct reader *r, const struct elf_plt_entry *e)
{
	struct elf_plt_entry *v = grow(r->v, &r->cap, r->nr, 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	r->v = v;
	v[r->nr++] = *e;
	return 0;
}

/* The entries in @len bytes of a table, from @addr on. */
static int decode_all(struct reader *r, const unsigned char *code, size_t len, uint64_t addr)
{
	struct elf_plt_entry e = { 0 };
	uint32_t size;
	size_t at;
	int rc = 0;

	for (at = 0; !rc && at < len && r->nr < ENTRIES_MAX; at += size) {
		e.addr = addr + at;
		if (!arch_plt_decode(code + at, len - at, e.addr, &size, &e.slot))
			continue;
		e.len = size < len - at ? size : (uint32_t)(len - at);
		rc = add_entry(r, &e);
	}
	return rc;
}

static int read_stubs(struct reader *r, const struct elf_extent *table)
{
	const uint64_t most = ENTRIES_MAX * ARCH_PLT_ENTRY_MAX;
	uint64_t size = table->size < most ? table->size : most, at;
	unsigned char code[1024 * ARCH_PLT_ENTRY_MAX];
	int rc = 0;

	for (at = 0; !rc && at < size; at += sizeof(code)) {
		size_t len = size - at < sizeof(code) ? (size_t)(size - at) : sizeof(code);

		rc = file_bytes_read(&r->f->bytes, table->offset + at, code, len);
		if (!rc)
			rc = decode_all(r, code, len, table->addr + at);
	}
	return rc;
}

#define BY(field)                                                                                                      \
	static int by_##field(const void *va, const void *vb)                                                          \
	{                                                                                                              \
		const struct elf_plt_entry *a = va, *b = vb;                                                           \
                                                                                                                       \
		return (a->field > b->field) - (a->field < b->field);                                                  \
	}

BY(addr)
BY(slot)
BY(symbol)

/* Entries are sorted by slot. Return the first that jumps through @slot; NULL: none. */
static struct elf_plt_entry *first_of_slot(const struct reader *r, uint64_t slot)
{
	size_t lo = 0, hi = r->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->v[mid].slot < slot)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < r->nr && r->v[lo].slot == slot ? &r->v[lo] : NULL;
}

/* The first relocation of a slot counts. So each entry is visited once, however often the file fills one slot. */
static void fill_slot(struct reader *r, const Elf64_Rela *rela)
{
	uint32_t type = (uint32_t)ELF64_R_TYPE(rela->r_info);
	struct elf_plt_entry *e;

	if (type != ARCH_ELF_JUMP_SLOT && type != ARCH_ELF_GLOB_DAT && type != ARCH_ELF_IRELATIVE)
		return;
	e = first_of_slot(r, rela->r_offset);
	if (!e || e->known)
		return;
	for (; e < r->v + r->nr && e->slot == rela->r_offset; e++) {
		if (type == ARCH_ELF_IRELATIVE)
			e->resolver = (uint64_t)rela->r_addend;
		else
			e->symbol = (uint32_t)ELF64_R_SYM(rela->r_info);
		e->known = true;
		r->nr_known++;
	}
}

/* Read the sections from the last one, .rela.plt: the others before it are large and have few slots of entries. */
static void fill_slots(struct reader *r, struct elf_table *t)
{
	unsigned int i;
	const void *p;
	Elf64_Rela rela;

	qsort(r->v, r->nr, sizeof(*r->v), by_slot);
	for (i = r->p->nr_relas; i-- > 0 && r->nr_known < r->nr;) {
		uint64_t nr = r->p->relas[i].size / sizeof(rela);

		elf_table_init(t, &r->f->bytes, sizeof(rela), r->p->relas[i].offset, nr < RELAS_MAX ? nr : RELAS_MAX);
		while ((p = elf_table_next(t))) {
			memcpy(&rela, p, sizeof(rela));
			fill_slot(r, &rela);
		}
	}
}

/* In the order of the symbol table, so that each part of it is read once. */
static void find_names(struct reader *r, struct elf_table *t)
{
	const void *p;
	size_t i;

	qsort(r->v, r->nr, sizeof(*r->v), by_symbol);
	elf_table_init(t, &r->f->bytes, sizeof(Elf64_Sym), r->p->symbols, r->p->nr_symbols);
	for (i = 0; i < r->nr; i++) {
		p = r->v[i].symbol ? elf_table_at(t, r->v[i].symbol) : NULL;
		if (p)
			r->v[i].name = elf_symbol_of(r->f, p).st_name;
	}
}

/* Keep the entries that have a name or a resolver. Sections may overlap: the first entry wins. */
static void keep_named(struct reader *r)
{
	uint64_t end = 0;
	size_t i, nr = 0;

	qsort(r->v, r->nr, sizeof(*r->v), by_addr);
	for (i = 0; i < r->nr; i++) {
		const struct elf_plt_entry *e = &r->v[i];

		if ((!e->name && !e->resolver) || e->addr < end)
			continue;
		end = e->addr + e->len;
		r->v[nr++] = *e;
	}
	r->nr = nr;
}

int elf_plt_read(const struct elf_file *f, const struct elf_plt_sections *p, struct elf_plt_entry **out, size_t *nr)
{
	struct elf_table *t = malloc(sizeof(*t));
	struct reader r = { .f = f, .p = p };
	int rc = t ? 0 : fault(-ENOMEM);
	unsigned int i;

	for (i = 0; !rc && i < p->nr_stubs; i++)
		rc = read_stubs(&r, &p->stubs[i]);
	if (!rc && r.nr) {
		fill_slots(&r, t);
		find_names(&r, t);
		keep_named(&r);
	}
	free(t);
	if (rc) {
		free(r.v);
		return rc;
	}
	*out = r.v;
	*nr = r.nr;
	return 0;
}
