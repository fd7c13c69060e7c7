// SPDX-License-Identifier: Apache-2.0
#include "core/report/labels.h"
#include "core/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct textbuf *b, size_t more)
{
	char *bytes;

	if (b->failed)
		return false;
	bytes = grow(b->bytes, &b->cap, b->len, more, 1);
	if (!bytes) {
		b->failed = true;
		return false;
	}
	b->bytes = bytes;
	return true;
}

void textbuf_put(struct textbuf *b, const char *s, size_t len)
{
	if (!reserve(b, len))
		return;
	memcpy(b->bytes + b->len, s, len);
	b->len += len;
}

/* Bytes of the character at @p, 0 when it is not well formed (table 3-7 of the Unicode standard). */
static size_t utf8_len(const unsigned char *p, size_t n)
{
	unsigned char lo, hi;
	size_t len, i;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (n < len)
		return 0;
	lo = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80; /* no overlong forms */
	hi = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf; /* no surrogates, nothing above U+10FFFF */
	if (p[1] < lo || p[1] > hi)
		return 0;
	for (i = 2; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

static bool is_control(const unsigned char *p)
{
	return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

void textbuf_name(struct textbuf *b, const char *s, char semicolon)
{
	size_t n = strnlen(s, NAME_MAX_BYTES), i = 0, len;
	const unsigned char *p = (const unsigned char *)s;

	if (!reserve(b, n))
		return;
	while (i < n) {
		len = utf8_len(p + i, n - i);
		if (!len || is_control(p + i)) {
			b->bytes[b->len++] = '?';
		} else if (p[i] == ';') {
			b->bytes[b->len++] = semicolon;
		} else {
			memcpy(b->bytes + b->len, s + i, len);
			b->len += len;
		}
		i += len ? len : 1;
	}
}

/* What is made safe is not longer than it was. */
const char *name_shown(const char *s, char out[NAME_SHOWN + 1])
{
	struct textbuf text = { 0 };

	snprintf(out, NAME_SHOWN + 1, "%s", s);
	textbuf_name(&text, out, ';');
	snprintf(out, NAME_SHOWN + 1, "%.*s", (int)text.len, text.len ? text.bytes : "");
	free(text.bytes);
	return out;
}

void labels_release(struct labels *l)
{
	hash_release(&l->index);
	hash_release(&l->seq_index);
	free(l->bytes);
	free(l->v);
	free(l->ids);
	free(l->seqs);
	*l = (struct labels){ 0 };
}

int labels_cmp(const struct labels *l, uint32_t a, uint32_t b)
{
	const struct label *x = &l->v[a], *y = &l->v[b];
	int c = memcmp(l->bytes + x->at, l->bytes + y->at, x->len < y->len ? x->len : y->len);

	return c ? c : (x->len > y->len) - (x->len < y->len);
}

static bool same_text(const void *table, uint32_t pos, const void *key)
{
	const struct labels *l = table;
	const struct label *have = &l->v[pos];
	const struct textbuf *text = key;

	return have->len == text->len && (!have->len || !memcmp(l->bytes + have->at, text->bytes, have->len));
}

static int intern(struct labels *l, const struct textbuf *text, uint32_t *id)
{
	uint64_t hash = hash_bytes(text->bytes, text->len, 0);
	struct label *v;
	char *bytes;
	int rc;

	if (text->failed)
		return -ENOMEM;
	*id = hash_find(&l->index, hash, same_text, l, text);
	if (*id != HASH_NONE)
		return 0;
	if (l->nr >= HASH_NONE - 1)
		return -ENOMEM;
	bytes = grow(l->bytes, &l->bytes_cap, l->bytes_used, text->len, 1);
	if (!bytes)
		return -ENOMEM;
	l->bytes = bytes;
	v = grow(l->v, &l->cap, l->nr, 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	l->v = v;
	rc = hash_add(&l->index, hash, (uint32_t)l->nr);
	if (rc)
		return rc;
	if (text->len)
		memcpy(bytes + l->bytes_used, text->bytes, text->len);
	v[l->nr] = (struct label){ l->bytes_used, (uint32_t)text->len, HASH_NONE };
	l->bytes_used += text->len;
	*id = (uint32_t)l->nr++;
	return 0;
}

int labels_add(struct labels *l, const struct textbuf *text, const struct textbuf *folded, uint32_t *id)
{
	uint32_t key;
	int rc = intern(l, text, id);

	if (rc)
		return rc;
	rc = intern(l, folded, &key);
	if (rc)
		return rc;
	if (l->v[*id].folded == HASH_NONE || labels_cmp(l, key, l->v[*id].folded) < 0)
		l->v[*id].folded = key;
	return 0;
}

struct seq_key {
	const uint32_t *ids;
	uint32_t nr;
};

static bool same_seq(const void *table, uint32_t pos, const void *key)
{
	const struct labels *l = table;
	const struct label_seq *have = &l->seqs[pos];
	const struct seq_key *k = key;

	return have->nr == k->nr && (!k->nr || !memcmp(&l->ids[have->at], k->ids, k->nr * sizeof(*k->ids)));
}

int labels_add_seq(struct labels *l, const uint32_t *ids, uint32_t nr, uint32_t *seq)
{
	uint64_t hash = hash_bytes(ids, nr * sizeof(*ids), 0);
	struct seq_key key = { ids, nr };
	struct label_seq *seqs;
	uint32_t *all;
	int rc;

	*seq = hash_find(&l->seq_index, hash, same_seq, l, &key);
	if (*seq != HASH_NONE)
		return 0;
	if (l->nr_seqs >= HASH_NONE - 1)
		return -ENOMEM;
	all = grow(l->ids, &l->ids_cap, l->ids_used, nr, sizeof(*all));
	if (!all)
		return -ENOMEM;
	l->ids = all;
	seqs = grow(l->seqs, &l->seqs_cap, l->nr_seqs, 1, sizeof(*seqs));
	if (!seqs)
		return -ENOMEM;
	l->seqs = seqs;
	rc = hash_add(&l->seq_index, hash, (uint32_t)l->nr_seqs);
	if (rc)
		return rc;
	if (nr)
		memcpy(&all[l->ids_used], ids, nr * sizeof(*ids));
	seqs[l->nr_seqs] = (struct label_seq){ l->ids_used, nr };
	l->ids_used += nr;
	*seq = (uint32_t)l->nr_seqs++;
	return 0;
}
