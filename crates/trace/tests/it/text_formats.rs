//! The formats of text beyond the simulators' own, against rows read by hand, with their traps.

use reprieve_base::Op;
use reprieve_trace::{Reading, head, profile};

use crate::files::TestFile;
use crate::volumes::{Expected, reading, rows};

/// Finds the format by content, and reads the rows with it named and not.
fn check(format: &str, content: &str, expected: &[Expected]) {
    let file = TestFile::new("trace", content);
    assert_eq!(profile(&file.0, "auto").expect("found by content").format, format);
    for name in ["auto", format] {
        assert_eq!(rows(&file.0, &reading(name, &[])), expected, "{name}");
    }
}

fn check_with(content: &str, reading: &Reading, expected: &[Expected]) {
    let file = TestFile::new("trace", content);
    assert_eq!(rows(&file.0, reading), expected);
}

fn error_of(content: &str, reading: &Reading) -> String {
    let file = TestFile::new("bad", content);
    let error = head(&file.0, reading, 100).expect_err("a mistake").to_string();
    error.replace(&file.0.display().to_string(), "FILE")
}

/// Two requests of which the later one was complete first, among events of other kinds.
const ETW: &str = "BeginHeader
   DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime
  DiskFlush, TimeStamp, Process Name ( PID)
EndHeader
OS Version: 6.0.6001, Trace Size: 51200KB
  DiskWrite,     800, p1 ( 100), 12261, 0xfffffade691b3020, 0x0000200000, 0x00001000, 100, 4, 0x43\
  , 100, 0, Unknown, 0xfffffade6bd7d7a0, \"Disk6\"
  FileIoCreate,  850, a, \"b\", c.exe ( 12),  0x10, 0x20, 0x30, 5, 6
   DiskRead,  723291, p,0 (11008), 12260, 0xfffffade691b3010, 0x4e5ec22e00, 0x00002000, 4388, 5\
  , 0x000901, 4388, 0, Unknown, 0xfffffade6bd7d7a0, \"Disk6\"
   DiskRead,  723300, p0 (11008), 12260, 0xfffffade691b3010, 0x0000000e00, 0x00000200, 9300, 4
  DiskFlush,  723400, p1 ( 100), 12261, 0xfffffade691b3020, 17, 4
   DiskRead,    9000, p0 (11008), 12260, 0xfffffade691b3010, 0x0000000e00, 0x00000200, 9300, 4
";

#[test]
fn etw_requests_arrive_before_they_are_complete() {
    // 800 - 100, 723291 - 4388, 723300 - 9300 us;
    // 0x4e5ec22e00 = 78 * 2^32 + 1,589,784,064.
    // The last one was begun 300 us before the trace.
    let mut expected = [
        (700_000, 4, Op::Write, 2_097_152, 4096),
        (718_903_000, 5, Op::Read, 336_597_233_152, 8192),
        (714_000_000, 4, Op::Read, 3584, 512),
    ];
    check_with(ETW, &reading("etw", &[]), &expected);
    check_with(ETW, &reading("auto", &["etw_time=begin"]), &expected);
    let file = TestFile::new("etw", ETW);
    let found = profile(&file.0, "auto").expect("good rows");
    assert_eq!((found.format, found.rows, found.times_back), ("etw", 4, 1));
    assert_eq!(found.dropped, [("begun before the trace", 1)]);
    (expected[0].0, expected[1].0, expected[2].0) = (800_000, 723_291_000, 723_300_000);
    let last = [(9_000_000, 4, Op::Read, 3584, 512)];
    let all: Vec<Expected> = expected.into_iter().chain(last).collect();
    check_with(ETW, &reading("auto", &["etw_time=end"]), &all);
}

#[test]
fn etw_rows_without_their_heading_are_found_too() {
    let rows = ETW.lines().skip(5).take(3).map(|line| format!("{line}\n")).collect::<String>();
    let file = TestFile::new("etw", rows);
    assert_eq!(profile(&file.0, "auto").expect("found").format, "etw");
}

/// The first rows of a recording, and what stands around requests.
const BLKPARSE: &str =
    "  8,16   5        1     0.000000000 18615  A   R 1444645666 + 256 <- (8,17) 1444645632
  8,16   5        2     0.000001850 18615  Q   R 1444645666 + 256 [java]
  8,16   5        4     0.000008750 18615  P   N [java]
  8,16   5        0     0.000012990     0  m   N cfq18615S / insert_request
  8,16   5        6     0.000031865 18615  D   R 1444645666 + 512 [java]
  8,16   5        7     0.000046560 18615  U   N [java] 1
  8,16   2       12     0.000050000   321  Q FWFS 8 + 8 [a b] + c]
  8,0    2       13     0.000060000   321  Q  FN [8 + 8]
  8,0    2       14     0.000070000   321  Q WFS 16 + 8 [jbd2]
  8,0    2       15     1.000070000   321  Q  DS 24 + 8 [fstrim]
  8,0    2       16     1.000080000   321  Q   N 24 + 8 [tool]
  8,0    2       17     1.000090000   321  C   W 24 + 8 [0]
CPU0 (sda):
 Reads Queued:           2,       8KiB\t Writes Queued:           0,        0KiB
Total (sda):
";

#[test]
fn blkparse_rows_are_those_of_one_action() {
    let (sda, sdb) = (8 << 20, (8 << 20) + 16);
    check(
        "blkparse",
        BLKPARSE,
        &[
            (1850, sdb, Op::Read, 739_658_580_992, 131_072),
            (50_000, sdb, Op::Write, 4096, 4096),
            (60_000, sda, Op::Flush, 0, 0),
            (70_000, sda, Op::Write, 8192, 4096),
            (1_000_070_000, sda, Op::Trim, 12_288, 4096),
        ],
    );
    let file = TestFile::new("blkparse", BLKPARSE);
    let fua: Vec<bool> = head(&file.0, "auto", 9).expect("good").iter().map(|r| r.fua).collect();
    assert_eq!(fua, [false, true, false, true, false]);
    let found = profile(&file.0, "auto").expect("good rows");
    assert_eq!(found.dropped, [("neither read nor write", 1)]);
    check_with(
        BLKPARSE,
        &reading("blkparse", &["blktrace_action=issue"]),
        &[(31_865, sdb, Op::Read, 739_658_580_992, 262_144)],
    );
}

const IOLOG_2: &str = "fio version 2 iolog
/dev/nvme0n1 add
/dev/nvme0n1 open
/dev/nvme0n1 write 0 4096
/dev/nvme0n1 wait 2000 0
/dev/nvme0n1 read 4096 8192
/dev/nvme0n1 wait 99 0
/dev/sdb trim 0 512
/dev/nvme0n1 wait 2500 0
/dev/nvme0n1 wait 100 0
/dev/nvme0n1 datasync 0 0
/dev/nvme0n1 close
";

#[test]
fn a_wait_of_fio_has_two_readings() {
    // By the manual: microseconds since the last wait, of which fewer than 100 are none.
    let mut expected = [
        (0, 0, Op::Write, 0, 4096),
        (2_000_000, 0, Op::Read, 4096, 8192),
        (2_000_000, 1, Op::Trim, 0, 512),
        (4_600_000, 0, Op::Flush, 0, 0),
    ];
    check("iolog", IOLOG_2, &expected);
    check_with(IOLOG_2, &reading("iolog", &["iolog_wait=relative-us"]), &expected);
    // As measured: milliseconds since the start, so that 99 and 100 are over when they come.
    (expected[1].0, expected[2].0, expected[3].0) = (2_000_000_000, 2_000_000_000, 2_500_000_000);
    check_with(IOLOG_2, &reading("auto", &["iolog_wait=absolute-ms"]), &expected);
}

#[test]
fn version_3_of_fio_has_times() {
    check(
        "iolog",
        "fio version 3 iolog\n0 /dev/sdb add\n5 /dev/sdb open\n186 /dev/sdb read 61440 4096\n\
         302519 /dev/sdb write 774144 4096\n302520 /dev/sdb sync\n302521 /dev/sdb close\n",
        &[
            (186_000, 0, Op::Read, 61_440, 4096),
            (302_519_000, 0, Op::Write, 774_144, 4096),
            (302_520_000, 0, Op::Flush, 0, 0),
        ],
    );
    let file = TestFile::new("log", IOLOG_2);
    let list = reprieve_trace::devices(&file.0, "auto").expect("good rows");
    assert_eq!(list.devices[1].name.as_deref(), Some("/dev/sdb"));
}

#[test]
fn systor_responses_may_be_missing_and_rows_incomplete() {
    let rows = "Timestamp,Response,IOType,LUN,Offset,Size\n\
                1456099200.012345,0.000512,R,3,1234567168,8192\n\
                1456099200.012400,,W,3,4096,4096\n\
                1456099200.0125,0.1,R\n\
                1456099200.013000,0.0021,R,0,0,65536\n";
    check(
        "systor17",
        rows,
        &[
            (1_456_099_200_012_345_000, 3, Op::Read, 1_234_567_168, 8192),
            (1_456_099_200_012_400_000, 3, Op::Write, 4096, 4096),
            (1_456_099_200_013_000_000, 0, Op::Read, 0, 65_536),
        ],
    );
    let file = TestFile::new("systor", rows);
    let found = profile(&file.0, "auto").expect("good rows");
    assert_eq!((found.rows, found.dropped), (4, vec![("incomplete row", 1)]));
}

#[test]
fn k5cloud_fiu_and_the_text_of_cloudphysics() {
    check(
        "k5cloud",
        "2264,86400.121837000,R,48195870720,4096\n7,86400.5,W,512,1024\n",
        &[
            (86_400_121_837_000, 2264, Op::Read, 48_195_870_720, 4096),
            (86_400_500_000_000, 7, Op::Write, 512, 1024),
        ],
    );
    // 904265560 * 512 = 462,983,966,720. A process may have blanks.
    check(
        "fiu",
        "0 4892 syslogd 904265560 8 W 6 0 531e779b1d2a46f0e9d1c0b2a5f6e7d8\n\
         1204 4892 my own tool 8 16 R 6 1 531e779b1d2a46f0e9d1c0b2a5f6e7d8\n",
        &[
            (0, 6 << 20, Op::Write, 462_983_966_720, 4096),
            (1204, (6 << 20) + 1, Op::Read, 4096, 8192),
        ],
    );
    // 0x2a writes, 0x28 reads, 0x35 flushes, 0x12 asks who is there. Four rows of a second, one of
    // which is left out before the rest are spread.
    check(
        "cloudphysics-csv",
        "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n1,5633898,28,4096,8\n\
         1,5633898,12,36,0\n1,5633898,35,0,0\n1,5633899,28,512,0\n",
        &[
            (5_633_898_000_000_000, 0, Op::Write, 21_981_565_440, 512),
            (5_633_898_333_333_333, 0, Op::Read, 4096, 4096),
            (5_633_898_666_666_666, 0, Op::Flush, 0, 0),
            (5_633_899_000_000_000, 0, Op::Read, 0, 512),
        ],
    );
}

#[test]
fn validate_rows_say_how_long_the_next_one_takes_to_come() {
    // The time to the next counts, not the service time: 0, 56.074 ms, and 0.0005 us more, rounded.
    let rows =
        "R Hit 1975456 4 15362.00000 56074.00000\nW Miss 8 1 1.0 0.0005\nr Hit 0 2 1.0 1.0\n";
    check(
        "disksim-validate",
        rows,
        &[
            (0, 0, Op::Read, 1_011_433_472, 2048),
            (56_074_000, 0, Op::Write, 4096, 512),
            (56_074_001, 0, Op::Read, 0, 1024),
        ],
    );
    let options = reading("disksim-validate", &["sector_bytes=4096"]);
    let file = TestFile::new("validate", rows);
    assert_eq!(self::rows(&file.0, &options)[1], (56_074_000, 0, Op::Write, 32_768, 4096));
    let options = reading("disksim", &["sector_bytes=1024"]);
    check_with("1.5 3 7 2 10\n", &options, &[(1_500_000, 3, Op::Write, 7168, 2048)]);
}

#[test]
fn arc_needs_an_operation_and_a_rhythm() {
    let lines = "100 8 0 0\n0 1 0 1\n16 2 0 2\n";
    let both = ["row_op=read", "row_interval_us=2.5"];
    check_with(
        lines,
        &reading("auto", &both),
        &[
            (0, 0, Op::Read, 51_200, 4096),
            (2500, 0, Op::Read, 0, 512),
            (5000, 0, Op::Read, 8192, 1024),
        ],
    );
    for options in [&[][..], &both[..1], &both[1..]] {
        let error = error_of(lines, &reading("auto", options));
        assert!(
            error.starts_with("FILE: format arc has neither operations nor times; "),
            "{error}"
        );
        assert!(error.ends_with("give both row_op and row_interval_us"), "{error}");
    }
}

#[test]
fn columns_are_what_the_user_says() {
    // Cello99 as some converters print it: seconds, device, block of 1 KiB, bytes, operation.
    check_with(
        "# cello99\ntime dev block size rw\n0.5 7 10 8192 R\n1.000000001 8 0 512 write\n",
        &reading("auto", &["columns=time_s,device,sector,bytes,op", "sector_bytes=1024"]),
        &[(500_000_000, 7, Op::Read, 10_240, 8192), (1_000_000_001, 8, Op::Write, 0, 512)],
    );
    check_with(
        "x,128166372003061629,1,2,4,1,more,fields\n",
        &reading("columns", &["columns=-,time_100ns,device,offset_kib,kib,op_read_1,..."]),
        &[(12_816_637_200_306_162_900, 1, Op::Read, 2048, 4096)],
    );
    check_with(
        "1.5;3;2;0\n2;4;2;1\n",
        &reading("columns", &["columns=time_ms,sector,sectors,op_read_0"]),
        &[(1_500_000, 0, Op::Read, 1536, 1024), (2_000_000, 0, Op::Write, 2048, 1024)],
    );
    // The operation first: a row, not a heading. Flags are hexadecimal: bit 0 of 0x1e is not set.
    check_with(
        "W 7 512 512\nd 9 0 512\n",
        &reading("columns", &["columns=op,time_us,offset_bytes,bytes"]),
        &[(7000, 0, Op::Write, 512, 512), (9000, 0, Op::Trim, 0, 512)],
    );
    check_with(
        "3 8 1e\n3 16 f\n",
        &reading("columns", &["columns=sectors,sector,flags_hex", "row_interval_us=10"]),
        &[(0, 0, Op::Write, 4096, 1536), (10_000, 0, Op::Read, 8192, 1536)],
    );
}

#[test]
fn columns_that_make_no_request_are_refused() {
    let cases = [
        ("columns=time_s,sector,op", "one column of lengths"),
        ("columns=time_s,sector,offset_kib,bytes,op", "one column of addresses"),
        ("columns=sector,bytes,op", "one column of times, or row_interval_us"),
        ("columns=time_s,time_ms,sector,bytes,op", "one column of times"),
        ("columns=time_s,sector,bytes", "one column of operations, or row_op"),
        ("columns=time_s,...,sector,...,bytes,op", "can stand there once"),
        ("columns=time_s,device,device,sector,bytes,op", "one column of devices"),
        ("columns=time_h,sector,bytes,op", "no column \"time_h\"; there are time_s"),
    ];
    for (option, what) in cases {
        let error = error_of("1 2 3 r\n", &reading("columns", &[option]));
        assert!(error.starts_with("FILE: format columns has") && error.contains(what), "{error}");
    }
    let error = error_of("1 2 3 r\n", &reading("columns", &[]));
    assert!(error.contains("needs its columns"), "{error}");
    let options = ["columns=time_s,sector,bytes,op", "row_op=read"];
    let error = error_of("1 2 3 r\n", &reading("columns", &options));
    assert!(error.contains("one column of operations, or row_op"), "{error}");
}

#[test]
fn bad_rows_are_errors_that_show_row_and_remedy() {
    let cases = [
        ("alibaba", "0,X,0,512,1\n", "R or W"),
        ("alibaba", "0,R,0,512\n", "device_id,opcode,offset,length,timestamp"),
        ("tencent", "1.5,0,8,0,1\n", "whole number of seconds"),
        ("k5cloud", "1,x,R,0,512\n", "seconds"),
        ("fiu", "0 1 p 8 8 W 6 0\n", "time pid process block size"),
        ("fiu", "0 1 p 8 8 W 4096 0 md5\n", "below 4096"),
        ("systor17", "1,,R,0,0,512,9\n", "Timestamp,Response,IOType,LUN,Offset,Size"),
        ("systor17", "1,x,R,0,0,512\n", "seconds, or nothing"),
        ("blkparse", "8,0 0 1 0.1 7 Q R 8 - 8 [p]\n", "sector + sectors"),
        ("blkparse", "8,0 0 1 0.1 7 Q XS 8 + 8 [p]\n", "rwbs"),
        ("blkparse", "8.0 0 1 0.1 7 Q R 8 + 8 [p]\n", "8,16"),
        ("blkparse", "8,0 0 1 0.1 7\n", "device cpu number"),
        ("iolog", "/dev/sda read 0 512\n", "fio version 2 iolog"),
        ("iolog", "fio version 1 iolog\n", "2 or 3"),
        ("etw", "DiskRead, x, p (1), 2, 0x1, 0x2, 0x3, 4, 5\n", "microseconds"),
        ("etw", "DiskRead, 1, p (1), 2, 0x1, 2, 0x3, 4, 5\n", "hexadecimal"),
        ("etw", "1, 2\n", "DiskRead"),
        ("cloudphysics-csv", "3,1,2a,512,0\n", "1 or 2"),
        ("cloudphysics-csv", "1,1,12a,512,0\n", "code of SCSI"),
        ("disksim-validate", "R Hit 1 2 3\n", "six fields"),
    ];
    for (format, row, remedy) in cases {
        let error = error_of(row, &reading(format, &[]));
        assert!(error.starts_with("FILE:1: `"), "{error}");
        assert!(error.contains(remedy), "{format}: {error}");
    }
    for row in ["wait x 0", "seek 0 0", "read 0", "read 0 512 1", "read"] {
        let error = error_of(&format!("fio version 2 iolog\nf {row}\n"), &reading("auto", &[]));
        assert!(error.starts_with("FILE:2: `f "), "{error}");
    }
    let error = error_of("fio version 3 iolog\n1 f wait 5\n", &reading("auto", &[]));
    assert!(error.contains("version 3 has no wait"), "{error}");
    let options = reading("columns", &["columns=time_s,sector,bytes,op"]);
    for (row, what) in [
        ("1 2 3 q\n", "read, write or trim"),
        ("1 2 3\n", "fewer fields"),
        ("1 2 3 r 5\n", "more fields"),
        ("1 x 3 r\n", "the address"),
    ] {
        let error = error_of(row, &options);
        assert!(error.starts_with("FILE:1: `") && error.contains(what), "{error}");
    }
    // A second heading is no heading.
    let error = error_of("time a b c\n1 2 3 r\ntime a b c\n", &options);
    assert!(error.starts_with("FILE:3: `time"), "{error}");
}

#[test]
fn a_recording_may_end_in_the_middle_of_a_row() {
    let rows = "arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns\n\
                10,write,8,4096,1,20,30\n40,read,16,512,0,50,60\n";
    let last = rows.len() - "40,read,16,512,0,50,60\n".len();
    for end in last..=rows.len() {
        let file = TestFile::new("trace", &rows[..end]);
        // Whoever has all that is asked has a request, whatever became of it.
        let is_there = rows[last..end].matches(',').count() == 6;
        let found = profile(&file.0, "recording").expect("it is read").rows;
        assert_eq!(found, 1 + u64::from(is_there), "{end}");
    }
    let inside = TestFile::new("bad", rows.replace("10,write,8,", "10,write"));
    let refused = profile(&inside.0, "recording").expect_err("a row with an end").to_string();
    assert!(refused.contains("is not a row of recording"), "{refused}");
}
