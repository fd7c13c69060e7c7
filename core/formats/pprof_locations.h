/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locations of a pprof profile: each is a frame with the functions inlined there. A location is written before the
 * first sample that needs it, behind its functions and its mapping.
 *
 * The address of a location is the address in its file: all mappings begin at 0, so that pprof does not adjust it. For
 * the kernel and for code without a file it is the address in memory. The mapping of a kernel module has the
 * module's name in brackets, so that it is hardly ever taken for a file. That of code made at run time is called [jit].
 */
#ifndef CORE_FORMATS_PPROF_LOCATIONS_H
#define CORE_FORMATS_PPROF_LOCATIONS_H

#include "core/formats/frame_table.h"
#include "core/formats/pieces.h"

struct pprof_frame;

/**
 * struct pprof_locations - valid if all except @pieces is zero.
 * @frames: by number in @table
 * @nr:     number of locations written so far
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

/** pprof_label() - the member report_writer.label of report_pprof. */
void pprof_label(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *frame);

/**
 * pprof_locations_of() - set the locations of @sample to those of @row; borrowed from @p until the next call.
 * Return: 0; -ENOMEM; the -errno of a failed write.
 */
int pprof_locations_of(struct pprof_locations *p, const struct report_row *row, Pprof__Sample *sample);

#endif
