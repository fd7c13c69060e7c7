// SPDX-License-Identifier: Apache-2.0
/* The process that runs libunwind. A crash ends it, and it frees nothing when it ends. */
#include "unwind/libunwinder_message.h"

#ifdef HAVE_LIBUNWIND

#include "core/base/err.h"
#include "core/files/confine.h"
#include "core/files/vdso.h"
#include "unwind/rules.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define UNW_REMOTE_ONLY
#include <libunwind.h>

/* libunwind exports this function, but its headers do not declare it. */
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
extern int search_unwind_table(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di, unw_proc_info_t *pi, int need,
			       void *arg);

#define MEMORY_MAX (1ull << 30)
#define WORDS      4096 /* size of the cache of words read from files */

/*
 * Addresses that no process has. libunwind reads data there that this file makes for it: a search table with one entry,
 * and a record of .debug_frame in the form of .eh_frame.
 */
#define OWN_ADDR  (1ULL << 62)
#define OWN_BYTES (CFI_RECORD_MAX + 4096)
#define OWN_CIE   8 /* behind the table */

/* The current stack. */
struct work {
	struct libunwinder_sample sample;
	struct unwind_copy copy;
	struct libunwinder_map maps[LIBUNWINDER_MAPS];
	size_t nr_maps, next_map;
	struct rules *rules; /* of the current frame; NULL: none */
	uint64_t bias;       /* addresses of the process minus those of the file */
	int lost;            /* -errno: an answer of the profiler is missing or malformed, see ask() */

	/* Results of the current step. */
	uint64_t asked; /* the address whose rules libunwind looks for */
	bool unmapped, no_rules;
	bool parses;       /* libunwind parses a record: it reads through a pointer in a CIE, and ignores the value */
	uint64_t missing;  /* an address that libunwind has read, beyond the copy */
	arch_regs unknown; /* registers that libunwind has read, and whose values are not known */
	uint8_t own[OWN_BYTES];
	size_t own_size;
};

/* A word of a file that was read recently. */
struct word {
	const struct rules *rules; /* NULL: none */
	uint64_t addr, value;
};

static struct word words[WORDS];
static struct rules *slots[LIBUNWINDER_SLOTS];
static struct rules *vdso;
static unw_addr_space_t space;
static int unusable = -ENOSYS; /* not 0: nothing is unwound */

/* ---- files */

static struct rules *open_rules(int fd, int debug_fd)
{
	struct elf_file file, debug = ELF_FILE_NONE;
	struct rules *rules = NULL;

	if (elf_file_open(&file, fd))
		return NULL;
	if (debug_fd >= 0 && elf_file_open(&debug, debug_fd))
		debug = ELF_FILE_NONE;
	return rules_open(&file, &debug, &rules) ? NULL : rules;
}

static void open_vdso(void)
{
	struct elf_file file;

	if (!vdso_open(&file) && rules_open(&file, &(struct elf_file){ .bytes = FILE_BYTES_NONE }, &vdso))
		vdso = NULL;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Return: 0 and @fd, -1 if none came; -errno: see worker_ask(). @to: room for a mapping; NULL: none is expected. */
static int ask(struct work *w, enum libunwinder_said said, uint64_t addr, struct libunwinder_map *to, int *fd)
{
	struct libunwinder_reply question = { .said = said, .addr = addr };
	char bytes[sizeof(*to)];
	struct worker_message answer = { bytes, sizeof(bytes), -1 };

	w->lost = worker_ask(&(struct worker_message){ &question, LIBUNWINDER_QUESTION, -1 }, &answer);
	if (w->lost)
		return w->lost;
	if (to && answer.len != sizeof(*to)) {
		close_fd(answer.fd);
		return w->lost = -EBADMSG;
	}
	if (to)
		memcpy(to, bytes, sizeof(*to));
	*fd = answer.fd;
	return 0;
}

/* Put a new file into a slot. Mappings of the file that had the slot before are forgotten. */
static void fill_slot(struct work *w, uint32_t slot, bool debug, int fd)
{
	int debug_fd = -1;
	size_t i;

	for (i = 0; i < w->nr_maps; i++)
		if (w->maps[i].slot == slot)
			w->maps[i].end = 0;
	if (w->rules == slots[slot])
		w->rules = NULL;
	rules_close(slots[slot]);
	memset(words, 0, sizeof(words));
	slots[slot] = NULL;
	if (debug && ask(w, LIBUNWINDER_ASKS_DEBUG, slot, NULL, &debug_fd))
		return;
	slots[slot] = open_rules(fd, debug_fd);
	close_fd(debug_fd);
}

static const struct libunwinder_map *find_known(const struct work *w, uint64_t addr)
{
	size_t i;

	for (i = 0; i < w->nr_maps; i++)
		if (addr >= w->maps[i].start && addr < w->maps[i].end)
			return &w->maps[i];
	return NULL;
}

/* NULL: none. */
static const struct libunwinder_map *find_map(struct work *w, uint64_t addr)
{
	const struct libunwinder_map *known = find_known(w, addr);
	struct libunwinder_map m;
	int fd = -1;

	if (known)
		return known;
	if (w->lost || ask(w, LIBUNWINDER_ASKS_MAP, addr, &m, &fd))
		return NULL;
	if (m.is_new && m.slot < LIBUNWINDER_SLOTS)
		fill_slot(w, m.slot, m.is_new > 1, fd);
	close_fd(fd);
	if (w->lost || !m.end)
		return NULL;
	w->next_map %= LIBUNWINDER_MAPS;
	known = &w->maps[w->next_map];
	w->maps[w->next_map++] = m;
	if (w->nr_maps < w->next_map)
		w->nr_maps = w->next_map;
	return known;
}

static struct rules *rules_in(uint32_t slot)
{
	if (slot == LIBUNWINDER_VDSO)
		return vdso;
	return slot < LIBUNWINDER_SLOTS ? slots[slot] : NULL;
}

/* ---- memory */

static int read_own(const struct work *w, uint64_t at, void *to, size_t len)
{
	if (at > w->own_size || len > w->own_size - at)
		return -EFAULT;
	memcpy(to, w->own + at, len);
	return 0;
}

/* libunwind reads a record byte by byte, and for each byte the word that it is in. @addr: of the file */
static int read_word(const struct work *w, uint64_t addr, void *to)
{
	struct word *word = &words[addr / sizeof(word->value) % WORDS];

	if (word->rules != w->rules || word->addr != addr) {
		word->rules = NULL;
		if (rules_read(w->rules, addr, &word->value, sizeof(word->value)) &&
		    rules_read_records(w->rules, addr, false, &word->value, sizeof(word->value)))
			return -EFAULT;
		word->rules = w->rules;
		word->addr = addr;
	}
	memcpy(to, &word->value, sizeof(word->value));
	return 0;
}

static int read_memory(struct work *w, uint64_t addr, void *to, size_t len)
{
	int rc;

	if (addr >= OWN_ADDR && addr - OWN_ADDR < sizeof(w->own))
		return read_own(w, addr - OWN_ADDR, to, len);
	rc = unwind_copy_read(&w->copy, addr, to, len);
	if (!rc || !w->rules)
		return rc;
	if (len == sizeof(unw_word_t) && !read_word(w, addr - w->bias, to))
		return 0;
	/* Try the file even if the stack could reach to the address: thread stacks lie between libraries. */
	if (!rules_read(w->rules, addr - w->bias, to, len) ||
	    !rules_read_records(w->rules, addr - w->bias, w->parses, to, len))
		return 0;
	return rc;
}

/* libunwind reads records by whole words, so the last word may reach beyond the end. */
static int read_partly(struct work *w, uint64_t addr, uint8_t *to)
{
	int rc = -EFAULT;
	size_t i;

	memset(to, 0, sizeof(unw_word_t));
	for (i = 0; i < sizeof(unw_word_t); i++)
		if (!read_memory(w, addr + i, to + i, 1))
			rc = 0;
	return rc;
}

static int access_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *value, int write, void *arg)
{
	struct work *w = arg;
	int rc;

	(void)as;
	if (write)
		return -UNW_EINVAL;
	rc = read_memory(w, addr, value, sizeof(*value));
	if (rc == -ENODATA)
		w->missing = addr;
	else if (rc)
		rc = read_partly(w, addr, (uint8_t *)value);
	return rc ? -UNW_EUNSPEC : 0;
}

/* UNW_X86_64_* are the DWARF numbers. */
static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write, void *arg)
{
	struct work *w = arg;

	(void)as;
	if (write || reg < 0 || reg >= ARCH_NR_REGS)
		return -UNW_EBADREG;
	if (!(w->sample.regs.have & ARCH_BIT(reg))) {
		w->unknown |= ARCH_BIT(reg);
		return -UNW_EBADREG;
	}
	*value = w->sample.regs.r[reg];
	return 0;
}

/* ---- rules */

static void put_bytes(struct work *w, const void *bytes, size_t len)
{
	if (len > sizeof(w->own) - w->own_size)
		len = sizeof(w->own) - w->own_size;
	if (len)
		memcpy(w->own + w->own_size, bytes, len);
	w->own_size += len;
}

static void put_word(struct work *w, uint64_t value, size_t size)
{
	put_bytes(w, &value, size); /* little endian, as the files are */
}

static void put_leb(struct work *w, int64_t value)
{
	uint8_t byte;
	bool more;

	do {
		byte = value & 0x7f;
		value >>= 7;
		more = value != (byte & 0x40 ? -1 : 0);
		put_word(w, byte | (more ? 0x80u : 0), 1);
	} while (more);
}

/* Set the length of the record that begins at @at, whose first four bytes are left for it. */
static void end_record(struct work *w, size_t at)
{
	uint32_t size = (uint32_t)(w->own_size - at - sizeof(size));

	memcpy(w->own + at, &size, sizeof(size));
}

/* Write a CIE without augmentation and an FDE with 8-byte addresses, as in .eh_frame. Return: the offset of the FDE. */
static size_t put_records(struct work *w, const struct cfi_cie *cie, const struct cfi_fde *fde)
{
	size_t at;

	w->own_size = OWN_CIE;
	put_word(w, 0, 8);     /* length, and the CIE's id */
	put_bytes(w, "\3", 2); /* version, and no augmentation */
	put_leb(w, (int64_t)cie->code_align);
	put_leb(w, cie->data_align);
	put_leb(w, cie->return_reg);
	put_bytes(w, cie->program, (size_t)(cie->end - cie->program));
	end_record(w, OWN_CIE);
	at = w->own_size;
	put_word(w, 0, 4);
	put_word(w, w->own_size - OWN_CIE, 4); /* from here back to the CIE */
	put_word(w, fde->start + w->bias, 8);
	put_word(w, fde->end - fde->start, 8);
	put_bytes(w, fde->program, (size_t)(fde->program_end - fde->program));
	end_record(w, at);
	put_word(w, 0, 8);
	return at;
}

/* Have libunwind parse the record at address @base + @offset for @ip, by a search table of one entry. */
static int parse_record(struct work *w, unw_word_t ip, uint64_t base, uint32_t offset, uint64_t data_base,
			unw_proc_info_t *pi, int need)
{
	const uint32_t entry[2] = { (uint32_t)(ip - base), offset };
	unw_dyn_info_t di = { .start_ip = 0, .end_ip = UINT64_MAX, .format = UNW_INFO_FORMAT_REMOTE_TABLE };

	memcpy(w->own, entry, sizeof(entry));
	if (w->own_size < sizeof(entry))
		w->own_size = sizeof(entry);
	di.gp = pi->gp = data_base;
	di.u.rti.segbase = base;
	di.u.rti.table_data = OWN_ADDR;
	di.u.rti.table_len = 1;
	return search_unwind_table(space, ip, &di, pi, need, w);
}

static int search_eh(struct work *w, unw_word_t ip, unw_proc_info_t *pi, int need)
{
	unw_dyn_info_t di = { .start_ip = 0, .end_ip = UINT64_MAX, .format = UNW_INFO_FORMAT_REMOTE_TABLE };
	struct rules_table table;
	uint64_t at;
	int rc = rules_table(w->rules, &table);

	if (rc)
		return -UNW_EUNSPEC;
	if (!table.nr) {
		rc = rules_eh_record(w->rules, ip - w->bias, &at);
		if (rc <= 0)
			return rc ? -UNW_EUNSPEC : -UNW_ENOINFO;
		return parse_record(w, ip, at + w->bias, 0, table.hdr + w->bias, pi, need);
	}
	di.gp = pi->gp = di.u.rti.segbase = table.hdr + w->bias;
	di.u.rti.table_data = table.at + w->bias;
	di.u.rti.table_len = table.nr; /* entries of 8 bytes */
	return search_unwind_table(space, ip, &di, pi, need, w);
}

static int search_debug(struct work *w, unw_word_t ip, unw_proc_info_t *pi, int need)
{
	struct cfi_cie cie;
	struct cfi_fde fde;
	int rc = rules_debug_record(w->rules, ip - w->bias, &cie, &fde);

	if (rc <= 0)
		return rc ? -UNW_EUNSPEC : -UNW_ENOINFO;
	return parse_record(w, ip, OWN_ADDR, (uint32_t)put_records(w, &cie, &fde), 0, pi, need);
}

/* Find the file of the code at @ip. From now on memory is read from this file. */
static bool enter_file(struct work *w, unw_word_t ip)
{
	const struct libunwinder_map *m = find_map(w, ip);
	uint64_t addr;

	w->unmapped = !m;
	w->rules = m ? rules_in(m->slot) : NULL;
	if (w->rules && !rules_address(w->rules, ip - m->start + m->pgoff, &addr))
		w->rules = NULL;
	if (w->rules)
		w->bias = ip - addr;
	return w->rules;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need, void *arg)
{
	struct work *w = arg;
	int rc;

	(void)as;
	w->asked = ip;
	w->parses = true;
	rc = enter_file(w, ip) ? search_eh(w, ip, pi, need) : -UNW_ENOINFO;
	if (rc == -UNW_ENOINFO && w->rules)
		rc = search_debug(w, ip, pi, need);
	w->parses = false;
	w->no_rules = rc == -UNW_ENOINFO;
	/* Without rules libunwind guesses. But an address in no mapping is not code: end the stack. */
	return w->unmapped ? -UNW_EUNSPEC : rc;
}

/* ---- accessors that libunwind requires and a stack does not need */

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as;
	(void)pi;
	(void)arg;
}

static int get_dyn_info_list_addr(unw_addr_space_t as, unw_word_t *addr, void *arg)
{
	(void)as;
	(void)addr;
	(void)arg;
	return -UNW_ENOINFO;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write, void *arg)
{
	(void)as;
	(void)reg;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t as, unw_word_t ip, char *name, size_t size, unw_word_t *offset, void *arg)
{
	(void)as;
	(void)ip;
	(void)name;
	(void)size;
	(void)offset;
	(void)arg;
	return -UNW_EINVAL;
}

static unw_accessors_t accessors = {
	find_proc_info, put_unwind_info, get_dyn_info_list_addr, access_mem, access_reg,
	access_fpreg,   resume,          get_proc_name,
};

/* ---- a stack */

/* Why a frame could not be left; @rc: of unw_step(). @outermost: the frame is a caller, and its frame pointer is 0. */
static enum unwind_end end_of(const struct work *w, int rc, bool outermost)
{
	if (w->missing)
		return UNWIND_TRUNCATED;
	/* Without rules libunwind needs the frame pointer. */
	if (rc < 0)
		return w->no_rules && w->unknown ? UNWIND_NO_RULES : UNWIND_BAD;
	return w->no_rules && !outermost ? UNWIND_NO_RULES : UNWIND_ROOT;
}

/* Leave the frame at the cursor. Return: true: there is a caller; false: @out->end is set. */
static bool step(struct work *w, unw_cursor_t *cursor, struct libunwinder_reply *out)
{
	unw_word_t fp = 1, ip = 0;
	bool exact;
	int rc;

	unw_get_reg(cursor, UNW_X86_64_RBP, &fp);
	w->unmapped = w->no_rules = false;
	w->missing = w->asked = 0;
	w->unknown = 0;
	rc = unw_step(cursor);
	exact = w->asked == out->ips[out->nr - 1];
	if (out->nr > 1 && exact)
		out->ips[out->nr - 1] |= UNWIND_EXACT;
	out->left[out->nr - 1] = w->no_rules ? UNWIND_LEFT_NO_RULES : 0;
	/* Wrong rules may give any address. The profiler takes only user addresses from this process. */
	if (rc > 0 && !unw_get_reg(cursor, UNW_REG_IP, &ip) && ip >> ARCH_USER_BITS) {
		out->end = UNWIND_BAD;
		return false;
	}
	if (rc > 0 && ip) {
		out->addr = ip;
		return true;
	}
	out->end = end_of(w, rc, !exact && !fp);
	out->missing = w->missing;
	out->unknown = out->end != UNWIND_TRUNCATED && w->unknown;
	out->by_fp = out->unknown && w->unknown == ARCH_BIT(ARCH_FP);
	return false;
}

static int walk(struct work *w, struct libunwinder_reply *out)
{
	unw_cursor_t cursor;

	out->end = UNWIND_BAD;
	out->addr = w->sample.regs.r[ARCH_IP];
	if (unw_init_remote(&cursor, space, w))
		return -EINVAL;
	do {
		out->missing = 0;
		out->end = UNWIND_TRUNCATED;
		if (out->nr >= w->sample.cap || out->nr >= UNWIND_MAX_FRAMES)
			break;
		out->ips[out->nr++] = out->addr;
	} while (step(w, &cursor, out));
	return w->lost;
}

void libunwinder_prepare(void *ctx)
{
	(void)ctx;
	open_vdso();
	if (confine(MEMORY_MAX))
		return;
	space = unw_create_addr_space(&accessors, 0);
	if (!space)
		return;
	/* Its cache is by address alone, which is wrong for another process, and after a mapping changes. */
	unw_set_caching_policy(space, UNW_CACHE_NONE);
	unusable = 0;
}

int libunwinder_serve(void *ctx, const struct worker_message *request, struct worker_message *reply)
{
	const struct libunwinder_shared *shared = ctx;
	struct libunwinder_reply *out = reply->data;
	static struct work w;
	int rc;

	(void)request;
	if (unusable)
		return unusable;
	w.sample = shared->sample;
	w.copy = w.sample.copy;
	w.copy.bytes = shared->stack;
	w.nr_maps = w.next_map = w.sample.nr_maps;
	memcpy(w.maps, w.sample.maps, w.nr_maps * sizeof(*w.maps));
	w.rules = NULL;
	w.own_size = 0;
	w.lost = 0;
	memset(out, 0, sizeof(*out));
	rc = walk(&w, out);
	out->said = LIBUNWINDER_DONE;
	reply->len = sizeof(*out);
	return rc;
}

#else

#include <errno.h>

void libunwinder_prepare(void *ctx)
{
	(void)ctx;
}

int libunwinder_serve(void *ctx, const struct worker_message *request, struct worker_message *reply)
{
	(void)ctx;
	(void)request;
	(void)reply;
	return -ENOSYS;
}

#endif
