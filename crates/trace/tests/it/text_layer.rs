//! What programs do to files of text on their way: each changed file is read as the original is, or
//! refused by the true cause.

use std::path::Path;

use reprieve_base::Op;
use reprieve_trace::{Reading, formats, head, profile};

use crate::files::TestFile;
use crate::volumes::{Folder, reading, rows};

/// A format, the rest of its reading, what stands between its fields, and a file of it. Fields in
/// hexadecimal have a letter in them, as digits alone would be changed like numbers.
const FILES: [(&str, &[&str], &str, &str); 22] = [
    (
        "alibaba",
        &[],
        ",",
        "0,R,126703644672,4096,1577808000000626\n725,W,512,65536,1577808000001000\n",
    ),
    ("arc", &["row_op=read", "row_interval_us=1"], " ", "100 8 0 0\n0 1 0 1\n"),
    (
        "blkparse",
        &[],
        " ",
        "8,16 5 2 0.000001850 18615 Q R 1444645666 + 256 [java]\n\
         8,0 2 3 0.1 3 Q FN [a]\n8,0 2 4 0.2 3 Q WS 8 + 8 [a]\n",
    ),
    (
        "blkreplay",
        &[],
        ";",
        "start ; sector ; length\n0.449518165 ; 37766917 ; 14 ; W\n0.5 ; 8 ; 8 ; R\n",
    ),
    (
        "cloudphysics-csv",
        &[],
        ",",
        "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n1,5633898,8a,4096,8\n",
    ),
    (
        "columns",
        &["columns=time_s,device,sector,bytes,op"],
        ",",
        "time,dev,sector,bytes,op\n1.5,0,8,512,r\n2.5,1,8,512,w\n",
    ),
    (
        "diskmon",
        &[],
        "\t",
        "0\t0.016375\t0.00038147\t0\tWrite\t3271215\t8\n1\t0.02\t0.1\t1\tRead\t8\t8\n",
    ),
    ("disksim", &["sector_bytes=512"], " ", "5265.313 0 6357144 8 a\n13.191135 30 0 5 b\n"),
    (
        "disksim-validate",
        &[],
        " ",
        "R Hit 1975456 4 15362.00000 56074.00000\nW Miss 8 1 1.0 0.0005\n",
    ),
    (
        "etw",
        &[],
        ",",
        "BeginHeader\nDiskRead, TimeStamp\nEndHeader\n\
         DiskRead, 723291, p (1), 2, 0xff, 0x4e00, 0x2000, 43, 4\n\
         DiskWrite, 800, p (1), 2, 0xff, 0x4e00, 0x2000, 43, 4\n",
    ),
    (
        "fiu",
        &[],
        " ",
        "0 4892 syslogd 904265560 8 W 6 0 531e779b\n9 4892 syslogd 8 8 R 6 0 531e779b\n",
    ),
    (
        "ftrace",
        &[],
        " ",
        "fio-4711 [003] d.... 1234.567890: block_rq_issue: 259,0 W 4096 () 1050624 + 8 none,0,0 \
        [fio]\n\
         fio-4711 [001] ..... 1234.567990: block_rq_issue: 259,0 R 4096 () 2050624 + 8 none,0,0 \
         [fio]\n",
    ),
    (
        "iolog",
        &[],
        " ",
        "fio version 2 iolog\n/dev/a wait 2000 0\n/dev/a write 0 4096\n/dev/a sync 0 0\n",
    ),
    ("k5cloud", &[], ",", "2264,86400.121837000,R,48195870720,4096\n7,86400.2,W,0,512\n"),
    ("mqsim", &[], " ", "938513000 4 264719034 16 0\n938828000 3 8 1 1\n"),
    ("msbytes", &[], " ", "0.000 0 200626176 4096 0\n223.412 1 512 36864 1\n"),
    (
        "msr",
        &[],
        ",",
        "128166372003061629,usr,0,Read,7014609920,24576,41286\n\
        128166372003061630,usr,1,Write,1,4096,3\n",
    ),
    (
        "recording",
        &[],
        ",",
        "arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns\n5,write,8,4096,1,80,90\n\
        6,flush,0,0,0,81,91\n",
    ),
    ("spc", &[], ",", "0,303567,3584,w,0.000000\n1,55590,3072,R,12.026214,7\n"),
    ("ssdsim", &[], " ", "0 0 303567 7 0\n5 1 8 8 1\n"),
    (
        "systor17",
        &[],
        ",",
        "Timestamp,Response,IOType,LUN,Offset,Size\n1456099200.012345,0.000512,R,3,512,8192\n\
        1,,W,0,0,512\n",
    ),
    ("tencent", &[], ",", "1538323199,105352008,584,1,1576\n1538323199,12864,8,0,1283\n"),
];

/// A change of a file, given what stands between its fields.
type Change = fn(&str, &str) -> String;

const CHANGES: [(&str, Change); 9] = [
    ("a mark of UTF-8", |text, _| format!("\u{feff}{text}")),
    ("a heading", |text, between| format!("{}\n{text}", ["alpha", "beta", "gamma"].join(between))),
    ("quotes", |text, between| fields(text, between, |field| format!("\"{field}\""))),
    ("comments", |text, _| text.lines().map(|line| format!("# 1 of \"2\"\n{line}\n")).collect()),
    ("a trailing separator", |text, between| {
        text.lines().map(|line| format!("{line}{between}\n")).collect()
    }),
    ("upper case", |text, _| text.to_uppercase()),
    ("decimals", |text, between| fields(text, between, |field| number(field, ".0"))),
    ("exponents", |text, between| fields(text, between, |field| number(field, "E+0"))),
    ("ends of lines as of Windows", |text, _| text.replace('\n', "\r\n")),
];

fn fields(text: &str, between: &str, change: impl Fn(&str) -> String) -> String {
    let of = |line: &str| {
        let changed: Vec<String> = line.split(between).map(|field| change(field.trim())).collect();
        changed.join(between) + "\n"
    };
    text.lines().map(of).collect()
}

fn number(field: &str, behind: &str) -> String {
    let is_number = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
    format!("{field}{}", if is_number { behind } else { "" })
}

/// What is refused, and the cause.
const REFUSED: [(&str, &str, &str); 2] = [
    ("mqsim", "decimals", "without a point; milliseconds with one are of format disksim"),
    ("ssdsim", "decimals", "without a point; milliseconds with one are of format disksim"),
];

#[test]
fn every_format_of_text_bears_what_programs_do_to_files() {
    for (format, options, between, text) in FILES {
        let reading = reading(format, options);
        let original = TestFile::new("original", text);
        let expected = rows(&original.0, &reading);
        assert!(expected.len() >= 2, "{format}");
        for (change, changed) in CHANGES {
            let file = TestFile::new("changed", changed(text, between));
            let refused = REFUSED.iter().find(|(of, by, _)| (*of, *by) == (format, change));
            match (head(&file.0, &reading, 9), refused) {
                (Ok(_), None) => {
                    assert_eq!(rows(&file.0, &reading), expected, "{format}: {change}")
                }
                (Err(error), Some((_, _, cause))) => {
                    let error = error.to_string();
                    assert!(error.contains(":1: `") && error.contains(cause), "{error}");
                }
                (found, _) => panic!("{format}: {change}: {found:?}"),
            }
            // Unless two formats have the same columns, it is found by its content, too.
            if !["columns", "msbytes", "mqsim", "ssdsim"].contains(&format) {
                let auto = Reading { format: "auto".to_owned(), ..reading.clone() };
                assert_eq!(rows(&file.0, &auto), expected, "{format}: {change}");
            }
        }
    }
}

#[test]
fn every_format_of_text_is_in_the_table() {
    let binary = ["blktrace", "oracle-general", "oracle-general-opns", "srt", "vscsi"];
    for entry in formats() {
        let is_there = FILES.iter().any(|(name, ..)| *name == entry.name);
        assert_ne!(is_there, binary.contains(&entry.name), "{}", entry.name);
    }
}

fn error_of(content: impl AsRef<[u8]>, reading: &Reading) -> String {
    let file = TestFile::new("refused", content);
    let error = head(&file.0, reading, usize::MAX).expect_err("a refusal").to_string();
    error.replace(&file.0.display().to_string(), "FILE")
}

#[test]
fn quoted_rows_are_rows_however_many() {
    let quoted: String =
        (0..500).map(|n| format!("\"0.{n:03}\",\"{}\",\"4096\",\"R\"\n", n * 4096)).collect();
    let text = format!("{quoted}0.6,0,512,W\n0.7,512,512,W\n");
    let reading = reading("auto", &["columns=time_s,offset_bytes,bytes,op"]);
    let file = TestFile::new("quoted", &text);
    let found = profile(&file.0, &reading).expect("good rows");
    assert_eq!((found.requests, found.other_lines), (502, 0));
    // What looks like a heading again and again is none: a word in place of the operation.
    let words: String = (0..4).map(|_| "time,offset,bytes,op\n").collect();
    let error = error_of(format!("{words}0.6,0,512,W\n"), &reading);
    assert!(error.starts_with("FILE:4: `time,offset,bytes,op` is not a row"), "{error}");
}

#[test]
fn numbers_are_exact_or_refused() {
    let spc = |row: &str| {
        let file = TestFile::new("spc", row);
        rows(&file.0, &reading("spc", &[]))[0]
    };
    // 2.0939840e7 * 512 = 10,721,198,080; 5.5e-1 s.
    let expected = (550_000_000, 0, Op::Write, 10_721_198_080, 8192);
    assert_eq!(spc("0,2.0939840e7,8.192E3,W,5.5e-1\n"), expected);
    // A tenth digit is rounded half up, and an exponent shifts all of them.
    assert_eq!(spc("0,1e0,512.000,Write,15e-10\n").0, 2);
    assert_eq!(spc("0,1,512,write,4e-10\n").0, 0);
    // All of 64 bits, of which a float has 53.
    let file =
        TestFile::new("us", "1,R,0,512,1577808000000001.0\n2,R,0,512,1.577808000000003e15\n");
    let times: Vec<u64> = rows(&file.0, &reading("auto", &[])).iter().map(|row| row.0).collect();
    assert_eq!(times, [1_577_808_000_000_001_000, 1_577_808_000_000_003_000]);
    for (row, what) in [
        ("0,1.5,512,W,0\n", "the LBA must be a whole number"),
        ("0,1,512.1,W,0\n", "the size must be a whole number"),
        ("0,1,1e-1,W,0\n", "the size must be a whole number"),
        ("0,1e30,512,W,0\n", "the LBA must be a whole number"),
        ("0,1,512,W,1e\n", "seconds"),
        ("0,1,512,W,1e99999999\n", "seconds"),
    ] {
        let error = error_of(row, &reading("spc", &[]));
        assert!(error.starts_with("FILE:1: `") && error.contains(what), "{error}");
    }
}

#[test]
fn names_with_blanks_are_counted_from_the_end_of_a_row() {
    let biosnoop = "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  LAT(ms)\n\
                    0.000000    supervise      1950    xvda1     W 13092560   4096      0.74\n\
                    0.985420    Web Content    1956    xvda1     R 13092440   4096      0.77\n";
    let file = TestFile::new("biosnoop", biosnoop);
    let found = rows(&file.0, &reading("auto", &["columns=time_s,...,op,sector,bytes,-"]));
    // 13092560 * 512 = 6,703,390,720; 13092440 * 512 = 6,703,329,280.
    let expected =
        [(0, 0, Op::Write, 6_703_390_720, 4096), (985_420_000, 0, Op::Read, 6_703_329_280, 4096)];
    assert_eq!(found, expected);
    let error = error_of("1 8 8\n", &reading("columns", &["columns=time_s,...,op,sector,bytes"]));
    assert!(error.contains("fewer fields than columns names"), "{error}");
}

/// Columns that a refusal proposes.
fn proposed(error: &str) -> &str {
    let (_, rest) = error.split_once("columns = \"").unwrap_or_else(|| panic!("{error}"));
    rest.split('"').next().expect("an end")
}

#[test]
fn a_file_that_no_format_fits_shows_its_row_and_columns_that_read_it() {
    let auto = reading("auto", &[]);
    let cases = [
        ("time,x,lba,len,rw\n0.5,q,8,512,read\n0.7,q,32,1024,write\n", "time_s,-,sector,bytes,op"),
        (
            "7;1577808000000626;R;4096;1024\n7;1577808000000700;W;0;512\n",
            "-,time_us,op,offset_bytes,bytes",
        ),
        ("R 0.5 81 3 x\nW 0.6 99 3 x\n", "op,time_s,sector,sectors,-"),
        (
            "\"a\",\"1.5\",\"8\",\"512\",\"R\"\n\"a\",\"2.5\",\"16\",\"512\",\"W\"\n",
            "-,time_s,sector,bytes,op",
        ),
    ];
    for (text, columns) in cases {
        let error = error_of(text, &auto);
        assert!(error.starts_with("FILE: no trace format fits `"), "{error}");
        assert_eq!(proposed(&error), columns, "{error}");
        let file = TestFile::new("proposed", text);
        let found = rows(&file.0, &reading("auto", &[&format!("columns={columns}")]));
        assert_eq!(found.len(), 2, "{text}");
    }
    // Of keys and values nothing is a block request.
    let error = error_of("key,op,size,op_count,key_size\n1668757755,SET,82,1,40\n", &auto);
    assert!(error.contains("fits `1668757755,SET,82,1,40`; if it is a trace of block"), "{error}");
    assert!(proposed(&error).starts_with("time_s"), "{error}");
    assert!(error_of(b"\xff\xfe1\0,\0", &auto).contains("text of UTF-16"));
}

#[test]
fn units_that_no_row_tells_are_called_a_guess() {
    let file = TestFile::new("seconds", "242.504709548 0 1000 8 1\n243.504709548 0 4000 8 1\n");
    let found = profile(&file.0, "auto").expect("disksim");
    assert_eq!((found.format, found.span_ns), ("disksim", 1_000_000));
    assert!(found.notes[0].contains("a guess") && found.notes[0].contains("columns = \"time_s,"));
    let override_ = reading("auto", &[&format!("columns={}", proposed(found.notes[0]))]);
    assert_eq!(profile(&file.0, &override_).expect("columns").span_ns, 1_000_000_000);
    assert!(profile(&file.0, "disksim").expect("named").notes.is_empty());
}

#[test]
fn a_side_file_in_a_folder_is_named_with_a_pattern_without_it() {
    let traces = b"0,R,4096,4096,1577808000000626\n725,W,0,8192,1577808000001000\n";
    let folder = Folder::new(&[
        ("device_size.csv", b"0,107374182400\n725,42949672960\n"),
        ("io_traces.csv", traces),
    ]);
    let error = head(&folder.0, "auto", 9).expect_err("a side file").to_string();
    let path = |name: &str| folder.0.join(name).display().to_string();
    let expected = format!(
        "{}: holds no row of format alibaba, of which the other files are; name the files of the \
         trace by a pattern, such as {}",
        path("device_size.csv"),
        path("io_*.csv")
    );
    assert_eq!(error, expected);
    assert_eq!(head(Path::new(&path("io_*.csv")), "auto", 9).expect("rows").len(), 2);
    let error = head(&folder.0, "alibaba", 9).expect_err("a side file").to_string();
    assert!(error.starts_with(&path("device_size.csv")) && error.contains("by a pattern"));
}
