"""Every field of `summary.json`: unit and meaning, for people; see `files.py`."""

from __future__ import annotations

from reprieve.reference.files import BLAME, POWER_LOSS, RECOVERY, REQUESTS, Column, rows

_PERCENTILES = "{p50,p95,p99,p99_9,p99_99,p99_999}"

# Of a class of requests, in the drive and in each flow.
_CLASS = [
    *rows("""
        count | requests | completed
        bytes | bytes | requested
        latency_ns.{mean,min,max} | ns | exact; 0 without requests, like those below
    """),
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
    *rows("""
        level | share | 0.95: share of such intervals that contain the true figure
        batches | batches | complete pieces of the run, in order of arrival
        batch_requests | requests | in each batch, of any kind
        fewest_requests | requests | of this kind, in the batch with the fewest
    """),
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
        rows("""
            measure:
            from_ns | ns | start of the measured part, in simulated time
            requests_excluded | requests | number that arrived before the first that counts
            reason |  | why they are excluded, in a sentence
            warning |  | of a beginning that differs, too short a run, or a WAF above 10; else null
            earlier_{read,written}_bytes | bytes | of excluded requests that completed in the
                measured part
        """),
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
                *rows("""
                    requests | requests | in this part, rounded up
                    latency_ns | ns | sum of their latencies
                """),
                *BLAME,
            ],
        ),
    ),
    "`flash`": (
        "",
        _under(
            "flash",
            [
                *rows("""
                    reads | pages | all array reads
                    programs | pages | all programs
                    erases | blocks | completed erases
                    host_{reads,programs} | pages | for the host
                    rmw_reads | pages | for the rest of partially written pages
                    gc_{reads,programs} | pages | moved by garbage collection
                    waf | ratio | bytes programmed over bytes written by the host
                    gc_waf | ratio | pages programmed over pages programmed for the host
                    suspensions.{program,erase} | count | suspensions that took place
                    suspensions_by_write | count | of erases, requested by a host write
                    suspended_share.{program,erase} | share | suspended at least once
                    suspended_ns.{program,erase} | ns | total time in suspension
                """),
                *rows("""
                    suspended_operations.{program,erase}:
                    count | operations | suspended at least once, and complete
                    undisturbed_ns_mean | ns | length without suspension
                    actual_ns_mean | ns | actual length
                    suspended_ns_mean | ns | part of it in suspension
                    increase_mean | ratio | of actual over undisturbed, less 1
                """),
                *rows("""
                    multi_plane_commands.{read,program,erase} | commands | for several planes; with
                        `parallelism.multi_plane`
                    padded_pages | pages | padding programmed to fill a wordline
                    padded_units | units | mapping units of programs that were padding
                    copybacks | pages | moved inside a die; with `ftl.copyback`
                    wear.{mean,min,max,stddev} | erases | of a block since the first request; with
                        `ftl.count_erases`
                """),
                *rows("""
                    mapping:
                    {hits,misses} | pages | with their entry in memory, or not
                    hit_share | share | hits over hits and misses
                    {reads,programs} | pages | of the mapping
                    evicted_pages | pages | written because a dirty entry left the cache
                    updated_pages | pages | written because collection or a trim changed entries
                """),
                *rows("""
                    bad_blocks:
                    {factory,grown} | blocks | bad from the start; given up since
                    failed_{host,gc,map}_programs | count | failures
                    failed_erases | count | failures
                """),
            ],
        ),
    ),
    "`device`": (
        "",
        rows("""
            device:
            simulated_ns | ns | from `measure.from_ns` to the last completion
            iops | 1/s | reads and writes completed
            bandwidth_bytes_per_s | bytes/s | of these reads and writes
            idle_share | share | of the time without an open request
            {channel,die}_busy_share | share | of the time in use, mean over all
            buffer_hits | pages | read from the write buffer
            zero_reads | pages | read as zeros: trimmed, or unwritten if that is zero
            partial_writes | pages | partially written
            merged_writes | pages | overwritten before their program began
            buffered_at_start | pages | acknowledged and in the write buffer when the run began;
                absent if none
            dropped_writes | pages | overtaken or trimmed while dirty
            redistributed_pages | pages | spread over the dies after long reads
            read_cache.{hits,misses} | pages | of reads, found in the read cache or not
            read_cache.rmw_hits | pages | partially written with the rest in the cache
            read_cache.evictions | pages | removed to make room
            read_cache.hit_share | share | hits over hits and misses
            trimmed_pages | pages | trimmed
            trims_of_part_of_a_page | pages | partly covered by a trim and left alone
        """),
    ),
    "`flows` and `fairness`": (
        "Only with several loads; FLOW is the name of one.",
        [
            *_under("flows.FLOW.requests.CLASS", _CLASS),
            *rows("""
                flows.FLOW:
                active_ns | ns | from its first arrival to its last completion
                iops | 1/s | reads and writes in that time
                bandwidth_bytes_per_s | bytes/s | the same in bytes
            """),
            Column(
                "fairness.jain_{iops,bandwidth}", "", "Jain's index: 1 if all flows get the same"
            ),
        ],
    ),
    "`reliability` and `wear`": (
        'Only with `reliability.model = "power"`.',
        [
            *rows("""
                reliability:
                reads | pages | read, however often each was sensed
                rber.{mean,max} | errors per bit | of their first senses
                decoded.{hard,soft,uncorrectable} | pages | by outcome
                hard_by_retries | pages | corrected by hard decoding after 0, 1, 2 … retries
                uncorrectable.{host_reads,rmw_reads,gc_reads,others} | pages | lost, by the purpose
                    of the read
                further_senses | senses | beyond the first of each page
                decode_ns_mean | ns | decoding of a page, all attempts together
            """),
            *rows("""
                wear:
                cycles.{mean,min,max} | cycles | of the blocks at the end
                erases | blocks | erased in this run
                suspensions | count | of programs and erases, for each block that they worked on
                cycles_by_suspensions | cycles | their cost, over all blocks
                drive_writes_per_day.{with,without}_suspensions | 1/day | over the warranty; null
                    without `rated_cycles` or writes
            """),
        ],
    ),
    "`power`": (
        'Only with `power.account = "on"`; KIND is a class of work on the flash.',
        rows("""
            power:
            energy_uj.{total,core,io,idle} | µJ | of all dies; `idle` is of `core`
            energy_uj.by_class.KIND.{core,io} | µJ | above idle, by kind of work
            {mean,peak}_mw.{total,core,io} | mW | over the run; highest
            mean_ma.{core,io} | mA | with `vdd_core_v`, `vdd_q_v`
            host_byte_nj | nJ | `total` for each byte that the host moved
            states_ns.{sense,program_pulse,program_verify,erase_pulse,erase_verify,suspended,idle} |
                ns | time of all dies in each state
        """),
    ),
    "`power_loss`": (
        "Only after a run that a loss of power ended.",
        [
            *_under("power_loss", POWER_LOSS),
            *_under("power_loss.recovery", RECOVERY),
            *rows("""
                power_loss.recovery:
                unreadable_pages | pages | programs that did not end
                mapped_pages | pages | logical pages found in flash
            """),
        ],
    ),
    "`workload`": (
        "Dropped rows are counted by reason, if there are any.",
        rows("""
            workload:
            rows | rows | of the trace that hold a request; 0 for a generator
            requests | requests | submitted to the drive
            other_lines | lines | of the trace without a request
            moved | requests | whose address the address policy changed
            resorted | rows | put in order of time
            widened | requests | widened to whole sectors
            {zero length,address out of range,before start,other device,duplicate} | rows | dropped
                for this reason
        """),
    ),
    "`precondition`": (
        'Only for a drive that ran in: `ftl.precondition = "steady"` with a load of its own.',
        rows("""
            precondition:
            requests |  | completed before the run
            simulated_ns | ns | of the run-in; not in any time of the run
            host_pages | pages | programmed for them
            free_blocks_mean | blocks | of a plane, over the last part of the run-in
            at_rest |  | whether that had stopped changing
            valid_pages | pages | with data in the flash when the run began
        """),
    ),
    "`prepare`": (
        'Only for `ftl.precondition = "steady"`: the load whose equilibrium the drive starts in.',
        rows("""
            prepare:
            load |  | the load, in words
            requests |  | simulated before the run; 0: it was reached without time
            waf |  | of the load as the drive came to its state; may be null
        """),
    ),
    "`run`": (
        "Equal for equal runs; `run.json` has what the machine took.",
        rows("""
            run:
            seed |  | of the run
            page_transactions | pages | `flash.reads` + `flash.programs`
            version |  | of Reprieve
        """),
    ),
}
"""Sections in the order of the file: what holds for all of one, and its fields."""
