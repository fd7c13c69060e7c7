# SPDX-License-Identifier: Apache-2.0
"""Bytes that the kernel copies to user space: what perf rings carry, and what bpf(2) hands out of maps, as strace sees
it. Nothing of this is timed."""

import os
import re

from .. import meter, sampling

TITLE = "6. Bytes copied to user space per sample due: rings and maps, 999 Hz, 1,000 distinct stacks"
SLOW = False

HZ = 999
SECONDS = 2
CREATED = re.compile(r"bpf\(BPF_MAP_CREATE, \{map_type=(\w+), key_size=(\d+), value_size=(\d+).*\) = (\d+)")
READ = re.compile(r"bpf\((BPF_MAP_LOOKUP_ELEM|BPF_MAP_LOOKUP_AND_DELETE_ELEM|BPF_MAP_GET_NEXT_KEY), "
                  r"\{map_fd=(\d+).*\) = 0")
BATCH = re.compile(r"bpf\(BPF_MAP_LOOKUP_(?:AND_DELETE_)?BATCH, .*count=\d+(?: => (\d+))?.*map_fd=(\d+).*\) = ")


def of_maps(trace):
    """What the calls in this trace copied."""
    sizes, total = {}, 0
    with open(trace, encoding="utf-8", errors="replace") as file:
        for line in file:
            if found := CREATED.search(line):
                value = int(found[3])
                if "PERCPU" in found[1]:
                    value = (value + 7) // 8 * 8 * os.cpu_count()
                sizes[found[4]] = int(found[2]), value
            elif found := READ.search(line):
                key, value = sizes.get(found[2], (0, 0))
                total += key if found[1] == "BPF_MAP_GET_NEXT_KEY" else value
            elif found := BATCH.search(line):
                key, value = sizes.get(found[2], (0, 0))
                total += int(found[1] or 0) * (key + value)
    return total


def measure(bench):
    def once(tool):
        prefix = ["strace", "-D", "-f", "-qq", "-v", "-e", "trace=bpf", "-o", "trace"] if tool.bpf else []
        with sampling.sample(bench, tool, HZ, SECONDS, prefix) as run:
            copied = run.recorded_bytes + run.books.get("ring_bytes_read", 0)
            if tool.bpf:
                copied += of_maps(os.path.join(run.run.folder, "trace"))
            if not copied:
                raise meter.Failed(f"nothing is known of what {tool.label} reads")
            bench.add(__name__, "copied per sample", "bytes", tool, copied / run.due)

    with bench.loads.workload("distinct", 1000):
        bench.rounds(bench.tools, once)
