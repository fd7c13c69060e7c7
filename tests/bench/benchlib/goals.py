# SPDX-License-Identifier: Apache-2.0
"""The goals: each is a limit for a figure of profile, usually a part of a peer's figure from the same run."""

import collections

from .figures import number
from .measurements import cpu

Goal = collections.namedtuple("Goal", "name label value limit unit why")
NOT_MEASURED = "not measured"
PEERS = ("libbpf-tools", "bcc", "bpftrace", "perf")


def part(figures, where, name, peers, divisor):
    """Return the smallest median of the peers, divided by @divisor, and its description; None if no peer was
    measured."""
    found = [(median, peer) for peer in peers if (median := figures.median(where, name, peer)) is not None]
    if not found:
        return None, "no peer was measured"
    best, peer = min(found)
    return best / divisor, f"1/{divisor} of {peer}'s {number(best)}" if divisor != 1 else f"{peer}'s"


def goals(figures, unaccounted):
    """Return the goals in the order of the table. @unaccounted has the number of unaccounted samples of each run of
    profile."""
    def ours(where, name, label):
        return figures.median(where, name, label)

    def against(title, where, name, label, unit, peers, divisor=1):
        limit, why = part(figures, where, name, peers, divisor)
        return Goal(title, label, ours(where, name, label), limit, unit, why)

    found = []
    for label in ("bpf", "perfring"):
        found.append(against("exec to first sample", "start", "to the first sample", label, "ms", PEERS, 5))
    for label in ("bpf", "perfring"):
        found.append(against("stop to complete report", "stop", "stop to complete report", label, "ms",
                             ("libbpf-tools",)))
        found.append(against("stop to complete report", "stop", "stop to complete report", label, "ms", ("perf",), 20))
    found.append(against("own CPU at 99 Hz, start and report included", "stop", "own CPU time", "bpf", "ms",
                         ("libbpf-tools",), 3))
    found.append(own_against_record(figures))
    for label in ("bpf", "perfring"):
        found.append(complete_against_own(figures, label))
    for hz in cpu.RATES:
        name = f"time in the BPF program for one sample, {hz} Hz"
        found.append(against(f"kernel time per sample, {hz} Hz", "cpu", name, "bpf", "us", PEERS))
    for label in ("bpf auto", "perfring auto", "bpf dwarf", "perfring dwarf"):
        found.append(against("own CPU for 1,000 samples at 999 Hz", "cpu", "own CPU time, 999 Hz", label,
                             "ms", ("perf dwarf",), 3))
    for label, limit in (("bpf", 12), ("perfring", 12), ("bpf auto", 60), ("perfring auto", 60),
                         ("bpf dwarf", 60), ("perfring dwarf", 60)):
        found.append(Goal("peak memory", label, ours("stop", "peak resident memory", label), limit, "MiB", ""))
    for hz in (49, 999, 4999):
        for label in ("bpf", "perfring"):
            value = figures.worst("distinct", f"missed of those taken, 20,000 stacks, {hz} Hz", label)
            found.append(Goal(f"missed at 20,000 stacks, {hz} Hz", label, value, 0, "%", "worst run"))
    found.append(Goal("samples unaccounted for", "all", max(map(abs, unaccounted), default=None), 0, "samples",
                      f"worst of {len(unaccounted)} runs"))
    return found


def own_against_record(figures):
    """perfring counts samples and makes the report in a quarter of the time that perf record takes alone."""
    limit, why = part(figures, "stop", "own CPU time to record", ("perf",), 4)
    return Goal("own CPU at 99 Hz, start and report included", "perfring",
                figures.median("stop", "own CPU time", "perfring"), limit, "ms", why.replace("perf's", "perf record's"))


def complete_against_own(figures, label):
    """The default has complete stacks. It costs little more than frame pointers alone."""
    alone = figures.median("stop", "own CPU time", label)
    return Goal("own CPU at 99 Hz, start and report included", f"{label} auto",
                figures.median("stop", "own CPU time", f"{label} auto"), alone and 1.15 * alone, "ms",
                f"1.15 of {label}'s {number(alone)}" if alone else NOT_MEASURED)


def verdict(goal):
    if goal.value is None or goal.limit is None:
        return NOT_MEASURED
    return "met" if goal.value <= goal.limit else "NOT MET"


def lines(found):
    """Return lines of Markdown from the result of as_json()."""
    out = ["", "Goals", "", "| goal | of | here | at most | that is | |", "|---|---|--:|--:|---|---|"]
    for goal in found:
        value = "-" if goal["value"] is None else f"{number(goal['value'])} {goal['unit']}"
        limit = "-" if goal["limit"] is None else f"{number(goal['limit'])} {goal['unit']}"
        out.append(f"| {goal['name']} | {goal['label']} | {value} | {limit} | {goal['why']} | {goal['verdict']} |")
    return out


def as_json(found):
    return [dict(goal._asdict(), verdict=verdict(goal)) for goal in found]
