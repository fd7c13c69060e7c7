// SPDX-License-Identifier: Apache-2.0
#include "core/cli/inputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* perf record --kcore keeps the symbols of the kernel beside the records. Return: their path, to be freed; NULL: none.
 */
static char *kept_kallsyms(const struct options *o, const char *path)
{
	struct stat st;
	char *kept;

	if (o->kallsyms || o->vmlinux || asprintf(&kept, "%s/kcore_dir/kallsyms", path) < 0)
		return NULL;
	if (!lstat(kept, &st) && S_ISREG(st.st_mode))
		return kept;
	free(kept);
	return NULL;
}

/* A recording has a session of its own, with a copy of the options of the run. */
static int read_recording(struct reports *r, struct infile *in, const char *path, recording_fn recording,
			  struct err *err)
{
	struct options o = *r->options;
	char *kallsyms;
	int rc;

	if (o.groups.cgroup && o.input)
		return err_set(err, -EINVAL, "--cgroup needs cgroup paths, and the recording '%s' has none",
			       infile_name(in));
	o.groups.cgroup = NULL;
	rc = infile_copy(in, &o.input_copy, err);
	/* In the earlier run that we compare with, the same program had another pid. */
	if (r->before)
		o.nr_pids = 0;
	o.input = path;
	kallsyms = kept_kallsyms(&o, path);
	if (kallsyms)
		o.kallsyms = kallsyms;
	if (!rc)
		rc = recording(r, &o, err);
	free(kallsyms);
	return rc;
}

int inputs_read_one(struct reports *r, struct infile *in, const char *path, recording_fn recording, struct err *err)
{
	if (infile_format(in) == INFILE_RECORDING)
		return read_recording(r, in, path, recording, err);
	return reports_read(r, in, err);
}

int inputs_read(struct reports *r, bool more, recording_fn recording, struct err *err)
{
	const struct options *o = r->options;
	struct infile *in;
	size_t i;
	int rc = 0;

	for (i = 0; i < o->nr_inputs && !rc; i++) {
		r->more = more || i + 1 < o->nr_inputs;
		r->input = o->inputs[i];
		rc = infile_open(o->inputs[i], &in, err);
		if (rc)
			break;
		rc = inputs_read_one(r, in, o->inputs[i], recording, err);
		infile_close(in);
	}
	return rc;
}
