//! Events of Linux's block layer, as kernels up to 6.19 record them: letters, tracepoints, records.

use reprieve_base::Op;
use reprieve_trace::{head, profile};

use crate::files::TestFile;
use crate::volumes::{reading, rows};

/// A row of blkparse with these letters, and one that reads.
fn letters(rwbs: &str) -> String {
    format!(
        "259,0 3 13 0.000209500 900 Q {rwbs} 524288 + 8 [z]\n\
         259,0 3 14 0.000309500 900 Q R 8 + 8 [z]\n"
    )
}

#[test]
fn letters_of_newer_kernels_are_known() {
    // blk_fill_rwbs: ZA zone append, ZR and ZRA zone reset, WZ write zeroes, U atomic.
    let known = [
        ("RA", Some(Op::Read)),
        ("WFS", Some(Op::Write)),
        ("WSU", Some(Op::Write)),
        ("WFSMU", Some(Op::Write)),
        ("ZA", Some(Op::Write)),
        ("ZAS", Some(Op::Write)),
        ("FZA", Some(Op::Write)),
        ("ZR", Some(Op::Trim)),
        ("ZRAS", Some(Op::Trim)),
        ("WZ", Some(Op::Trim)),
        ("DE", Some(Op::Trim)),
        ("FF", Some(Op::Flush)),
        ("ZF", None),
        ("ZO", None),
        ("ZCS", None),
        ("N", None),
    ];
    for (rwbs, op) in known {
        let file = TestFile::new("rwbs", letters(rwbs));
        let found: Vec<Op> = rows(&file.0, &reading("auto", &[])).iter().map(|row| row.2).collect();
        let expected: Vec<Op> = op.into_iter().chain([Op::Read]).collect();
        assert_eq!(found, expected, "{rwbs}");
        let dropped = profile(&file.0, "auto").expect("a good row").dropped;
        let left_out: &[(&str, u64)] =
            if op.is_none() { &[("neither read nor write", 1)] } else { &[] };
        assert_eq!(dropped, left_out, "{rwbs}");
    }
    // A zone that is reset has no length in its row: it is left out like any row of none.
    let file = TestFile::new("reset", letters("ZR").replace("524288 + 8", "524288 + 0"));
    assert_eq!(profile(&file.0, "auto").expect("a row").dropped, [("zero length", 1)]);
}

#[test]
fn events_that_are_not_known_end_a_trace_above_a_twentieth_of_it() {
    let row = |rwbs: &str| format!("8,0 0 1 0.5 7 Q {rwbs} 8 + 8 [p]\n");
    let trace = |unknown: usize, known: usize| {
        TestFile::new("unknown", row("W") + &row("XQ").repeat(unknown) + &row("R").repeat(known))
    };
    // 5 of 100 are a twentieth; 6 of 100 are more.
    let found = profile(&trace(5, 94).0, "auto").expect("few are not known");
    assert_eq!((found.rows, found.requests), (100, 95));
    assert_eq!(found.dropped, [("unknown event", 5)]);
    let file = trace(6, 93);
    let error = profile(&file.0, "auto").expect_err("too many").to_string();
    assert_eq!(
        error.replace(&file.0.display().to_string(), "FILE"),
        "FILE:2: `8,0 0 1 0.5 7 Q XQ 8 + 8 [p]` is an event that is not known, by its rwbs: 6 of \
         100 rows of blkparse are such, and more than 5 % are not left out"
    );
    // A long trace does not first go on to its end.
    let file = trace(600, 1_000_000);
    assert_eq!(head(&file.0, "blkparse", 9).expect("nine good rows").len(), 9);
    let file =
        TestFile::new("late", row("R").repeat(9000) + &row("XQ").repeat(1100) + "damage\n1\n");
    let error = profile(&file.0, "auto").expect_err("too many").to_string();
    assert!(error.contains("1000 of 10000 rows"), "{error}");
}

/// The same two requests by three tools, in the layouts of their manuals.
const TRACING: &str = "# tracer: nop
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
    kworker/3:1H-212     [003] d.... 1234.567890: block_rq_issue: 259,0 W 4096 () 1050624 + 8 \
none,0,0 [kworker/3:1H]
    Web Content-4711     [001] ..... 1234.567990: block_rq_issue: 259,0 RA 8192 () 2050624 + 16 \
[Web Content]
          <idle>-0       [001] ..s.. 1234.568090: block_rq_complete: 259,0 R () 2050624 + 8 [0]
";
const TRACE_CMD: &str = "cpus=8
    kworker/3:1H-212   [003]  1234.567890: block_rq_issue:       259,0 W 4096 () 1050624 + 8 \
none,0,0 [kworker/3:1H]
    kworker/3:1H-212   [003]  1234.567900: sched_switch:         prev_comm=a: prev_pid=1
     Web Content-4711  [001]  1234.567990: block_rq_issue:       259,0 RA 8192 () 2050624 + 16 \
none,0,0 [Web Content]
";
const PERF: &str = "
    kworker/3:1H   212 [003]  1234.567890: block:block_rq_issue: 259,0 W 4096 () 1050624 + 8 \
none,0,0 [kworker/3:1H]
        ffffffff8140 blk_mq_start_request+0x1 ([kernel.kallsyms])

    Web Content  4711 [001]  1234.567990: block:block_rq_issue: 259,0 RA 8192 () 2050624 + 16 \
none,0,0 [Web Content]
";

#[test]
fn tracepoints_are_read_as_three_tools_print_them() {
    let device = 259 << 20;
    // 1050624 * 512 = 537,919,488 and 2050624 * 512 = 1,049,919,488.
    let expected = [
        (1_234_567_890_000, device, Op::Write, 537_919_488, 4096),
        (1_234_567_990_000, device, Op::Read, 1_049_919_488, 8192),
    ];
    for text in [TRACING, TRACE_CMD, PERF] {
        let file = TestFile::new("ftrace", text);
        assert_eq!(profile(&file.0, "auto").expect("good rows").format, "ftrace");
        assert_eq!(rows(&file.0, &reading("auto", &[])), expected, "{text}");
        let queue = reading("auto", &["blktrace_action=queue"]);
        assert!(profile(&file.0, queue).expect_err("none").to_string().contains("no request"));
    }
}

#[test]
fn one_kind_of_tracepoint_is_the_requests() {
    let event = |name: &str, rest: &str| format!(" fio-1 [0] ... 1.5: {name}: {rest} [fio]\n");
    let text = event("block_bio_queue", "8,0 WS 8 + 32")
        + &event("block_rq_insert", "8,0 WS 8192 () 8 + 16 none,0,0")
        + &event("block_rq_issue", "8,0 WS 4096 () 8 + 8 none,0,0")
        + &event("block_rq_issue", "8,0 FF 0 () 18446744073709551615 + 0 none,0,0")
        + &event("block_rq_issue", "8,0 N 36 (a3 00 00) 0 + 0 none,0,0");
    let file = TestFile::new("kinds", &text);
    let error = head(&file.0, "auto", 9).expect_err("two kinds").to_string();
    assert!(
        error.contains("queue (block_bio_queue), insert (block_rq_insert) or issue"),
        "{error}"
    );
    let bytes = |action: &str| {
        let found = rows(&file.0, &reading("auto", &[&format!("blktrace_action={action}")]));
        found.iter().map(|row| (row.2, row.4)).collect::<Vec<_>>()
    };
    assert_eq!(bytes("queue"), [(Op::Write, 16_384)]);
    assert_eq!(bytes("insert"), [(Op::Write, 8192)]);
    assert_eq!(bytes("issue"), [(Op::Write, 4096), (Op::Flush, 0)]);
    let counter = text.replace("1.5:", "15000:");
    let file = TestFile::new("counter", counter);
    let error = head(&file.0, reading("ftrace", &["blktrace_action=issue"]), 9);
    assert!(error.expect_err("ticks").to_string().contains("not a counter's ticks"));
}

/// A record of blktrace's protocol 8 (`struct blk_io_trace2` of Linux 6.19): time, sector, bytes,
/// action.
fn record(version: u8, (time_ns, sector, bytes, action): (u64, u64, u32, u64)) -> Vec<u8> {
    let mut record = (0x6561_7400 | u32::from(version)).to_le_bytes().to_vec();
    record.extend(1u32.to_le_bytes());
    record.extend(time_ns.to_le_bytes());
    record.extend(sector.to_le_bytes());
    record.extend(bytes.to_le_bytes());
    record.extend(4711u32.to_le_bytes());
    record.extend(action.to_le_bytes());
    record.extend((8u32 << 20 | 16).to_le_bytes());
    record.extend(3u32.to_le_bytes());
    record.extend([0, 0, 4, 0]);
    record.extend([0; 12]);
    record.extend(b"data");
    record
}

#[test]
fn blktrace_8_has_zones_in_the_upper_half_of_its_action() {
    let category = |bit: u32| 1u64 << (16 + bit);
    let (queue, write) = (category(4) | 1, category(1));
    let trace: Vec<u8> = [
        (10, 8, 4096, queue | category(0)),
        (20, 16, 512, queue | write | category(16)),
        (30, 32, 4096, queue | write | category(17)),
        (40, 0, 0, queue | write | category(18)),
        (50, 64, 4096, queue | write | category(20)),
        (60, 64, 4096, queue | write | category(22)),
        (70, 64, 4096, category(6) | 7 | write),
    ]
    .iter()
    .flat_map(|event| record(8, *event))
    .collect();
    let file = TestFile::new("blktrace", &trace);
    let device = 8 << 20 | 16;
    let expected = [
        (10, device, Op::Read, 4096, 4096),
        (20, device, Op::Write, 8192, 512),
        (30, device, Op::Trim, 16_384, 4096),
        (60, device, Op::Trim, 32_768, 4096),
    ];
    assert_eq!(rows(&file.0, &reading("auto", &[])), expected);
    let found = profile(&file.0, "auto").expect("good rows");
    assert_eq!(found.dropped, [("zero length", 1), ("neither read nor write", 1)]);
    let file = TestFile::new("blktrace", record(9, (1, 8, 512, queue | write)));
    let error = head(&file.0, "auto", 9).expect_err("no such version").to_string();
    assert!(error.contains("protocol must be 7, or 8 of Linux 6.19"), "{error}");
}
