//! Plain, gzip and Zstandard files, whole and damaged.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use reprieve_trace::{RawRequest, Workload, WorkloadConfig, head};

use crate::files::{TestFile, whole};

/// `0 0 8 8 1` and `5 0 16 8 0`, by `zstd --check` 1.5: one frame with a checksum.
const FRAME_CHECKED: &[u8] = b"\x28\xb5\x2f\xfd\x04\x58\xa9\x00\x00\x30\x20\x30\x20\x38\x20\x38\
    \x20\x31\x0a\x35\x20\x30\x20\x31\x36\x20\x38\x20\x30\x0a\xa9\x5b\x54\xa0";

/// `7 0 8 8 1`, by `zstd --no-check` 1.5.
const FRAME_PLAIN: &[u8] =
    b"\x28\xb5\x2f\xfd\x00\x58\x51\x00\x00\x37\x20\x30\x20\x38\x20\x38\x20\x31\x0a";

/// A skippable frame of RFC 8878, 3.1.2, with three bytes of content.
const FRAME_SKIPPABLE: &[u8] = b"\x5a\x2a\x4d\x18\x03\x00\x00\x00abc";

/// Rows that do not compress to nothing: times by a multiplicative congruential generator.
fn rows(count: u64) -> String {
    let row = |index: u64| {
        let sector = index.wrapping_mul(0x5851_f42d_4c95_7f2d) >> 20;
        format!("{index} 0 {sector} 8 1\n")
    };
    (0..count).map(row).collect()
}

fn gzip(content: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

pub(crate) fn zstd(content: &str) -> Vec<u8> {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    compress_to_vec(content.as_bytes(), CompressionLevel::Fastest)
}

fn times(content: &[u8]) -> Vec<u64> {
    let file = TestFile::new("misleading.txt", content);
    let rows: Vec<RawRequest> = head(&file.0, "mqsim", usize::MAX).expect("good rows");
    rows.iter().map(|row| row.time_ns).collect()
}

/// The error that a whole replay meets.
fn error_of(content: &[u8]) -> String {
    let file = TestFile::new("damaged", content);
    let replay = || -> Result<(), reprieve_base::UserError> {
        let mut workload = Workload::open(&WorkloadConfig::Trace(whole(&file)), 1 << 62, 1)?;
        while workload.next_request()?.is_some() {}
        assert_eq!(workload.next_request(), Ok(None));
        Ok(())
    };
    let error = replay().expect_err("the file is damaged").to_string();
    error.replace(&file.0.display().to_string(), "FILE")
}

#[test]
fn gzip_members_follow_each_other() {
    let members = [gzip("1 0 8 8 1\n2 0 8 "), gzip("8 1\n"), gzip(""), gzip("3 0 8 8 0\n")];
    assert_eq!(times(&members.concat()), [1, 2, 3]);
}

#[test]
fn zstandard_frames_follow_each_other_and_others_are_skipped() {
    assert_eq!(times(FRAME_CHECKED), [0, 5]);
    let frames = [FRAME_SKIPPABLE, FRAME_CHECKED, FRAME_SKIPPABLE, FRAME_PLAIN].concat();
    assert_eq!(times(&frames), [0, 5, 7]);
}

#[test]
fn large_files_come_through_whole() {
    let content = rows(200_000);
    for compressed in [gzip(&content), zstd(&content), content.clone().into_bytes()] {
        let times = times(&compressed);
        assert_eq!(times.len(), 200_000);
        assert!(times.iter().zip(0..).all(|(time, index)| *time == index));
    }
}

#[test]
fn a_file_cut_short_is_an_error_that_counts_its_rows() {
    let content = rows(200_000);
    for whole in [gzip(&content), zstd(&content)] {
        for keep in [whole.len() / 2, whole.len() - 3] {
            let error = error_of(&whole[..keep]);
            let rest = error.strip_prefix("FILE: is cut short or damaged after ");
            let rows = rest.and_then(|rest| rest.split(' ').next()).expect("a count of rows");
            let rows: u64 = rows.parse().expect("a count of rows");
            // Half of the bytes are about half of the rows; blocks are at most 128 KiB.
            let least = if keep == whole.len() / 2 { 80_000 } else { 190_000 };
            assert!((least..=200_000).contains(&rows), "{error}");
        }
    }
}

#[test]
fn a_file_cut_within_the_first_rows_is_an_error() {
    let error = error_of(&gzip("1 0 8 8 1\n2 0 8 8 1\n")[..20]);
    assert!(error.starts_with("FILE: is cut short or damaged after "), "{error}");
    let error = error_of(&FRAME_PLAIN[..15]);
    let expected = "FILE: is cut short or damaged after 0 rows: the file ends within a frame";
    assert_eq!(error, expected);
    // The skippable frame promises three bytes and has one.
    let error = error_of(&[FRAME_PLAIN, &FRAME_SKIPPABLE[..9]].concat());
    assert!(error.starts_with("FILE: is cut short or damaged after 1 rows"), "{error}");
}

#[test]
fn a_wrong_checksum_is_an_error() {
    let mut damaged = FRAME_CHECKED.to_vec();
    // A digit of the content, not of the format: the row `0 0 8 8 1` becomes `0 0 9 8 1`.
    damaged[13] = b'9';
    let error = error_of(&damaged);
    assert!(error.contains("after 2 rows") && error.contains("checksum"), "{error}");
    let mut damaged = gzip("1 0 8 8 1\n");
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    assert!(error_of(&damaged).contains("after 1 rows"), "{}", error_of(&damaged));
}

#[test]
fn what_is_no_file_is_said_to_be_none() {
    let error = head(std::path::Path::new("/dev/null"), "auto", 1);
    assert!(error.expect_err("a device").to_string().contains("not a regular file"));
    let error = head(std::path::Path::new("no such file"), "auto", 1);
    assert!(error.expect_err("no file").to_string().starts_with("no such file: cannot be read"));
}

/// A tar archive of these files, by the layout of POSIX.1-1988 (`ustar`).
fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in files {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[156] = if name.ends_with('/') { b'5' } else { b'0' };
        header[257..265].copy_from_slice(b"ustar\x0000");
        // The checksum counts its own field as blanks.
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        archive.extend(header);
        archive.extend(*content);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}

#[test]
fn the_members_of_an_archive_are_files_of_a_folder() {
    let first = gzip("5 0 8 8 1\n9 0 8 8 1\n");
    let archive = tar(&[
        ("t/", b""),
        ("t/b.gz", &first),
        ("t/._b", b"no trace\n"),
        ("t/a", b"1 0 16 8 0\n7 0 16 8 0\n"),
    ]);
    let packed = {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&archive).expect("memory");
        encoder.finish().expect("memory")
    };
    for content in [&archive, &packed] {
        assert_eq!(times(content), [1, 5, 7, 9]);
    }
    assert_eq!(times(&tar(&[("one", b"3 0 8 8 1\n")])), [3]);
    let file =
        TestFile::new("bad.tar", tar(&[("a", b"1 0 8 8 1\n"), ("b", b"2 0 8 8 1\n3 0 8 8 x\n")]));
    let error = head(&file.0, "mqsim", 9).expect_err("a bad row").to_string();
    assert!(error.starts_with(&format!("{}/b:2: `3 0 8 8 x`", file.0.display())), "{error}");
    let file = TestFile::new("side.tar", tar(&[("a", b"1 0 8 8 1\n"), ("readme", b"1 2\n")]));
    let error = head(&file.0, "auto", 9).expect_err("a side file").to_string();
    assert!(error.contains("/readme: holds no row") && error.contains("unpack the archive"));
}

#[test]
fn an_archive_that_is_cut_is_an_error() {
    let archive = tar(&[("a", rows(200).as_bytes())]);
    let error = error_of(&archive[..1000]);
    assert_eq!(error, "FILE: the tar archive is cut short");
    let mut damaged = tar(&[("a", b"1 0 8 8 1\n"), ("b", b"2 0 8 8 1\n")]);
    damaged[1024 + 257] = b'x';
    let error = error_of(&damaged);
    assert_eq!(error, "FILE: cannot be read: archive header checksum mismatch");
    assert_eq!(error_of(&tar(&[("d/", b"")])), "FILE: the tar archive has no files");
}

/// Archives by real tools: `tar --format=gnu` and `--format=pax` with a name of 120 letters.
#[test]
fn long_names_are_those_of_gnu_and_of_pax() {
    let name = "n".repeat(120);
    for format in ["gnu", "pax", "ustar"] {
        let folder =
            crate::volumes::Folder::new(&[(&name[..90], b"1 0 8 8 1\n"), (&name, b"1 2\n")]);
        let short = format == "ustar";
        let out = crate::files::fresh_path("made.tar");
        let status = std::process::Command::new("tar")
            .args([&format!("--format={format}"), "-cf"])
            .arg(&out)
            .arg("-C")
            .arg(&folder.0)
            .args(if short { vec![&name[..90]] } else { vec![&name[..90], &name] })
            .status();
        // Where there is no tar, the archives above have to do.
        let Ok(status) = status else { return };
        assert!(status.success(), "{format}");
        let read = head(&out, "mqsim", 9);
        std::fs::remove_file(&out).expect("the test's own file");
        match read {
            Ok(rows) => assert!(short && rows.len() == 1),
            Err(error) => {
                assert!(error.to_string().contains(&format!("made.tar/{name}: holds no row")))
            }
        }
    }
}
