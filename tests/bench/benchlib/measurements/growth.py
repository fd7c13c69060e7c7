# SPDX-License-Identifier: Apache-2.0
"""The cost of a sample with more samples, more stacks, and more tasks. It includes the cost of a start, so it may fall,
but must not rise."""

from .. import sampling

TITLE = "10. Growth: own CPU time for 1,000 samples due, start and report included"
SLOW = True

SECONDS = 1
HZ = 999
TIMES = (1, 2, 4)
TOOLS = ("bpf", "perfring", "perf", "libbpf-tools")
TASKS = (10, 100, 1000, 5000)


def runs():
    """Yield (what is increased, load, rate)."""
    for factor in TIMES:
        yield f"{factor} times the rate ({factor * HZ} Hz)", ("distinct", 1000), factor * HZ
    for factor in TIMES:
        yield f"{factor} times the stacks ({factor * 5000:,})", ("distinct", factor * 5000), HZ
    for tasks in TASKS:
        yield f"{tasks:,} tasks", ("crowd", tasks), HZ


def measure(bench):
    tools = [tool for tool in bench.tools if tool.unwind == "fp" and tool.name in TOOLS]
    for name, load, hz in runs():
        def once(tool, name=name, hz=hz):
            with sampling.sample(bench, tool, hz, SECONDS) as run:
                bench.add(__name__, name, "ms", tool, 1000 * run.cpu_s * 1e3 / run.due)

        with bench.loads.workload(*load):
            bench.rounds(tools, once)
