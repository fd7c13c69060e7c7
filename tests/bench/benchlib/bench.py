# SPDX-License-Identifier: Apache-2.0
"""The arguments of measurements: tools, loads, number of runs, and the figures that they add."""

import sys

from . import meter
from .figures import Figures, Key


def short_name(module):
    """The last part of a module's name: "start" for benchlib.measurements.start."""
    return module.rsplit(".", 1)[-1]


class Bench:
    """The argument of measure() in each module."""

    def __init__(self, tools, loads, runs, quick, measure, profile):
        self.tools, self.loads, self.runs, self.quick = tools, loads, runs, quick
        self.measure, self.profile = measure, profile
        self.figures = Figures()
        self.unaccounted = []  # of each run of profile, from --stats
        self.failures = {}  # {tool: its message}

    def add(self, measurement, name, unit, tool, value, group=None):
        """Add the value of one run. Tools are compared with those of the same group, see Tool.group."""
        self.add_label(measurement, name, unit, group or tool.group, tool.label, value, tool.ours)

    def add_label(self, measurement, name, unit, group, label, value, ours):
        self.figures.add(Key(short_name(measurement), name, unit, group), label, value, ours)

    def rounds(self, tools, once):
        """Call once(tool) for each tool in turn: A B C A B C. A tool that fails twice is left out after that."""
        failed = []
        for _ in range(self.runs):
            for tool in tools:
                if failed.count(tool) < 2 and not self._try(lambda tool=tool: once(tool), tool):
                    failed.append(tool)

    def together(self, tools, once):
        """Call once(tools) in each round: it runs all tools at the same time."""
        for _ in range(self.runs):
            self._try(lambda: once(tools), "all at the same time")

    def _try(self, call, who):
        try:
            call()
            return True
        except meter.Failed as failed:
            label = getattr(who, "label", who)
            self.failures[label] = str(failed)
            print(f"bench: {label}: {failed}", file=sys.stderr)
            return False
