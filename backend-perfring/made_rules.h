/* SPDX-License-Identifier: Apache-2.0 */
/* The unwind rules of code that processes make at run time, from their jitdumps. */
#ifndef PERFRING_MADE_RULES_H
#define PERFRING_MADE_RULES_H

#include <sys/types.h>

struct jitdumps;
struct rules;

/**
 * made_rules_of() - the rules of code that process @pid makes, as far as they are known.
 * Return: borrowed until the next call of this or of a function of jitdumps.h; NULL: there are none, or no memory.
 */
struct rules *made_rules_of(struct jitdumps *dumps, pid_t pid);

#endif
