//! Every format against rows read by hand, with the traps that real files hold.

use reprieve_base::Op;
use reprieve_trace::{RawRequest, formats, head, profile};

use crate::files::TestFile;

/// `time_ns, device, op, offset_bytes, bytes`.
type Expected = (u64, u32, Op, u64, u32);

fn check(format: &str, content: &str, expected: &[Expected]) {
    let file = TestFile::new("trace", content);
    let found = profile(&file.0, "auto").expect("the format is found by content").format;
    assert_eq!(found, format);
    let expected: Vec<RawRequest> = expected
        .iter()
        .map(|&(time_ns, device, op, offset_bytes, bytes)| RawRequest {
            time_ns,
            device,
            op,
            offset_bytes,
            bytes,
            fua: false,
        })
        .collect();
    for format in ["auto", format] {
        assert_eq!(head(&file.0, format, 100).expect("every row is good"), expected);
    }
}

fn error_of(format: &str, content: &str) -> String {
    let file = TestFile::new("bad", content);
    let error = head(&file.0, format, 100).expect_err("a bad row").to_string();
    error.replace(&file.0.display().to_string(), "FILE")
}

#[test]
fn spc_has_blocks_and_bytes_and_exact_seconds() {
    // 303567 * 512 = 155,426,304. A tenth digit of a second is rounded half up. Either case, and
    // blanks around fields, are allowed; more fields may follow.
    check(
        "spc",
        "0,303567,3584,w,0.000000\n1, 55590, 3072, R, 12.026214,extra\n2,8,1,r,3.0000000005\n",
        &[
            (0, 0, Op::Write, 155_426_304, 3584),
            (12_026_214_000, 1, Op::Read, 28_462_080, 3072),
            (3_000_000_001, 2, Op::Read, 4096, 1),
        ],
    );
}

#[test]
fn msr_times_need_all_of_64_bits_and_hosts_share_disk_numbers() {
    // 128166372003061629 ticks of 100 ns. A second host's disk 1 is device 1001.
    check(
        "msr",
        "128166372003061629,usr,0,Read,7014609920,24576,41286\r\n\
         128166372003061630,web,1,Write,512,100,3\r\n\
         128166372003061630,usr,2,Write,1,4096,3",
        &[
            (12_816_637_200_306_162_900, 0, Op::Read, 7_014_609_920, 24_576),
            (12_816_637_200_306_163_000, 1001, Op::Write, 512, 100),
            (12_816_637_200_306_163_000, 2, Op::Write, 1, 4096),
        ],
    );
}

#[test]
fn msr_rows_may_carry_an_index() {
    check(
        "msr",
        "0 128166385295514663,hm,0,Write,9056014336,2048,2833\n\
         1 128166385295514878,hm,0,Read,512,512,2617\n\n",
        &[
            (12_816_638_529_551_466_300, 0, Op::Write, 9_056_014_336, 2048),
            (12_816_638_529_551_487_800, 0, Op::Read, 512, 512),
        ],
    );
}

#[test]
fn mqsim_and_ssdsim_are_the_same_columns() {
    let rows = "938513000 4 264719034 16 0\n938828000 3 8 1 1\n";
    let expected =
        [(938_513_000, 4, Op::Write, 135_536_145_408, 8192), (938_828_000, 3, Op::Read, 4096, 512)];
    check("mqsim", rows, &expected);
    let file = TestFile::new("same", rows);
    assert_eq!(head(&file.0, "ssdsim", 9), head(&file.0, "mqsim", 9));
}

#[test]
fn disksim_is_known_by_fractions_or_flags() {
    check(
        "disksim",
        "5265.313 0 6357144 8 0\n13.191135\t30\t0\t5\t1\n",
        &[(5_265_313_000, 0, Op::Write, 3_254_857_728, 4096), (13_191_135, 30, Op::Read, 0, 2560)],
    );
    // Flags 11 and 10 in hexadecimal: bit 0 says read, bit 4 something else.
    check(
        "disksim",
        "7 0 8 8 11\n8 0 8 8 10\n",
        &[(7_000_000, 0, Op::Read, 4096, 4096), (8_000_000, 0, Op::Write, 4096, 4096)],
    );
}

#[test]
fn blkreplay_preambles_may_come_again() {
    check(
        "blkreplay",
        "This is prose, 12 lines of it.\n\
         start ; sector; length ; op ;  replay_delay=0 ; replay_duration=0\n\
         \x20     0.449518165 ;     37766917 ;   14 ; W ; 0.0 ; 0.0\n\
         Copyright, once more\n\
         start ; sector; length ; op ;  replay_delay=0 ; replay_duration=0\n\
         \x20 1646.446100205 ;            0 ;    1 ;RA ; 0.0 ; 0.0\n\
         \x20 1646.446100206 ;           16 ;    8 ; D ; 0.0 ; 0.0\n",
        &[
            (449_518_165, 0, Op::Write, 19_336_661_504, 7168),
            (1_646_446_100_205, 0, Op::Read, 0, 512),
            (1_646_446_100_206, 0, Op::Trim, 8192, 4096),
        ],
    );
}

#[test]
fn a_blkreplay_line_with_semicolons_is_a_row_or_a_mistake() {
    let rows = "0.1 ; 8 ; 8 ; W ; 0.0 ; 0.0\ngarbage ; row\n";
    let error = error_of("blkreplay", rows);
    assert!(error.starts_with("FILE:2: "), "{error}");
    assert!(error.contains("begins with its start in seconds"), "{error}");
}

#[test]
fn diskmon_rows_beyond_every_drive_are_dropped_and_counted() {
    let rows = "0\t0.016375\t0.00038147\t0\tWrite\t3271215\t8\r\n\
                1\t0.016375\t0.00012398\t0\tRead\t8500000000000000000\t8\r\n\
                2\t0.032\t0.1\t1\tRead\t16\t3\r\n";
    check(
        "diskmon",
        rows,
        &[(16_375_000, 0, Op::Write, 1_674_862_080, 4096), (32_000_000, 1, Op::Read, 8192, 1536)],
    );
    let file = TestFile::new("diskmon", rows);
    let profile = profile(&file.0, "auto").expect("good rows remain");
    assert_eq!((profile.rows, profile.requests), (3, 2));
    assert_eq!(profile.dropped, [("address out of range", 1)]);
}

#[test]
fn a_recording_knows_flushes_and_forced_unit_access() {
    let rows = "arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns\n\
        0,write,8,4096,1,80,90\n5,flush,0,0,0,81,91\n7,trim,1,512,0,7,9\n9,read,0,1024,0,9,9\n";
    let file = TestFile::new("recording", rows);
    let row = |time_ns, op, offset_bytes, bytes, fua| RawRequest {
        time_ns,
        device: 0,
        op,
        offset_bytes,
        bytes,
        fua,
    };
    let expected = [
        row(0, Op::Write, 4096, 4096, true),
        row(5, Op::Flush, 0, 0, false),
        row(7, Op::Trim, 512, 512, false),
        row(9, Op::Read, 0, 1024, false),
    ];
    assert_eq!(head(&file.0, "auto", 9).expect("good rows"), expected);
    assert_eq!(profile(&file.0, "auto").expect("good rows").requests, 4);
    for (row, expected) in [
        ("0,flush,8,0,0,1,1", "a flush has no address"),
        ("0,read,8,512,1,1,1", "fua must be 0, or 1 of a write"),
        ("0,read,8,513,0,1,1", "a multiple of 512"),
        ("0,copy,8,512,0,1,1", "the operation must be"),
        ("0,read,8,512,0,1", "it needs arrival_ns"),
    ] {
        // A last line without an end would be one that a server was stopped in.
        let error = error_of("recording", &format!("{row}\n"));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn msbytes_is_read_by_name_where_disksim_fits_too() {
    let file = TestFile::new("ambiguous", "0.000 0 200626176 4096 0\n223.412 1 512 36864 1\n");
    let error = head(&file.0, "auto", 9).expect_err("two formats fit").to_string();
    assert!(error.contains("disksim and msbytes") && error.contains("`format`"), "{error}");
    let rows = head(&file.0, "msbytes", 9).expect("good rows");
    let read = RawRequest {
        time_ns: 223_412_000,
        device: 1,
        op: Op::Read,
        offset_bytes: 512,
        bytes: 36_864,
        fua: false,
    };
    assert_eq!(rows[1], read);
    let blocks = head(&file.0, "disksim", 9).expect("good rows");
    assert_eq!(blocks[1].bytes, 36_864 * 512);
}

#[test]
fn zero_lengths_are_dropped_and_counted() {
    let file = TestFile::new("zero", "5 0 8 0 1\n6 0 8 8 1\n7 0 9 0 0\n");
    let profile = profile(&file.0, "auto").expect("one good row");
    assert_eq!((profile.rows, profile.requests), (3, 1));
    assert_eq!(profile.dropped, [("zero length", 2)]);
}

#[test]
fn a_bad_row_is_an_error_that_shows_line_row_and_remedy() {
    assert_eq!(
        error_of("auto", "1 0 8 8 1\n2 0 8 8 1\n\n3 0 8 8 x\n"),
        "FILE:4: `3 0 8 8 x` is not a row of mqsim: \
         the type must be 0 for a write or 1 for a read"
    );
    let cases = [
        ("spc", "0,8,512,w\n", "ASU,LBA,Size,Opcode,Timestamp"),
        ("spc", "0,8,512,q,0.1\n", "R or W"),
        ("spc", "0,8,512,r,-0.1\n", "seconds"),
        ("spc", "0,8,4294967295,r,0.1\n", "4 GiB"),
        ("spc", "0,281474976710656,512,r,0.1\n", "2^48"),
        ("spc", "0,18446744073709551616,512,r,0.1\n", "whole number"),
        ("msr", "128166372003061629,usr,0,read_,0,512,1\n", "Read or Write"),
        ("msr", "999999999999999999,usr,0,Read,0,512,1\n", "2185"),
        ("msr", "5,usr,1000,Read,0,512,1\n", "below 1000"),
        ("mqsim", "1 0 8 8\n", "five fields"),
        ("mqsim", "1 0 8 8 1 1\n", "five fields"),
        ("mqsim", "1.5 0 8 8 1\n", "nanoseconds"),
        ("mqsim", "1 4294967296 8 8 1\n", "device"),
        ("disksim", "1.5 0 8 8 g\n", "hexadecimal"),
        ("disksim", "1.5x 0 8 8 1\n", "milliseconds"),
        ("blkreplay", "0.5 ; 8 ; 8\n", "start ; sector ; length ; op"),
        ("blkreplay", "0.5 ; 8 ; 8 ; X ; 0 ; 0\n", "R, W or D"),
        ("diskmon", "0\t0.1\t0.1\t0\tRead\t5\n", "seven fields"),
        ("diskmon", "0\t0.1\t0.1\t0\tIoctl\t5\t8\n", "Read or Write"),
        ("msbytes", "1 0 512 512 1\n", "decimal point"),
        ("msbytes", "1.0 0 513 512 1\n", "multiple of 512"),
    ];
    for (format, row, remedy) in cases {
        let error = error_of(format, row);
        assert!(error.starts_with("FILE:1: `"), "{error}");
        assert!(error.contains(remedy), "{format}: {error}");
    }
}

#[test]
fn what_is_no_trace_is_said_to_be_none() {
    for content in ["", "\n\n"] {
        assert_eq!(error_of("auto", content), "FILE: holds no row of any trace format");
    }
    for (content, shown) in [("to be or not\n", "to be or not"), ("\u{0}\u{1}\u{2}", "   ")] {
        assert_eq!(
            error_of("auto", content),
            format!(
                "FILE: no trace format fits `{shown}`; if it is a trace of block requests, name \
                 its `format`, or its columns, such as columns = \"time_s,offset_bytes,bytes,op\""
            )
        );
    }
}

#[test]
fn an_unknown_format_suggests_the_nearest() {
    let error = error_of("mqsin", "");
    assert_eq!(error, "format = \"mqsin\": there is no such trace format; did you mean \"mqsim\"?");
    let error = error_of("quarterly", "");
    for entry in formats() {
        assert!(error.contains(entry.name), "{error}");
    }
}

#[test]
fn an_endless_line_is_refused_before_it_fills_the_memory() {
    let error = error_of("mqsim", &"1".repeat(1 << 25));
    assert!(error.contains("16777216 bytes"), "{error}");
}

#[test]
fn a_format_is_found_behind_one_bad_row_but_not_behind_many() {
    let error = error_of("auto", "1 0 8 8 1\nx\n2 0 8 8 1\n");
    assert!(error.starts_with("FILE:2: `x`"), "{error}");
    let error = error_of("auto", "1 0 8 8 1\nx\nx\n");
    assert!(error.contains("no trace format fits"), "{error}");
}
