// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer target for proc_map_parse() and cpu_list_parse(). Input: a line of /proc/PID/maps, or a list of CPUs; both
 * parsers get each.
 */
#include "tests/fuzz/fuzz.h"

#include "core/host/host.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The parser changes the line; its path is inside. */
static void fuzz_map(char *line, size_t len)
{
	struct proc_map m = { .path = NULL };
	int rc = proc_map_parse(line, &m);

	check(rc == 0 || rc == -EINVAL);
	if (rc) {
		check(!m.path);
		return;
	}
	check(m.start < m.end);
	check(m.path >= line && m.path <= line + len);
	check(strlen(m.path) <= (size_t)(line + len - m.path));
}

static void fuzz_cpus(const char *text)
{
	struct cpu_list l = { 0 };
	int rc = cpu_list_parse(text, &l);
	size_t i;

	check(rc == 0 || rc == -EINVAL);
	if (rc) {
		check(!l.cpu && !l.nr);
		return;
	}
	check(l.nr > 0 && l.cpu[0] >= 0 && l.cpu[l.nr - 1] <= 65535);
	for (i = 1; i < l.nr; i++)
		check(l.cpu[i] > l.cpu[i - 1]);
	check(cpu_list_has(&l, l.cpu[l.nr - 1]));
	cpu_list_release(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Exactly as long as the text, so that the sanitizer finds reads beyond it. */
	char *line = malloc(size + 1);

	if (!line)
		return -1;
	memcpy(line, data, size);
	line[size] = 0;
	fuzz_cpus(line);
	fuzz_map(line, strlen(line)); /* changes it */
	free(line);
	return 0;
}
