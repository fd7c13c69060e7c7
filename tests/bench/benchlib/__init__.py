# SPDX-License-Identifier: Apache-2.0
"""The parts of tests/bench/run: the tools, their runs, the loads, the figures, the goals, and a module for each
measurement."""
