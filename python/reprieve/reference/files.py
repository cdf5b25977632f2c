"""Every column and field of the files that Reprieve writes: unit and meaning, for people.

`columns.py` makes a page of these tables, and tests hold them against what is written.
A name with `{a,b}` stands for one of each; a word in capitals for any name.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple


class Column(NamedTuple):
    """A column of a table, or a field of a JSON file."""

    name: str
    unit: str
    """Empty where a number has none, or for text."""
    doc: str

    def names(self) -> Iterator[str]:
        """Write out the choices in braces."""
        pieces = [piece.split(",") for piece in re.split(r"[{}]", self.name)]
        yield from map("".join, itertools.product(*pieces))


COMMAND = [
    Column("arrival_ns", "ns", "when the command reaches the die"),
    Column("op", "", "`read`, `program` or `erase`"),
    Column("plane", "", "of the die, from 0"),
    Column("block", "", "of the plane, from 0"),
    Column("page", "", "of the block, from 0; ignored by an erase"),
]

RIG = [
    *COMMAND,
    Column("start_ns", "ns", "when the die took it up"),
    Column("completion_ns", "ns", "when it was complete, data out included"),
    Column("suspensions", "count", "how often it was suspended"),
]

RIG_POWER = [
    Column("time_ns", "ns", "from when on"),
    Column("power_{core,io}_mw", "mW", "that the die draws from then on, at each supply"),
]

REQUESTS = [
    Column("id", "", "number in order of arrival in the whole run, from 0"),
    Column("op", "", "`read`, `write`, `trim` or `flush`"),
    Column("lba", "512-byte sectors", "first sector, on the drive"),
    Column("bytes", "bytes", "length"),
    Column("arrival_ns", "ns", "since the start of the run"),
    Column("completion_ns", "ns", "since the start of the run"),
    Column("host_queue_ns", "ns", "in a submission queue, until the drive fetched it"),
    Column("link_ns", "ns", "being fetched, waiting for the host link and crossing it"),
    Column("buffer_ns", "ns", "waiting for room in the write buffer; of a flush, for the writes"),
    Column("rmw_ns", "ns", "reading the rest of a page that is written in part"),
    Column("queue_ns", "ns", "queued at the die behind other work"),
    Column("suspend_wait_ns", "ns", "queued while the operation in the way was being suspended"),
    Column("array_ns", "ns", "the array worked for it, repeated phases and restores included"),
    Column("bus_wait_ns", "ns", "with a page ready, waiting for the channel"),
    Column("bus_ns", "ns", "on the channel, commands included"),
    Column("suspended_ns", "ns", "of a write, in which its program was suspended"),
    Column("map_ns", "ns", "waiting for an entry of the mapping"),
    Column("ecc_ns", "ns", "in which the page was decoded"),
    Column("flow", "", "number of the flow by name, or of the job in its file; 0 without flows"),
    Column("uncorrectable_pages", "pages", "of the request, that nothing corrected"),
]

POWER = [
    Column("start_ns", "ns", "of the bin"),
    Column("length_ns", "ns", "of the bin; the last one may be shorter"),
    Column("{core,io}_pj", "pJ", "that all dies took in the bin at each supply"),
    Column("power_mw", "mW", "mean of the bin, both supplies together; only in the file"),
]

POWER_LOSS = [
    Column("at_ns", "ns", "when the power failed"),
    Column("policy", "", "what became of the operations on the dies"),
    Column("time_to_safety_ns", "ns", "until all would be safe, if the energy lasted"),
    Column("energy_uj", "µJ", "of controller and flash in that time"),
    Column("capacitance_uf", "µF", "that holds it between the two voltages; empty without them"),
    Column("lived_on_ns", "ns", "until all was safe, or energy or time were over"),
    Column("dirty_pages", "pages", "in a write-back buffer and not in flash"),
    Column("programmed_pages", "pages", "of these, with programs that were waited for"),
    Column("{saved,lost}_pages", "pages", "saved elsewhere; lost"),
    Column("trimmed_pages", "pages", "trimmed and not written since"),
    Column("trim_table_pages", "pages", "of their list"),
    Column("trims_kept", "", "whether that list was saved"),
    Column("stopped_{programs,erases}", "dies", "with one that was suspended or broken off"),
]

RECOVERY = [
    Column("total_ns", "ns", "`scan_ns` + `load_ns` + `erase_ns`"),
    Column("scan_ns", "ns", "reading what stands beside every programmed page"),
    Column("load_ns", "ns", "reading saved pages"),
    Column("erase_ns", "ns", "erasing blocks again whose erase did not end"),
    Column("scanned_pages", "pages", "that were read for it"),
    Column("erased_again_blocks", "blocks", "whose erase did not end"),
]

BENCH = [
    Column("delay{1,2}_share", "share", "the delays, as shares of tPGM"),
    Column("wordline", "", "its number in the block"),
    Column("page_type", "", "of the page that was read, from 0"),
    Column("suspensions", "count", "how often the program was suspended"),
    Column("t_eps_{mean,worst}_ns", "ns", "from suspend request to free array; empty if never"),
    Column("t_program_suspended_ns", "ns", "from confirmation to completion, reads left out"),
    Column("t_timers_ns", "ns", "the same, until the last delay is over if that comes later"),
    Column("t_program_ns", "ns", "the same wordline if nobody suspends it"),
]

VERDICTS = [
    Column("claim", "", "what is claimed, in words"),
    Column("source", "", "where it stands: section, table or figure; or the formula"),
    Column("unit", "", "of the numbers; `1` for a plain number"),
    Column("relation", "", "`equal`, `at most` or `at least`: what is claimed of the number"),
    Column("paper", "its own", "what the source says"),
    Column("ours", "its own", "what was simulated or calculated; null if it was not"),
    Column("difference", "its own", "`ours` less `paper`"),
    Column("tolerance", "its own", "by how much it may miss; set before the run"),
    Column("reproduced", "", "whether the claim holds; null if it cannot be tested"),
    Column("note", "", "why not, where that is known"),
]

COMPARE = [
    Column("schema", "", "1; changes when a field changes its meaning"),
    Column("axes.key", "", "of the scenario, which was varied; a list of axes"),
    Column("axes.values", "", "in order; the first of each is the base"),
    Column("runs.label", "", "of a run; a list of runs"),
    Column("runs.directory", "", "of its results"),
    Column("runs.sets", "", "its overrides"),
    Column("runs.summary", "", "its `summary.json`"),
    Column("paired.run", "", "label of a run; a list of pairs of runs"),
    Column("paired.base", "", "label of the one that it is compared with"),
    Column("paired.measures", "", "by name, such as `read_latency_ns_p99`: see below"),
]
