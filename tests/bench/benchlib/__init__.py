# SPDX-License-Identifier: Apache-2.0
"""The parts of tests/bench/run: tools, runs of them, loads, figures, goals, and one module for each measurement."""
