// SPDX-License-Identifier: Apache-2.0
#include "core/base/number.h"

#include <errno.h>
#include <stdbool.h>

static unsigned int digit(char c)
{
	return c >= '0' && c <= '9'   ? (unsigned int)(c - '0')
	       : c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10
				      : 16;
}

int parse_digits(const char **s, unsigned int base, uint64_t max, uint64_t *out)
{
	const char *p = *s;
	bool over = false;
	uint64_t n = 0;

	for (; digit(*p) < base; p++) {
		over |= __builtin_mul_overflow(n, base, &n);
		over |= __builtin_add_overflow(n, digit(*p), &n);
	}
	if (p == *s)
		return -EINVAL;
	*s = p;
	if (over || n > max)
		return -ERANGE;
	*out = n;
	return 0;
}
