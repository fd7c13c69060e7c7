# SPDX-License-Identifier: Apache-2.0
"""The cost of folding a recording of perf record: with profile --input, with perf script and a program after it, and
with perf report."""

import os
import subprocess
import tempfile

from .. import meter, reports

TITLE = "9. Folding a recording of perf record"
SLOW = True

SCRIPT = '"$0" script -i "$1" --no-inline -F comm,ip,sym 2>/dev/null | awk "$2"'


def record(bench, perf, unwind, path):
    """Make a recording of about 20 to 200 MB."""
    graph, hz = ("fp", 9999) if unwind == "fp" else ("dwarf", 1999)
    command = [perf, "record", "-q", "-m", "8M", "-e", "cpu-clock", "-F", str(hz), "-a", "--call-graph", graph,
               "-o", path, "--", "sleep", "4"]
    with bench.loads.many(("distinct",), ("recurse",), ("recurse",), ("nofp/deep", "60")):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       preexec_fn=lambda: os.nice(-15))


def measure(bench):
    perf = next((tool.program for tool in bench.tools if tool.name == "perf"), None)
    if not perf:
        return
    for unwind in ("fp", "dwarf"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "recording")
            record(bench, perf, unwind, path)
            fold(bench, perf, unwind, path)


def fold(bench, perf, unwind, path):
    commands = {
        "profile --input": [bench.profile, "--input", path, "-f"],
        "perf script": ["sh", "-c", SCRIPT, perf, path, reports.COLLAPSE],
        "perf report": [perf, "report", "-i", path, "--stdio", "--no-inline", "--no-children", "-g", "folded"],
    }
    size = os.path.getsize(path) >> 20

    def once(label):
        with meter.Run(commands[label], bench.measure) as run:
            cost = run.end()
            if cost.status:
                raise meter.Failed(f"{label}: {run.said()}")
            what = f"{unwind} recording of {size} MiB"
            for name, unit, value in (("time", "s", cost.wall_s), ("CPU time", "s", cost.cpu_s),
                                      ("peak resident memory", "MiB", cost.rss_mib)):
                bench.add_label(__name__, f"{name}, {what}", unit, unwind, label, value, label == "profile --input")

    bench.rounds(list(commands), once)
