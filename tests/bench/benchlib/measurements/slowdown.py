# SPDX-License-Identifier: Apache-2.0
"""How much longer a fixed amount of work takes while a tool samples it."""

import subprocess

from .. import sampling

TITLE = "4. Slowdown of a fixed amount of work on all CPUs, sampled at 4999 Hz"
SLOW = False

HZ = 4999
PIECES = 8000


def work_s(bench):
    out = subprocess.run([bench.loads.program("piecework"), "60", str(PIECES)], stdout=subprocess.PIPE, check=True)
    return int(out.stdout.split()[-1]) / 1e9


def measure(bench):
    def once(tool):
        alone = work_s(bench)
        with sampling.Sampling(bench, tool, HZ) as run:
            run.start()
            sampled = work_s(bench)
            run.stop()
        bench.add(__name__, "time of the work against that without a profiler", "%", tool,
                  100 * (sampled / alone - 1))

    bench.rounds(bench.tools, once)
