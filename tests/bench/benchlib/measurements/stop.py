# SPDX-License-Identifier: Apache-2.0
"""A typical run, with large programs in the report: the time to end it, its memory and its CPU time."""

from .. import sampling

TITLE = "2, 5. Stop, memory, CPU time: 5 s (quick: 2 s) of all CPUs at 99 Hz; python3 and libLLVM are sampled"
SLOW = False

HZ = 99
SECONDS = 5
QUICK_SECONDS = 2


def measure(bench):
    def once(tool):
        with sampling.sample(bench, tool, HZ, QUICK_SECONDS if bench.quick else SECONDS) as run:
            def add(name, unit, value):
                bench.add(__name__, name, unit, tool, value)

            add("stop to complete report", "ms", run.stop_s * 1e3)
            add("own CPU time", "ms", run.cpu_s * 1e3)
            if tool.after():
                add("own CPU time to record", "ms", run.record_cpu_s * 1e3)
            add("peak resident memory", "MiB", run.rss_mib)
            add("kernel memory of maps", "KiB", run.run.kernel.maps_kib)
            add("memory of rings", "KiB", run.run.kernel.rings_kib)

    with bench.loads.interpreters():
        bench.rounds([tool for tool in bench.tools if not (bench.quick and tool.slow)], once)
