// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/recording/perfdata_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "PERFILE2" in the byte order of the recorded host; MAGIC_OLD is from before the format had a byte order. */
#define MAGIC         0x32454c4946524550ULL
#define MAGIC_SWAPPED 0x50455246494c4532ULL
#define MAGIC_OLD     0x454c494646524550ULL

#define FEATURE_MAX (16u << 20)

/* The header of a stream, and the beginning of that of a file. */
struct stream_header {
	uint64_t magic, size;
};

int file_fail(const struct perfdata_file *f, int code, struct err *err)
{
	return err_sys(err, code, "cannot read %s", f->name);
}

static int read_ids(struct perfdata_file *f, struct file_section ids, size_t event, struct err *err)
{
	uint64_t words[512], left = ids.size / sizeof(*words), n;
	int rc = left > EVENT_IDS_MAX ? -E2BIG : 0;

	for (; !rc && left; left -= n, ids.offset += n * sizeof(*words)) {
		n = left < ARRAY_SIZE(words) ? left : ARRAY_SIZE(words);
		rc = source_read_at(&f->source, ids.offset, words, n * sizeof(*words));
		if (!rc)
			rc = header_add_ids(&f->header, words, n);
	}
	if (rc == -E2BIG)
		return err_set(err, rc, "%s has more than %u ids of events", f->name, EVENT_IDS_MAX);
	if (rc == -ENODATA)
		return err_set(err, -EBADMSG, "%s: the ids of event %zu are not within it", f->name, event);
	return rc ? file_fail(f, rc, err) : 0;
}

static int read_attr(struct perfdata_file *f, uint64_t offset, size_t event, struct err *err)
{
	unsigned char entry[ATTR_MAX + sizeof(struct file_section)];
	size_t size = (size_t)f->head.attr_size - sizeof(struct file_section);
	struct file_section ids;
	int rc;

	rc = source_read_at(&f->source, offset, entry, (size_t)f->head.attr_size);
	if (!rc)
		rc = header_add_event(&f->header, entry, size);
	if (rc == -ENODATA || rc == -EBADMSG)
		return err_set(err, -EBADMSG, "%s: the attributes of event %zu are not within it", f->name, event);
	if (rc)
		return file_fail(f, rc, err);
	memcpy(&ids, entry + size, sizeof(ids));
	return read_ids(f, ids, event, err);
}

static int read_attrs(struct perfdata_file *f, struct err *err)
{
	const struct file_header *head = &f->head;
	uint64_t i, nr;
	int rc = 0;

	if (head->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(struct file_section) ||
	    head->attr_size > ATTR_MAX + sizeof(struct file_section))
		return err_set(err, -EBADMSG, "%s: attributes of %llu bytes are impossible", f->name,
			       (unsigned long long)head->attr_size);
	nr = head->attrs.size / head->attr_size;
	if (!nr)
		return err_set(err, -EBADMSG, "%s has no events", f->name);
	if (nr > EVENTS_MAX)
		return err_set(err, -E2BIG, "%s has %llu events; %u can be read", f->name, (unsigned long long)nr,
			       EVENTS_MAX);
	for (i = 0; !rc && i < nr; i++)
		rc = read_attr(f, head->attrs.offset + i * head->attr_size, (size_t)i, err);
	return rc;
}

/* Skip damaged or missing contents: the records can be read without them. */
static int read_feature(struct perfdata_file *f, unsigned int feature, struct file_section s, struct err *err)
{
	void *bytes;
	int rc;

	if (s.size > FEATURE_MAX) {
		f->bad_features++;
		return 0;
	}
	bytes = malloc(s.size ? s.size : 1);
	if (!bytes)
		return file_fail(f, -ENOMEM, err);
	rc = source_read_at(&f->source, s.offset, bytes, s.size);
	if (!rc)
		rc = header_feature(&f->header, feature, bytes, s.size);
	free(bytes);
	if (rc == -ENODATA || rc == -EBADMSG) {
		f->bad_features++;
		rc = 0;
	}
	return rc ? file_fail(f, rc, err) : 0;
}

static bool has_feature(const struct file_header *head, unsigned int feature)
{
	return head->features[feature / 64] >> feature % 64 & 1;
}

/* A table of the features' sections is behind the data, with an entry for each bit that is set in the header. */
static int read_features(struct perfdata_file *f, struct err *err)
{
	uint64_t offset = f->head.data.offset + f->head.data.size;
	struct file_section table[64 * ARRAY_SIZE(f->head.features)];
	unsigned int i, nr = 0, at = 0;
	int rc;

	for (i = 0; i < ARRAY_SIZE(f->head.features); i++)
		nr += (unsigned int)__builtin_popcountll(f->head.features[i]);
	rc = source_read_at(&f->source, offset, table, nr * sizeof(*table));
	if (rc == -ENODATA) {
		f->bad_features++;
		return 0;
	}
	if (rc)
		return file_fail(f, rc, err);
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		if (!has_feature(&f->head, i))
			continue;
		rc = header_feature_wanted(i) ? read_feature(f, i, table[at], err) : 0;
		if (rc)
			return rc;
		at++;
	}
	return 0;
}

static bool section_possible(const struct file_section *s)
{
	return s->offset <= INT64_MAX && s->size <= INT64_MAX - s->offset;
}

static int read_file_header(struct perfdata_file *f, uint64_t size, struct err *err)
{
	struct file_header *head = &f->head;
	size_t oldest = offsetof(struct file_header, features);
	size_t len = size < sizeof(*head) ? oldest : sizeof(*head);
	int rc;

	if (size != oldest && size < sizeof(*head))
		return err_set(err, -EBADMSG, "%s: a header of %llu bytes is impossible", f->name,
			       (unsigned long long)size);
	rc = source_keep(&f->source, len);
	if (!rc)
		rc = source_read_at(&f->source, 0, head, len);
	if (rc == -ENODATA)
		return err_set(err, -EBADMSG, "%s ends within its header", f->name);
	if (rc)
		return file_fail(f, rc, err);
	if (!section_possible(&head->attrs) || !section_possible(&head->data) || head->data.offset < len)
		return err_set(err, -EBADMSG, "%s: its header has impossible offsets", f->name);
	rc = source_keep(&f->source, head->data.offset);
	if (rc == -E2BIG)
		return err_set(err, rc, "%s is a stream, and its data begin too late to be read from one (use a file)",
			       f->name);
	return rc ? file_fail(f, rc, err) : 0;
}

bool file_may_be_compressed(const struct perfdata_file *f)
{
	return f->header.compression || has_feature(&f->head, FEATURE_COMPRESSED);
}

int file_check_compression(const struct perfdata_file *f, struct err *err)
{
	uint32_t method = f->header.compression;

	if (!method)
		return 0;
	if (method != COMPRESSION_ZSTD)
		return err_set(err, -ENOTSUP, "%s is compressed by an unknown method, %u", f->name, method);
	if (!inflater_supported())
		return err_set(err, -ENOTSUP, "%s is compressed, and this program was built without zstd", f->name);
	return 0;
}

static int open_file(struct perfdata_file *f, uint64_t size, struct err *err)
{
	const struct file_section *data = &f->head.data;
	int rc = read_file_header(f, size, err);

	if (!rc)
		rc = read_attrs(f, err);
	if (rc)
		return rc;
	/* perf record writes the size of the data and the features when it ends. */
	f->unfinished = !data->size;
	f->late_features = data->size && !f->source.seekable;
	if (data->size && f->source.seekable)
		rc = read_features(f, err);
	if (!rc)
		rc = file_check_compression(f, err);
	if (rc)
		return rc;
	f->source.limit = data->size ? data->offset + data->size : INT64_MAX;
	rc = source_seek(&f->source, data->offset);
	return rc && rc != -ENODATA ? file_fail(f, rc, err) : 0; /* perfdata_next() notices if the file ends before */
}

static int check_magic(const struct perfdata_file *f, uint64_t magic, struct err *err)
{
	switch (magic) {
	case MAGIC:
		return 0;
	case MAGIC_SWAPPED:
		return err_set(err, -ENOTSUP, "%s was recorded on a host of the other byte order", f->name);
	case MAGIC_OLD:
		return err_set(err, -ENOTSUP, "%s is of the first perf.data format, which perf wrote before 3.1",
			       f->name);
	default:
		return err_set(err, -EINVAL, "%s is no recording of perf record", f->name);
	}
}

static int open_recording(struct perfdata_file *f, struct err *err)
{
	struct stream_header h = { 0 };
	int rc = source_keep(&f->source, sizeof(h));

	if (!rc)
		rc = source_read_at(&f->source, 0, &h, 1);
	if (rc == -ENODATA)
		return err_set(err, -EINVAL, "%s is empty", f->name);
	if (!rc)
		rc = source_read_at(&f->source, 0, &h, sizeof(h));
	if (rc && rc != -ENODATA)
		return file_fail(f, rc, err);
	rc = rc ? err_set(err, -EINVAL, "%s is no recording of perf record", f->name) : check_magic(f, h.magic, err);
	if (rc || h.size != sizeof(h))
		return rc ? rc : open_file(f, h.size, err);
	f->source.limit = INT64_MAX;
	return source_seek(&f->source, sizeof(h));
}

int file_open(struct perfdata_file *f, const char *path, struct err *err)
{
	int rc;

	if ((strcmp(path, "-") ? asprintf(&f->name, "'%s'", path) : asprintf(&f->name, "standard input")) < 0) {
		f->name = NULL;
		f->source.fd = -1;
		return err_sys(err, -ENOMEM, "cannot read '%s'", path);
	}
	rc = source_open(&f->source, path, f->name, err);
	return rc ? rc : open_recording(f, err);
}

void file_close(struct perfdata_file *f)
{
	source_close(&f->source);
	header_release(&f->header);
	free(f->name);
}

int file_late_features(struct perfdata_file *f, struct err *err)
{
	f->source.limit = INT64_MAX;
	return f->late_features ? read_features(f, err) : 0;
}
