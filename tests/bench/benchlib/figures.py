# SPDX-License-Identifier: Apache-2.0
"""Figures: the measured values of each tool, printed as tables and written as JSON."""

import collections
import statistics

Key = collections.namedtuple("Key", "measurement name unit group")


class Figures:
    """{key: {label: values}}, in the order in which they were added. Labels of one group are compared with each
    other."""

    def __init__(self):
        self._values = {}
        self._ours = set()

    def add(self, key, label, value, ours):
        self._values.setdefault(key, {}).setdefault(label, []).append(value)
        if ours:
            self._ours.add(label)

    def median(self, measurement, name, label):
        """The median of a figure, or None if it was not measured."""
        for key, by_label in self._values.items():
            if (key.measurement, key.name) == (measurement, name) and label in by_label:
                return statistics.median(by_label[label])
        return None

    def worst(self, measurement, name, label):
        for key, by_label in self._values.items():
            if (key.measurement, key.name) == (measurement, name) and label in by_label:
                return max(by_label[label])
        return None

    def rows(self):
        """Yield (key, label, values, {label of ours: this median divided by ours})."""
        for key, by_label in self._values.items():
            for label, values in by_label.items():
                ratios = {}
                for one in by_label:
                    if one in self._ours and label not in self._ours and statistics.median(by_label[one]) > 0:
                        ratios[one] = statistics.median(values) / statistics.median(by_label[one])
                yield key, label, values, ratios

    def as_json(self):
        return [{
            "measurement": key.measurement,
            "figure": key.name,
            "unit": key.unit,
            "group": key.group,
            "tool": label,
            "ours": label in self._ours,
            "values": values,
            "median": statistics.median(values),
            "min": min(values),
            "max": max(values),
            "times_ours": ratios,
        } for key, label, values, ratios in self.rows()]


def number(value):
    """Format a number with three significant digits."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def times(ratios):
    """Format ratios as "bpf 3.1, perfring 4.0": a peer's value divided by each of ours. Leave out the way to unwind,
    which the group shows."""
    return ", ".join(f"{label.split()[0]} {number(ratio)}" for label, ratio in ratios.items())


def by_measurement(found, titles):
    """Return a list of (title, figures) from the result of as_json(), in its order."""
    measured = dict.fromkeys(one["measurement"] for one in found)
    return [(titles[name], [one for one in found if one["measurement"] == name]) for name in measured]


def table(found, titles):
    """Return lines of Markdown: all values of each figure."""
    lines = []
    for title, rows in by_measurement(found, titles):
        lines += ["", title, "", "| figure | tool | median | min | max | times that of |",
                  "|---|---|--:|--:|--:|---|"]
        for one in rows:
            cells = [number(one["median"]), number(one["min"]), number(one["max"]), times(one["times_ours"])]
            lines.append(f"| {one['figure']}, {one['unit']} | {one['tool']} | " + " | ".join(cells) + " |")
    return align(lines)


def medians(found, titles):
    """Return lines of Markdown: a column for each tool, a row for each figure."""
    lines = []
    for title, rows in by_measurement(found, titles):
        tools = list(dict.fromkeys(one["tool"] for one in rows))
        names = dict.fromkeys((one["figure"], one["unit"]) for one in rows)
        lines += ["", title, "", "| | " + " | ".join(tools) + " |", "|---|" + "--:|" * len(tools)]
        for figure, unit in names:
            cells = {one["tool"]: number(one["median"]) for one in rows if one["figure"] == figure}
            lines.append(f"| {figure}, {unit} | " + " | ".join(cells.get(tool, "-") for tool in tools) + " |")
    return align(lines)


def align(lines):
    """Align the columns of each table in these lines."""
    out, block = [], []
    for line in [*lines, ""]:
        if line.startswith("|"):
            block.append([cell.strip() for cell in line.strip("|").split("|")])
            continue
        out += aligned(block)
        block = []
        out.append(line)
    return out[:-1]


def aligned(rows):
    """Yield the rows of one table. Its second row shows on which side the cells of each column are aligned."""
    widths = [max(3, *(len(row[i]) for row in rows if row is not rows[1])) for i in range(len(rows[0]))] if rows else []
    for row in rows:
        cells = []
        for cell, width, side in zip(row, widths, rows[1]):
            if row is rows[1]:
                cells.append("-" * (width - 1) + ("-:"[side.endswith(":")]))
            else:
                cells.append(cell.rjust(width) if side.endswith(":") else cell.ljust(width))
        yield "| " + " | ".join(cells) + " |"
