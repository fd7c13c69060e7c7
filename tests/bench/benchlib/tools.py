# SPDX-License-Identifier: Apache-2.0
"""The measured tools: profile with each backend and each way to unwind, and its peers if they are installed."""

import os
import shutil
import subprocess

from . import meter, reports

BPFTRACE = "profile:hz:%d /pid/ { @[ustack, kstack, comm, pid] = count(); }"


class Tool:
    """A tool that samples all CPUs until SIGINT, and then writes a report."""

    ours = False
    bpf = False  # a BPF program takes its samples, and the kernel counts its runs
    slow = False  # takes seconds to start or to report
    events = 1  # perf events for each CPU
    rows = staticmethod(reports.folded)

    def __init__(self, name, unwind="fp", program=None):
        self.name, self.unwind, self.program = name, unwind, program

    @property
    def label(self):
        return self.name + ("" if self.unwind == "fp" else f" {self.unwind}")

    @property
    def group(self):
        """The tools with which it is compared: stacks by frame pointers, or complete ones."""
        return "fp" if self.unwind == "fp" else "dwarf"

    def argv(self, hz):
        raise NotImplementedError

    def after(self):
        """Return the command that makes the report from the files that argv() has left, or None if argv() makes it."""
        return None

    def version(self):
        out = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=False)
        return ((out.stdout or out.stderr).strip().splitlines() or ["unknown"])[0]


class Profile(Tool):
    ours = True

    def __init__(self, backend, unwind, program):
        super().__init__(backend, unwind, program)
        self.bpf = backend == "bpf"

    def argv(self, hz):
        return [self.program, f"--backend={self.name}", f"--unwind={self.unwind}", "--stats", "-f", "-F", str(hz)]


class Perf(Tool):
    """perf record, then perf script and an awk program that folds its output."""

    def argv(self, hz):
        graph = "dwarf" if self.unwind == "dwarf" else "fp"
        return [self.program, "record", "-q", "-e", "cpu-clock", "-F", str(hz), "-a", "--call-graph", graph,
                "-o", "recording"]

    def after(self):
        # Inlined functions and names of files would make it even slower.
        return ["sh", "-c", '"$0" script -i "$1" --no-inline -F comm,ip,sym 2>/dev/null | awk "$2"', self.program,
                "recording", reports.COLLAPSE]


class BccLike(Tool):
    """profile of bcc, and of libbpf-tools."""

    bpf = True

    def argv(self, hz):
        return [self.program, "-f", "-F", str(hz)]


class Bcc(BccLike):
    slow = True

    def version(self):
        return "of unknown version"  # it has no option for that


class Bpftrace(Tool):
    """It runs with a cache of names. By default bpftrace has that only if addresses are not randomized, and otherwise
    needs minutes."""

    bpf = True
    slow = True
    events = 2  # the second one is for its output
    rows = staticmethod(reports.bpftrace)

    def argv(self, hz):
        return ["env", "BPFTRACE_CACHE_USER_SYMBOLS=1", self.program, "-q", "-e", BPFTRACE % hz]


def ours(profile):
    return [Profile(backend, unwind, profile) for unwind in ("fp", "auto", "dwarf") for backend in ("bpf", "perfring")]


def is_of_libbpf_tools(program):
    out = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    return "libbpf-tools" in out.stdout


def find(variable, names, path, fits=lambda program: True):
    """Return (the program that the variable names, or the first of the names on the path; None), or (None, the
    reason)."""
    named = os.environ.get(variable) if variable else None
    if named:
        program = shutil.which(named)
        return (program, None) if program else (None, f"{variable}: '{named}' is no program")
    for name in names:
        program = shutil.which(name, path=path)
        if program and fits(program):
            return program, None
    return None, f"{' or '.join(names)} is not on PATH" + (f", {variable} is not set" if variable else "")


def peers(folder):
    """Return the peers that exist, and {name: reason} of the others. tests/bench/peers-get puts peers into @folder."""
    path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin:" + os.path.join(folder, "bin")
    wanted = [
        ("libbpf-tools", "PEER_LIBBPF_PROFILE", ["profile-libbpf", "profile"], is_of_libbpf_tools,
         lambda name, program: [BccLike(name, "fp", program)]),
        ("bcc", "PEER_BCC_PROFILE", ["profile-bpfcc"], lambda program: True,
         lambda name, program: [Bcc(name, "fp", program)]),
        ("bpftrace", None, ["bpftrace"], lambda program: True, lambda name, program: [Bpftrace(name, "fp", program)]),
        ("perf", None, ["perf"], lambda program: True,
         lambda name, program: [Perf(name, unwind, program) for unwind in ("fp", "dwarf")]),
    ]
    found, skipped = [], {}
    for name, variable, names, fits, make in wanted:
        program, why = find(variable, names, path, fits)
        if program:
            found += make(name, program)
        else:
            skipped[name] = why
    return found, skipped


def try_out(tools, measure, skipped):
    """Return those of @tools that can sample here. Add the others to @skipped, with the reason."""
    working = []
    for tool in tools:
        try:
            with meter.Run(tool.argv(99), measure) as run:
                run.await_sampling(tool.events)
                run.stop()
            working.append(tool)
        except meter.Failed as failed:
            skipped[tool.label] = str(failed)
    return working
