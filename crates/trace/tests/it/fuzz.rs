//! Whatever stands in a file, reading it ends with rows or with a sentence, never with a panic.

use proptest::prelude::*;
use reprieve_trace::{Reading, devices, formats, head};

use crate::binary_formats::blktrace;
use crate::files::TestFile;
use crate::volumes::reading;

/// A few good rows of every format, in the order of the list of formats.
const SAMPLES: [(&str, &[u8]); 26] = [
    ("alibaba", b"0,R,126703644672,4096,1577808000000626\n725,W,512,65536,1577808000001000\n"),
    ("arc", b"100 8 0 0\n0 1 0 1\n"),
    (
        "blkparse",
        b" 8,16 5 2 0.000001850 18615 Q R 1444645666 + 256 [java]\n8,0 2 3 0.1 3 Q FN [a]\n",
    ),
    ("blkreplay", b"start ; sector; length\n 0.449518165 ; 37766917 ; 14 ; W ; 0.0 ; 0.0\n"),
    ("cloudphysics-csv", b"version,time,op,size,lbn\n1,5633898,2a,512,42932745\n"),
    ("columns", b"time,x\n1.5,0,8,512,r\n2.5,1,8,512,w\n"),
    ("diskmon", b"0\t0.016375\t0.00038147\t0\tWrite\t3271215\t8\n"),
    ("disksim", b"5265.313 0 6357144 8 0\n13.191135 30 0 5 1\n"),
    ("disksim-validate", b"R Hit 1975456 4 15362.00000 56074.00000\nW Miss 8 1 1.0 0.0005\n"),
    ("etw", b"BeginHeader\nEndHeader\nDiskRead, 723291, p (1), 2, 0xff, 0x4e00, 0x2000, 43, 4\n"),
    ("fiu", b"0 4892 syslogd 904265560 8 W 6 0 531e779b1d2a46f0e9d1c0b2a5f6e7d8\n"),
    ("ftrace", b"fio-1 [0] d 1.5: block_rq_issue: 8,0 R 4096 () 8 + 8 none,0,0 [fio]\n"),
    ("iolog", b"fio version 2 iolog\n/dev/a wait 2000 0\n/dev/a write 0 4096\n/dev/a sync 0 0\n"),
    ("k5cloud", b"2264,86400.121837000,R,48195870720,4096\n"),
    ("mqsim", b"938513000 4 264719034 16 0\n"),
    ("msbytes", b"223.412 1 512 4096 1\n"),
    ("msr", b"128166372003061629,usr,0,Read,7014609920,24576,41286\n"),
    ("oracle-general", b"\x6a\xf7\x55\0\x09\x1a\0\0\0\0\0\0\0\x02\0\0\x07\0\0\0\0\0\0\0"),
    (
        "oracle-general-opns",
        b"\x6a\xf7\x55\0\x09\x1a\0\0\0\0\0\0\0\x02\0\0\x01\0\0\x07\0\0\0\0\0\0\0",
    ),
    ("recording", b"arrival_ns,op\n5,write,8,4096,1,80,90\n"),
    ("spc", b"0,303567,3584,w,0.000000\n"),
    ("ssdsim", b"0 0 303567 7 0\n"),
    ("systor17", b"Timestamp,Response\n1456099200.012345,0.000512,R,3,1234567168,8192\n1,2\n"),
    ("tencent", b"1538323199,105352008,584,1,1576\n1538323199,12864,8,0,1283\n"),
    ("vscsi", b"\x01\0\0\0\0\x02\0\0\x01\0\0\0\x2a\0\0\x01\x08\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0"),
    (
        "srt",
        b"$$TR_IOREC-1.3\n\x0c\0\0\0\x34\0\x04\0\x01\0\0\0\x01\0\0\0\x02\
\0\0\0\0\0\0\0\0\0\0\x10\0\0\0\x04\x20\0\0\x01\x07\0\0\0\x04\0\0\0\x10\0\0\0\x01\0\0\0\0",
    ),
];

/// A reading with which every row of the format has all it needs.
fn whole(format: &str) -> Reading {
    match format {
        "arc" => reading(format, &["row_op=read", "row_interval_us=1"]),
        "columns" => reading(format, &["columns=time_s,device,sector,bytes,op"]),
        "oracle-general" => reading(format, &["row_op=write"]),
        _ => reading(format, &[]),
    }
}

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let mut samples: Vec<_> = SAMPLES.iter().map(|(name, text)| (*name, text.to_vec())).collect();
    samples.push(("blktrace", blktrace(true, (100, 8, 4096, 0x0011_0001, 8), b"data")));
    samples
}

#[test]
fn every_format_has_a_good_sample() {
    for entry in formats() {
        let samples = samples();
        let sample = samples.iter().find(|(name, _)| *name == entry.name);
        let (name, content) = sample.unwrap_or_else(|| panic!("{} has no sample", entry.name));
        let file = TestFile::new("sample", content);
        let rows = head(&file.0, whole(name), 9).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(!rows.is_empty(), "{name}");
    }
}

#[test]
fn every_sample_may_end_anywhere() {
    for (name, content) in samples() {
        for end in 0..content.len() {
            let file = TestFile::new("cut", &content[..end]);
            // Text may end so that a shorter row is good; a record may not.
            let read = head(&file.0, whole(name), 9);
            if let Err(error) = read {
                assert!(error.to_string().contains(&file.0.display().to_string()), "{error}");
            }
            let _ = head(&file.0, "auto", 9);
        }
    }
}

#[test]
fn a_record_that_is_cut_is_an_error() {
    for name in ["blktrace", "oracle-general", "oracle-general-opns", "srt", "vscsi"] {
        let samples = samples();
        let (_, content) = samples.iter().find(|(known, _)| *known == name).expect("a sample");
        let file = TestFile::new("cut", &content[..content.len() - 1]);
        let error = head(&file.0, whole(name), 9).expect_err("half a record").to_string();
        assert!(error.contains("is cut short after 0 rows"), "{name}: {error}");
    }
}

proptest! {
    /// Bytes without any sense.
    #[test]
    fn random_bytes_are_refused_or_read(content in prop::collection::vec(any::<u8>(), 0..400)) {
        let file = TestFile::new("random", &content);
        for entry in formats() {
            let _ = head(&file.0, whole(entry.name), 99);
        }
        let _ = devices(&file.0, "auto");
    }

    /// Good rows with some bytes changed, which come further into a parser.
    #[test]
    fn damaged_rows_are_refused_or_read(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        digit in any::<bool>(),
    ) {
        for (name, content) in samples() {
            let mut content = content.repeat(2);
            for (at, byte) in &changes {
                let at = at.index(content.len());
                content[at] = if digit { b'0' + byte % 10 } else { *byte };
            }
            let file = TestFile::new("damaged", &content);
            let _ = head(&file.0, whole(name), 99);
            let _ = devices(&file.0, "auto");
        }
    }
}
