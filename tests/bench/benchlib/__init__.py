# SPDX-License-Identifier: Apache-2.0
"""What tests/bench/run is made of: tools, runs of them, loads, figures, goals, and one module for each measurement."""
