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
    Column("start_ns", "ns", "when the die began it"),
    Column("completion_ns", "ns", "when it was complete, including data out"),
    Column("suspensions", "count", "number of suspensions"),
]

RIG_POWER = [
    Column("time_ns", "ns", "start of the step"),
    Column("power_{core,io}_mw", "mW", "drawn by the die from then on, at each supply"),
]

BLAME = [
    Column(
        "by_host_{read,program}_ns",
        "ns",
        "waited behind host reads (old pages of partial writes too), programs",
    ),
    Column("by_gc_{read,program}_ns", "ns", "waited behind pages that garbage collection moves"),
    Column("by_erase_ns", "ns", "waited behind erases"),
    Column("by_map_ns", "ns", "waited for a mapping entry, or behind pages of the mapping"),
    Column(
        "by_channel_ns",
        "ns",
        "waited for the channel, or behind an operation that waits for a shared one or uses it",
    ),
    Column("by_suspend_entry_ns", "ns", "waited for an operation to reach its suspension"),
    Column(
        "by_same_block_ns",
        "ns",
        "waited for an operation that could have been suspended, but holds the page",
    ),
    Column(
        "by_limit_ns", "ns", "waited for one that had reached its maximum number of suspensions"
    ),
    Column("by_budget_ns", "ns", "waited for one that the budget of suspensions protected"),
    Column("by_power_ns", "ns", "waited for the power budget"),
    Column(
        "by_other_ns", "ns", "waited for something else, such as a full wordline or a dispatcher"
    ),
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
    Column("buffer_ns", "ns", "waiting for room in the write buffer; for a flush, for the writes"),
    Column("rmw_ns", "ns", "reading the rest of a partially written page"),
    Column("queue_ns", "ns", "queued at the die behind other work"),
    Column("suspend_wait_ns", "ns", "queued while the running operation was being suspended"),
    Column(
        "array_ns", "ns", "in which the array worked for it, including repeated phases and restores"
    ),
    Column("bus_wait_ns", "ns", "with a page ready, waiting for the channel"),
    Column("bus_ns", "ns", "on the channel, including commands"),
    Column("suspended_ns", "ns", "for a write, in which its program was suspended"),
    Column("map_ns", "ns", "waiting for a mapping entry"),
    Column("ecc_ns", "ns", "decoding the page"),
    *BLAME,
    Column(
        "die", "", "of the last page, counted over the drive; null if no die served the request"
    ),
    Column("flow", "", "number of the flow by name, or of the job in its file; 0 without flows"),
    Column("uncorrectable_pages", "pages", "lost pages of the request"),
]

POWER = [
    Column("start_ns", "ns", "of the bin"),
    Column("length_ns", "ns", "of the bin; the last one may be shorter"),
    Column("{core,io}_pj", "pJ", "taken by all dies in the bin at each supply"),
    Column("power_mw", "mW", "mean of the bin, both supplies together; only in the file"),
]

POWER_LOSS = [
    Column("at_ns", "ns", "when the power failed"),
    Column("policy", "", "the policy for running operations"),
    Column("time_to_safety_ns", "ns", "until all would be safe, if the energy lasted"),
    Column("energy_uj", "µJ", "of controller and flash in that time"),
    Column("capacitance_uf", "µF", "that stores it between the two voltages; empty without them"),
    Column("lived_on_ns", "ns", "until all was safe, or energy or time were exhausted"),
    Column("dirty_pages", "pages", "in a write-back buffer and not in flash"),
    Column("programmed_pages", "pages", "of these, with programs that were waited for"),
    Column("{saved,lost}_pages", "pages", "saved elsewhere; lost"),
    Column("trimmed_pages", "pages", "trimmed and not written since"),
    Column("trim_table_pages", "pages", "of their list"),
    Column("trims_kept", "", "whether that list was saved"),
    Column("stopped_{programs,erases}", "dies", "with one that was suspended or aborted"),
]

RECOVERY = [
    Column("total_ns", "ns", "`scan_ns` + `load_ns` + `erase_ns`"),
    Column("scan_ns", "ns", "reading the spare area of every programmed page"),
    Column("load_ns", "ns", "reading saved pages"),
    Column("erase_ns", "ns", "erasing again the blocks whose erase did not end"),
    Column("scanned_pages", "pages", "read by the scan"),
    Column("erased_again_blocks", "blocks", "whose erase did not end"),
]

BENCH = [
    Column("delay{1,2}_share", "share", "the delays, as shares of tPGM"),
    Column("drawn", "", "whether the delays were drawn, and are not of the grid"),
    Column("wordline", "", "its number in the block"),
    Column("page_type", "", "of the page that was read, from 0"),
    Column("suspensions", "count", "number of suspensions of the program"),
    Column("t_eps_{mean,worst}_ns", "ns", "from suspend request to free array; empty if never"),
    Column("t_program_suspended_ns", "ns", "from confirmation to completion, without the reads"),
    Column("t_timers_ns", "ns", "the same, extended to the end of the last delay if that is later"),
    Column("t_program_ns", "ns", "the undisturbed program of the same wordline"),
]

VERDICTS = [
    Column("claim", "", "the claim, in words"),
    Column("source", "", "where it is made: section, table or figure; or the formula"),
    Column("unit", "", "of the numbers; `1` for a plain number"),
    Column("relation", "", "what the claim says of the number: `equal`, `at most` or `at least`"),
    Column("paper", "its own", "the source's value"),
    Column("ours", "its own", "the simulated or calculated value; null if there is none"),
    Column("difference", "its own", "`ours` − `paper`"),
    Column("tolerance", "its own", "by how much it may miss; set before the run"),
    Column("reproduced", "", "whether the claim holds; null if undecided or not testable"),
    Column("note", "", "the reason, if it is known"),
    Column(
        "kind",
        "",
        "what the verdict is worth: `measured` or `predicted`, which the headline counts, or "
        "`derived`, `input`, `arithmetic`, `duplicate`, `vacuous` (its mechanism never came to "
        "work; `reproduced` is null)",
    ),
    Column(
        "cause",
        "",
        "why it is not reproduced: `load`, `reading`, `contradiction`, `ill_posed`, `defect`, "
        "`unknown_parameter`; null if it is, or if that is not known",
    ),
    Column("seeds", "", "of the runs that `ours` is the mean of; empty where nothing is drawn"),
    Column("low", "its own", "lower end of the 95 % interval of `ours` over the seeds, or null"),
    Column("high", "its own", "upper end"),
    Column("class", "", "`mechanism`, `headline` or `absolute`, counted apart; null for others"),
    Column("undecided", "", "whether other seeds, or more requests, could turn the verdict"),
    Column("null_model", "", "whether it would hold without effect of suspension, and not count"),
]

COMPARE = [
    Column("schema", "", "1; changes when a field changes its meaning"),
    Column("axes.key", "", "the varied key of the scenario; in a list of axes"),
    Column("axes.values", "", "in order; the first is the base"),
    Column("runs.label", "", "of a run; in a list of runs"),
    Column("runs.directory", "", "of its results"),
    Column("runs.sets", "", "its overrides"),
    Column("runs.summary", "", "its `summary.json`"),
    Column("paired.run", "", "label of a run; in a list of pairs of runs"),
    Column("paired.base", "", "label of the run that it is compared with"),
    Column("paired.measures", "", "by name, such as `read_latency_ns_p99`: see below"),
]
