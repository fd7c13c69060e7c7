# SPDX-License-Identifier: Apache-2.0
"""Stacks of programs without frame pointers, as distributions build them: how many are complete, down to main or a
similar function."""

from .. import sampling

TITLE = "8. User stacks complete to the root, programs without frame pointers, all tools at the same time"
SLOW = True

HZ = 99
SECONDS = 2
NEAR_ROOT = 4  # frames of the start code, main's own included
PROGRAMS = {"plain": "main", "deep": "main", "throw": "main", "interpreter": "Py_BytesMain"}


def is_complete(frames):
    return PROGRAMS[frames[0]] in frames[1:2 + NEAR_ROOT]


def measure(bench):
    def once(tools):
        for run in sampling.side_by_side(bench, tools, HZ, SECONDS):
            with run:
                ours = [(frames, count) for frames, count in run.rows if frames[0] in PROGRAMS]
                complete = sum(count for frames, count in ours if is_complete(frames))
                bench.add(__name__, "complete to the root", "%", run.tool,
                          100 * complete / max(1, sum(count for _, count in ours)), group="all")

    with bench.loads.many(("nofp/plain",), ("nofp/deep", "60"), ("nofp/throw",)), bench.loads.interpreters():
        bench.together([tool for tool in bench.tools if tool.name != "bpftrace"], once)
