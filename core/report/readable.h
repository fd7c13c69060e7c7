/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mangled names of a report, each once. They are demangled in batches, because another process does that. Private
 * to core/report/.
 */
#ifndef CORE_REPORT_READABLE_H
#define CORE_REPORT_READABLE_H

#include "core/base/intern.h"
#include "core/report/names.h"

/**
 * struct readable_names - all zeros is valid and empty.
 * @nr_read: number of names in @table that were demangled
 */
struct readable_names {
	struct intern_table table;
	size_t nr_read;
};

void readable_release(struct readable_names *r);

/** readable_add() - the number of @name, which is copied. Return: 0 or -ENOMEM. */
int readable_add(struct readable_names *r, const char *name, uint32_t *id);

/** readable_read() - demangle the names added since the last call. Return: 0 or -ENOMEM. */
int readable_read(struct readable_names *r, const struct report_names *names);

/**
 * readable_text() - the text to print; the name itself if it cannot be demangled. Borrowed until readable_release()
 * or symbols_renew().
 */
const char *readable_text(const struct readable_names *r, uint32_t id);

#endif
