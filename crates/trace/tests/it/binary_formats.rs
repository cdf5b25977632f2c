//! The binary formats against records made by hand, with their traps.

use reprieve_base::Op;
use reprieve_trace::{Reading, devices, head, profile};

use crate::files::TestFile;
use crate::volumes::{Expected, Folder, reading, rows};

fn check(format: &str, content: &[u8], options: &[&str], expected: &[Expected]) {
    let file = TestFile::new("trace", content);
    for name in ["auto", format] {
        assert_eq!(rows(&file.0, &reading(name, options)), expected, "{name}");
    }
    assert_eq!(profile(&file.0, reading("auto", options)).expect("found").format, format);
}

fn error_of(content: &[u8], reading: &Reading) -> String {
    let file = TestFile::new("bad", content);
    let error = head(&file.0, reading, 100).expect_err("a mistake").to_string();
    error.replace(&file.0.display().to_string(), "FILE")
}

/// An event of blktrace: time, sector, bytes, action, device.
type Event = (u64, u64, u32, u32, u32);

/// Its record, with data behind it, in the byte order of a machine.
pub fn blktrace(is_little: bool, event: Event, data: &[u8]) -> Vec<u8> {
    let (time_ns, sector, bytes, action, device) = event;
    let mut record = Vec::new();
    let mut put = |number: u64, count: usize| {
        let little = number.to_le_bytes();
        let mut bytes = little[..count].to_vec();
        if !is_little {
            bytes.reverse();
        }
        record.extend(bytes);
    };
    for (number, count) in [
        (0x6561_7407, 4),
        (1, 4),
        (time_ns, 8),
        (sector, 8),
        (bytes.into(), 4),
        (action.into(), 4),
        (99, 4),
        (device.into(), 4),
        (0, 4),
        (0, 2),
        (data.len() as u64, 2),
    ] {
        put(number, count);
    }
    record.extend(data);
    record
}

const READ: u32 = 1 << 16;
const WRITE: u32 = 2 << 16;
const FLUSH: u32 = 4 << 16;
const QUEUE: u32 = (0x10 << 16) | 1;
const ISSUE: u32 = (0x40 << 16) | 7;
const PASS_THROUGH: u32 = 0x200 << 16;
const NOTIFY: u32 = 0x400 << 16;
const DISCARD: u32 = 0x2000 << 16;
const FUA: u32 = 0x8000 << 16;
/// A control group stands in the data.
const GROUP: u32 = 0x100;

const SDB: u32 = 8 << 20 | 16;

/// What a recording holds, and which of it is a request that was queued.
fn recording(is_little: bool) -> Vec<u8> {
    let events: [(Event, &[u8]); 11] = [
        ((0, 0, 0, NOTIFY, 0), b"java"),
        ((100, 8, 4096, READ | QUEUE, SDB), b""),
        // The same request, on its way through the block layer.
        ((110, 8, 4096, READ | 4, SDB), b""),
        ((120, 8, 8192, READ | ISSUE, SDB), b""),
        ((130, 8, 8192, READ | (0x80 << 16) | 8, SDB), b""),
        // Remapped, with big-endian data.
        ((140, 16, 512, WRITE | 15, SDB), &[0, 0, 0, 1, 0, 0, 0, 2]),
        ((150, 16, 512, WRITE | FUA | GROUP | QUEUE, SDB), &[1; 8]),
        ((160, 0, 0, WRITE | FLUSH | QUEUE, SDB + 1), b""),
        ((170, 32, 4096, WRITE | DISCARD | QUEUE, SDB), b""),
        ((180, 0, 36, READ | PASS_THROUGH | QUEUE, SDB), b""),
        // Without a length: a request that fio skips, too.
        ((190, 0, 0, READ | QUEUE, SDB), b""),
    ];
    events.iter().flat_map(|(event, data)| blktrace(is_little, *event, data)).collect()
}

#[test]
fn blktrace_is_read_in_either_byte_order() {
    let expected = [
        (100, SDB, Op::Read, 4096, 4096),
        (150, SDB, Op::Write, 8192, 512),
        (160, SDB + 1, Op::Flush, 0, 0),
        (170, SDB, Op::Trim, 16_384, 4096),
    ];
    for is_little in [true, false] {
        let content = recording(is_little);
        check("blktrace", &content, &[], &expected);
        check(
            "blktrace",
            &content,
            &["blktrace_action=issue"],
            &[(120, SDB, Op::Read, 4096, 8192)],
        );
        let file = TestFile::new("trace", &content);
        let fua: Vec<_> = head(&file.0, "auto", 9).expect("good").iter().map(|r| r.fua).collect();
        assert_eq!(fua, [false, true, false, false]);
        let found = profile(&file.0, "auto").expect("good");
        assert_eq!((found.rows, found.other_lines), (6, 5));
        assert_eq!(found.dropped, [("zero length", 1), ("neither read nor write", 1)]);
        let list = devices(&file.0, "auto").expect("good");
        let names: Vec<_> = list.devices.iter().map(|d| d.name.as_deref()).collect();
        assert_eq!(names, [Some("8,16"), Some("8,17")]);
    }
}

#[test]
fn blktrace_files_of_processors_are_merged() {
    let queued = |time_ns, sector| blktrace(true, (time_ns, sector, 512, READ | QUEUE, SDB), b"");
    let folder = Folder::new(&[
        ("sdb.blktrace.0", &[queued(10, 1), queued(40, 4)].concat()),
        ("sdb.blktrace.1", &[queued(20, 2), queued(30, 3), queued(50, 5)].concat()),
        ("sdb.blktrace.2", b""),
        ("other", b"no trace\n"),
    ]);
    let read = |path: std::path::PathBuf| {
        let rows = rows(&path, &reading("auto", &[]));
        rows.iter().map(|row| (row.0, row.3 / 512)).collect::<Vec<_>>()
    };
    let all = [(10, 1), (20, 2), (30, 3), (40, 4), (50, 5)];
    assert_eq!(read(folder.0.join("sdb.blktrace.")), all);
    assert_eq!(read(folder.0.join("sdb*")), all);
    assert_eq!(read(folder.0.join("sdb.blktrace.1")), [all[1], all[2], all[4]]);
}

#[test]
fn a_binary_file_that_is_cut_says_where() {
    let mut content = recording(true);
    content.truncate(content.len() - 1);
    let error = error_of(&content, &reading("auto", &[]));
    // Eleven records of 48 bytes and 4 + 8 + 8 of data: the last begins at 10 * 48 + 20.
    assert_eq!(
        error,
        "FILE: byte 500: is cut short after 5 rows: the file ends 47 bytes into a record of \
         blktrace of 48 or more"
    );
    content.truncate(500);
    content.extend([0xab; 48]);
    let error = error_of(&content, &reading("auto", &[]));
    assert!(error.starts_with("FILE: byte 500: `ab ab ab "), "{error}");
    assert!(error.ends_with("a record begins with 0x65617407 in either byte order"), "{error}");
    // Data that is announced and missing.
    let mut content = blktrace(true, (1, 1, 512, READ | QUEUE, 0), b"12345678");
    content.truncate(50);
    let error = error_of(&content, &reading("auto", &[]));
    assert!(error.contains("ends 50 bytes into a record of blktrace of 56"), "{error}");
}

/// A heading and records of SRT: seconds, microseconds, bytes, block, device, flags, kind, version.
fn srt(records: &[[u32; 8]]) -> Vec<u8> {
    let mut content = b"$$TR_IOREC-1.3 (made by hand)\0\ntracedate = \"Sat\";\n".to_vec();
    content.push(0x0c);
    for &[seconds, us, bytes, block, device, flags, kind, version] in records {
        // Version 4 has the queue's length, and a doubtful record its flags.
        let length = 52 + 4 * u32::from(version == 4) + 4 * u32::from(kind & 4 != 0);
        let fields = [
            length,
            version << 16 | kind,
            seconds,
            us,
            174,
            19_687,
            bytes,
            block,
            device,
            4,
            27,
            flags,
            0,
            1,
            0,
        ];
        content.extend(fields[..length as usize / 4].iter().flat_map(|field| field.to_be_bytes()));
    }
    content
}

#[test]
fn srt_blocks_are_of_256_bytes_unless_diskim_is_to_be_right() {
    // Disk 1, section 7; bit 0 of the flags says read. A record of another kind is no request.
    let content = srt(&[
        [0, 0, 4096, 1056, 0x107, 0x0700_0001, 1, 4],
        [0, 22_479, 4096, 1040, 0x207, 0x0700_0000, 5, 4],
        [7, 0, 1, 1, 1, 1, 2, 1],
        [86_400, 999_999, 2048, 1, 0x307, 1, 1, 3],
    ]);
    let expected = |block_bytes: u64| {
        [
            (0, 1, Op::Read, 1056 * block_bytes, 4096),
            (22_479_000, 2, Op::Write, 1040 * block_bytes, 4096),
            (86_400_999_999_000, 3, Op::Read, block_bytes, 2048),
        ]
    };
    check("srt", &content, &[], &expected(256));
    check("srt", &content, &["sector_bytes=512"], &expected(512));
    let heading = srt(&[]).len();
    for (at, byte, what) in [
        (heading + 3, 3, "length, from 52 to 4096"),
        (heading + 5, 9, "version of a record"),
        (heading + 12, 9, "below 1000000"),
    ] {
        let mut bad = content.clone();
        bad[at] = byte;
        let error = error_of(&bad, &reading("auto", &[]));
        assert!(error.starts_with(&format!("FILE: byte {heading}: ")), "{error}");
        assert!(error.contains(what), "{error}");
    }
    let error =
        error_of(&[b"$$TR_IOREC".as_slice(), &[b'x'; 70_000]].concat(), &reading("srt", &[]));
    assert!(error.contains("form feed within 64 KiB"), "{error}");
    let error = error_of(b"\0\0\0\0", &reading("srt", &[]));
    assert!(error.contains("must begin with $$TR_IOREC"), "{error}");
}

/// A record of oracleGeneral: seconds, block, bytes, and the next access.
fn oracle(seconds: u32, block: u64, bytes: u32, next: i64) -> Vec<u8> {
    let mut record = seconds.to_le_bytes().to_vec();
    record.extend(block.to_le_bytes());
    record.extend(bytes.to_le_bytes());
    record.extend(next.to_le_bytes());
    record
}

#[test]
fn oracle_general_names_no_operation() {
    // The first record is the documented one: 6af75500 091a8f0200000000 00020000 ffffffffffffffff.
    let first = oracle(5_633_898, 42_932_745, 512, -1);
    let hex: String = first.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "6af75500091a8f020000000000020000ffffffffffffffff");
    let content =
        [first, oracle(5_633_898, 8, 4096, i64::MAX), oracle(5_633_900, 8, 4096, 7)].concat();
    let expected = |half_ns: u64| {
        [
            (5_633_898_000_000_000, 0, Op::Write, 21_981_565_440, 512),
            (5_633_898_000_000_000 + half_ns, 0, Op::Write, 4096, 4096),
            (5_633_900_000_000_000, 0, Op::Write, 4096, 4096),
        ]
    };
    check("oracle-general", &content, &["row_op=write"], &expected(500_000_000));
    let written = ["row_op=write", "same_second=as-written"];
    check("oracle-general", &content, &written, &expected(0));
    let file = TestFile::new("oracle", &content);
    let of_pages = reading("auto", &["row_op=read", "sector_bytes=4096"]);
    assert_eq!(rows(&file.0, &of_pages)[1].3, 32_768);
    let error = error_of(&content, &reading("auto", &[]));
    assert_eq!(error, "FILE: format oracle-general has no operations; give row_op, read or write");
    let error = error_of(&oracle(1, 2, 3, -2), &reading("oracle-general", &["row_op=read"]));
    assert!(error.contains("the number of a request, or -1"), "{error}");
}

#[test]
fn oracle_general_opns_has_operations_and_name_spaces() {
    let record = |op: u8, space: u16, bytes: u32| {
        let mut record = oracle(3, 8, bytes, -1);
        record.splice(16..16, [op].into_iter().chain(space.to_le_bytes()));
        record
    };
    let content: Vec<u8> =
        [record(1, 300, 512), record(3, 1, 512), record(0, 1, 512), record(9, 1, 512)].concat();
    check(
        "oracle-general-opns",
        &content,
        &["same_second=as-written"],
        &[
            (3_000_000_000, 300, Op::Read, 4096, 512),
            (3_000_000_000, 1, Op::Write, 4096, 512),
            (3_000_000_000, 1, Op::Trim, 4096, 512),
        ],
    );
    for (op, expected) in [(2, Op::Read), (12, Op::Read), (8, Op::Write), (13, Op::Write)] {
        let file = TestFile::new("op", record(op, 0, 512));
        assert_eq!(rows(&file.0, &reading("oracle-general-opns", &[]))[0].2, expected);
    }
    let error = error_of(&record(15, 0, 512), &reading("oracle-general-opns", &[]));
    assert!(error.contains("from 0 to 14"), "{error}");
}

/// A record of vSCSI: code, bytes, sector, microseconds.
fn vscsi(version: u16, (code, bytes, sector, us): (u16, u32, u64, u64)) -> Vec<u8> {
    let (number, elements) = (1u32, 1u32);
    let words = [code.to_le_bytes(), (version << 8).to_le_bytes()].concat();
    let mut record = match version {
        1 => [number, bytes, elements].iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>(),
        _ => words.clone(),
    };
    if version == 1 {
        record.extend(words);
    } else {
        record.extend([number, bytes, elements].iter().flat_map(|n| n.to_le_bytes()));
    }
    record.extend(sector.to_le_bytes());
    record.extend(us.to_le_bytes());
    if version == 2 {
        record.extend(77u64.to_le_bytes());
    }
    record
}

#[test]
fn vscsi_of_both_versions_has_microseconds() {
    let commands = [
        (0x2a, 512, 42_932_745, 5_633_898_611_441),
        (0x28, 4096, 8, 5_633_898_611_442),
        // Asks for the capacity: no request.
        (0x25, 8, 0, 5_633_898_611_443),
        (0x88, 8192, 16, 5_633_898_611_444),
        (0x35, 0, 0, 5_633_898_611_445),
    ];
    let expected = [
        (5_633_898_611_441_000, 0, Op::Write, 21_981_565_440, 512),
        (5_633_898_611_442_000, 0, Op::Read, 4096, 4096),
        (5_633_898_611_444_000, 0, Op::Read, 8192, 8192),
        (5_633_898_611_445_000, 0, Op::Flush, 0, 0),
    ];
    for (version, record_bytes) in [(1, 32), (2, 40)] {
        let content: Vec<u8> = commands.iter().flat_map(|c| vscsi(version, *c)).collect();
        assert_eq!(content.len(), 5 * record_bytes);
        check("vscsi", &content, &[], &expected);
        let error = error_of(&content[..content.len() - 1], &reading("auto", &[]));
        assert!(error.starts_with(&format!("FILE: byte {}: is cut short", 4 * record_bytes)));
        assert!(error.contains("of vscsi"), "{error}");
        // Every record must be of the first one's version.
        let mixed = [content, vscsi(3 - version, commands[0]), vec![0; 8]].concat();
        let error = error_of(&mixed, &reading("vscsi", &[]));
        assert!(error.contains("of the first one's version"), "{error}");
    }
}

#[test]
fn other_compressions_are_named() {
    for (magic, name) in
        [(&b"BZh91AY&SYxxxx"[..], "bzip2"), (b"\xfd7zXZ\0xx", "xz"), (b"PK\x03\x04xx", "Zip")]
    {
        let error = error_of(magic, &reading("auto", &[]));
        assert!(error.starts_with(&format!("FILE: is compressed with {name}, ")), "{error}");
    }
}
