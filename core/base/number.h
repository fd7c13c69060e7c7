/* SPDX-License-Identifier: Apache-2.0 */
/* Parse numbers in text: options, /proc and /sys, and files. */
#ifndef CORE_BASE_NUMBER_H
#define CORE_BASE_NUMBER_H

#include <stdint.h>

/**
 * parse_digits() - read the digits at the beginning of @s: no sign, no blank, no prefix.
 * @s:    moved behind them; unchanged if there are none
 * @base: 10, or 16 with lower-case letters
 *
 * Return: 0; -EINVAL: no digit; -ERANGE: above @max. @out is only written on success.
 */
int parse_digits(const char **s, unsigned int base, uint64_t max, uint64_t *out);

#endif
