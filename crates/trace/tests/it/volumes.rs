//! Traces of many volumes: their formats, their lists of devices, and several files as one trace.

use std::fs;
use std::path::{Path, PathBuf};

use reprieve_base::Op;
use reprieve_trace::{DeviceSummary, RawRequest, Reading, devices, head, profile};

use crate::files::{TestFile, fresh_path};

/// `time_ns, device, op, offset_bytes, bytes`.
pub type Expected = (u64, u32, Op, u64, u32);

/// How a trace is read, with options as the command line has them.
pub fn reading(format: &str, options: &[&str]) -> Reading {
    let mut reading = Reading::from(format);
    for option in options {
        reading.options.set(option).expect("a good option");
    }
    reading
}

/// The rows of a trace as tuples.
pub fn rows(path: &Path, reading: &Reading) -> Vec<Expected> {
    let rows = head(path, reading, usize::MAX).expect("every row is good");
    rows.iter().map(|r| (r.time_ns, r.device, r.op, r.offset_bytes, r.bytes)).collect()
}

/// A folder that goes away with the test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(files: &[(&str, &[u8])]) -> Folder {
        let folder = Folder(fresh_path("folder"));
        fs::create_dir(&folder.0).expect("a new folder");
        for (name, content) in files {
            fs::write(folder.0.join(name), content).expect("a new file");
        }
        folder
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("the test's own folder");
    }
}

#[test]
fn alibaba_rows_are_bytes_and_microseconds() {
    let file = TestFile::new(
        "alibaba",
        "0,R,126703644672,4096,1577808000000626\n\
         0,W,126703648768,4096,1577808000000702\n\
         725,W,536870912,65536,1577808000001000\n",
    );
    let expected = [
        (1_577_808_000_000_626_000, 0, Op::Read, 126_703_644_672, 4096),
        (1_577_808_000_000_702_000, 0, Op::Write, 126_703_648_768, 4096),
        (1_577_808_000_001_000_000, 725, Op::Write, 536_870_912, 65536),
    ];
    assert_eq!(rows(&file.0, &reading("auto", &[])), expected);
    assert_eq!(profile(&file.0, "auto").expect("good").format, "alibaba");
}

/// Three rows in the first second, one in the next.
const TENCENT: &str = "1538323199,105352008,584,1,1576\n\
                       1538323199,12864,8,0,1283\n\
                       1538323199,12872,8,1,1283\n\
                       1538323200,12880,8,1,1283\n";

#[test]
fn tencent_rows_of_a_second_are_spread_over_it() {
    let file = TestFile::new("tencent", TENCENT);
    // Sectors: 105352008 * 512 = 53940228096, 584 * 512 = 299008, 12864 * 512 = 6586368.
    let second_ns = 1_538_323_199_000_000_000;
    let mut expected = [
        (second_ns, 1576, Op::Write, 53_940_228_096, 299_008),
        (second_ns + 333_333_333, 1283, Op::Read, 6_586_368, 4096),
        (second_ns + 666_666_666, 1283, Op::Write, 6_590_464, 4096),
        (second_ns + 1_000_000_000, 1283, Op::Write, 6_594_560, 4096),
    ];
    assert_eq!(rows(&file.0, &reading("auto", &[])), expected);
    assert_eq!(rows(&file.0, &reading("tencent", &["same_second=spread"])), expected);
    (expected[1].0, expected[2].0) = (second_ns, second_ns);
    assert_eq!(rows(&file.0, &reading("auto", &["same_second=as-written"])), expected);
}

#[test]
fn the_rows_before_a_bad_one_of_the_same_second_are_read() {
    let file = TestFile::new("tencent", format!("{TENCENT}1538323200,1,1,2,1283\n"));
    assert_eq!(head(&file.0, "tencent", 4).expect("four good rows").len(), 4);
    let error = head(&file.0, "tencent", 5).expect_err("a bad type").to_string();
    assert!(error.contains(":5: ") && error.contains("0 for a read or 1"), "{error}");
}

#[test]
fn devices_are_listed_with_what_they_were_asked() {
    let file = TestFile::new("tencent", TENCENT);
    let list = devices(&file.0, "auto").expect("good rows");
    assert_eq!((list.format, list.rows), ("tencent", 4));
    let first_ns = 1_538_323_199_000_000_000;
    assert_eq!(
        list.devices,
        [
            DeviceSummary {
                device: 1283,
                name: None,
                requests: 3,
                reads: 1,
                writes: 2,
                read_bytes: 4096,
                written_bytes: 8192,
                first_ns: first_ns + 333_333_333,
                last_ns: first_ns + 1_000_000_000,
                extent_bytes: 12_888 * 512,
            },
            DeviceSummary {
                device: 1576,
                name: None,
                requests: 1,
                reads: 0,
                writes: 1,
                read_bytes: 0,
                written_bytes: 299_008,
                first_ns,
                last_ns: first_ns,
                extent_bytes: 53_940_527_104,
            },
        ]
    );
    assert!(list.to_json().contains("\"written_bytes\": 299008"));
    let empty = TestFile::new("empty", "\n");
    let error = devices(&empty.0, "tencent").expect_err("no rows").to_string();
    assert!(error.contains("holds no request of format tencent"), "{error}");
}

#[test]
fn a_folder_is_one_trace_in_order_of_time_with_its_hosts_apart() {
    // The second file is the earlier one; row times interleave and two are equal, where the order
    // of names decides.
    let folder = Folder::new(&[
        ("a.csv", b"300,usr,0,Read,0,512,1\n500,usr,0,Read,512,512,1\n"),
        ("b.csv", b"100,web,0,Write,0,512,1\n300,web,0,Write,512,512,1\n600,usr,1,Read,0,512,1\n"),
        (".hidden", b"not a row\n"),
        ("c.csv", b"\n"),
    ]);
    let expected = [
        (10_000, 1000, Op::Write, 0, 512),
        (30_000, 0, Op::Read, 0, 512),
        (30_000, 1000, Op::Write, 512, 512),
        (50_000, 0, Op::Read, 512, 512),
        (60_000, 1, Op::Read, 0, 512),
    ];
    assert_eq!(rows(&folder.0, &reading("auto", &[])), expected);
    let list = devices(&folder.0, "auto").expect("good rows");
    let names: Vec<_> = list.devices.iter().map(|d| (d.device, d.name.as_deref())).collect();
    assert_eq!(names, [(0, Some("usr_0")), (1, Some("usr_1")), (1000, Some("web_0"))]);
    assert_eq!(profile(&folder.0, "auto").expect("good rows").other_lines, 1);
    // A pattern takes some of them.
    assert_eq!(rows(&folder.0.join("b*v"), &reading("auto", &[])).len(), 3);
}

#[test]
fn an_error_in_one_of_several_files_names_it() {
    let folder = Folder::new(&[("a", b"1 0 8 8 0\n5 0 8 8 0\n"), ("b", b"2 0 8 8 0\n3 0 8 8 x\n")]);
    let error = head(&folder.0, "auto", 9).expect_err("a bad row").to_string();
    assert!(error.starts_with(&format!("{}:2: `3 0 8 8 x`", folder.0.join("b").display())));
    let empty = Folder::new(&[]);
    let error = head(&empty.0, "auto", 9).expect_err("no files").to_string();
    assert!(error.ends_with("the folder has no files"), "{error}");
    let error = head(&empty.0.join("x*"), "auto", 9).expect_err("no files").to_string();
    assert!(error.ends_with("no file has such a name"), "{error}");
}

#[test]
fn options_are_for_formats_that_have_a_use_for_them() {
    let file = TestFile::new("mqsim", "1 0 8 8 0\n");
    let error = head(&file.0, reading("auto", &["same_second=spread"]), 9);
    let error = error.expect_err("no such thing").to_string();
    assert!(error.contains("same_second means nothing to format mqsim; it is for"), "{error}");
    assert!(error.contains("tencent"), "{error}");
    let mut options = Reading::from("auto").options;
    for (written, what) in [
        ("same_second", "must be KEY=VALUE"),
        ("same_second=never", "must be spread or as-written"),
        ("same_secund=spread", "did you mean same_second?"),
        ("sector_bytes=0", "from 1 to"),
        ("row_interval_us=-1", "microseconds"),
        ("row_op=trim", "must be read or write"),
    ] {
        let error = options.set(written).expect_err(what).to_string();
        assert!(error.contains(written) && error.contains(what), "{error}");
    }
}

#[test]
fn rows_of_no_length_may_be_errors() {
    let file = TestFile::new("zero", "5 0 8 8 1\n6 0 8 0 1\n");
    let read = |option| head(&file.0, reading("auto", &[option]), 9);
    let one: Vec<RawRequest> = read("zero_length=drop").expect("one row");
    assert_eq!(one.len(), 1);
    let error = read("zero_length=error").expect_err("no length").to_string();
    assert!(error.contains(":2: a request of no length"), "{error}");
}
