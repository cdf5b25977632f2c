"""Time and memory that a run takes of the machine, apart from what it simulates."""

from __future__ import annotations

import resource
import sys
import time
from typing import Any


class Clock:
    """Stops the time of a run: bringing the drive to its state, then its requests."""

    def __init__(self) -> None:
        """Begin with the preparation."""
        self._began_s = self._prepared_s = time.perf_counter()
        self._cpu_s = time.process_time()

    def prepared(self) -> None:
        """Begin with the requests."""
        self._prepared_s = time.perf_counter()

    def measured(self, run: dict[str, Any]) -> dict[str, Any]:
        """Return what `run.json` holds; `run` is that section of the summary."""
        wall_s = time.perf_counter() - self._prepared_s
        # Linux counts in KiB, macOS in bytes; of the whole process, so runs side by side share it.
        unit_bytes = 1 if sys.platform == "darwin" else 1024
        return {
            "wall_s": wall_s,
            "prepare_s": self._prepared_s - self._began_s,
            "cpu_s": time.process_time() - self._cpu_s,
            "page_transactions_per_s": run["page_transactions"] / wall_s,
            "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes,
            "version": run["version"],
        }
