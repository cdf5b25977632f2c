"""Every field of `summary.json`: unit and meaning, for people; see `files.py`."""

from __future__ import annotations

from reprieve.reference.files import BLAME, POWER_LOSS, RECOVERY, REQUESTS, Column

_PERCENTILES = "{p50,p95,p99,p99_9,p99_99,p99_999}"

# Of a class of requests, in the drive and in each flow.
_CLASS = [
    Column("count", "requests", "completed"),
    Column("bytes", "bytes", "requested"),
    Column("latency_ns.{mean,min,max}", "ns", "exact; 0 without requests, like those below"),
    Column(f"latency_ns.{_PERCENTILES}", "ns", "nearest rank, at most 0.1 % above the exact value"),
    *(
        Column(f"components_ns.{column.name.removesuffix('_ns')}", "ns", f"mean time {column.doc}")
        for column in REQUESTS
        if column.name.endswith("_ns")
        and column.name not in ("arrival_ns", "completion_ns")
        and column not in BLAME
    ),
]

_CONFIDENCE = [
    Column("level", "share", "0.95: share of such intervals that contain the true figure"),
    Column("batches", "batches", "complete pieces of the run, in order of arrival"),
    Column("batch_requests", "requests", "in each batch, of any kind"),
    Column("fewest_requests", "requests", "of this kind, in the batch with the fewest"),
    Column(f"{{mean,{_PERCENTILES[1:-1]}}}", "ns", "interval `[low, high]`; null if too few"),
    Column("lag_1_autocorrelation", "ratio", "between the means of successive batches"),
    Column(
        f"too_few.{{mean,{_PERCENTILES[1:-1]}}}", "requests", "number that each batch would need"
    ),
]


def _under(prefix: str, columns: list[Column]) -> list[Column]:
    return [Column(f"{prefix}.{column.name}", column.unit, column.doc) for column in columns]


SUMMARY: dict[str, tuple[str, list[Column]]] = {
    "schema": ("", [Column("schema", "", "2; changes when a field changes its meaning")]),
    "`measure`": (
        "The measured part. `workload`, `run`, `timeline` and `power_loss` cover the whole run.",
        _under(
            "measure",
            [
                Column("from_ns", "ns", "start of the measured part, in simulated time"),
                Column(
                    "requests_excluded",
                    "requests",
                    "number that arrived before the first that counts",
                ),
                Column("reason", "", "why they are excluded, in a sentence"),
                Column(
                    "warning",
                    "",
                    "of a beginning that differs, too short a run, or a WAF above 10; else null",
                ),
                Column(
                    "earlier_{read,written}_bytes",
                    "bytes",
                    "of excluded requests that completed in the measured part",
                ),
            ],
        ),
    ),
    "`requests`": (
        "CLASS is `read`, `write` or `total`; `trim`, `flush` and `fua` if there were any.",
        [*_under("requests.CLASS", _CLASS), *_under("requests.CLASS.confidence", _CONFIDENCE)],
    ),
    "`blame`": (
        "With `--requests`. What requests waited behind: the sums of all reads and writes, of the "
        "slowest 1 %, 0.1 % and 0.01 %. The causes add up to the waits: buffer, rmw, queue, "
        "suspend_wait, bus_wait, suspended and map.",
        _under(
            "blame.{read,write}.{all,slowest_1,slowest_0_1,slowest_0_01}",
            [
                Column("requests", "requests", "in this part, rounded up"),
                Column("latency_ns", "ns", "sum of their latencies"),
                *BLAME,
            ],
        ),
    ),
    "`flash`": (
        "",
        _under(
            "flash",
            [
                Column("reads", "pages", "all array reads"),
                Column("programs", "pages", "all programs"),
                Column("erases", "blocks", "completed erases"),
                Column("host_{reads,programs}", "pages", "for the host"),
                Column("rmw_reads", "pages", "for the rest of partially written pages"),
                Column("gc_{reads,programs}", "pages", "moved by garbage collection"),
                Column("waf", "ratio", "bytes programmed over bytes written by the host"),
                Column("gc_waf", "ratio", "pages programmed over pages programmed for the host"),
                Column("suspensions.{program,erase}", "count", "suspensions that took place"),
                Column("suspensions_by_write", "count", "of erases, requested by a host write"),
                Column("suspended_share.{program,erase}", "share", "suspended at least once"),
                Column("suspended_ns.{program,erase}", "ns", "total time in suspension"),
                *_under(
                    "suspended_operations.{program,erase}",
                    [
                        Column("count", "operations", "suspended at least once, and complete"),
                        Column("undisturbed_ns_mean", "ns", "length without suspension"),
                        Column("actual_ns_mean", "ns", "actual length"),
                        Column("suspended_ns_mean", "ns", "part of it in suspension"),
                        Column("increase_mean", "ratio", "of actual over undisturbed, less 1"),
                    ],
                ),
                Column(
                    "multi_plane_commands.{read,program,erase}",
                    "commands",
                    "for several planes; with `parallelism.multi_plane`",
                ),
                Column("padded_pages", "pages", "padding programmed to fill a wordline"),
                Column("padded_units", "units", "mapping units of programs that were padding"),
                Column("copybacks", "pages", "moved inside a die; with `ftl.copyback`"),
                Column(
                    "wear.{mean,min,max,stddev}",
                    "erases",
                    "of a block since the first request; with `ftl.count_erases`",
                ),
                *_under(
                    "mapping",
                    [
                        Column("{hits,misses}", "pages", "with their entry in memory, or not"),
                        Column("hit_share", "share", "hits over hits and misses"),
                        Column("{reads,programs}", "pages", "of the mapping"),
                        Column(
                            "evicted_pages", "pages", "written because a dirty entry left the cache"
                        ),
                        Column(
                            "updated_pages",
                            "pages",
                            "written because collection or a trim changed entries",
                        ),
                    ],
                ),
                *_under(
                    "bad_blocks",
                    [
                        Column("{factory,grown}", "blocks", "bad from the start; given up since"),
                        Column("failed_{host,gc,map}_programs", "count", "failures"),
                        Column("failed_erases", "count", "failures"),
                    ],
                ),
            ],
        ),
    ),
    "`device`": (
        "",
        _under(
            "device",
            [
                Column("simulated_ns", "ns", "from `measure.from_ns` to the last completion"),
                Column("iops", "1/s", "reads and writes completed"),
                Column("bandwidth_bytes_per_s", "bytes/s", "of these reads and writes"),
                Column("idle_share", "share", "of the time without an open request"),
                Column("{channel,die}_busy_share", "share", "of the time in use, mean over all"),
                Column("buffer_hits", "pages", "read from the write buffer"),
                Column(
                    "zero_reads", "pages", "read as zeros: trimmed, or unwritten if that is zero"
                ),
                Column("partial_writes", "pages", "partially written"),
                Column("merged_writes", "pages", "overwritten before their program began"),
                Column(
                    "buffered_at_start",
                    "pages",
                    "acknowledged and in the write buffer when the run began; absent if none",
                ),
                Column("dropped_writes", "pages", "overtaken or trimmed while dirty"),
                Column("redistributed_pages", "pages", "spread over the dies after long reads"),
                Column(
                    "read_cache.{hits,misses}", "pages", "of reads, found in the read cache or not"
                ),
                Column(
                    "read_cache.rmw_hits", "pages", "partially written with the rest in the cache"
                ),
                Column("read_cache.evictions", "pages", "removed to make room"),
                Column("read_cache.hit_share", "share", "hits over hits and misses"),
                Column("trimmed_pages", "pages", "trimmed"),
                Column(
                    "trims_of_part_of_a_page", "pages", "partly covered by a trim and left alone"
                ),
            ],
        ),
    ),
    "`flows` and `fairness`": (
        "Only with several loads; FLOW is the name of one.",
        [
            *_under("flows.FLOW.requests.CLASS", _CLASS),
            *_under(
                "flows.FLOW",
                [
                    Column("active_ns", "ns", "from its first arrival to its last completion"),
                    Column("iops", "1/s", "reads and writes in that time"),
                    Column("bandwidth_bytes_per_s", "bytes/s", "the same in bytes"),
                ],
            ),
            Column(
                "fairness.jain_{iops,bandwidth}", "", "Jain's index: 1 if all flows get the same"
            ),
        ],
    ),
    "`reliability` and `wear`": (
        'Only with `reliability.model = "power"`.',
        [
            *_under(
                "reliability",
                [
                    Column("reads", "pages", "read, however often each was sensed"),
                    Column("rber.{mean,max}", "errors per bit", "of their first senses"),
                    Column("decoded.{hard,soft,uncorrectable}", "pages", "by outcome"),
                    Column(
                        "hard_by_retries",
                        "pages",
                        "corrected by hard decoding after 0, 1, 2 … retries",
                    ),
                    Column(
                        "uncorrectable.{host_reads,rmw_reads,gc_reads,others}",
                        "pages",
                        "lost, by the purpose of the read",
                    ),
                    Column("further_senses", "senses", "beyond the first of each page"),
                    Column("decode_ns_mean", "ns", "decoding of a page, all attempts together"),
                ],
            ),
            *_under(
                "wear",
                [
                    Column("cycles.{mean,min,max}", "cycles", "of the blocks at the end"),
                    Column("erases", "blocks", "erased in this run"),
                    Column(
                        "suspensions",
                        "count",
                        "of programs and erases, for each block that they worked on",
                    ),
                    Column("cycles_by_suspensions", "cycles", "their cost, over all blocks"),
                    Column(
                        "drive_writes_per_day.{with,without}_suspensions",
                        "1/day",
                        "over the warranty; null without `rated_cycles` or writes",
                    ),
                ],
            ),
        ],
    ),
    "`power`": (
        'Only with `power.account = "on"`; KIND is a class of work on the flash.',
        _under(
            "power",
            [
                Column("energy_uj.{total,core,io,idle}", "µJ", "of all dies; `idle` is of `core`"),
                Column("energy_uj.by_class.KIND.{core,io}", "µJ", "above idle, by kind of work"),
                Column("{mean,peak}_mw.{total,core,io}", "mW", "over the run; highest"),
                Column("mean_ma.{core,io}", "mA", "with `vdd_core_v`, `vdd_q_v`"),
                Column("host_byte_nj", "nJ", "`total` for each byte that the host moved"),
                Column(
                    "states_ns.{sense,program_pulse,program_verify,erase_pulse,erase_verify,"
                    "suspended,idle}",
                    "ns",
                    "time of all dies in each state",
                ),
            ],
        ),
    ),
    "`power_loss`": (
        "Only after a run that a loss of power ended.",
        [
            *_under("power_loss", POWER_LOSS),
            *_under("power_loss.recovery", RECOVERY),
            *_under(
                "power_loss.recovery",
                [
                    Column("unreadable_pages", "pages", "programs that did not end"),
                    Column("mapped_pages", "pages", "logical pages found in flash"),
                ],
            ),
        ],
    ),
    "`workload`": (
        "Dropped rows are counted by reason, if there are any.",
        _under(
            "workload",
            [
                Column("rows", "rows", "of the trace that hold a request; 0 for a generator"),
                Column("requests", "requests", "submitted to the drive"),
                Column("other_lines", "lines", "of the trace without a request"),
                Column("moved", "requests", "whose address the address policy changed"),
                Column("resorted", "rows", "put in order of time"),
                Column("widened", "requests", "widened to whole sectors"),
                Column(
                    "{zero length,address out of range,before start,other device,duplicate}",
                    "rows",
                    "dropped for this reason",
                ),
            ],
        ),
    ),
    "`precondition`": (
        'Only for a drive that ran in: `ftl.precondition = "steady"` with a load of its own.',
        _under(
            "precondition",
            [
                Column("requests", "", "completed before the run"),
                Column("simulated_ns", "ns", "of the run-in; not in any time of the run"),
                Column("host_pages", "pages", "programmed for them"),
                Column(
                    "free_blocks_mean", "blocks", "of a plane, over the last part of the run-in"
                ),
                Column("at_rest", "", "whether that had stopped changing"),
                Column("valid_pages", "pages", "with data in the flash when the run began"),
            ],
        ),
    ),
    "`prepare`": (
        'Only for `ftl.precondition = "steady"`: the load whose equilibrium the drive starts in.',
        _under(
            "prepare",
            [
                Column("load", "", "the load, in words"),
                Column("requests", "", "simulated before the run; 0: it was reached without time"),
                Column("waf", "", "of the load as the drive came to its state; may be null"),
            ],
        ),
    ),
    "`run`": (
        "Equal for equal runs; `run.json` has what the machine took.",
        _under(
            "run",
            [
                Column("seed", "", "of the run"),
                Column("page_transactions", "pages", "`flash.reads` + `flash.programs`"),
                Column("version", "", "of Reprieve"),
            ],
        ),
    ),
}
"""Sections in the order of the file: what holds for all of one, and its fields."""
