// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/made_rules.h"

#include "core/symbols/jitdumps.h"
#include "unwind/rules.h"

#include <stdlib.h>

/* Data attached to a jitdump. */
struct made_rules {
	struct rules *rules;
	uint64_t changes; /* jitdump_changes() at the last update */
};

static int find_frames(void *ctx, uint64_t addr, struct extent *out, uint64_t *hdr)
{
	struct jitdump_frames frames;
	int rc = jitdump_find_frames(ctx, addr, &frames);

	if (rc > 0) {
		*out = (struct extent){ .addr = frames.addr, .size = frames.size, .memory = frames.bytes };
		*hdr = frames.hdr;
	}
	return rc;
}

static void release(void *what)
{
	struct made_rules *made = what;

	rules_close(made->rules);
	free(made);
}

static struct made_rules *make_rules(struct jitdump *dump)
{
	const struct rules_code code = { dump, find_frames };
	struct made_rules *made = calloc(1, sizeof(*made));

	if (!made || rules_open_code(&code, &made->rules)) {
		free(made);
		return NULL;
	}
	made->changes = jitdump_changes(dump);
	jitdump_attach(dump, made, release);
	return made;
}

struct rules *made_rules_of(struct jitdumps *dumps, pid_t pid)
{
	struct jitdump *dump = jitdumps_of(dumps, pid);
	struct made_rules *made = dump ? jitdump_attached(dump) : NULL;

	if (dump && !made)
		made = make_rules(dump);
	if (!made)
		return NULL;
	/* Code was added or forgotten, perhaps at addresses whose rules we have. */
	if (made->changes != jitdump_changes(dump)) {
		made->changes = jitdump_changes(dump);
		rules_forget(made->rules);
	}
	return made->rules;
}
