// SPDX-License-Identifier: Apache-2.0
#include "unwind/rules.h"

#include "core/arch/arch.h"
#include "core/base/faults.h"
#include "unwind/cursor.h"
#include "unwind/expr.h"
#include "unwind/rules_records.h"
#include "unwind/rules_rows.h"

#include <errno.h>
#include <stdlib.h>

#define TABLE_FORMAT 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4: what linkers write */
#define HDR_BYTES    20   /* limit on the part of .eh_frame_hdr in front of its table */
#define ULEB_BYTES   10   /* of a number with 64 bits */

/* A file, and its .debug_frame; sh_size 0: it has none. @gnu: the section has the name .zdebug_frame. */
struct rules_file {
	struct elf_file elf;
	Elf64_Shdr debug_frame;
	bool gnu;
};

/*
 * @debug: the debug file of @file, used if @file has no readable .debug_frame; not open: there is none
 * @eh_frame: the section of @file; sh_size 0: it has none
 * @hdr: .eh_frame_hdr; empty: there is none
 * @table: its table of @nr_table entries; 0: @eh is searched by its index
 * @eh_known: @eh and @table are set; @frame_known: @frame is
 * @code: the source of rules for code in no file; @eh is its last result. @code.frames NULL: the rules are of a file
 * @serial: see rules_serial()
 */
struct rules {
	struct rules_code code;
	struct rules_file file, debug;
	Elf64_Shdr eh_frame;
	struct extent hdr, table;
	uint64_t nr_table;
	struct records eh, frame;
	bool eh_known, frame_known;
	struct rules_rows rows;
	uint64_t serial;
};

/* An entry of the search table; both members are offsets from the beginning of .eh_frame_hdr. */
struct table_entry {
	int32_t start, record;
};

static bool is_supported(const struct elf_file *f)
{
	return f->class == ELFCLASS64 && f->machine == ARCH_ELF_MACHINE && (f->type == ET_EXEC || f->type == ET_DYN);
}

/* @out: the segment with the byte at @addr, from there on. False: none. */
static bool loaded_from(struct elf_file *f, uint64_t addr, struct extent *out)
{
	*out = (struct extent){ .addr = addr, .file = &f->bytes };
	return elf_file_loaded(f, addr, &out->offset, &out->size);
}

/* A missing section has size 0; only other failures are returned. */
static int find_section(struct elf_file *f, const char *name, Elf64_Shdr *out)
{
	int rc = elf_section_find(f, name, out);

	return rc == -ENOENT ? 0 : rc;
}

static int find_debug_frame(struct rules_file *f)
{
	int rc = find_section(&f->elf, ".debug_frame", &f->debug_frame);

	if (rc || f->debug_frame.sh_size)
		return rc;
	f->gnu = true;
	return find_section(&f->elf, ".zdebug_frame", &f->debug_frame);
}

/* If @debug cannot be used, there are fewer rules. */
static void use_debug(struct rules *r, const struct elf_file *debug)
{
	r->debug.elf = *debug;
	if (!is_supported(debug) || find_debug_frame(&r->debug))
		elf_file_release(&r->debug.elf);
	elf_file_drop_sections(&r->debug.elf);
}

static int use_file(struct rules *r, const struct elf_file *file)
{
	struct elf_file *f = &r->file.elf;
	int rc;

	*f = *file;
	if (!is_supported(f))
		return -ENOEXEC;
	rc = find_section(f, ".eh_frame", &r->eh_frame);
	if (!rc)
		rc = find_debug_frame(&r->file);
	elf_file_drop_sections(f);
	/* Find .eh_frame_hdr by its address, as an unwinder in the process does. */
	if (f->eh_frame_hdr.size && loaded_from(f, f->eh_frame_hdr.vaddr, &r->hdr) &&
	    r->hdr.size > f->eh_frame_hdr.size)
		r->hdr.size = f->eh_frame_hdr.size;
	/* If the section names cannot be read, .eh_frame_hdr alone is enough. */
	return r->hdr.size && rc != -ENOMEM ? 0 : rc;
}

int rules_open(struct elf_file *file, struct elf_file *debug, struct rules **out)
{
	static _Atomic uint64_t last_serial;
	struct rules *r = calloc(1, sizeof(*r));
	int rc;

	if (!r) {
		elf_file_release(file);
		elf_file_release(debug);
		return fault(-ENOMEM);
	}
	r->serial = ++last_serial;
	r->eh.section = CFI_EH_FRAME;
	r->frame.section = CFI_DEBUG_FRAME;
	use_debug(r, debug);
	rc = use_file(r, file);
	if (rc)
		rules_close(r);
	else
		*out = r;
	return rc;
}

int rules_open_code(const struct rules_code *code, struct rules **out)
{
	struct rules *r = calloc(1, sizeof(*r));

	if (!r)
		return fault(-ENOMEM);
	r->code = *code;
	r->file.elf = r->debug.elf = ELF_FILE_NONE;
	*out = r;
	return 0;
}

bool rules_of_code(const struct rules *r)
{
	return r->code.frames;
}

void rules_forget(struct rules *r)
{
	rules_rows_release(&r->rows);
	r->rows = (struct rules_rows){ 0 };
}

void rules_close(struct rules *r)
{
	if (!r)
		return;
	records_release(&r->eh);
	records_release(&r->frame);
	rules_rows_release(&r->rows);
	elf_file_release(&r->file.elf);
	elf_file_release(&r->debug.elf);
	free(r);
}

size_t rules_memory(const struct rules *r)
{
	return sizeof(*r) + file_bytes_memory(&r->file.elf.bytes) + file_bytes_memory(&r->debug.elf.bytes) +
	       records_memory(&r->eh) + records_memory(&r->frame) + rules_rows_memory(&r->rows);
}

bool rules_address(const struct rules *r, uint64_t offset, uint64_t *addr)
{
	return elf_file_address(&r->file.elf, offset, addr);
}

/* Read one of the numbers in front of the table. Return: bytes, or -errno. */
static int hdr_number(const uint8_t *hdr, size_t len, size_t at, uint8_t encoding, uint64_t base, uint64_t *value)
{
	if (encoding == CFI_PE_OMIT)
		return -ENOTSUP;
	return cfi_pointer(hdr + at, len - at, encoding, base + at, base, value);
}

/* Use .eh_frame_hdr to find the segment with .eh_frame, and the search table if we can read its format. */
static int read_hdr(struct rules *r)
{
	const struct extent *hdr = &r->hdr;
	size_t len = hdr->size < HDR_BYTES ? (size_t)hdr->size : HDR_BYTES, at = 4;
	uint8_t bytes[HDR_BYTES];
	uint64_t frames, nr;
	int rc;

	if (len < at)
		return -ENOENT;
	rc = extent_read(hdr, hdr->addr, bytes, len);
	if (rc)
		return rc;
	if (bytes[0] != 1)
		return -ENOTSUP;
	rc = hdr_number(bytes, len, at, bytes[1], hdr->addr, &frames);
	if (rc < 0)
		return rc;
	at += (size_t)rc;
	if (!loaded_from(&r->file.elf, frames, &r->eh.bytes))
		return -EBADMSG;
	r->eh.data_base = hdr->addr;
	if (bytes[3] != TABLE_FORMAT)
		return 0;
	rc = hdr_number(bytes, len, at, bytes[2], hdr->addr, &nr);
	if (rc < 0 || !extent_from(hdr, hdr->addr + at + (size_t)rc, &r->table))
		return 0;
	r->nr_table = nr <= r->table.size / sizeof(struct table_entry) ? nr : 0;
	return 0;
}

static struct extent section_extent(struct elf_file *f, const Elf64_Shdr *sh)
{
	return (struct extent){ sh->sh_addr, sh->sh_size, &f->bytes, sh->sh_offset, NULL };
}

/* Use the section header of .eh_frame if no .eh_frame_hdr leads to the records. */
static void use_eh_section(struct rules *r)
{
	const Elf64_Shdr *sh = &r->eh_frame;

	/* Loaded sections are not compressed. */
	if (!(sh->sh_flags & SHF_COMPRESSED) && sh->sh_size <= UINT64_MAX - sh->sh_addr)
		r->eh.bytes = section_extent(&r->file.elf, sh);
}

/* Return: 1 and *@at; 0: no entry; -errno. */
static int search_table(struct rules *r, uint64_t addr, uint64_t *at)
{
	uint64_t lo = 0, hi = r->nr_table, mid, base = r->hdr.addr;
	struct table_entry e;
	int rc;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		rc = extent_read(&r->table, r->table.addr + mid * sizeof(e), &e, sizeof(e));
		if (rc)
			return rc;
		if (base + (uint64_t)e.start <= addr) {
			lo = mid + 1;
			*at = base + (uint64_t)e.record;
		} else {
			hi = mid;
		}
	}
	return lo != 0;
}

/* Go to the records of the code at @addr. Return: 1; 0: it has none; -errno. */
static int use_code(struct rules *r, uint64_t addr)
{
	extent_release(&r->eh.bytes);
	r->eh.have_cie = false;
	return r->code.frames(r->code.ctx, addr, &r->eh.bytes, &r->eh.data_base);
}

static int code_row(struct rules *r, uint64_t addr, struct cfi_row *row)
{
	int rc = use_code(r, addr);

	return rc > 0 ? records_scan(&r->eh, addr, row) : rc;
}

static int find_eh(struct rules *r)
{
	int rc;

	if (r->eh_known)
		return 0;
	rc = read_hdr(r);
	/* Other failures may be temporary: try again at the next call. */
	if (rc && rc != -ENOENT && rc != -ENOTSUP && rc != -EBADMSG && rc != -ENOEXEC)
		return rc;
	if (rc)
		use_eh_section(r);
	r->eh_known = true;
	return 0;
}

/* Find the record of .eh_frame that may be about @addr. Return: as records_search() */
static int search_eh(struct rules *r, uint64_t addr, uint64_t *at)
{
	int rc = find_eh(r);

	if (rc)
		return rc;
	return r->nr_table ? search_table(r, addr, at) : records_search(&r->eh, addr, at);
}

static int eh_row(struct rules *r, uint64_t addr, struct cfi_row *row)
{
	uint64_t at;
	int rc;

	if (rules_of_code(r))
		return code_row(r, addr, row);
	rc = search_eh(r, addr, &at);
	return rc > 0 ? records_row(&r->eh, at, addr, row) : rc;
}

static bool read_debug_frame(struct rules_file *from, struct extent *out)
{
	*out = section_extent(&from->elf, &from->debug_frame);
	out->addr = 0; /* records refer to each other by offsets */
	if (out->size &&
	    ((!from->gnu && !(from->debug_frame.sh_flags & SHF_COMPRESSED)) || !extent_inflate(out, from->gnu)))
		return true;
	*out = (struct extent){ 0 };
	return false;
}

/* As search_eh(), for .debug_frame. If it cannot be read, go on without it: most files have none. */
static bool search_frame(struct rules *r, uint64_t addr, uint64_t *at)
{
	if (!r->frame_known && !read_debug_frame(&r->file, &r->frame.bytes))
		read_debug_frame(&r->debug, &r->frame.bytes);
	r->frame_known = true;
	return records_search(&r->frame, addr, at) > 0;
}

static int frame_row(struct rules *r, uint64_t addr, struct cfi_row *row)
{
	uint64_t at;

	return search_frame(r, addr, &at) ? records_row(&r->frame, at, addr, row) : 0;
}

int rules_find(struct rules *r, uint64_t addr, const struct cfi_row **out)
{
	const struct rules_row *known = rules_rows_find(&r->rows, addr);
	struct cfi_row row;
	int rc;

	if (!known) {
		rc = eh_row(r, addr, &row);
		if (!rc)
			rc = frame_row(r, addr, &row);
		/* Other failures may be temporary: do not remember them. */
		if (rc < 0 && rc != -EBADMSG && rc != -ENOTSUP)
			return rc;
		known = rules_rows_add(&r->rows, addr, rc, &row);
		if (!known)
			return -ENOMEM;
	}
	if (known->rc > 0)
		*out = &known->row;
	return known->rc;
}

int rules_function(struct rules *r, uint64_t addr, uint64_t *start)
{
	uint64_t at;
	int rc = search_eh(r, addr, &at);

	if (rc > 0)
		rc = records_function(&r->eh, at, addr, start);
	if (rc || !search_frame(r, addr, &at))
		return rc;
	return records_function(&r->frame, at, addr, start);
}

/* Return: as rules_begun(). @start: in and out: the higher one */
static int begun_in(struct records *records, uint64_t at, uint64_t *start)
{
	struct cfi_fde fde;
	uint64_t size;
	int rc = records_fde(records, at, &fde, &size);

	if (rc)
		return rc;
	if (fde.start > *start)
		*start = fde.start;
	return 1;
}

int rules_begun(struct rules *r, uint64_t addr, uint64_t *start)
{
	uint64_t at;
	int rc = search_eh(r, addr, &at);

	*start = 0;
	if (rc > 0)
		rc = begun_in(&r->eh, at, start);
	if (rc < 0 || !search_frame(r, addr, &at))
		return rc;
	return begun_in(&r->frame, at, start);
}

bool rules_entry(struct rules *r, uint64_t addr)
{
	const struct cfi_row *row;

	return rules_find(r, addr, &row) > 0 && row->how[row->return_reg] == CFI_UNDEFINED;
}

uint64_t rules_work(const struct rules *r)
{
	return r->eh.work + r->frame.work;
}

static int read_expr(const struct extent *e, uint64_t at, uint8_t *buf)
{
	uint64_t left = extent_left(e, at), len;
	size_t nr = left < ULEB_BYTES ? (size_t)left : ULEB_BYTES;
	uint8_t bytes[ULEB_BYTES];
	struct cursor c = cursor_new(bytes, bytes + nr, at);
	int rc = nr ? extent_read(e, at, bytes, nr) : -EBADMSG;

	if (rc)
		return rc;
	len = cursor_uleb(&c);
	if (c.bad || len > EXPR_MAX_BYTES || len > left - (cursor_addr(&c) - at))
		return -EBADMSG;
	rc = len ? extent_read(e, cursor_addr(&c), buf, (size_t)len) : 0;
	return rc ? rc : (int)len;
}

int rules_expr(struct rules *r, const struct cfi_row *row, uint64_t at, uint8_t *buf)
{
	/* The records that were used last may be of other code. */
	int rc = rules_of_code(r) ? use_code(r, row->function) : 1;

	if (rc <= 0)
		return rc ? rc : -EBADMSG;
	return read_expr(row->debug_frame ? &r->frame.bytes : &r->eh.bytes, at, buf);
}

int rules_read(struct rules *r, uint64_t addr, void *to, size_t len)
{
	struct elf_file *f = &r->file.elf;
	unsigned int i;

	for (i = 0; i < f->nr_segments; i++) {
		const struct elf_segment *seg = &f->segments[i];
		const struct extent bytes = { seg->vaddr, seg->size, &f->bytes, seg->offset, NULL };

		/* A process may have changed its writable segments. */
		if (!(seg->flags & PF_W) && extent_left(&bytes, addr) >= len)
			return extent_read(&bytes, addr, to, len);
	}
	return -EFAULT;
}

uint64_t rules_serial(const struct rules *r)
{
	return r->serial;
}

void rules_fds(const struct rules *r, int *file, int *debug)
{
	*file = r->file.elf.bytes.fd;
	*debug = r->debug.elf.bytes.fd;
}

int rules_table(struct rules *r, struct rules_table *out)
{
	int rc = find_eh(r);

	*out = (struct rules_table){ r->hdr.addr, r->table.addr, rc ? 0 : r->nr_table };
	return rc;
}

int rules_eh_record(struct rules *r, uint64_t addr, uint64_t *at)
{
	int rc = find_eh(r);

	return rc ? rc : records_search(&r->eh, addr, at);
}

int rules_debug_record(struct rules *r, uint64_t addr, struct cfi_cie *cie, struct cfi_fde *fde)
{
	uint64_t at, size;
	int rc;

	if (!search_frame(r, addr, &at))
		return 0;
	rc = records_fde(&r->frame, at, fde, &size);
	*cie = r->frame.cie;
	return rc ? rc : 1;
}

int rules_read_records(struct rules *r, uint64_t addr, bool any, void *to, size_t len)
{
	struct extent bytes;

	if (extent_left(&r->eh.bytes, addr) >= len)
		return extent_read(&r->eh.bytes, addr, to, len);
	if (any && loaded_from(&r->file.elf, addr, &bytes))
		return extent_read(&bytes, addr, to, len);
	return extent_read(&r->hdr, addr, to, len);
}
