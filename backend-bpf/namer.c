// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/namer.h"

#include "bpf/names.skel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

struct namer {
	struct names_bpf *skel;
	int program;
};

static void close_namer(struct namer *n)
{
	names_bpf__destroy(n->skel);
	free(n);
}

static int open_namer(struct namer **out)
{
	struct namer *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->skel = names_bpf__open_and_load();
	/* Hide the mapped page with the answer from children: they may read hostile files. */
	if (!n->skel || madvise(n->skel->bss, sizeof(*n->skel->bss), MADV_DONTFORK)) {
		int rc = -errno;

		close_namer(n);
		return rc ? rc : -EINVAL;
	}
	n->program = bpf_program__fd(n->skel->progs.name_address);
	*out = n;
	return 0;
}

static int ask(struct namer *n, uint64_t addr, const char **answer)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &addr, .ctx_size_in = sizeof(addr));
	int rc = bpf_prog_test_run_opts(n->program, &opts);

	*answer = n->skel->bss->answer;
	return rc;
}

const struct namer_ops namer_bpf = { open_namer, ask, close_namer };
