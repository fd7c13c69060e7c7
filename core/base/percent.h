/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_BASE_PERCENT_H
#define CORE_BASE_PERCENT_H

#include <stdint.h>

/** percent_of() - @part in percent of @all; 0 if @all is 0. */
static inline double percent_of(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

#endif
