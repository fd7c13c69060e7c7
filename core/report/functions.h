/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a report: the share that each has by itself, and together with its callees. For two reports: what
 * changed, and whether the change is more than chance. Private to core/report/ and to the code that judges a
 * comparison.
 *
 * Samples are random: if a function has n of them, the error of n is about the square root of n. A row with value v
 * from k samples (or intervals off the CPU) adds v * v / k to the variance of each sum that contains it; for samples
 * that is k. For intervals it is a lower bound, because the length of each interval in a row is not known. The variance
 * of a share p = F / T follows from those of F and of T - F, which are independent:
 * ((1 - p)^2 * var(F) + p^2 * var(T - F)) / T^2. For samples that is p * (1 - p) / T. It is 0 if none or all of the N
 * samples of a report are in a function, so the variance of one more sample, 1 / N^2, is added.
 */
#ifndef CORE_REPORT_FUNCTIONS_H
#define CORE_REPORT_FUNCTIONS_H

#include "core/base/intern.h"
#include "core/report/writer.h"

/*
 * A change counts if it exceeds so many standard deviations, up or down. Chance exceeds 5 for one function in 1.7
 * million; a comparison tests each function of a program, and comparisons are repeated often.
 */
#define NOISE_DEVIATIONS 5

/** struct function_sum - @value: sum over rows; @variance: of this sum. */
struct function_sum {
	uint64_t value;
	double variance;
};

/** struct function_side - the sums in one of two reports. @samples: number of samples in @self */
struct function_side {
	struct function_sum self, total;
	uint64_t samples;
};

/**
 * struct function
 * @name:   safe to print
 * @module: safe to print; "": not known. If modules are not told apart, that of the first function with this name
 */
struct function {
	const char *name, *module; /* one piece of memory, which begins with the name */
	enum report_frame_kind kind;
	struct function_side now, before;
	uint64_t row; /* number of the last row that contained it, from 1; for functions_add() */
};

/**
 * struct functions - valid and empty if all except @by_module is zero.
 * @by_module: functions with the same name in two modules are different; false: they are one function, so that a
 * program that was renamed keeps its functions
 * @now, @before: sums of all rows, in @self and @samples; @total is not used
 */
struct functions {
	bool by_module;
	struct intern_table table;  /* struct function */
	struct intern_table frames; /* the function of each frame in the current report */
	struct function_side now, before;
	uint64_t nr_rows;
	struct textbuf text; /* scratch */
};

/** functions_add() - add a row with its frames. Return: 0 or -ENOMEM. */
int functions_add(struct functions *f, const struct report_row *row);

void functions_release(struct functions *f);

/**
 * struct function_change - in percent and percentage points. @noise: the change that chance may cause, see
 * NOISE_DEVIATIONS
 */
struct function_change {
	double before, now, change, noise;
};

/**
 * functions_change() - compute how much @one changed.
 * @by_total: compare its total, not its self value
 * @absolute: compare values, in percent of the sum before; otherwise the shares in both reports
 */
void functions_change(const struct functions *f, const struct function *one, bool by_total, bool absolute,
		      struct function_change *out);

/**
 * functions_sorted() - all functions in the order of @cmp, equal ones by name and module.
 * @cmp: returns a number as for qsort_r(3); NULL: all are equal
 * Return: an array for the caller to free; NULL: no memory.
 */
const struct function **functions_sorted(const struct functions *f,
					 int (*cmp)(const struct function *a, const struct function *b, void *ctx),
					 void *ctx);

#endif
