# SPDX-License-Identifier: Apache-2.0
"""The kernel's statistics of BPF programs, which it collects while a process holds a descriptor for that."""

import contextlib
import ctypes
import os

NR_BPF = {"x86_64": 321, "aarch64": 280}
BPF_ENABLE_STATS = 32


@contextlib.contextmanager
def program_statistics():
    """Enable them. Before 5.8 the kernel has none, and figures that need them are missing."""
    number = NR_BPF.get(os.uname().machine)
    run_time = ctypes.create_string_buffer(4)  # BPF_STATS_RUN_TIME is 0
    fd = ctypes.CDLL(None, use_errno=True).syscall(number, BPF_ENABLE_STATS, run_time, 4) if number else -1
    try:
        yield
    finally:
        if fd >= 0:
            os.close(fd)
