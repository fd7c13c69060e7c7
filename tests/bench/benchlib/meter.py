# SPDX-License-Identifier: Apache-2.0
"""A run of a command: when it began to sample, its cost, and the kernel memory that it used."""

import collections
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

CPUS = len(os.sched_getaffinity(0))
SETTLED_S = 0.2  # tools open their events one by one, and some others before those that sample
PATIENCE_S = 60
PER_CPU_MAPS = (5, 6, 10)  # map types with a value for each possible CPU
REPORT_S = 90  # a report that takes longer is given up

Kernel = collections.namedtuple("Kernel", "maps_kib rings_kib programs_ns programs_runs sizes")
Cost = collections.namedtuple("Cost", "wall_s cpu_s rss_mib status")


class Failed(Exception):
    """A tool did not work as expected."""


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def family(pid):
    """Return the pids of this process and all its descendants."""
    pids = [pid]
    for each in pids:
        try:
            for task in os.listdir(f"/proc/{each}/task"):
                with open(f"/proc/{each}/task/{task}/children", encoding="ascii") as file:
                    pids += [int(child) for child in file.read().split()]
        except OSError:
            pass
    return pids


def descriptors(pid):
    """Return (number, target) of each descriptor of an anonymous inode."""
    found = []
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{number}")
            except OSError:
                continue
            if target.startswith("anon_inode:"):
                found.append((number, target))
    except OSError:
        pass
    return found


class Run:
    """A running command. All its output is in a directory of its own, which close() removes, or in @folder."""

    def __init__(self, argv, measure, folder=None):
        self.argv = argv
        self.folder = folder or tempfile.mkdtemp(prefix="run-")
        self._own_folder = not folder
        self.out = os.path.join(self.folder, "after.out" if folder else "out")
        self.err = os.path.join(self.folder, "after.err" if folder else "err")
        self.first_ns = None  # its events were open, as its descriptors show
        self.stop_ns = None
        self.kernel = None
        ours, theirs = os.pipe()
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self._process = subprocess.Popen([measure, str(theirs), *argv], stdin=subprocess.DEVNULL, stdout=out,
                                             stderr=err, pass_fds=[theirs], cwd=self.folder, start_new_session=True)
        os.close(theirs)
        self._lines = os.fdopen(ours, encoding="ascii")
        pid, began = self._lines.readline().split()
        self.pid, self.began_ns = int(pid), int(began)

    def await_sampling(self, events):
        """Wait until the command has had @events perf events for each CPU, and no more, for some time."""
        count, since = 0, now_ns()
        while count < events * CPUS or now_ns() - since < SETTLED_S * 1e9:
            time.sleep(0.01)
            now = sum(target == "anon_inode:[perf_event]"
                      for pid in family(self.pid) for _, target in descriptors(pid))
            if now != count:
                count, since = now, now_ns()
                self.first_ns = since if count >= events * CPUS else None
            if self._process.poll() is not None:
                raise Failed(f"'{os.path.basename(self.argv[0])}' ended: {self.said()}")
            if now_ns() - self.began_ns > PATIENCE_S * 1e9:
                raise Failed(f"'{os.path.basename(self.argv[0])}' does not begin to sample: {self.said()}")

    def sample_for(self, seconds):
        """Sleep until it has sampled for this time."""
        time.sleep(max(0, seconds - (now_ns() - self.first_ns) / 1e9))

    def look(self):
        """Store the memory that the kernel uses for it now, from the descriptors and mappings of its processes."""
        maps = rings = programs_ns = programs_runs = 0
        sizes = {}  # {descriptor of a map: (size of a key, size of a value as it is copied)}
        for pid in family(self.pid):
            for number, target in descriptors(pid):
                if target not in ("anon_inode:bpf-map", "anon_inode:bpf-prog"):
                    continue
                try:
                    with open(f"/proc/{pid}/fdinfo/{number}", encoding="ascii") as file:
                        info = dict(line.split(":", 1) for line in file.read().splitlines() if ":" in line)
                except OSError:
                    continue
                if target == "anon_inode:bpf-map":
                    maps += int(info.get("memlock", 0))
                    each = (int(info["value_size"]) + 7) // 8 * 8 * os.cpu_count()
                    sizes[number] = (int(info["key_size"]),
                                     each if int(info["map_type"]) in PER_CPU_MAPS else int(info["value_size"]))
                else:
                    programs_ns += int(info.get("run_time_ns", 0))
                    programs_runs += int(info.get("run_cnt", 0))
            try:
                with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
                    for line in file:
                        if "anon_inode:[perf_event]" in line:
                            start, end = line.split(None, 1)[0].split("-")
                            rings += int(end, 16) - int(start, 16)
            except OSError:
                pass
        self.kernel = Kernel(maps / 1024, rings / 1024, programs_ns, programs_runs, sizes)

    def stop(self):
        """End the sampling as Ctrl-C does, and wait for the report."""
        self.look()
        self.stop_ns = now_ns()
        os.kill(self.pid, signal.SIGINT)
        return self.end()

    def end(self):
        """Wait until the command ends. Return its cost; the wall time begins at stop(), or else at the start of the
        command."""
        try:
            self._process.wait(REPORT_S)
        except subprocess.TimeoutExpired as late:
            self._kill()
            raise Failed(f"'{os.path.basename(self.argv[0])}' has no report after {REPORT_S} s") from late
        ended, user, system, rss, status = map(int, self._lines.readline().split())
        wall = (ended - (self.stop_ns or self.began_ns)) / 1e9
        return Cost(wall, (user + system) / 1e6, rss / 1024, status)

    @property
    def sampled_s(self):
        return (self.stop_ns - self.first_ns) / 1e9

    def said(self):
        """Return the end of its output, for messages."""
        text = ""
        for path in (self.out, self.err):
            with open(path, encoding="utf-8", errors="replace") as file:
                text += file.read()[-2000:]
        return " / ".join(line.strip() for line in text.splitlines()[-4:] if line.strip())

    def books(self):
        """Return the statistics that profile --stats has written."""
        with open(self.err, encoding="utf-8", errors="replace") as file:
            return {m[1]: int(m[2]) for m in re.finditer(r"^(\w+): (\d+)$", file.read(), re.MULTILINE)}

    def _kill(self):
        """Kill the command and all processes that it has started."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self):
        if self._process.poll() is None:
            self._kill()
        self._lines.close()
        if self._own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
