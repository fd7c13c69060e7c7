// SPDX-License-Identifier: Apache-2.0
/*
 * demo [SECONDS] - a small mixed program for `make demo`: a request loop that parses, sorts, hashes, and
 * makes system calls.
 *
 * Expected below main;serve_requests: parse_request; sort_records;shell_sort;compare_records;
 * hash_body; read_input;read and write_log;write with kernel frames.
 */
#include "workload.h"

enum { NR_RECORDS = 4096, BODY_BYTES = 1 << 18 };

static uint32_t records[NR_RECORDS];
static unsigned char body[BODY_BYTES];

/* read() and write() of libc have no frame, so that their callers are missing in the stacks: these two functions. */
static NOINLINE void read_all(int fd)
{
	if (read(fd, body, sizeof(body)) != (ssize_t)sizeof(body))
		workload_die("cannot read /dev/zero");
}

static NOINLINE void write_all(int fd, const char *line, size_t len)
{
	if (write(fd, line, len) != (ssize_t)len)
		workload_die("cannot write the log");
}

static NOINLINE void read_input(int fd)
{
	int i;

	for (i = 0; i < 24; i++)
		read_all(fd);
}

static NOINLINE unsigned int parse_request(void)
{
	static const char request[] =
		"GET /records/42?order=descending&limit=100 HTTP/1.1\r\nHost: example.org\r\n\r\n";
	volatile unsigned int fields = 0; /* in memory, for a frame: see spin_iterations() */
	unsigned int i, j;

	for (i = 0; i < 10000; i++)
		for (j = 0; j < sizeof(request) - 1; j++)
			fields += request[j] == '/' || request[j] == '&' || request[j] == '\n';
	return fields;
}

static NOINLINE int compare_records(uint32_t a, uint32_t b)
{
	volatile int order = (a > b) - (a < b);

	return order;
}

/* Do not use qsort(): it has no frame pointers, so that all its callers would be missing. */
static NOINLINE void shell_sort(uint32_t *v, size_t n)
{
	size_t gap, i, j;

	for (gap = n / 2; gap; gap /= 2) {
		for (i = gap; i < n; i++) {
			uint32_t x = v[i];

			for (j = i; j >= gap && compare_records(v[j - gap], x) > 0; j -= gap)
				v[j] = v[j - gap];
			v[j] = x;
		}
	}
}

static NOINLINE void sort_records(uint32_t seed)
{
	size_t i;

	for (i = 0; i < NR_RECORDS; i++)
		records[i] = seed = seed * 1664525 + 1013904223;
	shell_sort(records, NR_RECORDS);
}

static NOINLINE uint64_t hash_body(void)
{
	volatile uint64_t result;
	uint64_t h = 14695981039346656037ULL;
	size_t i;

	for (i = 0; i < sizeof(body); i++)
		h = (h ^ body[i]) * 1099511628211ULL;
	result = h;
	return result;
}

static NOINLINE void write_log(int fd)
{
	char line[64];
	int i, len = snprintf(line, sizeof(line), "%u served\n", records[0]);

	for (i = 0; i < 1500; i++)
		write_all(fd, line, (size_t)len);
}

static NOINLINE void serve_requests(int in, int log)
{
	uint32_t n;

	for (n = 0; !workload_stop; n++) {
		read_input(in);
		workload_sink += parse_request();
		sort_records(n);
		workload_sink += hash_body();
		write_log(log);
		sleep_ns(MSEC);
	}
}

int main(int argc, char **argv)
{
	int in = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	int log = open("/dev/null", O_WRONLY | O_CLOEXEC);

	workload_live(argc, argv);
	if (in < 0 || log < 0)
		workload_die("cannot open /dev/zero or /dev/null");
	workload_ready();
	serve_requests(in, log);
	return 0;
}
