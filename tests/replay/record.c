// SPDX-License-Identifier: Apache-2.0
/*
 * record MILLISECONDS HZ FILE COMMAND [ARGUMENT...] - run COMMAND for that long and write the records of its processes
 * from the rings of all CPUs to FILE, for replay. Needs root; no test runs it.
 *
 * The events, and the way of reading them, are those of `profile --backend=perfring`. Records of other processes are
 * left out: of the machine, a recording shows only the kernel's addresses, process ids, and the paths that COMMAND
 * maps. So put the workload at a path that reveals nothing. execer was recorded with "setarch -R" before it, so that
 * its programs use the same addresses, and storm is "dash -c 'while :; do (:); done'". Some of the 176 samples of storm
 * are of dying processes.
 *
 *   mkdir /tmp/replay && cp build/tests/workloads/forker /tmp/replay/
 *   build/tests/replay/record 600 499 tests/replay/forker.rings /tmp/replay/forker 5
 *   strings tests/replay/forker.rings
 *   build/tests/replay/replay tests/replay/forker.rings >tests/replay/forker.folded
 */
#include "tests/replay/recording.h"

#include "backend-perfring/decode.h"
#include "backend-perfring/ring/ring.h"
#include "core/cli/options.h"
#include "core/cli/request.h"
#include "core/session/open.h"
#include "core/session/session.h"
#include "core/base/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DRAIN_NS 200000000 /* as in profile */

/* A record that was read, at @at in the recorder's bytes. */
struct entry {
	uint32_t round, ring;
	size_t at, size;
	bool ours;
};

struct recorder {
	struct session *session;
	struct ring *rings; /* of each CPU two: for samples, and for tasks and mappings */
	struct blocks *blocks;
	uint32_t round, ring; /* being read */
	struct entry *entries;
	size_t nr, cap_entries;
	unsigned char *bytes;
	size_t used, room;
	pid_t *pids; /* processes whose records are kept */
	size_t nr_pids, cap_pids;
};

static void *more(void *array, size_t *session, size_t used, size_t n, size_t size)
{
	array = grow(array, session, used, n, size);
	if (!array)
		die("no memory");
	return array;
}

/* A child that executes @argv when a byte comes from *@go, so that no record of it is missed. */
static pid_t start(char **argv, int *go)
{
	int fds[2], null;
	pid_t pid;
	char byte;

	if (pipe2(fds, O_CLOEXEC))
		die("pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid) {
		close(fds[0]);
		*go = fds[1];
		return pid;
	}
	close(fds[1]);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (read(fds[0], &byte, 1) == 1 && null >= 0 && dup2(null, STDOUT_FILENO) >= 0)
		execv(argv[0], argv);
	_exit(127);
}

static int keep_record(void *ctx, const struct perf_event_header *record, size_t size)
{
	struct recorder *r = ctx;

	r->entries = more(r->entries, &r->cap_entries, r->nr, 1, sizeof(*r->entries));
	r->bytes = more(r->bytes, &r->room, r->used, size, 1);
	memcpy(r->bytes + r->used, record, size);
	r->entries[r->nr++] = (struct entry){ r->round, r->ring, r->used, size, false };
	r->used += size;
	return 0;
}

/* A recording has one ring for each CPU: which of the two rings it was does not matter for the order. */
static void read_round(struct recorder *r)
{
	size_t i;

	for (i = 0; i < 2 * r->session->events.nr_places; i++) {
		r->ring = (uint32_t)(i / 2);
		if (r->rings[i].page && ring_read(&r->rings[i], keep_record, NULL, r))
			die("ring %u cannot be read", r->ring);
	}
	r->round++;
}

static void switch_event(int fd, unsigned long request)
{
	if (fd >= 0 && ioctl(fd, request, 0))
		die("cannot switch an event: %s", strerror(errno));
}

static void switch_events(struct recorder *r, unsigned long request)
{
	size_t i;

	for (i = 0; i < r->session->events.nr_places; i++) {
		switch_event(r->session->events.places[i].side.fd, request);
		switch_event(r->session->events.places[i].fd, request);
	}
}

static void record(struct recorder *r, uint64_t ms, int go)
{
	uint64_t left = ms * 1000000;

	switch_events(r, PERF_EVENT_IOC_ENABLE);
	if (write(go, "", 1) != 1)
		die("cannot start the command");
	while (left) {
		uint64_t ns = left < DRAIN_NS ? left : DRAIN_NS;
		struct timespec ts = { 0, (long)ns };

		nanosleep(&ts, NULL);
		read_round(r);
		left -= ns;
	}
	switch_events(r, PERF_EVENT_IOC_DISABLE);
	read_round(r);
}

static bool is_ours(const struct recorder *r, pid_t pid)
{
	size_t i;

	for (i = 0; i < r->nr_pids; i++)
		if (r->pids[i] == pid)
			return true;
	return false;
}

static void add_pid(struct recorder *r, pid_t pid)
{
	r->pids = more(r->pids, &r->cap_pids, r->nr_pids, 1, sizeof(*r->pids));
	r->pids[r->nr_pids++] = pid;
}

static bool decode(const struct recorder *r, const struct entry *e, struct record *out)
{
	return decode_record(&r->session->events.attrs[EVENT_SAMPLES], r->bytes + e->at, e->size, out) == 1;
}

/* Find all descendants, in any order of the records. */
static void find_pids(struct recorder *r)
{
	struct record rec;
	size_t before, i;

	do {
		before = r->nr_pids;
		for (i = 0; i < r->nr; i++)
			if (decode(r, &r->entries[i], &rec) && rec.type == PERF_RECORD_FORK &&
			    is_ours(r, rec.fork.ppid) && !is_ours(r, rec.pid))
				add_pid(r, rec.pid);
	} while (r->nr_pids != before);
}

/* A sample of a dying task is ours if the last task that exited on its CPU is. */
static void choose(struct recorder *r)
{
	bool *last = calloc(r->session->events.nr_places, sizeof(*last));
	struct record rec;
	size_t i;

	if (!last)
		die("no memory");
	for (i = 0; i < r->nr; i++) {
		struct entry *e = &r->entries[i];

		if (!decode(r, e, &rec))
			continue;
		if (rec.type == PERF_RECORD_SAMPLE && rec.tid < 0)
			e->ours = last[e->ring];
		else if (rec.type == PERF_RECORD_LOST || rec.type == PERF_RECORD_THROTTLE)
			e->ours = true;
		else
			e->ours = is_ours(r, rec.pid);
		if (rec.type == PERF_RECORD_EXIT)
			last[e->ring] = e->ours;
	}
	free(last);
}

static void put(FILE *f, const void *data, size_t len)
{
	if (fwrite(data, 1, len, f) != len)
		die("cannot write: %s", strerror(errno));
}

/* Write the entries from @i on that belong to one block. Return: where the next block begins. */
static size_t write_block(const struct recorder *r, FILE *f, size_t i)
{
	struct recording_block block = { r->entries[i].round, r->entries[i].ring, 0 };
	size_t end, at;

	for (end = i; end < r->nr && r->entries[end].round == block.round && r->entries[end].ring == block.ring; end++)
		if (r->entries[end].ours)
			block.bytes += r->entries[end].size;
	if (block.bytes)
		put(f, &block, sizeof(block));
	for (at = i; at < end; at++)
		if (r->entries[at].ours)
			put(f, r->bytes + r->entries[at].at, r->entries[at].size);
	return end;
}

static void write_file(const struct recorder *r, const char *path)
{
	struct recording_head head = { RECORDING_MAGIC, RECORDING_VERSION,
				       sizeof(r->session->events.attrs[EVENT_SAMPLES]),
				       (uint32_t)r->session->events.nr_places, 0 };
	FILE *f = fopen(path, "we");
	size_t i;

	if (!f)
		die("'%s': %s", path, strerror(errno));
	put(f, &head, sizeof(head));
	put(f, &r->session->events.attrs[EVENT_SAMPLES], sizeof(r->session->events.attrs[EVENT_SAMPLES]));
	for (i = 0; i < r->nr;)
		i = write_block(r, f, i);
	if (fclose(f))
		die("'%s': %s", path, strerror(errno));
}

static void map_ring(const struct recorder *r, struct ring *ring, int fd, size_t bytes)
{
	if (fd >= 0 && ring_map(ring, fd, bytes, r->blocks))
		die("cannot map a ring of %zu bytes", bytes);
}

/* The backend maps the rings and never reads them; this program maps the same ones. */
static void open_rings(struct recorder *r)
{
	struct err err;
	size_t i;

	if (session_open(r->session, &err))
		die("%s", err.msg);
	r->rings = calloc(2 * r->session->events.nr_places, sizeof(*r->rings));
	r->blocks = blocks_new(64);
	if (!r->rings || !r->blocks)
		die("no memory");
	for (i = 0; i < r->session->events.nr_places; i++) {
		map_ring(r, &r->rings[2 * i], r->session->events.places[i].fd, r->session->events.rings.samples);
		map_ring(r, &r->rings[2 * i + 1], r->session->events.places[i].side.fd, r->session->events.rings.side);
	}
}

static void release(struct recorder *r)
{
	size_t i;

	for (i = 0; i < 2 * r->session->events.nr_places; i++)
		ring_unmap(&r->rings[i]);
	free(r->rings);
	blocks_delete(r->blocks);
	free(r->entries);
	free(r->bytes);
	free(r->pids);
	session_free(r->session);
}

int main(int argc, char **argv)
{
	char *args[] = { "profile", "--backend=perfring", "-F", argc > 2 ? argv[2] : NULL, NULL };
	struct recorder r = { 0 };
	struct options options;
	struct err err;
	uint64_t ms;
	char *end;
	pid_t pid;
	int go;

	if (argc < 5)
		die("usage: record MILLISECONDS HZ FILE COMMAND [ARGUMENT...]");
	ms = strtoull(argv[1], &end, 10);
	if (*end || !ms || ms > 60000)
		die("bad number of milliseconds '%s'", argv[1]);
	if (options_parse(&options, TOOL_PROFILE, 4, args, &host_here, &err))
		die("%s", err.msg);
	pid = start(argv + 4, &go);
	r.session = request_session(&options, &host_here);
	if (!r.session)
		die("no memory");
	open_rings(&r);
	record(&r, ms, go);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	add_pid(&r, pid);
	find_pids(&r);
	choose(&r);
	write_file(&r, argv[3]);
	release(&r);
	options_release(&options);
	return 0;
}
