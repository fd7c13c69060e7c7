/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a recording: a file or a stream through one buffer, and the output of decompression. The file may change
 * or end while it is read, so it is never mapped.
 */
#ifndef PERFRING_PERFDATA_SOURCE_H
#define PERFRING_PERFDATA_SOURCE_H

#include "core/base/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** struct window - a buffer that is read from the front while bytes are added at the end. */
struct window {
	unsigned char *bytes;      /* room for @cap, aligned to 8 */
	size_t cap, held, at, end; /* [at, end) are still to be read, [held, at) was given last */
};

static inline size_t window_nr(const struct window *w)
{
	return w->end - w->at;
}

/** window_take() - skip @nr bytes. */
static inline void window_take(struct window *w, size_t nr)
{
	w->at += nr;
	w->held = w->at;
}

/**
 * window_give() - take the record at the front, of @size bytes, but keep its bytes until the next one is taken: if it
 * turns out to be damaged, the search for the next record begins within it.
 */
static inline void window_give(struct window *w, size_t size)
{
	w->held = w->at;
	w->at += size;
}

/** window_header() - read the front as the header of a record. Return: false: there are too few bytes. */
bool window_header(const struct window *w, struct perf_event_header *out);

/**
 * window_record() - find the record at the front, which stays there.
 * @record: set to its first byte, not aligned
 * @size:   set to the size in its header, at least sizeof(struct perf_event_header)
 * Return: 1; 0: it is incomplete; -EBADMSG: no record is that small.
 */
int window_record(const struct window *w, const unsigned char **record, size_t *size);

/** struct source - see source_open(). */
struct source {
	int fd;
	int dir;         /* the directory that has this file "data"; -1: none */
	bool owned;      /* close both */
	bool seekable;   /* a regular file: any part of it can be read */
	uint64_t offset; /* in the file, of the window's end */
	uint64_t limit;  /* the window gets no bytes from here on; never below offset, 0 at first */
	struct window window;
	unsigned char *prefix; /* see source_keep() */
	size_t prefix_size, prefix_cap;
};

/**
 * source_open() - open @path, or standard input for "-", or the file "data" if @path is a directory; @name is for
 * errors. Call source_close() also after a failure. Return: 0 or -errno, described.
 */
int source_open(struct source *s, const char *path, const char *name, struct err *err);
void source_close(struct source *s);

/**
 * source_open_file() - open @file of directory @dir, a regular file. Call source_close() also after a failure. Return:
 * 0 or -errno.
 */
int source_open_file(struct source *s, int dir, const char *file);

/** source_at() - the offset in the file of the next byte. */
static inline uint64_t source_at(const struct source *s)
{
	return s->offset - window_nr(&s->window);
}

/**
 * source_fill() - read more into the window. Moves its bytes to the front: pointers into it become invalid.
 * Return: 1 if it got bytes; 0: the end or the limit, or the window is full; -errno.
 */
int source_fill(struct source *s);

/** source_skip() - skip @len bytes. Return: 1; 0: the end or the limit comes before; -errno. */
int source_skip(struct source *s, uint64_t len);

/**
 * source_keep() - keep the first @size bytes of a stream for source_read_at(), and read no further for now (limit).
 * Return: 0, also if it is shorter; -E2BIG: too much to keep; -errno.
 */
int source_keep(struct source *s, uint64_t size);

/**
 * source_read_at() - read @len bytes from @offset. In a stream they must be within the kept bytes, or not taken yet.
 * In the second case, the stream is read up to their end, and bytes before it that are not kept are gone. Return: 0;
 * -ENODATA: they are not there; -errno.
 */
int source_read_at(struct source *s, uint64_t offset, void *buf, size_t len);

/** source_seek() - continue at @offset. Return: as source_read_at(). */
int source_seek(struct source *s, uint64_t offset);

/** struct inflater - decompresses; all zeros is a valid one. The pieces together are one zstd stream. */
struct inflater {
	void *context;
	const unsigned char *in; /* in_size bytes of the current piece, of which in_at are used */
	size_t in_size, in_at;
	bool full; /* the last step filled the window: zstd may hold more output, even if all input is used */
	bool broken;
	struct window window;
};

/** inflater_supported() - true if this was built with zstd. */
bool inflater_supported(void);

/** inflater_feed() - the next piece, after the one before is used up. @in must stay valid until it is used up. */
void inflater_feed(struct inflater *i, const void *in, size_t size);

/**
 * inflater_fill() - add bytes to the window, as source_fill().
 * Return: 1; 0: needs the next piece, or the window is full; -EBADMSG: damaged, there will be no more; -ENOMEM;
 * -ENOTSUP: built without zstd.
 */
int inflater_fill(struct inflater *i);
void inflater_release(struct inflater *i);

#endif
