# SPDX-License-Identifier: Apache-2.0
"""The time from exec to the first sample. The workload's stacks encode the time, so the first sample in the report
shows when it was taken, in the same way for all tools. It runs with the lowest priority on each CPU, which is otherwise
idle."""

from .. import meter, sampling

TITLE = "1. Start: exec to first sample"
SLOW = False

HZ = 1999
SECONDS = 0.5
SLOT_US = 250
LEVELS = 16


def slot(frames):
    """Return the number of the slot of time that this stack encodes, or None."""
    path = [frame for frame in frames if frame in ("left", "right")]
    if frames[0] != "slots" or len(path) != LEVELS:
        return None
    return int("".join("1" if frame == "right" else "0" for frame in path), 2)


def first_sample_ms(began_ns, rows):
    """Return the time from @began_ns to the middle of the first slot in the report."""
    slot_ns = SLOT_US * 1000
    began = began_ns // slot_ns
    slots = [found for found in (slot(frames) for frames, _ in rows) if found is not None]
    if not slots:
        raise meter.Failed("no stack of the workload is in the report")
    first = min((found - began) % (1 << LEVELS) for found in slots)
    return max(0, (began + first + 0.5) * slot_ns - began_ns) / 1e6


def measure(bench):
    def once(tool):
        with sampling.sample(bench, tool, HZ, SECONDS) as run:
            bench.add(__name__, "to the first sample", "ms", tool, first_sample_ms(run.run.began_ns, run.rows))

    with bench.loads.workload("slots", SLOT_US):
        bench.rounds(bench.tools, once)
