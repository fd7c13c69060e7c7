// SPDX-License-Identifier: Apache-2.0
#include "core/formats/read.h"

#include <stdlib.h>

void read_facts_clear(struct read_facts *facts)
{
	free(facts->host);
	free(facts->kernel);
	free(facts->backend);
	free(facts->unwinder);
	free(facts->event);
	*facts = (struct read_facts){ 0 };
}

void read_about_release(struct read_about *about)
{
	read_facts_clear(&about->facts);
}

int read_report(struct infile *in, struct report *r, const struct read_cfg *cfg, struct read_about *about,
		struct err *err)
{
	enum infile_format format = infile_format(in);

	*about = (struct read_about){ 0 };
	switch (format) {
	case INFILE_FOLDED:
		return read_folded(in, r, cfg, about, err);
	case INFILE_PPROF:
		return read_pprof(in, r, cfg, about, err);
	case INFILE_JSON:
		return read_json(in, r, cfg, about, err);
	case INFILE_PAGE:
		return read_page(in, r, cfg, about, err);
	default:
		return err_set(err, -EINVAL, "cannot read '%s': %s is no report", infile_name(in),
			       infile_format_name(format));
	}
}
