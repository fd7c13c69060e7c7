// SPDX-License-Identifier: Apache-2.0
#include "core/formats/read.h"

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
