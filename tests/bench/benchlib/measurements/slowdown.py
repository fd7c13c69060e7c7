# SPDX-License-Identifier: Apache-2.0
"""How much longer a fixed amount of work takes while a tool samples it."""

import subprocess

from .. import sampling

TITLE = "4. Slowdown of a fixed amount of work on all CPUs, sampled at 4999 Hz"
SLOW = True

HZ = 4999
PIECES = 5000


def work(bench):
    """Return [wall time of the slowest CPU, CPU time of all]."""
    out = subprocess.run([bench.loads.program("piecework"), "60", str(PIECES)], stdout=subprocess.PIPE, check=True)
    return [int(word) for word in out.stdout.split()[-2:]]


def measure(bench):
    alone = []

    def once(tool):
        if tool is bench.tools[0]:
            alone[:] = work(bench)
        with sampling.Sampling(bench, tool, HZ) as run:
            run.start()
            sampled = work(bench)
            run.stop()
        for name, i in (("time of the work", 0), ("CPU time of the work", 1)):
            bench.add(__name__, name, "times that without a profiler", tool, sampled[i] / alone[i])

    bench.rounds(bench.tools, once)
