# SPDX-License-Identifier: Apache-2.0
"""Samples whose stacks are missing in the report. All tools sample at the same time: no time is measured, and each tool
has its own events, tables and rings."""

from .. import kernel, sampling

TITLE = "7. Samples by distinct stacks, frame pointers, all tools at the same time"
SLOW = False

RUNS = ((1000, 999, 2), (20000, 49, 5), (20000, 999, 5), (20000, 4999, 5), (200000, 999, 3))
QUICK = ((20000, 999, 5),)


def measure(bench):
    tools = [tool for tool in bench.tools if tool.unwind == "fp" and not (bench.quick and tool.slow)]
    for stacks, hz, seconds in QUICK if bench.quick else RUNS:
        def once(working, where=f"{stacks:,} stacks, {hz} Hz", hz=hz, seconds=seconds):
            for run in sampling.side_by_side(bench, working, hz, seconds):
                with run:
                    bench.add(__name__, f"taken of those due, {where}", "%", run.tool, 100 * run.taken / run.due)
                    missed = max(0, run.taken - run.with_stack)
                    bench.add(__name__, f"missed of those taken, {where}", "%", run.tool, 100 * missed / run.taken)
                    if run.tool.ours:
                        bench.add(__name__, f"lost and said to be, {where}", "samples", run.tool,
                                  run.books["samples_lost"])

        with bench.loads.workload("distinct", stacks), kernel.program_statistics():
            bench.together(tools, once)
