/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a report: how much of it each one has by itself, and with what it calls; of two reports, what
 * changed and whether that is more than chance. Private to core/report/ and to who judges a comparison.
 *
 * Samples are drawn by chance: n of them in a function are known to about the root of n. A row whose value v is of k
 * samples (or intervals off the CPU) adds v * v / k to the variance of what it is part of: k for samples. Of intervals
 * that is the least it can be: how long each of a row was is not known. The variance of a share p = F / T follows from
 * those of F and of T - F, which do not depend on each other: ((1 - p)^2 * var(F) + p^2 * var(T - F)) / T^2. For
 * samples that is p * (1 - p) / T. It is 0 where none of the n samples is in a function, or all are, so that of one
 * sample more, 1 / n^2, is added.
 */
#ifndef CORE_REPORT_FUNCTIONS_H
#define CORE_REPORT_FUNCTIONS_H

#include "core/base/intern.h"
#include "core/report/writer.h"

/*
 * A change counts if it is above so many standard deviations, up or down. With 5, one function in 1.7 million is beyond
 * it by chance: a comparison tests each function of a program, and is made again and again.
 */
#define NOISE_DEVIATIONS 5

/** struct function_sum - @value: of rows; @variance: of that. */
struct function_sum {
	uint64_t value;
	double variance;
};

/** struct function_side - of one of two reports. @samples: that @self is of */
struct function_side {
	struct function_sum self, total;
	uint64_t samples;
};

/**
 * struct function
 * @name:   fit to print
 * @module: the same; "": not known. Of the first that has this name, where modules are not told apart
 */
struct function {
	char *name, *module;
	enum report_frame_kind kind;
	struct function_side now, before;
	uint64_t row; /* the last that it was found in */
};

/**
 * struct functions - all zeros but @by_module is valid and empty.
 * @by_module: functions of the same name in two modules are two; without, a program that was renamed has the same ones
 * @all:       of all rows: @self and @total are the same
 */
struct functions {
	bool by_module;
	struct intern_table table;  /* struct function */
	struct intern_table frames; /* which of them a frame is; of the report at hand */
	struct function_side now, before;
	uint64_t nr_rows;
	struct textbuf text, module; /* scratch */
};

/** functions_add() - one more row, which has frames. Return: 0 or -ENOMEM. */
int functions_add(struct functions *f, const struct report_row *row);

void functions_release(struct functions *f);

/** struct function_change - in points, parts of a hundred. @noise: what chance may do, see NOISE_DEVIATIONS */
struct function_change {
	double before, now, change, noise;
};

/**
 * functions_change() - what became of @one.
 * @by_total: of its total, not of its self
 * @absolute: compare values as they are, in percent of all before; else the shares of both
 */
void functions_change(const struct functions *f, const struct function *one, bool by_total, bool absolute,
		      struct function_change *out);

/** functions_sorted() - all of them, to be freed, in the order of @cmp as of qsort_r(3), NULL: by names. NULL: no
 * memory. */
const struct function **functions_sorted(const struct functions *f,
					 int (*cmp)(const struct function *a, const struct function *b, void *ctx),
					 void *ctx);

#endif
