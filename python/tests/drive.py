"""A small drive that runs in a moment, and how the tests call the command line."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

SMALL = """
seed = 7
device = "fast12-mlc"

[geometry]
channels = 2
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 16

[workload]
generator = "mixed"
requests = 3000
read_fraction = 0.7
request_bytes = 8192
addresses = "uniform"
arrivals = "poisson"
rate_iops = 1500
"""

Reprieve = Callable[..., subprocess.CompletedProcess[str]]
"""Runs the command with these arguments in the test's directory."""
