// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/jitdump.h"

#include "core/arch/arch.h"
#include "core/base/grow.h"
#include "core/base/hash.h"
#include "core/symbols/code_ranges.h"
#include "core/symbols/jitdump_format.h"
#include "core/symbols/jitdump_pattern.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW     16384 /* bytes that are read at once; code is skipped */
#define NAME_LEN   4096
#define CODES_MAX  (1u << 18)
#define NAMES_MAX  (64u << 20)
#define FRAMES_MAX (64u << 10)
#define LINES_MAX  (1u << 20)
#define MOVE_STEPS (1u << 24) /* limit on the search for the code that moves, for all records */
#define FRAMES_AT  8          /* `perf inject --jit` puts the rules behind the code, with this alignment */

/* Bytes of the file. @size 0: none. */
struct part {
	uint64_t at;
	uint32_t size;
};

struct code {
	uint64_t start, size, index;
	struct part frames, lines;
	uint32_t name; /* offset in names, in the order of codes */
};

struct jitdump {
	int fd;
	uint64_t size;                /* of the file, at the last check */
	struct jitdump_header header; /* magic 0: not read yet */
	uint64_t at;                  /* of the next record */
	bool damaged;                 /* the next record makes no sense */
	size_t left;                  /* bytes that this jitdump_read() may read */
	uint8_t window[WINDOW];
	uint64_t window_at;
	size_t window_len;

	struct code *codes;
	size_t nr, cap;
	char *names;
	size_t names_len, names_cap;
	struct code next;    /* from records that come before their load */
	uint64_t lines_addr; /* the code that next.lines belong to */
	uint32_t move_steps;
	bool is_new; /* @owners does not have all codes */
	struct code_range *ranges;
	struct code_ranges owners; /* of addresses; the id is the position in codes */
	uint64_t changes;
	struct jitdump_pattern pattern; /* of loads */
	uint64_t next_rules;            /* hash of the rules in next.frames; 0: not known */

	void *attached;
	void (*release)(void *what);
};

int jitdump_open(int fd, struct jitdump **out)
{
	struct jitdump *d = calloc(1, sizeof(*d));

	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	d->fd = fd;
	*out = d;
	return 0;
}

static void forget(struct jitdump *d)
{
	d->header.magic = 0;
	d->at = d->nr = d->names_len = d->window_len = 0;
	d->damaged = d->is_new = false;
	d->move_steps = 0;
	d->next = (struct code){ 0 };
	d->next_rules = 0;
	d->pattern = (struct jitdump_pattern){ 0 };
	code_ranges_release(&d->owners);
	d->changes++;
}

void jitdump_close(struct jitdump *d)
{
	if (!d)
		return;
	if (d->release)
		d->release(d->attached);
	code_ranges_release(&d->owners);
	free(d->ranges);
	free(d->codes);
	free(d->names);
	close(d->fd);
	free(d);
}

void jitdump_attach(struct jitdump *d, void *what, void (*release)(void *what))
{
	d->attached = what;
	d->release = release;
}

void *jitdump_attached(const struct jitdump *d)
{
	return d->attached;
}

uint64_t jitdump_changes(const struct jitdump *d)
{
	return d->changes;
}

size_t jitdump_memory(const struct jitdump *d)
{
	return sizeof(*d) + d->cap * sizeof(*d->codes) + d->names_cap + d->nr * sizeof(*d->ranges) +
	       code_ranges_memory(&d->owners);
}

/* ---- reading bytes */

/* Return: the number of bytes there, or -EIO. */
static ssize_t read_bytes(const struct jitdump *d, uint64_t at, void *to, size_t len)
{
	ssize_t n;

	do
		n = pread(d->fd, to, len, (off_t)at);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -EIO : n;
}

/* Return: 1 and *@out: @len bytes at @at, no more than WINDOW, until the next call; 0: not there; -EIO. */
static int peek(struct jitdump *d, uint64_t at, size_t len, const uint8_t **out)
{
	ssize_t n;

	if (at < d->window_at || at - d->window_at > d->window_len || len > d->window_len - (at - d->window_at)) {
		d->window_len = 0;
		n = read_bytes(d, at, d->window, WINDOW);
		if (n < 0)
			return (int)n;
		d->window_at = at;
		d->window_len = (size_t)n;
		d->left -= d->left < WINDOW ? d->left : WINDOW;
	}
	*out = d->window + (at - d->window_at);
	return len <= d->window_len - (at - d->window_at);
}

static int peek_copy(struct jitdump *d, uint64_t at, void *to, size_t len)
{
	const uint8_t *bytes;
	int rc = peek(d, at, len, &bytes);

	if (rc > 0)
		memcpy(to, bytes, len);
	return rc;
}

/* ---- pieces of code */

/* Code that runs now was usually compiled last. */
static void drop_older_half(struct jitdump *d)
{
	size_t half = d->nr / 2, i;
	uint32_t names = d->codes[half].name;

	d->nr -= half;
	memmove(d->codes, d->codes + half, d->nr * sizeof(*d->codes));
	for (i = 0; i < d->nr; i++)
		d->codes[i].name -= names;
	d->names_len -= names;
	memmove(d->names, d->names + names, d->names_len);
	code_ranges_release(&d->owners);
}

/* @name must not be in @d->names, which may move. */
static int add_code(struct jitdump *d, const struct code *code, const char *name, size_t len)
{
	struct code *codes;
	char *names;

	if (d->nr == CODES_MAX || d->names_len > NAMES_MAX)
		drop_older_half(d);
	codes = grow(d->codes, &d->cap, d->nr, 1, sizeof(*codes));
	if (!codes)
		return -ENOMEM;
	d->codes = codes;
	names = grow(d->names, &d->names_cap, d->names_len, len + 1, 1);
	if (!names)
		return -ENOMEM;
	d->names = names;
	memcpy(names + d->names_len, name, len);
	names[d->names_len + len] = 0;
	d->codes[d->nr] = *code;
	d->codes[d->nr++].name = (uint32_t)d->names_len;
	d->names_len += len + 1;
	d->is_new = true;
	return 0;
}

static bool is_code(const struct jitdump *d, uint32_t pid, uint64_t start, uint64_t size)
{
	uint64_t end;

	return pid == d->header.pid && size && !__builtin_add_overflow(start, size, &end);
}

static int index_codes(struct jitdump *d)
{
	struct code_range *ranges;
	size_t i;

	code_ranges_release(&d->owners);
	ranges = realloc(d->ranges, d->nr * sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	d->ranges = ranges;
	for (i = 0; i < d->nr; i++) {
		const struct code *c = &d->codes[i];

		ranges[i] = (struct code_range){ c->start, c->start + c->size, (uint32_t)i };
	}
	d->is_new = false;
	d->changes++;
	return code_ranges_index(ranges, d->nr, &d->owners);
}

/* ---- records */

static int take_load(struct jitdump *d, const struct jitdump_prefix *p)
{
	struct code code = d->next;
	uint64_t rules = d->next_rules;
	struct jitdump_load load;
	const uint8_t *name;
	size_t max, len;
	int rc;

	d->next = (struct code){ 0 };
	d->next_rules = 0;
	if (p->size < sizeof(load))
		return 1;
	rc = peek_copy(d, d->at, &load, sizeof(load));
	if (rc <= 0 || !is_code(d, load.pid, load.addr, load.size))
		return rc;
	max = p->size - sizeof(load) < NAME_LEN ? p->size - sizeof(load) : NAME_LEN;
	rc = peek(d, d->at + sizeof(load), max, &name);
	len = rc > 0 ? strnlen((const char *)name, max) : 0;
	if (!len)
		return rc;
	code.start = load.addr;
	code.size = load.size;
	code.index = load.index;
	if (d->lines_addr != load.addr)
		code.lines.size = 0;
	jitdump_pattern_add(&d->pattern, code.start, code.size, rules);
	rc = add_code(d, &code, (const char *)name, len);
	return rc ? rc : 1;
}

/* The code that @m moves; NULL: it is not known. Compilers move little code, so a linear search will do. */
static const struct code *moved_code(struct jitdump *d, const struct jitdump_move *m)
{
	size_t i;

	for (i = d->nr; i-- > 0 && d->move_steps < MOVE_STEPS; d->move_steps++) {
		const struct code *c = &d->codes[i];

		if (c->index == m->index && c->start == m->old_addr && c->size == m->size)
			return c;
	}
	return NULL;
}

static int take_move(struct jitdump *d, const struct jitdump_prefix *p)
{
	const struct code *from;
	struct jitdump_move m;
	char name[NAME_LEN + 1];
	struct code code;
	size_t len;
	int rc;

	if (p->size < sizeof(m))
		return 1;
	rc = peek_copy(d, d->at, &m, sizeof(m));
	from = rc > 0 && is_code(d, m.pid, m.new_addr, m.size) ? moved_code(d, &m) : NULL;
	if (!from)
		return rc;
	code = *from;
	code.start = m.new_addr;
	code.lines.size = 0; /* they have the old addresses */
	d->pattern.broken = true;
	len = strlen(d->names + code.name);
	memcpy(name, d->names + code.name, len);
	rc = add_code(d, &code, name, len);
	return rc ? rc : 1;
}

static int take_debug_info(struct jitdump *d, const struct jitdump_prefix *p)
{
	struct jitdump_debug_info info;
	uint64_t left = p->size - sizeof(info);
	int rc;

	if (p->size < sizeof(info))
		return 1;
	rc = peek_copy(d, d->at, &info, sizeof(info));
	if (rc <= 0)
		return rc;
	d->next.lines = (struct part){ d->at + sizeof(info), left < LINES_MAX ? (uint32_t)left : LINES_MAX };
	d->lines_addr = info.addr;
	return 1;
}

/* The hash is not needed without a pattern. */
static int hash_rules(struct jitdump *d)
{
	const struct part *frames = &d->next.frames;
	const uint8_t *bytes;
	int rc;

	if (d->pattern.broken || !frames->size || frames->size > PATTERN_FRAMES_MAX)
		return 1;
	rc = peek(d, frames->at, frames->size, &bytes);
	if (rc > 0)
		d->next_rules = hash_bytes(bytes, frames->size, frames->size) | 1;
	return rc;
}

static int take_unwinding_info(struct jitdump *d, const struct jitdump_prefix *p)
{
	struct jitdump_unwinding_info info;
	int rc;

	if (p->size < sizeof(info))
		return 1;
	rc = peek_copy(d, d->at, &info, sizeof(info));
	if (rc <= 0)
		return rc;
	if (info.hdr_size > info.size || info.size > p->size - sizeof(info) || info.size - info.hdr_size > FRAMES_MAX)
		return 1;
	d->next.frames = (struct part){ d->at + sizeof(info), (uint32_t)(info.size - info.hdr_size) };
	return hash_rules(d);
}

/* Return: 1; 0: its bytes are not there yet; -errno. */
static int take_record(struct jitdump *d, const struct jitdump_prefix *p)
{
	switch (p->id) {
	case JITDUMP_LOAD:
		return take_load(d, p);
	case JITDUMP_MOVE:
		return take_move(d, p);
	case JITDUMP_DEBUG_INFO:
		return take_debug_info(d, p);
	case JITDUMP_UNWINDING_INFO:
		return take_unwinding_info(d, p);
	default:
		return 1;
	}
}

/* Return: 1: there may be another one; 0: there is none now; -errno. */
static int next_record(struct jitdump *d)
{
	struct jitdump_prefix p;
	int rc;

	if (d->damaged || d->at >= d->size || d->size - d->at < sizeof(p))
		return 0;
	rc = peek_copy(d, d->at, &p, sizeof(p));
	if (rc <= 0)
		return rc;
	/* Zeros: the compiler extends the file before it writes records. */
	if (!p.id && !p.size)
		return 0;
	d->damaged = p.size < sizeof(p);
	if (d->damaged || p.size > d->size - d->at)
		return 0;
	rc = take_record(d, &p);
	if (rc > 0)
		d->at += p.size;
	return rc;
}

static int take_header(struct jitdump *d, const struct jitdump_header *h)
{
	d->header = *h;
	d->at = h->size;
	d->damaged = h->magic != JITDUMP_MAGIC || !h->version || h->size < sizeof(*h);
	return !d->damaged;
}

/* Check the file again. Return: 1: the file has a header, and records may follow; 0: nothing; -EIO. */
static int look(struct jitdump *d)
{
	struct jitdump_header h;
	struct stat st;
	ssize_t n;

	if (fstat(d->fd, &st))
		return -EIO;
	n = read_bytes(d, 0, &h, sizeof(h));
	if (n < 0)
		return (int)n;
	/* The process has called exec, or another process has its number. */
	if (d->header.magic && ((uint64_t)st.st_size < d->at || memcmp(&h, &d->header, sizeof(h)) != 0))
		forget(d);
	d->size = (uint64_t)st.st_size;
	d->window_len = 0; /* its end may have had zeros in place of records */
	if ((size_t)n < sizeof(h))
		return 0;
	return d->header.magic ? !d->damaged : take_header(d, &h);
}

int jitdump_read(struct jitdump *d, size_t *left)
{
	int rc = look(d), indexed;

	d->left = *left;
	while (rc > 0 && d->left)
		rc = next_record(d);
	*left = d->left;
	indexed = d->is_new ? index_codes(d) : 0;
	return indexed ? indexed : rc;
}

/* ---- lookups */

static const struct code *find_code(const struct jitdump *d, uint64_t addr)
{
	const struct code_range *r = code_ranges_find(&d->owners, addr);

	return r ? &d->codes[r->id] : NULL;
}

bool jitdump_find(const struct jitdump *d, uint64_t addr, struct jitdump_code *out)
{
	const struct code *c = find_code(d, addr);

	if (c)
		*out = (struct jitdump_code){ d->names + c->name, c->start, c->size };
	return c;
}

/* Read the bytes of @part, into memory from malloc(3). Return: 0; -ENOMEM; -EIO, also if they are not all there. */
static int read_part(const struct jitdump *d, const struct part *part, char **out)
{
	char *bytes = malloc(part->size);
	ssize_t n;

	if (!bytes)
		return -ENOMEM;
	n = read_bytes(d, part->at, bytes, part->size);
	if (n == (ssize_t)part->size) {
		*out = bytes;
		return 0;
	}
	free(bytes);
	return -EIO;
}

bool jitdump_find_line(const struct jitdump *d, uint64_t addr, struct jitdump_line *out)
{
	const struct code *c = find_code(d, addr);
	struct jitdump_lines lines;
	uint64_t ahead;
	char *bytes;
	bool found;

	if (!c || !c->lines.size || read_part(d, &c->lines, &bytes))
		return false;
	/* V8 adds the size of the ELF header that `perf inject --jit` puts before the code. */
	ahead = d->header.reserved == JITDUMP_V8 ? sizeof(Elf64_Ehdr) : 0;
	lines = (struct jitdump_lines){ bytes, c->lines.size, c->start + ahead, c->start + c->size + ahead };
	found = jitdump_line_of(&lines, addr + ahead, out);
	free(bytes);
	return found;
}

int jitdump_find_frames(const struct jitdump *d, uint64_t addr, struct jitdump_frames *out)
{
	const struct code *c = find_code(d, addr);
	struct code next;
	char *bytes;
	int rc;

	if (!c && d->nr && jitdump_pattern_next(&d->pattern, addr, &next.start)) {
		next.frames = d->codes[d->nr - 1].frames;
		next.size = d->codes[d->nr - 1].size;
		c = &next;
	}
	if (!c || !c->frames.size || d->header.machine != ARCH_ELF_MACHINE)
		return 0;
	rc = read_part(d, &c->frames, &bytes);
	if (rc)
		return rc;
	addr = c->start + (c->size + FRAMES_AT - 1) / FRAMES_AT * FRAMES_AT;
	*out = (struct jitdump_frames){ bytes, addr, c->frames.size, addr + c->frames.size };
	return 1;
}
