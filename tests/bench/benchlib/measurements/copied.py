# SPDX-License-Identifier: Apache-2.0
"""Bytes that the kernel copies to user space: through perf rings, and from maps by bpf(2), as strace shows them. No
time is measured, so all tools sample at the same time."""

import os
import re

from .. import sampling

TITLE = "6. Bytes copied to user space per sample due, from rings and maps: 999 Hz, all tools at the same time"
SLOW = True

HZ = 999
SECONDS = 2
READ = re.compile(r"bpf\((BPF_MAP_LOOKUP_ELEM|BPF_MAP_LOOKUP_AND_DELETE_ELEM|BPF_MAP_GET_NEXT_KEY), "
                  r"\{map_fd=(\d+).*\) = 0")
BATCH = re.compile(r"bpf\(BPF_MAP_LOOKUP_(?:AND_DELETE_)?BATCH, .*count=\d+(?: => (\d+))?.*map_fd=(\d+).*\) = ")


def of_maps(trace, sizes):
    """Return the bytes that the calls in this trace have copied from maps of these sizes."""
    total = 0
    with open(trace, encoding="utf-8", errors="replace") as file:
        for line in file:
            if found := READ.search(line):
                key, value = sizes.get(found[2], (0, 0))
                total += key if found[1] == "BPF_MAP_GET_NEXT_KEY" else value
            elif found := BATCH.search(line):
                key, value = sizes.get(found[2], (0, 0))
                total += int(found[1] or 0) * (key + value)
    return total


def prefix(tool):
    return ["strace", "-D", "-f", "-qq", "-v", "-e", "trace=bpf", "-o", "trace"] if tool.bpf else []


def measure(bench):
    def once(tools):
        for run in sampling.side_by_side(bench, tools, HZ, SECONDS, prefix):
            with run:
                copied = run.recorded_bytes + run.books.get("ring_bytes_read", 0)
                if run.tool.bpf:
                    copied += of_maps(os.path.join(run.run.folder, "trace"), run.run.kernel.sizes)
                bench.add(__name__, "copied per sample", "bytes", run.tool, copied / run.due)

    with bench.loads.workload("distinct", 1000):
        bench.together(bench.tools, once)
