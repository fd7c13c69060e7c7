/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locations of a pprof profile: each is a frame with the functions inlined there. It is written before the first sample
 * that needs it, together with its functions and its module.
 *
 * The address is that in the file, whatever address that is mapped at: mappings begin at 0, so pprof does not adjust
 * it. For the kernel and for code without a file it is the address in memory. Modules of the kernel are in brackets,
 * which file names seldom are, and code made at run time is in [jit].
 */
#ifndef CORE_FORMATS_PPROF_LOCATIONS_H
#define CORE_FORMATS_PPROF_LOCATIONS_H

#include "core/formats/frame_table.h"
#include "core/formats/pieces.h"

struct pprof_frame;

/**
 * struct pprof_locations - all zeros but @pieces is valid.
 * @frames: by number in @table
 * @nr:     number written so far
 * @ids:    scratch
 */
struct pprof_locations {
	struct pieces *pieces;
	struct frame_table table;
	struct pprof_frame *frames;
	size_t nr_frames, frames_cap;
	struct intern_table functions, mappings, locations;
	uint32_t nr;
	uint64_t *ids;
	size_t ids_cap;
};

void pprof_locations_release(struct pprof_locations *p);

/** pprof_label() - the label of the form: it distinguishes frames. */
void pprof_label(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *frame);

/** pprof_locations_of() - set the locations of @sample to those of @row. Return: 0 or -ENOMEM. */
int pprof_locations_of(struct pprof_locations *p, const struct report_row *row, Pprof__Sample *sample);

#endif
