// SPDX-License-Identifier: Apache-2.0
#include "core/files/copied_code.h"

#include "core/arch/arch.h"
#include "core/files/elf_file.h"
#include "core/files/open_files.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PROBES 16  /* places in each piece, at equal distances, that are compared */
#define BYTES  256 /* bytes that are compared at each place */

static uint64_t page_below(uint64_t addr)
{
	return addr & ~(ARCH_PAGE - 1);
}

/* The @len bytes of the process from @addr on, and those of the file from @offset on. */
struct probe {
	const struct mapped_files_cfg *cfg;
	pid_t pid;
	struct elf_file *file;
	uint64_t addr, offset, len;
};

/* Return: 1: they are equal, and not all zero; 0: they are equal, and zero; -ESTALE: they differ; -errno. */
static int compare(const struct probe *p)
{
	static const unsigned char zero[BYTES];
	unsigned char memory[BYTES], code[BYTES];
	int rc = open_files_memory(p->cfg->open_files, p->pid, p->addr, memory, p->len);

	if (!rc)
		rc = file_bytes_read(&p->file->bytes, p->offset, code, p->len);
	if (rc)
		return rc;
	if (memcmp(memory, code, p->len))
		return -ESTALE;
	return memcmp(code, zero, p->len) != 0;
}

/*
 * Compare the code of @seg, from its byte @from to @to, with the memory at @base->addr of the process. Zeros prove
 * nothing: a program may leave out code that it does not need. Return: as compare().
 */
static int has_code(const struct probe *base, const struct elf_segment *seg, uint64_t from, uint64_t to)
{
	uint64_t step = (to - from) / PROBES, i;
	int rc, proved = 0;

	for (i = 0; i < PROBES; i++) {
		struct probe p = *base;
		uint64_t at = from + i * step;

		if (i && !step)
			break;
		p.addr += at - from;
		p.offset = seg->offset + at;
		p.len = to - at < BYTES ? to - at : BYTES;
		rc = compare(&p);
		if (rc < 0)
			return rc;
		proved |= rc;
	}
	return proved;
}

/*
 * Find the part of @m that has the code of @seg. Return: 1 and *@out; 0: there is none; -errno.
 * @bias: an address in the process minus the address of the same byte in the file's program headers
 */
static int find_piece(const struct probe *base, const struct mapping *m, const struct elf_segment *seg, uint64_t bias,
		      struct mapping *out)
{
	uint64_t start = bias + page_below(seg->vaddr), end = bias + page_below(seg->vaddr + seg->size + ARCH_PAGE - 1);
	uint64_t code = bias + seg->vaddr, code_end = code + seg->size;
	struct probe p = *base;
	int rc;

	if (!(seg->flags & PF_X) || start >= end || m->start >= end || m->end <= start)
		return 0;
	start = start < m->start ? m->start : start;
	end = end > m->end ? m->end : end;
	code = code < start ? start : code;
	code_end = code_end > end ? end : code_end;
	if (code >= code_end)
		return 0;
	p.addr = code;
	rc = has_code(&p, seg, code - bias - seg->vaddr, code_end - bias - seg->vaddr);
	if (rc <= 0)
		return rc == -ESTALE ? 0 : rc;
	out->start = start;
	out->end = end;
	out->pgoff = page_below(seg->offset) + (start - bias - page_below(seg->vaddr));
	return 1;
}

/* The same for all segments of the file. Return: the number of pieces; -errno. */
static int find_pieces(const struct probe *base, const struct mapping *m, uint64_t bias, struct mapping *pieces,
		       size_t max)
{
	size_t nr = 0;
	unsigned int i;
	int rc;

	for (i = 0; i < base->file->nr_segments && nr < max; i++) {
		rc = find_piece(base, m, &base->file->segments[i], bias, &pieces[nr]);
		if (rc < 0)
			return rc;
		if (rc && nr && pieces[nr - 1].end > pieces[nr].start)
			continue; /* segments that share a page, or are not in order */
		nr += (size_t)rc;
	}
	return (int)nr;
}

/* Return true if @near maps a page of @seg. Segments may share a page of the file. @bias: out */
static bool shows(const struct mapping *near, const struct elf_segment *seg, uint64_t *bias)
{
	uint64_t first = page_below(seg->offset);

	if (near->pgoff < first || near->pgoff >= seg->offset + seg->size)
		return false;
	*bias = near->start - (near->pgoff - first) - page_below(seg->vaddr);
	return true;
}

int copied_code_find(const struct mapped_files_cfg *cfg, pid_t pid, const struct mapping *m, const struct mapping *near,
		     struct mapping *pieces, size_t max)
{
	struct elf_file file = ELF_FILE_NONE;
	const struct probe base = { .cfg = cfg, .pid = pid, .file = &file };
	uint64_t bias, tried = 1; /* no bias: it is not a multiple of a page */
	unsigned int i;
	size_t k;
	int fd, rc = 0;

	if (!cfg->open_files)
		return -ENOTSUP;
	fd = mapped_file_open(cfg, pid, near->file);
	if (fd < 0)
		return fd;
	rc = elf_file_open(&file, fd);
	close(fd);
	if (rc)
		return rc == -ENOEXEC || rc == -EINVAL ? 0 : rc;
	for (i = 0; i < file.nr_segments && !rc; i++) {
		if (!shows(near, &file.segments[i], &bias) || bias == tried)
			continue;
		tried = bias;
		rc = find_pieces(&base, m, bias, pieces, max);
	}
	for (k = 0; rc > 0 && k < (size_t)rc; k++)
		pieces[k].file = near->file;
	elf_file_release(&file);
	return rc;
}
