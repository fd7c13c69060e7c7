# SPDX-License-Identifier: Apache-2.0
"""An overloaded host: five sessions with 20 busy loops each. The kernel first divides the CPUs among the sessions, then
among their processes. All CPUs are busy, so each sample that is due can be taken."""

from .. import sampling

TITLE = "11. Five sessions that compete for the CPUs"
SLOW = True

HZ = 499
SECONDS = 4


def measure(bench):
    def once(tool):
        with sampling.sample(bench, tool, HZ, SECONDS) as run:
            bench.add(__name__, f"in the report of those due, {HZ} Hz", "%", tool, 100 * run.with_stack / run.due)
            bench.add(__name__, "stop to complete report", "ms", tool, 1000 * run.stop_s)
            bench.add(__name__, "own CPU time", "ms", tool, 1000 * run.cpu_s)

    with bench.loads.sessions(5, 20):
        bench.rounds([tool for tool in bench.tools if not tool.slow], once)
