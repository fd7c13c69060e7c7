#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/truth/judge.py EDGES COMM [FILE] - judge folded user stacks (profile -U -f) of a program of edges.py.

Prints "name: value": samples; impossible: those with a stack in which a function cannot have called the next one;
broken: those with a stack that does not begin where the thread began; cut: [truncated]. Lines "# ..." show wrong stacks.
"""

import collections
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from edges import LIBC, PLT, SIGNAL, VDSO  # noqa: E402

START, UNKNOWN, CUT = "<start>", "<unknown>", "<cut>"
ROOTS = ("main", "worker", "other_worker")
EXAMPLES = 12
NEAR_ROOT = 4  # frames of the C library before the first function of the program


def read_edges(path):
    found = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            caller, node = line.split()
            found.setdefault(caller, set()).add(node)
    return found


class Judge:
    """Judges the stacks of one program. @named: a frame without a name is a mistake, and the stack must begin with the
    start code of the C library. Otherwise [unknown] counts as a function of the C library, because peers print that."""

    def __init__(self, edges, named=True):
        self._edges, self._named = edges, named
        self._functions = {name for name in edges if not name.startswith("<")}
        for nodes in edges.values():
            self._functions |= {name for name in nodes if not name.startswith("<")}

    def _node(self, frame):
        name = re.sub(r"(\+0x[0-9a-f]+)?(@plt)?$", "", frame) if not frame.startswith("[") else frame
        if frame.endswith("@plt") or re.match(r"^\[(program|liblinked\.so|libopened\.so)", frame):
            return PLT
        name = name.split(".")[0] if not name.startswith(("[", "_")) else name
        if name in self._functions:
            return name
        if name in ("_start", "[truncated]"):
            return START if name == "_start" else CUT
        if name.startswith("__vdso_") or "vdso" in name:
            return VDSO
        if name.startswith(("[unknown", "[Missed")):
            return UNKNOWN if self._named else LIBC
        return LIBC

    def nodes(self, frames):
        nodes = [self._node(frame) for frame in frames]
        for i in range(len(nodes) - 1):
            if nodes[i + 1] == "handler" and nodes[i] == LIBC:
                nodes[i] = SIGNAL
        if frames and re.match(r"__restore_rt", frames[-1]):
            nodes[-1] = SIGNAL
        return nodes

    def impossible(self, nodes):
        """The first pair that cannot be, or None."""
        for caller, callee in zip(nodes, nodes[1:]):
            if callee == SIGNAL and caller not in (START, CUT, UNKNOWN, SIGNAL):
                continue
            if caller in (START, CUT):
                if caller == CUT or callee == LIBC:
                    continue
                return caller, callee
            if caller == UNKNOWN or callee == UNKNOWN or callee not in self._edges.get(caller, ()):
                return caller, callee
        return None

    def broken(self, nodes):
        if CUT in nodes:
            return False
        inner = [i for i, node in enumerate(nodes) if node in self._functions]
        if not inner:
            return True
        first = inner[0]
        if nodes[first] not in ROOTS or first > NEAR_ROOT or set(nodes[:first]) - {START, LIBC}:
            return True
        return self._named and (first == 0 or (nodes[first] == "main") != (nodes[0] == START))

    def judge(self, rows):
        """(Counter, [(count, what is wrong, frames)]) of (frames, count)."""
        counts, wrong = collections.Counter(), []
        for frames, count in rows:
            nodes = self.nodes(frames)
            pair, broken = self.impossible(nodes), self.broken(nodes)
            counts["samples"] += count
            counts["impossible"] += count if pair else 0
            counts["broken"] += count if broken else 0
            counts["cut"] += count if CUT in nodes else 0
            if pair or broken:
                wrong.append((count, " -> ".join(pair) if pair else "broken", frames))
        return counts, sorted(wrong, key=lambda one: -one[0])


def folded(file, comm):
    for line in file:
        text, _, count = line.rstrip("\n").rpartition(" ")
        frames = text.split(";")
        if frames[0] == comm:
            yield frames[1:], int(count)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with (open(sys.argv[3], encoding="utf-8", errors="replace") if len(sys.argv) > 3 else sys.stdin) as file:
        counts, wrong = Judge(read_edges(sys.argv[1])).judge(folded(file, sys.argv[2]))
    for name in ("samples", "impossible", "broken", "cut"):
        print(f"{name}: {counts[name]}")
    for count, what, frames in wrong[:EXAMPLES]:
        print(f"# {count}: {what}: {';'.join(frames)}")


if __name__ == "__main__":
    main()
