// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/recording/perfdata_source.h"

#include "backend-perfring/recording/perfdata_dir.h"
#include "core/base/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* Each buffer holds several of the largest records, and fits into the cache of a CPU. */
#define SOURCE_WINDOW   (256u << 10)
#define INFLATER_WINDOW (256u << 10)
#define PREFIX_MAX      (64u << 20) /* before the data, perf has attributes and ids */

bool window_header(const struct window *w, struct perf_event_header *out)
{
	if (window_nr(w) < sizeof(*out))
		return false;
	memcpy(out, w->bytes + w->at, sizeof(*out));
	return true;
}

int window_record(const struct window *w, const unsigned char **record, size_t *size)
{
	struct perf_event_header h;

	if (!window_header(w, &h))
		return 0;
	if (h.size < sizeof(h))
		return -EBADMSG;
	if (window_nr(w) < h.size)
		return 0;
	*record = w->bytes + w->at;
	*size = h.size;
	return 1;
}

static int window_init(struct window *w, size_t cap)
{
	*w = (struct window){ .bytes = malloc(cap), .cap = cap };
	return w->bytes ? 0 : -ENOMEM;
}

/* Move the bytes to the front, which keeps records aligned if the first one is. Return: room behind them. */
static size_t window_compact(struct window *w)
{
	if (w->held) {
		memmove(w->bytes, w->bytes + w->held, w->end - w->held);
		w->end -= w->held;
		w->at -= w->held;
		w->held = 0;
	}
	return w->cap - w->end;
}

/* read(2), or pread(2) from @offset of a file. */
static ssize_t read_some(const struct source *s, uint64_t offset, void *buf, size_t len)
{
	ssize_t n;

	do
		n = s->seekable ? pread(s->fd, buf, len, (off_t)offset) : read(s->fd, buf, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* If @s is a directory, replace it by its file with the records. */
static int enter_dir(struct source *s, const char *name, struct err *err)
{
	struct stat st;

	if (fstat(s->fd, &st))
		return err_sys(err, -errno, "cannot open %s", name);
	s->seekable = S_ISREG(st.st_mode);
	if (!S_ISDIR(st.st_mode))
		return 0;
	s->dir = s->owned ? s->fd : fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
	s->owned = true;
	s->seekable = true;
	s->fd = dir_open_file(s->dir, DIR_DATA);
	if (s->fd == -ENOENT)
		return err_set(err, -EISDIR, "%s is a directory without a recording (a file 'data')", name);
	return s->fd < 0 ? err_sys(err, s->fd, "cannot open '%s' in %s", DIR_DATA, name) : 0;
}

int source_open(struct source *s, const char *path, const char *name, struct err *err)
{
	int rc;

	*s = (struct source){ .fd = STDIN_FILENO, .dir = -1 };
	if (strcmp(path, "-")) {
		s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		s->owned = true;
	}
	if (s->fd < 0)
		return err_sys(err, -errno, "cannot open %s", name);
	rc = enter_dir(s, name, err);
	if (rc)
		return rc;
	rc = window_init(&s->window, SOURCE_WINDOW);
	return rc ? err_sys(err, rc, "cannot read %s", name) : 0;
}

int source_open_file(struct source *s, int dir, const char *file)
{
	*s = (struct source){ .fd = dir_open_file(dir, file), .dir = -1, .owned = true, .seekable = true };
	return s->fd < 0 ? s->fd : window_init(&s->window, SOURCE_WINDOW);
}

void source_close(struct source *s)
{
	if (s->owned && s->fd >= 0)
		close(s->fd);
	if (s->owned && s->dir >= 0)
		close(s->dir);
	free(s->window.bytes);
	free(s->prefix);
}

int source_fill(struct source *s)
{
	size_t room = window_compact(&s->window);
	ssize_t n;

	if (room > s->limit - s->offset)
		room = (size_t)(s->limit - s->offset);
	if (!room)
		return 0;
	n = read_some(s, s->offset, s->window.bytes + s->window.end, room);
	if (n <= 0)
		return (int)n;
	s->window.end += (size_t)n;
	s->offset += (uint64_t)n;
	return 1;
}

int source_skip(struct source *s, uint64_t len)
{
	struct window *w = &s->window;
	struct stat st;
	int rc;

	if (len > s->limit - source_at(s))
		return 0;
	while (len > window_nr(w)) {
		if (s->seekable) {
			if (fstat(s->fd, &st))
				return -errno;
			if (len > (uint64_t)st.st_size || source_at(s) > (uint64_t)st.st_size - len)
				return 0;
			return source_seek(s, source_at(s) + len) ? 0 : 1;
		}
		len -= window_nr(w);
		window_take(w, window_nr(w));
		rc = source_fill(s);
		if (rc <= 0)
			return rc;
	}
	window_take(w, (size_t)len);
	return 1;
}

int source_keep(struct source *s, uint64_t size)
{
	struct window *w = &s->window;
	unsigned char *prefix;
	size_t len;
	int rc;

	if (s->seekable)
		return 0;
	if (size > PREFIX_MAX)
		return -E2BIG;
	if (s->limit < size)
		s->limit = size;
	while (s->prefix_size < size) {
		if (!window_nr(w)) {
			rc = source_fill(s);
			if (rc <= 0)
				return rc;
		}
		len = size - s->prefix_size < window_nr(w) ? (size_t)size - s->prefix_size : window_nr(w);
		prefix = grow(s->prefix, &s->prefix_cap, s->prefix_size, len, 1);
		if (!prefix)
			return -ENOMEM;
		s->prefix = prefix;
		memcpy(prefix + s->prefix_size, w->bytes + w->at, len);
		s->prefix_size += len;
		window_take(w, len);
	}
	return 0;
}

static int read_stream(struct source *s, unsigned char *p, size_t len)
{
	struct window *w = &s->window;
	size_t n;
	int rc;

	for (; len; p += n, len -= n) {
		if (!window_nr(w)) {
			rc = source_fill(s);
			if (rc <= 0)
				return rc ? rc : -ENODATA;
		}
		n = len < window_nr(w) ? len : window_nr(w);
		memcpy(p, w->bytes + w->at, n);
		window_take(w, n);
	}
	return 0;
}

int source_read_at(struct source *s, uint64_t offset, void *buf, size_t len)
{
	unsigned char *p = buf;
	ssize_t n;
	int rc;

	if (offset > INT64_MAX || len > INT64_MAX - offset)
		return -ENODATA;
	if (!s->seekable && offset <= s->prefix_size && len <= s->prefix_size - offset) {
		if (len)
			memcpy(buf, s->prefix + offset, len);
		return 0;
	}
	if (!s->seekable) {
		rc = source_seek(s, offset);
		return rc ? rc : read_stream(s, buf, len);
	}
	for (; len; p += n, offset += (uint64_t)n, len -= (size_t)n) {
		n = read_some(s, offset, p, len);
		if (n <= 0)
			return n ? (int)n : -ENODATA;
	}
	return 0;
}

int source_seek(struct source *s, uint64_t offset)
{
	int rc;

	if (s->seekable && offset <= s->limit) {
		s->window.held = s->window.at = s->window.end = 0;
		s->offset = offset;
		return 0;
	}
	if (offset < source_at(s))
		return -ENODATA;
	rc = source_skip(s, offset - source_at(s));
	return rc < 0 ? rc : rc ? 0 : -ENODATA;
}

void inflater_feed(struct inflater *i, const void *in, size_t size)
{
	i->in = in;
	i->in_size = size;
	i->in_at = 0;
}

#ifdef HAVE_ZSTD
bool inflater_supported(void)
{
	return true;
}

static int inflater_start(struct inflater *i)
{
	i->context = ZSTD_createDStream(); /* accepts windows of up to 128 MiB, which `perf record -z22` uses */
	return i->context ? window_init(&i->window, INFLATER_WINDOW) : -ENOMEM;
}

/* Do one step: afterwards either all input is used, or the window is full. */
static int inflater_step(struct inflater *i)
{
	ZSTD_outBuffer out = { i->window.bytes, i->window.cap, i->window.end };
	ZSTD_inBuffer in = { i->in, i->in_size, i->in_at };
	size_t rc = ZSTD_decompressStream(i->context, &out, &in);
	bool moved = out.pos != i->window.end || in.pos != i->in_at;

	if (ZSTD_isError(rc) || (!moved && in.pos < in.size))
		return -EBADMSG;
	i->full = out.pos == out.size;
	i->in_at = in.pos;
	if (out.pos == i->window.end)
		return 0;
	i->window.end = out.pos;
	return 1;
}

int inflater_fill(struct inflater *i)
{
	int rc;

	if (i->broken)
		return -EBADMSG;
	if (!i->context && (rc = inflater_start(i)))
		return rc;
	if (!window_compact(&i->window))
		return 0;
	while (i->in_at < i->in_size || i->full) {
		rc = inflater_step(i);
		i->broken = rc < 0;
		if (rc)
			return rc;
	}
	return 0;
}

void inflater_release(struct inflater *i)
{
	ZSTD_freeDStream(i->context);
	free(i->window.bytes);
}
#else
bool inflater_supported(void)
{
	return false;
}

int inflater_fill(struct inflater *i)
{
	(void)i;
	return -ENOTSUP;
}

void inflater_release(struct inflater *i)
{
	(void)i;
}
#endif
