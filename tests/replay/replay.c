// SPDX-License-Identifier: Apache-2.0
/*
 * replay [--reverse] [--at-once] [--stagger] RECORDING - write the folded report of a recording to stdout, the stats to
 * stderr.
 *
 * The ring backend runs as in a real profile. But its events are files in memory: each round writes the next part of
 * the recorded bytes to them. There is no /proc, and names come from the recording: FILE+0xOFFSET and k0xADDRESS.
 *
 *   --reverse  the rings are read in the opposite order
 *   --at-once  the rings are read once, at the end
 *   --stagger  half of the first ring's records are found one round later, as if they came after that ring was read and
 *              before the last ring was
 *
 * Exit status: 0; 1: not a recording, or it cannot be replayed.
 */
#include "tests/replay/recording.h"

#include "core/cli/request.h"
#include "core/session/session.h"
#include "core/session/statistics.h"
#include "core/report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The kernel's side of a ring. */
struct recorded_ring {
	struct perf_event_mmap_page *page;
	unsigned char *data;
};

struct replay {
	FILE *in;
	bool reverse, at_once, stagger;
	struct session *session;
	struct recorded_ring *sources;
	size_t page_size;
	struct source *rings;
	unsigned char *block, *late; /* @late: the bytes that the first ring gets in the next round */
	size_t late_bytes;
};

/* Return: false: end of the file. */
static bool get(struct replay *r, void *buf, size_t len, const char *what)
{
	size_t n = fread(buf, 1, len, r->in);

	if (!n && feof(r->in))
		return false;
	if (n != len)
		die("the recording ends within %s", what);
	return true;
}

static void read_head(struct replay *r, struct recording_head *head)
{
	struct perf_event_attr *attr = &r->session->events.attrs[EVENT_SAMPLES];
	unsigned char byte;
	uint32_t i;

	if (!get(r, head, sizeof(*head), "its head") || memcmp(head->magic, RECORDING_MAGIC, sizeof(head->magic)))
		die("this is not a recording");
	if (head->version != RECORDING_VERSION)
		die("the recording has version %u, this program reads %u", head->version, RECORDING_VERSION);
	if (!head->nr_rings || head->nr_rings > RECORDING_MAX_RINGS)
		die("the recording has %u rings", head->nr_rings);
	if (head->attr_bytes < PERF_ATTR_SIZE_VER0 || head->attr_bytes > 4096)
		die("the recording has attributes of %u bytes", head->attr_bytes);
	for (i = 0; i < head->attr_bytes; i++) {
		if (!get(r, &byte, 1, "the attributes"))
			die("the recording ends within the attributes");
		if (i < sizeof(*attr))
			((unsigned char *)attr)[i] = byte;
	}
}

static void make_ring(struct replay *r, size_t i)
{
	size_t size = r->page_size + RECORDING_RING_BYTES;
	int fd = memfd_create("ring", MFD_CLOEXEC);
	void *base;

	if (fd < 0 || ftruncate(fd, (off_t)size))
		die("cannot make a memory file: %s", strerror(errno));
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		die("cannot map a memory file: %s", strerror(errno));
	r->sources[i] = (struct recorded_ring){ base, (unsigned char *)base + r->page_size };
	r->session->events.places[r->session->events.nr_places++] = (struct event_place){
		.fd = fd, .cpu = (int)i, .samples = true, .notes = { { .fd = -1 }, { .fd = -1 } }, .side = { .fd = -1 }
	};
}

static void open_rings(struct replay *r, uint32_t nr_rings)
{
	struct session *session = r->session;
	struct err err;
	uint32_t i;

	r->sources = calloc(nr_rings, sizeof(*r->sources));
	session->events.places = calloc(nr_rings, sizeof(*session->events.places));
	r->block = malloc(RECORDING_RING_BYTES);
	r->late = malloc(RECORDING_RING_BYTES);
	if (!r->sources || !session->events.places || !r->block || !r->late)
		die("no memory");
	session->events.rings.samples = RECORDING_RING_BYTES;
	for (i = 0; i < nr_rings; i++)
		make_ring(r, i);
	session->env.source = &source_rings;
	/* It is not started, because starting reads names from /proc. */
	if (source_rings.open(&session->source, &session->env, &err))
		die("%s", err.msg);
	r->rings = session->source;
	for (i = 0; i < nr_rings; i++)
		if (source_rings.attach(r->rings, i, &err))
			die("%s", err.msg);
}

/* Write like the kernel: continue where it stopped, and wrap at the end. */
static void write_ring(struct replay *r, uint32_t ring, const unsigned char *bytes, size_t len)
{
	struct recorded_ring *s = &r->sources[ring];
	uint64_t head = s->page->data_head, from, n;

	if (len > RECORDING_RING_BYTES - (head - s->page->data_tail))
		die("ring %u is full", ring);
	for (; len; len -= n, bytes += n, head += n) {
		from = head % RECORDING_RING_BYTES;
		n = len < RECORDING_RING_BYTES - from ? len : RECORDING_RING_BYTES - from;
		memcpy(s->data + from, bytes, n);
	}
	__atomic_store_n(&s->page->data_head, head, __ATOMIC_RELEASE);
}

/*
 * The beginning of the first record in the second half of the block; the end of the block if the records are invalid.
 */
static size_t half(const unsigned char *block, size_t len)
{
	struct perf_event_header h;
	size_t at;

	for (at = 0; at < len / 2; at += h.size) {
		memcpy(&h, block + at, sizeof(h));
		if (h.size < sizeof(h) || h.size > len - at)
			return len;
	}
	return at;
}

static void fill_ring(struct replay *r, const struct recording_block *block)
{
	uint32_t nr = (uint32_t)r->session->events.nr_places, ring = r->reverse ? nr - 1 - block->ring : block->ring;
	size_t now = block->bytes;

	if (block->ring >= nr)
		die("ring %u of %u", block->ring, nr);
	if (!block->bytes || block->bytes % 8 || block->bytes > RECORDING_RING_BYTES)
		die("a block of %" PRIu64 " bytes", block->bytes);
	if (!get(r, r->block, now, "a block"))
		die("the recording ends within a block");
	if (r->stagger && ring == 0)
		now = half(r->block, now);
	write_ring(r, ring, r->block, now);
	if (now < block->bytes) {
		r->late_bytes = block->bytes - now;
		memcpy(r->late, r->block + now, r->late_bytes);
	}
}

static void drain(struct replay *r)
{
	struct err err;

	if (source_rings.drain(r->rings, &err))
		die("%s", err.msg);
	write_ring(r, 0, r->late, r->late_bytes);
	r->late_bytes = 0;
}

static void feed(struct replay *r)
{
	struct recording_block block;
	struct err err;
	uint32_t round = 0;

	while (get(r, &block, sizeof(block), "the head of a block")) {
		if (block.round < round)
			die("round %u after round %u", block.round, round);
		/* Rounds without a block count, too: records are applied in later rounds, see order_round(). */
		for (; round < block.round && !r->at_once; round++) {
			if (block.round - round > 100000)
				die("round %u after round %u", block.round, round);
			drain(r);
		}
		round = block.round;
		fill_ring(r, &block);
	}
	if (r->late_bytes)
		drain(r);
	if (source_rings.end(r->rings, &err))
		die("%s", err.msg);
}

static void name_kernel(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	static char name[32];

	(void)ctx;
	(void)is_return;
	snprintf(name, sizeof(name), "k0x%" PRIx64, addr);
	*out = (struct symbol){ .name = name };
}

static void name_user(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		      struct symbol *out)
{
	static char name[4200];
	struct replay *r = ctx;
	const char *base;
	struct mapping m;

	*out = (struct symbol){ .name = NULL };
	if (tasks_find(r->session->sink.tasks, pid, comm, image, addr - is_return, &m) != 1)
		return;
	base = strrchr(m.file->path, '/');
	base = base && base[1] ? base + 1 : m.file->path;
	snprintf(name, sizeof(name), "%s+0x%" PRIx64, base, addr - m.start + m.pgoff);
	out->name = name;
}

static void write_report(struct replay *r)
{
	const struct report_names names = { r, name_kernel, name_user };
	const struct report_cfg cfg = { .form = &report_folded, .delimited = true };
	struct stats b;
	struct err err;

	if (report_write(stdout, session_samples(r->session), &names, &cfg, &err))
		die("%s", err.msg);
	session_stats(r->session, &b);
	fprintf(stderr,
		"taken: %" PRIu64 "\ncounted: %" PRIu64 "\nfiltered: %" PRIu64 "\nlost: %" PRIu64
		"\nring_records: %" PRIu64 "\nlate_records: %" PRIu64 "\nbad_records: %" PRIu64 "\ndead_tasks: %" PRIu64
		"\n",
		b.taken, b.counted_ring, b.filtered, b.lost, b.ring_records, b.late_records, b.bad_records,
		b.dead_tasks);
}

static void release(struct replay *r)
{
	size_t i;

	for (i = 0; i < r->session->events.nr_places; i++)
		munmap(r->sources[i].page, r->page_size + RECORDING_RING_BYTES);
	free(r->sources);
	free(r->block);
	free(r->late);
	session_free(r->session);
	fclose(r->in);
}

int main(int argc, char **argv)
{
	const struct host nowhere = { .proc = "/dev/null", .sys = "/dev/null" };
	struct options options = { .cpu = -1, .sampling.event = event_default() };
	struct replay r = { .page_size = (size_t)sysconf(_SC_PAGESIZE) };
	struct recording_head head;
	int i;

	for (i = 1; i < argc - 1; i++) {
		if (!strcmp(argv[i], "--reverse"))
			r.reverse = true;
		else if (!strcmp(argv[i], "--at-once"))
			r.at_once = true;
		else if (!strcmp(argv[i], "--stagger"))
			r.stagger = true;
		else
			die("unknown option '%s'", argv[i]);
	}
	if (i >= argc)
		die("usage: replay [--reverse] [--at-once] [--stagger] RECORDING");
	r.in = fopen(argv[i], "re");
	if (!r.in)
		die("'%s': %s", argv[i], strerror(errno));
	r.session = request_session(&options, &nowhere);
	if (!r.session)
		die("no memory");
	read_head(&r, &head);
	open_rings(&r, head.nr_rings);
	feed(&r);
	write_report(&r);
	release(&r);
	return 0;
}
