// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/pinned.h"

#include "compat/bpf_map.h"
#include "core/base/clock.h"
#include "core/base/intern.h"
#include "core/base/number.h"
#include "core/host/privileges.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MAX_SEEN (64u << 10) /* ids whose last answers are remembered; before another is added, all are dropped */

/* The last answer of a lookup, and the last one passed to pinned_told(). */
struct seen {
	uint64_t id;
	bool has;
	uint64_t since_ns, looked_ns; /* when a lookup first found this @has; time of the last lookup */
	enum { NOT_TOLD, TOLD_NO, TOLD_YES } told;
	bool changes; /* a BPF program has found it both ways */
};

static const struct intern_kind seen_kind = INTERN_BYTES(struct seen, id);

struct pinned {
	int fd;
	void *value; /* buffer for one value */
	struct intern_table seen;
};

/* The system call needs a lent right; for the path and the file, the caller's own rights must suffice. */
static int get_map(const char *path)
{
	uint64_t effective;
	struct statfs fs;
	int fd;

	if (statfs(path, &fs))
		return -errno;
	if ((uint64_t)fs.f_type != BPF_FS_MAGIC) /* BPF_OBJ_GET would fail with a permission error */
		return -EINVAL;
	effective = privileges_only(PRIVILEGES_BPF);
	fd = kernel_open_pinned_map(path);
	privileges_back(effective);
	return fd;
}

struct kind {
	uint64_t type, key_size, value_size;
};

/* A field of /proc/self/fdinfo, such as "key_size:\t8"; all kernels that have such maps show it. 0: it is missing. */
static uint64_t number_of(const char *fdinfo, const char *name)
{
	const char *s = host_field(fdinfo, name);
	uint64_t n;

	return s && !parse_digits(&s, 10, UINT32_MAX, &n) ? n : 0;
}

static int read_kind(const struct host *h, int fd, struct kind *out)
{
	char name[64], text[4096];
	uint64_t effective;
	ssize_t len;

	snprintf(name, sizeof(name), "self/fdinfo/%d", fd);
	/* If we have lent rights, root owns these files. */
	effective = privileges_lend();
	len = host_read(h->proc, name, text, sizeof(text));
	privileges_back(effective);
	if (len < 0)
		return (int)len;
	*out = (struct kind){ number_of(text, "map_type"), number_of(text, "key_size"), number_of(text, "value_size") };
	return 0;
}

int pinned_open(struct pinned **out, const struct host *h, const char *path, struct err *err)
{
	struct pinned *p = calloc(1, sizeof(*p));
	struct kind kind = { 0 };
	int rc;

	*out = p;
	if (!p)
		return err_sys(err, -ENOMEM, "cannot open BPF map '%s'", path);
	p->fd = get_map(path);
	rc = p->fd < 0 ? p->fd : read_kind(h, p->fd, &kind);
	if (rc && rc != -EINVAL)
		err_sys(err, rc, "cannot open BPF map '%s'", path);
	else if (rc || kind.type != BPF_MAP_TYPE_HASH || kind.key_size != sizeof(uint64_t))
		rc = err_set(err, -EINVAL, "'%s' is not a BPF hash map with keys of 8 bytes", path);
	else if (!(p->value = malloc(kind.value_size ? kind.value_size : 1)))
		rc = err_sys(err, -ENOMEM, "cannot open BPF map '%s'", path);
	if (rc) {
		pinned_close(p);
		*out = NULL;
	}
	return rc;
}

void pinned_close(struct pinned *p)
{
	if (!p)
		return;
	if (p->fd >= 0)
		close(p->fd);
	intern_release(&p->seen);
	free(p->value);
	free(p);
}

int pinned_fd(const struct pinned *p)
{
	return p->fd;
}

/* The entry of @id, a new one if there is none; NULL: no memory. */
static struct seen *find_seen(struct pinned *p, uint64_t id)
{
	bool is_new;

	if (p->seen.nr == MAX_SEEN && !intern_find(&p->seen, &seen_kind, &id))
		intern_release(&p->seen);
	return intern(&p->seen, &seen_kind, &id, &is_new);
}

/* The reader handles many samples at a time: a lookup after all of them were taken is good for all. */
bool pinned_has(struct pinned *p, uint64_t id, uint64_t time, bool *unsure)
{
	uint64_t now = now_ns();
	struct seen *s;
	bool has;

	s = find_seen(p, id);
	if (s && time && time < s->looked_ns) {
		*unsure |= s->changes || time <= s->since_ns;
		return s->has;
	}
	has = !kernel_map_lookup(p->fd, &id, p->value);
	if (!s) {
		*unsure = true;
		return has;
	}
	if (!s->looked_ns || s->has != has)
		s->since_ns = now_ns();
	s->has = has;
	s->looked_ns = now;
	*unsure |= s->changes || !time || time <= s->since_ns;
	return has;
}

void pinned_told(struct pinned *p, uint64_t id, bool has)
{
	struct seen *s = find_seen(p, id);

	if (!s)
		return;
	s->changes |= s->told == (has ? TOLD_NO : TOLD_YES);
	s->told = has ? TOLD_YES : TOLD_NO;
}
