"""Draws docs/figures/demo-read-tail.svg: the reads of `make demo` by percentile, five policies.

Run it from the root of the project: `.venv/bin/python docs/figures/demo_read_tail.py`.
"""

from pathlib import Path

import reprieve as rp

POLICIES = ["FIFO", "RPS", "PES-IPS", "PES-IPC", "PE0"]
TARGET = Path("docs/figures/demo-read-tail.svg")

runs = rp.compare("examples/mysql-five-policies.toml", {"policy": POLICIES})
runs.plot.tail("read").save(TARGET, "page")
