# SPDX-License-Identifier: Apache-2.0
"""The measurements, in the order of the table. Each is a module with TITLE, SLOW (make bench-quick leaves it out) and
measure(bench), which adds figures."""

from . import start, stop, cpu, slowdown, copied, distinct, complete, fold, growth, sessions

ALL = [start, stop, cpu, slowdown, copied, distinct, complete, fold, growth, sessions]
