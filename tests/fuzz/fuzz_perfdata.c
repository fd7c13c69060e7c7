// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer target for perfdata_open() and perfdata_next(). Input: a recording.
 *
 * It is read as a file and through a pipe: the records must be the same, however they come.
 */
#include "tests/fuzz/fuzz.h"

#include "backend-perfring/recording/perfdata.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIPE_ROOM 65536

struct seen {
	int rc;
	uint64_t records, bad_records, sum;
};

static void check_header(const struct perfdata *pd)
{
	struct perfdata_build_id b;
	size_t i;

	for (i = 0; i < perfdata_nr_events(pd); i++)
		check(*perfdata_event(pd, i)->name);
	for (i = 0; perfdata_build_id(pd, i, &b); i++)
		check(b.size >= 1 && b.size <= 20 && strlen(b.path) < 65536);
	check(strlen(perfdata_hostname(pd)) + strlen(perfdata_osrelease(pd)) < 65536);
}

static void check_record(const struct perfdata *pd, const struct perf_event_header *record, struct seen *s)
{
	const uint64_t *words = (const uint64_t *)record;
	size_t event = perfdata_event_of(pd, record), i;

	check((uintptr_t)record % 8 == 0 && record->size >= 8 && record->size % 8 == 0);
	check(record->type < 64 || record->type == PERFDATA_FINISHED_ROUND);
	check(event == SIZE_MAX || event < perfdata_nr_events(pd));
	/* Read every word, so that the sanitizer finds missing ones. */
	for (i = 0; i < record->size / 8; i++)
		s->sum = s->sum * 31 + words[i];
	s->sum = s->sum * 31 + event;
	s->records++;
}

/* Read standard input. */
static struct seen read_all(void)
{
	const struct perf_event_header *record;
	struct err err = { 0 };
	struct seen s = { 0 };
	struct perfdata *pd;

	s.rc = perfdata_open(&pd, "-", &err);
	check(s.rc <= 0 && !pd == !!s.rc && err.code == s.rc);
	if (s.rc)
		return s;
	while ((s.rc = perfdata_next(pd, &record, &err)) == 1)
		check_record(pd, record, &s);
	check(s.rc == err.code);
	check_header(pd);
	s.bad_records = perfdata_counts(pd).bad_records;
	check(s.records == perfdata_counts(pd).records);
	perfdata_close(pd);
	return s;
}

static struct seen read_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	close(fd);
	return read_all();
}

static struct seen read_pipe(const uint8_t *data, size_t size)
{
	int fds[2];

	check(!pipe2(fds, O_CLOEXEC) && write(fds[1], data, size) == (ssize_t)size);
	check(dup2(fds[0], STDIN_FILENO) == STDIN_FILENO);
	close(fds[0]);
	close(fds[1]);
	return read_all();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen file, piped;

	if (size > PIPE_ROOM)
		return -1;
	file = read_file(data, size);
	piped = read_pipe(data, size);
	/* A pipe cannot be read if attributes come after the data, and its reader finds compression only at the end. */
	if (!file.rc && !piped.rc)
		check(file.records == piped.records && file.sum == piped.sum && file.bad_records == piped.bad_records);
	return 0;
}
