// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/kernel_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MAX   (1u << 30) /* of a whole file; usual are 5 to 25 MB */
#define PIECE_BYTES 65536      /* a read(2) of /proc/kallsyms returns about 4 KiB */

#define SHOWN_PIECES 4 /* if addresses are shown, one in the first so many pieces is not 0 */

struct kernel_file {
	int fd; /* -1: it is read to its end, or cannot be read */
	size_t left;
	int rc;
	bool whole;
	struct kernel_symbols *text, *rest;
	bool text_read, rest_read;
	size_t used, len; /* of the piece: the bytes between were read with the text, and belong to the rest */
	char piece[PIECE_BYTES];
};

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), rc;
	struct stat st;

	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? fd : S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if (rc < 0)
		close(fd);
	return rc;
}

int kernel_file_adopt(int fd, bool whole, struct kernel_file **out)
{
	struct kernel_file *f = malloc(sizeof(*f));

	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	f->fd = fd;
	f->left = BYTES_MAX;
	f->rc = 0;
	f->whole = whole;
	f->text = f->rest = NULL;
	f->text_read = f->rest_read = false;
	f->used = f->len = 0;
	*out = f;
	return 0;
}

int kernel_file_open(const char *path, bool whole, struct kernel_file **out)
{
	int fd = open_file(path);

	return fd < 0 ? fd : kernel_file_adopt(fd, whole, out);
}

static void close_file(struct kernel_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

void kernel_file_free(struct kernel_file *f)
{
	if (!f)
		return;
	close_file(f);
	kernel_symbols_free(f->text);
	kernel_symbols_free(f->rest);
	free(f);
}

/* Read nothing more; symbols that are not finished are not found. */
static int fail(struct kernel_file *f, int rc)
{
	f->rc = rc;
	f->text_read = f->rest_read = true;
	close_file(f);
	return rc;
}

/* Return: 1: a piece was read; 0: the end; -errno. */
static int read_piece(struct kernel_file *f)
{
	ssize_t n;

	f->used = f->len = 0;
	do
		n = f->fd < 0 ? 0 : read(f->fd, f->piece, sizeof(f->piece));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if ((size_t)n > f->left)
		return -EFBIG;
	f->left -= (size_t)n;
	f->len = (size_t)n;
	if (!n)
		close_file(f);
	return n > 0;
}

/* Return true if the file has a rest behind the text. */
static bool ended(const struct kernel_file *f)
{
	return !f->whole && kernel_symbols_text_ended(f->text);
}

/* Return: 1: there is more of the text; 0: it is finished; -errno. */
static int read_text(struct kernel_file *f)
{
	int more, rc;

	if (!f->text)
		f->text = kernel_symbols_new();
	more = f->text ? read_piece(f) : -ENOMEM;
	if (more < 0)
		return more;
	f->used = f->len;
	rc = f->whole ? kernel_symbols_feed(f->text, f->piece, f->len)
		      : kernel_symbols_feed_text(f->text, f->piece, f->len, &f->used);
	if (rc)
		return rc;
	if (more && !ended(f))
		return 1;
	f->text_read = true;
	return kernel_symbols_finish(f->text);
}

/*
 * The rest begins with the symbol at the end of the text, which was read with the text: the symbols behind it may have
 * the same address, and the first one names it.
 */
static int begin_rest(struct kernel_file *f)
{
	uint64_t at = kernel_symbols_text_end(f->text);
	struct kernel_symbol end;
	char line[1024];
	int len;

	if (!kernel_symbols_find(f->text, at, &end) || end.start != at)
		return 0;
	len = snprintf(line, sizeof(line), "%" PRIx64 " T %s\n", at, end.name);
	return len < (int)sizeof(line) ? kernel_symbols_feed(f->rest, line, (size_t)len) : 0;
}

/* The last piece of the text may have the beginning of the rest. */
static int read_rest(struct kernel_file *f)
{
	int more = 1, rc;

	f->rest = kernel_symbols_new();
	if (!f->rest)
		return -ENOMEM;
	rc = begin_rest(f);
	while (!rc && more > 0) {
		rc = kernel_symbols_feed(f->rest, f->piece + f->used, f->len - f->used);
		if (!rc)
			more = read_piece(f);
	}
	if (!rc)
		rc = more;
	f->rest_read = true;
	return rc ? rc : kernel_symbols_finish(f->rest);
}

bool kernel_file_ahead(struct kernel_file *f)
{
	int more = f->text_read ? 0 : read_text(f);

	if (more < 0)
		fail(f, more);
	return more > 0;
}

/* The file begins with addresses of per-CPU variables, of which the very first may be 0. */
bool kernel_file_shows(struct kernel_file *f)
{
	int i;

	for (i = 0; i < SHOWN_PIECES && (!f->text || !kernel_symbols_shown(f->text)); i++)
		if (!kernel_file_ahead(f))
			break;
	return f->text && kernel_symbols_shown(f->text);
}

int kernel_file_text(struct kernel_file *f)
{
	while (kernel_file_ahead(f))
		;
	return f->rc;
}

bool kernel_file_find(struct kernel_file *f, uint64_t addr, struct kernel_symbol *out)
{
	int rc;

	if (!kernel_address(addr))
		return false;
	kernel_file_text(f);
	if (!f->text)
		return false;
	if (!ended(f) || kernel_symbols_in_text(f->text, addr))
		return kernel_symbols_find(f->text, addr, out);
	if (!f->rest_read) {
		rc = read_rest(f);
		if (rc)
			fail(f, rc);
	}
	return f->rest && kernel_symbols_find(f->rest, addr, out);
}

const struct kernel_symbols *kernel_file_symbols(const struct kernel_file *f)
{
	return f->text;
}

int kernel_file_error(const struct kernel_file *f)
{
	return f->rc;
}
