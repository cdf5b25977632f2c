"""Every field of `summary.json`: unit and meaning, for people; see `files.py`."""

from __future__ import annotations

from reprieve.reference.files import POWER_LOSS, RECOVERY, REQUESTS, Column

_PERCENTILES = "{p50,p95,p99,p99_9,p99_99,p99_999}"

# Of a class of requests, in the drive and in each flow.
_CLASS = [
    Column("count", "requests", "completed"),
    Column("bytes", "bytes", "asked for"),
    Column("latency_ns.{mean,min,max}", "ns", "exact; 0 without requests, as all that follow"),
    Column(f"latency_ns.{_PERCENTILES}", "ns", "nearest rank, at most 0.1 % above the exact value"),
    *(
        Column(f"components_ns.{column.name.removesuffix('_ns')}", "ns", f"mean time {column.doc}")
        for column in REQUESTS
        if column.name.endswith("_ns") and column.name not in ("arrival_ns", "completion_ns")
    ),
]

_CONFIDENCE = [
    Column("level", "share", "0.95: what share of such intervals holds the true figure"),
    Column("batches", "batches", "complete pieces of the run, in order of arrival"),
    Column("batch_requests", "requests", "of each, of any kind"),
    Column("fewest_requests", "requests", "of this kind, in the batch that has fewest of them"),
    Column(f"{{mean,{_PERCENTILES[1:-1]}}}", "ns", "interval `[low, high]`; null if too few"),
    Column("lag_1_autocorrelation", "ratio", "of the means of batches, each with the next"),
    Column(f"too_few.{{mean,{_PERCENTILES[1:-1]}}}", "requests", "that each batch would need"),
]


def _under(prefix: str, columns: list[Column]) -> list[Column]:
    return [Column(f"{prefix}.{column.name}", column.unit, column.doc) for column in columns]


SUMMARY: dict[str, tuple[str, list[Column]]] = {
    "schema": ("", [Column("schema", "", "2; changes when a field changes its meaning")]),
    "`measure`": (
        "What of the run all else is about, but `workload`, `run`, `timeline` and `power_loss`.",
        _under(
            "measure",
            [
                Column("from_ns", "ns", "when the measured part begins, in simulated time"),
                Column(
                    "requests_excluded", "requests", "that arrived before the first that counts"
                ),
                Column("reason", "", "why they are excluded, in a sentence"),
                Column("warning", "", "a beginning that differs, or a run too short; null if none"),
                Column(
                    "earlier_{read,written}_bytes",
                    "bytes",
                    "of excluded requests that were complete in the measured part",
                ),
            ],
        ),
    ),
    "`requests`": (
        "CLASS is `read`, `write` or `total`; `trim`, `flush` and `fua` where there were any.",
        [*_under("requests.CLASS", _CLASS), *_under("requests.CLASS.confidence", _CONFIDENCE)],
    ),
    "`flash`": (
        "",
        _under(
            "flash",
            [
                Column("reads", "pages", "array reads, all of them"),
                Column("programs", "pages", "programs, all of them"),
                Column("erases", "blocks", "erases completed"),
                Column("host_{reads,programs}", "pages", "for the host"),
                Column("rmw_reads", "pages", "the rest of pages written in part"),
                Column("gc_{reads,programs}", "pages", "moved by garbage collection"),
                Column("waf", "ratio", "bytes programmed over bytes that the host wrote meanwhile"),
                Column("gc_waf", "ratio", "pages programmed over pages programmed for the host"),
                Column("suspensions.{program,erase}", "count", "that took place"),
                Column("suspensions_by_write", "count", "of erases, that a host write asked for"),
                Column("suspended_share.{program,erase}", "share", "suspended at least once"),
                Column("suspended_ns.{program,erase}", "ns", "total time in suspension"),
                *_under(
                    "suspended_operations.{program,erase}",
                    [
                        Column("count", "operations", "suspended at least once, and complete"),
                        Column("undisturbed_ns_mean", "ns", "length alone"),
                        Column("actual_ns_mean", "ns", "length as it was"),
                        Column("suspended_ns_mean", "ns", "of that, in suspension"),
                        Column("increase_mean", "ratio", "of actual over undisturbed, less 1"),
                    ],
                ),
                Column(
                    "multi_plane_commands.{read,program,erase}",
                    "commands",
                    "that took several planes; with `parallelism.multi_plane`",
                ),
                Column("padded_pages", "pages", "programmed empty to fill a wordline"),
                Column("copybacks", "pages", "moved inside a die; with `ftl.copyback`"),
                Column(
                    "wear.{mean,min,max,stddev}",
                    "erases",
                    "of a block since the first request; with `ftl.count_erases`",
                ),
                *_under(
                    "mapping",
                    [
                        Column("{hits,misses}", "pages", "whose entry was in memory, or not"),
                        Column("hit_share", "share", "hits of both"),
                        Column("{reads,programs}", "pages", "of the mapping"),
                        Column("evicted_pages", "pages", "written as changed entries left"),
                        Column("updated_pages", "pages", "written as others changed entries"),
                    ],
                ),
                *_under(
                    "bad_blocks",
                    [
                        Column("{factory,grown}", "blocks", "bad from the start; given up since"),
                        Column("failed_{host,gc,map}_programs", "count", "that failed"),
                        Column("failed_erases", "count", "that failed"),
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
                Column("idle_share", "share", "of the time without any request open"),
                Column("{channel,die}_busy_share", "share", "of the time in use, mean over all"),
                Column("buffer_hits", "pages", "of reads, answered from the write buffer"),
                Column("zero_reads", "pages", "of reads, trimmed, or unwritten if that is zero"),
                Column("partial_writes", "pages", "written in part"),
                Column("merged_writes", "pages", "overwritten before their program began"),
                Column(
                    "buffered_at_start",
                    "pages",
                    "acknowledged and in the write buffer when the run began; absent if none",
                ),
                Column("dropped_writes", "pages", "overtaken or trimmed while dirty"),
                Column("redistributed_pages", "pages", "spread over the dies after long reads"),
                Column("read_cache.{hits,misses}", "pages", "of reads, in the read cache or not"),
                Column("read_cache.rmw_hits", "pages", "written in part, the rest in the cache"),
                Column("read_cache.evictions", "pages", "that made room for others"),
                Column("read_cache.hit_share", "share", "hits of hits and misses"),
                Column("trimmed_pages", "pages", "trimmed"),
                Column("trims_of_part_of_a_page", "pages", "that a trim left alone"),
            ],
        ),
    ),
    "`flows` and `fairness`": (
        "Only where there are several loads; FLOW is the name of one.",
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
            Column("fairness.jain_{iops,bandwidth}", "", "Jain's index: 1 if all get the same"),
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
                    Column("decoded.{hard,soft,uncorrectable}", "pages", "what became of them"),
                    Column("hard_by_retries", "pages", "by hard decoding after 0, 1, 2 … retries"),
                    Column(
                        "uncorrectable.{host_reads,rmw_reads,gc_reads,others}",
                        "pages",
                        "lost, by what they were read for",
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
                    Column("suspensions", "count", "of programs and erases, a block each"),
                    Column("cycles_by_suspensions", "cycles", "what those cost, over all blocks"),
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
        "Only of a run that a loss of power ended.",
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
        "Rows that were dropped are told by reason, where there are any.",
        _under(
            "workload",
            [
                Column("rows", "rows", "of the trace that hold a request; 0 for a generator"),
                Column("requests", "requests", "handed to the drive"),
                Column("other_lines", "lines", "of the trace that hold none"),
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
        'Only of a drive that ran in: `ftl.precondition = "steady"` with a load of its own.',
        _under(
            "precondition",
            [
                Column("requests", "", "completed before the run"),
                Column("simulated_ns", "ns", "that they took; not in any time of the run"),
                Column("host_pages", "pages", "programmed for them"),
                Column("free_blocks_mean", "blocks", "of a plane, over the last of the run-in"),
                Column("at_rest", "", "whether that had ceased to change"),
                Column("valid_pages", "pages", "with data in the flash when the run began"),
            ],
        ),
    ),
    "`run`": (
        "`wall_s`, `page_transactions_per_s` and `peak_rss_bytes` differ from run to run.",
        _under(
            "run",
            [
                Column("seed", "", "of the run"),
                Column("wall_s", "s", "real time from the first request to the last"),
                Column("page_transactions", "pages", "`flash.reads` + `flash.programs`"),
                Column("page_transactions_per_s", "1/s", "of real time"),
                Column("peak_rss_bytes", "bytes", "largest memory of the whole process"),
                Column("version", "", "of Reprieve"),
            ],
        ),
    ),
}
"""Sections in the order of the file: what holds for all of one, and its fields."""
