# SPDX-License-Identifier: Apache-2.0
"""A run of one tool on all CPUs, including its report: the cost, and the contents of the report."""

import concurrent.futures
import os

from . import meter


class Sampling:
    """A context in which the tool samples, from start() to stop()."""

    def __init__(self, bench, tool, hz, prefix=()):
        self._bench = bench
        self.tool, self.hz = tool, hz
        self.run = meter.Run([*prefix, *tool.argv(hz)], bench.measure)
        self._after = None
        self.stop_s = self.cpu_s = self.record_cpu_s = self.rss_mib = None
        self.books = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._after:
            self._after.close()
        self.run.close()

    def start(self):
        self.run.await_sampling(self.tool.events)
        return self

    def stop(self):
        """End the sampling; the report is complete after finish()."""
        cost = self.run.stop()
        self.stop_s, self.cpu_s, self.rss_mib = cost.wall_s, cost.cpu_s, cost.rss_mib
        self.record_cpu_s = cost.cpu_s

    def finish(self):
        """Run the command that makes the report, if there is one, and check that there is a report."""
        after = self.tool.after()
        if after:
            self._after = meter.Run(after, self._bench.measure, folder=self.run.folder)
            cost = self._after.end()
            self.stop_s += cost.wall_s
            self.cpu_s += cost.cpu_s
            self.rss_mib = max(self.rss_mib, cost.rss_mib)
        if not os.path.getsize(self._report()):
            raise meter.Failed(f"{self.tool.label} has no report: {self.run.said()}")
        if self.tool.ours:
            self.books = self.run.books()
            self._bench.unaccounted.append(self.books["samples_unaccounted"])
        return self

    def _report(self):
        return (self._after or self.run).out

    @property
    def rows(self):
        return self.tool.rows(self._report())

    @property
    def due(self):
        return self.hz * meter.CPUS * self.run.sampled_s

    @property
    def recorded_bytes(self):
        path = os.path.join(self.run.folder, "recording")
        return os.path.getsize(path) if os.path.exists(path) else 0

    @property
    def taken(self):
        """Number of samples that the event took for tasks: from the tool's statistics, the run count of its BPF
        program, or the sum of its report."""
        if self.tool.ours:
            return self.books["samples_taken"] - self.books["samples_filtered"]
        if self.tool.bpf and self.run.kernel.programs_runs:
            return self.run.kernel.programs_runs
        return sum(count for _, count in self.rows)

    @property
    def with_stack(self):
        """Number of samples in the report that have a stack."""
        return sum(count for frames, count in self.rows
                   if len(frames) > 1 and not any(frame.startswith("[Missed") for frame in frames))


def sample(bench, tool, hz, seconds, prefix=()):
    """Run one tool alone for this time. The caller closes the result."""
    sampling = Sampling(bench, tool, hz, prefix)
    try:
        sampling.start()
        sampling.run.sample_for(seconds)
        sampling.stop()
        return sampling.finish()
    except BaseException:
        sampling.__exit__()
        raise


def side_by_side(bench, tools, hz, seconds, prefix=lambda tool: ()):
    """Run all tools at the same time, each for this time after it has begun to sample. The caller closes the returned
    samplings."""
    samplings = [Sampling(bench, tool, hz, prefix(tool)) for tool in tools]

    def one(sampling):
        sampling.start()
        sampling.run.sample_for(seconds)
        sampling.stop()

    try:
        with concurrent.futures.ThreadPoolExecutor(len(samplings)) as pool:
            list(pool.map(one, samplings))
        return [sampling.finish() for sampling in samplings]
    except BaseException:
        for sampling in samplings:
            sampling.__exit__()
        raise
