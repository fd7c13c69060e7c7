// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/lines_sections.h"

#include "core/base/err.h"
#include "core/files/elf_inflate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* True if libdw reads this section for lines_dwarf.c. Other sections may be large. */
static bool is_read(const char *name)
{
	static const char *const read[] = { ".debug_info",    ".debug_types",    ".debug_abbrev",     ".debug_line",
					    ".debug_str",     ".debug_ranges",   ".debug_line_str",   ".debug_addr",
					    ".debug_aranges", ".debug_rnglists", ".debug_str_offsets" };
	size_t i;

	for (i = 0; name && i < ARRAY_SIZE(read); i++)
		if (!strcmp(name, read[i]))
			return true;
	return false;
}

/*
 * Return the compression method of @scn; 0: it is not compressed, is damaged, or is not needed.
 * @sh,@ch: out: its headers
 */
static unsigned int method_of(Elf *elf, size_t names, Elf_Scn *scn, GElf_Shdr *sh, GElf_Chdr *ch)
{
	if (!gelf_getshdr(scn, sh) || !(sh->sh_flags & SHF_COMPRESSED) || !is_read(elf_strptr(elf, names, sh->sh_name)))
		return 0;
	return gelf_getchdr(scn, ch) ? ch->ch_type : 0;
}

/* True if libdw may be unable to read a section. It can read zlib. */
static bool has_others(Elf *elf, size_t names)
{
	Elf_Scn *scn = NULL;
	unsigned int method;
	GElf_Shdr sh;
	GElf_Chdr ch;

	while ((scn = elf_nextscn(elf, scn))) {
		method = method_of(elf, names, scn, &sh, &ch);
		if (method && method != ELFCOMPRESS_ZLIB)
			return true;
	}
	return false;
}

/* Make the @size bytes at @bytes the contents of @scn, for elf_getdata(3) and elf_rawdata(3): libdw uses either. */
static int replace(Elf_Scn *scn, GElf_Shdr *sh, void *bytes, size_t size)
{
	Elf_Data *data = elf_getdata(scn, NULL), *raw = elf_rawdata(scn, NULL);

	if (!data || !raw)
		return -ENOEXEC;
	data->d_buf = raw->d_buf = bytes;
	data->d_size = raw->d_size = size;
	data->d_type = raw->d_type = ELF_T_BYTE;
	sh->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	sh->sh_size = size;
	return gelf_update_shdr(scn, sh) ? 0 : -ENOEXEC;
}

static int inflate_zstd(Elf *elf, Elf_Scn *scn, GElf_Shdr *sh, const GElf_Chdr *ch, struct lines_sections *s)
{
	size_t header = gelf_fsize(elf, ELF_T_CHDR, 1, EV_CURRENT);
	Elf_Data *raw = elf_rawdata(scn, NULL);
	char *bytes;
	int rc;

	if (s->nr == LINES_SECTIONS_MAX || !raw || !raw->d_buf || raw->d_size < header)
		return -ENOEXEC;
	rc = elf_inflate_zstd((char *)raw->d_buf + header, raw->d_size - header, ch->ch_size, &bytes);
	if (rc)
		return rc == -EBADMSG ? -ENOEXEC : rc;
	s->v[s->nr++] = bytes;
	return replace(scn, sh, bytes, ch->ch_size);
}

static int inflate_all(Elf *elf, size_t names, struct lines_sections *s)
{
	Elf_Scn *scn = NULL;
	unsigned int method;
	GElf_Shdr sh;
	GElf_Chdr ch;
	int rc = 0;

	while (!rc && (scn = elf_nextscn(elf, scn))) {
		method = method_of(elf, names, scn, &sh, &ch);
		if (!method || method == ELFCOMPRESS_ZLIB)
			continue;
		rc = method == ELFCOMPRESS_ZSTD ? inflate_zstd(elf, scn, &sh, &ch, s) : -ENOTSUP;
		/* A newer libelf may know more methods. */
		if (rc == -ENOTSUP && elf_compress(scn, 0, 0) > 0)
			rc = 0;
	}
	return rc;
}

int lines_sections_open(int fd, struct lines_sections *s, Elf **out)
{
	Elf *elf;
	size_t names;
	int rc = 0;

	*s = (struct lines_sections){ 0 };
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		rc = -ENOEXEC;
	if (!rc && !elf_getshdrstrndx(elf, &names) && has_others(elf, names)) {
		/* gelf_update_shdr() may write to the headers in the mapping, so the mapping must be writable. */
		elf_end(elf);
		elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
		rc = elf ? inflate_all(elf, names, s) : -ENOMEM;
	}
	if (rc) {
		elf_end(elf);
		lines_sections_release(s);
	} else {
		*out = elf;
	}
	return rc;
}

void lines_sections_release(struct lines_sections *s)
{
	while (s->nr)
		free(s->v[--s->nr]);
}
