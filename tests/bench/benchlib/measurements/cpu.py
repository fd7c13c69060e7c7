# SPDX-License-Identifier: Apache-2.0
"""The tool's own CPU time by rate, and the time that its BPF program takes from the sampled programs, as the kernel
counts it. Other kernel work for a sample, such as writing it to a ring, is only part of the slowdown."""

from .. import kernel, sampling

TITLE = "3. Own CPU time for 1,000 samples due, start and report included; all CPUs busy, 1,000 distinct stacks"
SLOW = True

RATES = (49, 999, 4999)
SECONDS = 2


def measure(bench):
    for hz in RATES:
        def once(tool, hz=hz):
            with sampling.sample(bench, tool, hz, SECONDS) as run:
                bench.add(__name__, f"own CPU time, {hz} Hz", "ms", tool, 1000 * run.cpu_s * 1e3 / run.due)
                if tool.bpf and run.run.kernel.programs_runs:
                    bench.add(__name__, f"time in the BPF program for one sample, {hz} Hz", "us", tool,
                              run.run.kernel.programs_ns / run.run.kernel.programs_runs / 1e3)

        with bench.loads.workload("distinct", 1000), kernel.program_statistics():
            bench.rounds(bench.tools, once)
