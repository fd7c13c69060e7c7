# SPDX-License-Identifier: Apache-2.0
"""Figures: the measured values of each tool, as a table for people and as JSON for machines."""

import collections
import statistics

Key = collections.namedtuple("Key", "measurement name unit group")


class Figures:
    """{key: {label: values}}, in the order in which they came. Labels of one group are compared with each other."""

    def __init__(self):
        self._values = {}
        self._ours = set()

    def add(self, key, label, value, ours):
        self._values.setdefault(key, {}).setdefault(label, []).append(value)
        if ours:
            self._ours.add(label)

    def median(self, measurement, name, label):
        """None where that was not measured."""
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
        """(key, label, values, {ours: how many times ours this is})"""
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
    """Three digits that count."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def times(ratios):
    """bpf 3.1, perfring 4.0: how many times ours a peer's is, without what the group says anyway."""
    return ", ".join(f"{label.split()[0]} {number(ratio)}" for label, ratio in ratios.items())


def by_measurement(found, titles):
    """(title, its figures) of what as_json() gave, in its order."""
    measured = dict.fromkeys(one["measurement"] for one in found)
    return [(titles[name], [one for one in found if one["measurement"] == name]) for name in measured]


def table(found, titles):
    """Lines of Markdown: all that is known of each figure."""
    lines = []
    for title, rows in by_measurement(found, titles):
        lines += ["", title, "", "| figure | tool | median | min | max | times that of |",
                  "|---|---|--:|--:|--:|---|"]
        for one in rows:
            cells = [number(one["median"]), number(one["min"]), number(one["max"]), times(one["times_ours"])]
            lines.append(f"| {one['figure']}, {one['unit']} | {one['tool']} | " + " | ".join(cells) + " |")
    return align(lines)


def medians(found, titles):
    """Lines of Markdown: a column for each tool, a row for each figure."""
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
    """Columns of each block of lines below each other."""
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
    """The second row says on which side the cells of a column are."""
    widths = [max(3, *(len(row[i]) for row in rows if row is not rows[1])) for i in range(len(rows[0]))] if rows else []
    for row in rows:
        cells = []
        for cell, width, side in zip(row, widths, rows[1]):
            if row is rows[1]:
                cells.append("-" * (width - 1) + ("-:"[side.endswith(":")]))
            else:
                cells.append(cell.rjust(width) if side.endswith(":") else cell.ljust(width))
        yield "| " + " | ".join(cells) + " |"
