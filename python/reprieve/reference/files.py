"""Every column and field of the files that Reprieve writes: unit and meaning, for people.

`columns.py` makes a page of these tables, and tests hold them against what is written.
A name with `{a,b}` stands for one of each; a word in capitals for any name.
"""

from __future__ import annotations

import itertools
import re
import textwrap
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


def rows(text: str) -> list[Column]:
    """Read columns, a line each: name, unit and meaning between bars.

    An indented line goes on with the one above; `section:` stands before all names below it.
    """
    under, found = "", list[str]()
    for line in textwrap.dedent(text).strip().splitlines():
        if line.startswith(" "):
            found[-1] += f" {line.strip()}"
        elif line.endswith(":"):
            under = f"{line[:-1]}."
        else:
            found.append(f"{under}{line}")
    return [Column(*(cell.strip() for cell in line.split("|"))) for line in found]


COMMAND = rows("""
    arrival_ns | ns | when the command reaches the die
    op |  | `read`, `program` or `erase`
    plane |  | of the die, from 0
    block |  | of the plane, from 0
    page |  | of the block, from 0; ignored by an erase
""")

RIG = [
    *COMMAND,
    *rows("""
        start_ns | ns | when the die began it
        completion_ns | ns | when it was complete, including data out
        suspensions | count | number of suspensions
    """),
]

RIG_POWER = rows("""
    time_ns | ns | start of the step
    power_{core,io}_mw | mW | drawn by the die from then on, at each supply
""")

BLAME = rows("""
    by_host_{read,program}_ns | ns | waited behind host reads (old pages of partial writes too),
        programs
    by_gc_{read,program}_ns | ns | waited behind pages that garbage collection moves
    by_erase_ns | ns | waited behind erases
    by_map_ns | ns | waited for a mapping entry, or behind pages of the mapping
    by_channel_ns | ns | waited for the channel, or behind an operation that waits for a shared one
        or uses it
    by_suspend_entry_ns | ns | waited for an operation to reach its suspension
    by_same_block_ns | ns | waited for an operation that could have been suspended, but holds the
        page
    by_limit_ns | ns | waited for one that had reached its maximum number of suspensions
    by_budget_ns | ns | waited for one that the budget of suspensions protected
    by_power_ns | ns | waited for the power budget
    by_other_ns | ns | waited for something else, such as a full wordline or a dispatcher
""")

REQUESTS = [
    *rows("""
        id |  | number in order of arrival in the whole run, from 0
        op |  | `read`, `write`, `trim` or `flush`
        lba | 512-byte sectors | first sector, on the drive
        bytes | bytes | length
        arrival_ns | ns | since the start of the run
        completion_ns | ns | since the start of the run
        host_queue_ns | ns | in a submission queue, until the drive fetched it
        link_ns | ns | being fetched, waiting for the host link and crossing it
        buffer_ns | ns | waiting for room in the write buffer; for a flush, for the writes
        rmw_ns | ns | reading the rest of a partially written page
        queue_ns | ns | queued at the die behind other work
        suspend_wait_ns | ns | queued while the running operation was being suspended
        array_ns | ns | in which the array worked for it, including repeated phases and restores
        bus_wait_ns | ns | with a page ready, waiting for the channel
        bus_ns | ns | on the channel, including commands
        suspended_ns | ns | for a write, in which its program was suspended
        map_ns | ns | waiting for a mapping entry
        ecc_ns | ns | decoding the page
    """),
    *BLAME,
    *rows("""
        die |  | of the last page, counted over the drive; null if no die served the request
        flow |  | number of the flow by name, or of the job in its file; 0 without flows
        uncorrectable_pages | pages | lost pages of the request
    """),
]

POWER = rows("""
    start_ns | ns | of the bin
    length_ns | ns | of the bin; the last one may be shorter
    {core,io}_pj | pJ | taken by all dies in the bin at each supply
    power_mw | mW | mean of the bin, both supplies together; only in the file
""")

POWER_LOSS = rows("""
    at_ns | ns | when the power failed
    policy |  | the policy for running operations
    time_to_safety_ns | ns | until all would be safe, if the energy lasted
    energy_uj | µJ | of controller and flash in that time
    capacitance_uf | µF | that stores it between the two voltages; empty without them
    lived_on_ns | ns | until all was safe, or energy or time were exhausted
    dirty_pages | pages | in a write-back buffer and not in flash
    programmed_pages | pages | of these, with programs that were waited for
    {saved,lost}_pages | pages | saved elsewhere; lost
    trimmed_pages | pages | trimmed and not written since
    trim_table_pages | pages | of their list
    trims_kept |  | whether that list was saved
    stopped_{programs,erases} | dies | with one that was suspended or aborted
""")

RECOVERY = rows("""
    total_ns | ns | `scan_ns` + `load_ns` + `erase_ns`
    scan_ns | ns | reading the spare area of every programmed page
    load_ns | ns | reading saved pages
    erase_ns | ns | erasing again the blocks whose erase did not end
    scanned_pages | pages | read by the scan
    erased_again_blocks | blocks | whose erase did not end
""")

BENCH = rows("""
    delay{1,2}_share | share | the delays, as shares of tPGM
    drawn |  | whether the delays were drawn, and are not of the grid
    wordline |  | its number in the block
    page_type |  | of the page that was read, from 0
    suspensions | count | number of suspensions of the program
    t_eps_{mean,worst}_ns | ns | from suspend request to free array; empty if never
    t_program_suspended_ns | ns | from confirmation to completion, without the reads
    t_timers_ns | ns | the same, extended to the end of the last delay if that is later
    t_program_ns | ns | the undisturbed program of the same wordline
""")

VERDICTS = rows("""
    claim |  | the claim, in words
    source |  | where it is made: section, table or figure; or the formula
    unit |  | of the numbers; `1` for a plain number
    relation |  | what the claim says of the number: `equal`, `at most` or `at least`
    paper | its own | the source's value
    ours | its own | the simulated or calculated value; null if there is none
    difference | its own | `ours` − `paper`
    tolerance | its own | by how much it may miss; set before the run
    reproduced |  | whether the claim holds; null if undecided or not testable
    note |  | the reason, if it is known
    kind |  | what the verdict is worth: `measured` or `predicted`, which the headline counts, or
        `derived`, `input`, `arithmetic`, `duplicate`, `vacuous` (its mechanism never came to work;
        `reproduced` is null)
    cause |  | why it is not reproduced: `load`, `reading`, `contradiction`, `ill_posed`, `defect`,
        `unknown_parameter`; null if it is, or if that is not known
    seeds |  | of the runs that `ours` is the mean of; empty where nothing is drawn
    low | its own | lower end of the 95 % interval of `ours` over the seeds, or null
    high | its own | upper end
    class |  | `mechanism`, `headline` or `absolute`, counted apart; null for others
    undecided |  | whether other seeds, or more requests, could turn the verdict
    null_model |  | whether it would hold without effect of suspension, and not count
""")

COMPARE = rows("""
    schema |  | 1; changes when a field changes its meaning
    axes.key |  | the varied key of the scenario; in a list of axes
    axes.values |  | in order; the first is the base
    runs.label |  | of a run; in a list of runs
    runs.directory |  | of its results
    runs.sets |  | its overrides
    runs.summary |  | its `summary.json`
    paired.run |  | label of a run; in a list of pairs of runs
    paired.base |  | label of the run that it is compared with
    paired.measures |  | by name, such as `read_latency_ns_p99`: see below
""")
