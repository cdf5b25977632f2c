//! Writing each format, and reading back what was written.

use std::fs;

use proptest::prelude::*;
use reprieve_base::Op;
use reprieve_trace::{RawRequest, convert, formats, head};

use crate::files::{TestFile, fresh_path};

/// Every format that is written too; what this list lacks, the tests find out to be only read.
const WRITABLE: [&str; 9] =
    ["blkparse", "blkreplay", "disksim", "iolog", "mqsim", "msbytes", "msr", "spc", "ssdsim"];

#[test]
fn other_formats_are_only_read() {
    for entry in formats().iter().filter(|entry| !WRITABLE.contains(&entry.name)) {
        let error = converted("1 0 8 8 0\n", "mqsim", entry.name).expect_err("only read");
        assert!(error.contains("is only read"), "{error}");
    }
}

fn converted(content: &str, from: &str, to: &str) -> Result<String, String> {
    let input = TestFile::new("in", content);
    let output = fresh_path("out");
    convert(&input.0, from, &output, to)
        .map_err(|error| error.to_string().replace(&input.0.display().to_string(), "FILE"))?;
    let text = fs::read_to_string(&output).expect("the output is there");
    fs::remove_file(&output).expect("the output is there");
    Ok(text)
}

#[test]
fn forced_unit_access_is_not_lost_in_silence() {
    let text = "0,write,8,4096,1,80,90\n";
    let error = converted(text, "recording", "mqsim").expect_err("mqsim has no such thing");
    assert!(error.contains("FILE:1") && error.contains("forced unit access"), "{error}");
    assert_eq!(
        converted("0,write,8,4096,0,1,1\n", "recording", "mqsim").as_deref(),
        Ok("0 0 8 8 0\n")
    );
}

#[test]
fn each_format_is_written_as_its_readers_expect() {
    // At 26.214003 ms device 3 reads sector 303574 for 7 sectors; times start at 0.
    let input = "100 3 8 8 0\n26214103 3 303574 7 1\n";
    let cases = [
        ("mqsim", "0 3 8 8 0\n26214003 3 303574 7 1\n"),
        ("ssdsim", "0 3 8 8 0\n26214003 3 303574 7 1\n"),
        ("spc", "3,8,4096,w,0.000000000\n3,303574,3584,r,0.026214003\n"),
        ("disksim", "0.000000 3 8 8 0\n26.214003 3 303574 7 1\n"),
        ("msbytes", "0.000000 3 4096 4096 0\n26.214003 3 155429888 3584 1\n"),
        (
            "blkparse",
            "  0,3   0 1     0.000000000 0 Q   W 8 + 8 [reprieve]\n  \
             0,3   0 1     0.026214003 0 Q   R 303574 + 7 [reprieve]\n",
        ),
        (
            "iolog",
            "fio version 3 iolog\n0 trace add\n0 trace open\n\
             0 trace write 4096 4096\n26214 trace read 155429888 3584\n",
        ),
        ("msr", "0,host,3,Write,4096,4096,0\n262140,host,3,Read,155429888,3584,0\n"),
    ];
    for (to, expected) in cases {
        assert_eq!(converted(input, "mqsim", to).as_deref(), Ok(expected), "{to}");
    }
    let blkreplay = converted(input, "mqsim", "blkreplay").expect("one device only");
    let rows: Vec<&str> = blkreplay.lines().collect();
    assert!(rows[0].starts_with("start ; sector; length ; op"), "{}", rows[0]);
    let fields: Vec<&str> = rows[2].split(';').map(str::trim).collect();
    assert_eq!(fields, ["0.026214003", "303574", "7", "R", "0.0", "0.0"]);
}

#[test]
fn blkparse_holds_every_operation_and_forced_unit_access() {
    let text = "5,write,8,4096,1,80,90\n7,trim,16,512,0,80,90\n9,flush,0,0,0,80,90\n";
    let rows = "  0,0   0 1     0.000000000 0 Q  WF 8 + 8 [reprieve]\n  \
                0,0   0 1     0.000000002 0 Q   D 16 + 1 [reprieve]\n  \
                0,0   0 1     0.000000004 0 Q  FN [reprieve]\n";
    assert_eq!(converted(text, "recording", "blkparse").as_deref(), Ok(rows));
    // And is read again as it was.
    let again = converted(rows, "blkparse", "blkparse");
    assert_eq!(again.as_deref(), Ok(rows));
}

#[test]
fn what_conversion_changes_is_counted() {
    // Late by one row, a zero length, bytes 100..1,300 widened to three sectors.
    let input = TestFile::new(
        "in",
        "5000000,h,0,Read,100,1200,1\n4000000,h,0,Write,512,512,1\n5000001,h,0,Write,0,0,1\n",
    );
    let output = fresh_path("out");
    let counts = convert(&input.0, "auto", &output, "mqsim").expect("good rows");
    let text = fs::read_to_string(&output).expect("the output is there");
    assert_eq!(text, "0 0 1 1 0\n100000000 0 0 3 1\n");
    assert_eq!((counts.rows, counts.requests, counts.widened, counts.resorted), (3, 2, 1, 1));
    assert_eq!(counts.dropped, [("zero length", 1)]);
    // 50 ns are no tick of FILETIME: rounded down to 0.
    let fine = TestFile::new("in", "0 0 8 8 0\n50 0 8 8 0\n100 0 8 8 0\n");
    let counts = convert(&fine.0, "mqsim", &output, "msr").expect("good rows");
    assert_eq!(counts.times_rounded, 1);
    fs::remove_file(&output).expect("the output is there");
}

#[test]
fn what_a_format_cannot_hold_is_an_error_at_its_row() {
    let cases = [
        ("1 0 8 8 0\n2 1 8 8 0\n", "mqsim", "blkreplay", "FILE:2:", "devices 0 and 1"),
        ("1 0 8 8 0\n2 1 8 8 0\n", "mqsim", "iolog", "FILE:2:", "devices 0 and 1"),
        ("1 0 4294967296 8 0\n", "mqsim", "ssdsim", "FILE:1:", "2^32"),
        ("1 1000 8 8 0\n", "mqsim", "msr", "FILE:1:", "below 1000"),
        ("0.5 ; 8 ; 8 ; D ; 0 ; 0\n", "blkreplay", "spc", "FILE:1:", "reads and writes only"),
        ("1 0 8 0 0\n", "mqsim", "spc", "FILE:", "no request"),
    ];
    for (content, from, to, place, why) in cases {
        let error = converted(content, from, to).expect_err(why);
        assert!(error.starts_with(place) && error.contains(why), "{error}");
    }
    let error = converted("1 0 8 8 0\n", "mqsim", "diskmon").expect_err("only read");
    assert!(error.contains("only read") && error.contains("blkreplay"), "{error}");
    assert!(converted("1 0 8 8 0\n", "mqsim", "mqsin").expect_err("unknown").contains("mqsim"));
}

#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let input = TestFile::new("in", "1 0 8 8 0\n");
    let error = convert(&input.0, "mqsim", &fresh_path("folder").join("out"), "spc");
    assert!(error.expect_err("no such folder").to_string().contains("cannot be written"));
}

#[test]
fn a_name_in_gz_is_compressed() {
    let input = TestFile::new("in", "1 0 8 8 0\n");
    let output = fresh_path("out.mqsim.gz");
    convert(&input.0, "mqsim", &output, "mqsim").expect("a good row");
    assert!(fs::read(&output).expect("the output").starts_with(&[0x1f, 0x8b]));
    assert_eq!(head(&output, "auto", 9).expect("readable").len(), 1);
    fs::remove_file(&output).expect("the output is there");
}

proptest! {
    /// What is written is read back as it was: through every format, every field of every row.
    #[test]
    fn a_trace_survives_every_format(
        rows in prop::collection::vec(
            (0u64..10_000_000_000_000, 0u64..1 << 32, 1u32..1 << 12, any::<bool>()),
            1..50,
        ),
        device in 0u32..1000,
    ) {
        // In multiples of 1 us, the coarsest tick, and from time 0.
        let mut time_ns = 0;
        let requests: Vec<RawRequest> = rows.iter().enumerate().map(|(index, row)| {
            time_ns += if index == 0 { 0 } else { row.0 / 1000 * 1000 };
            RawRequest {
                time_ns,
                device,
                op: if row.3 { Op::Read } else { Op::Write },
                offset_bytes: row.1 * 512,
                bytes: row.2 * 512,
                fua: false,
            }
        }).collect();
        let text: String = requests.iter().map(|r| format!(
            "{} {} {} {} {}\n",
            r.time_ns, r.device, r.offset_bytes / 512, r.bytes / 512,
            u32::from(r.op == Op::Read),
        )).collect();
        let input = TestFile::new("in", text);
        for name in WRITABLE {
            let output = fresh_path(name);
            convert(&input.0, "mqsim", &output, name).expect("every format can hold these");
            let file = TestFile(output);
            let mut read = head(&file.0, name, usize::MAX).expect("readable");
            if ["blkreplay", "iolog"].contains(&name) {
                read.iter_mut().for_each(|row| row.device = device);
            }
            prop_assert_eq!(&read, &requests, "{}", name);
        }
    }
}
