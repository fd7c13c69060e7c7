// SPDX-License-Identifier: Apache-2.0
#include "core/cli/inputs.h"

/* A recording has a session of its own, with the options of all. */
static int read_recording(struct reports *r, struct infile *in, const char *path, recording_fn recording,
			  struct err *err)
{
	struct options o = *r->options;
	int rc;

	if (o.cgroup && o.input)
		return err_set(err, -EINVAL, "--cgroup needs cgroup paths, and the recording '%s' has none",
			       infile_name(in));
	o.cgroup = NULL;
	rc = infile_plain_path(in, &o.input_copy, err);
	/* The same program had another number then. */
	if (r->before)
		o.nr_pids = 0;
	o.input = path;
	if (o.input_copy == path)
		o.input_copy = NULL;
	return rc ? rc : recording(r, &o, err);
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
