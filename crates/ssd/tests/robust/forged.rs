//! Saved states whose checksum is right and whose numbers are not: refused, and never a crash.

use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use reprieve_base::Stream;
use reprieve_ssd::{Options, Ssd};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};
use twox_hash::XxHash3_64;

use super::load;

/// Two planes of 16 blocks of 8 pages, half of which the user sees: 128 logical pages.
const DRIVE: &str = "seed = 7\ndevice = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nchannels = 2\ndies_per_channel = 1\nplanes_per_die = 1\nblocks_per_plane = 16\n\
    pages_per_block = 8\n[ftl]\nover_provisioning = 0.5\nplacement = \"dynamic\"\n\
    [buffer]\nacknowledge = \"back\"\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 150\nread_fraction = 0.3\n\
    trim_fraction = 0.05\nqueue_depth = 4\n";

/// "No block" in a column.
const NONE: u32 = u32::MAX;
/// Bytes before what the checksum covers.
const PREFIX_BYTES: usize = 20;

/// A file of a state, taken apart.
#[derive(Clone)]
struct File {
    magic_and_version: Vec<u8>,
    drive: Value,
    columns: Vec<(String, Vec<u32>)>,
}

impl File {
    fn read(path: &Path) -> File {
        let bytes = std::fs::read(path).expect("a state was saved");
        let (prefix, rest) = bytes.split_at(PREFIX_BYTES);
        let (length, rest) = rest.split_at(4);
        let length = u32::from_le_bytes(length.try_into().expect("four bytes"));
        let (header, mut data) = rest.split_at(length as usize);
        let header: Value = serde_json::from_slice(header).expect("a header in JSON");
        let mut columns = Vec::new();
        for column in header["columns"].as_array().expect("a list of columns") {
            let size = |key: &str| column[key].as_u64().expect("a count") as usize;
            let (own, others) = data.split_at(size("bytes"));
            data = others;
            let (mut bytes, entries) = (Vec::new(), size("entries"));
            if entries > 0 {
                let mut decoder = StreamingDecoder::new(own).expect("compressed");
                decoder.read_to_end(&mut bytes).expect("compressed as a whole");
            }
            let byte = |index: usize, place: usize| bytes[place * entries + index];
            let number = |index| u32::from_le_bytes([0, 1, 2, 3].map(|place| byte(index, place)));
            let name = column["name"].as_str().expect("a name").to_string();
            columns.push((name, (0..entries).map(number).collect()));
        }
        let magic_and_version = prefix[..12].to_vec();
        File { magic_and_version, drive: header["drive"].clone(), columns }
    }

    /// Writes it with the checksum that fits.
    fn write(&self, path: &Path) {
        let (mut list, mut data) = (Vec::new(), Vec::new());
        for (name, column) in &self.columns {
            let places = [0, 1, 2, 3];
            let of = |place: usize| column.iter().map(move |number| number.to_le_bytes()[place]);
            let bytes: Vec<u8> = places.into_iter().flat_map(of).collect();
            let packed = compress_to_vec(&bytes[..], CompressionLevel::Fastest);
            list.push(json!({"name": name, "entries": column.len(), "bytes": packed.len()}));
            data.extend(packed);
        }
        self.write_with(list, data, path);
    }

    fn write_with(&self, columns: Vec<Value>, data: Vec<u8>, path: &Path) {
        let header = json!({"program": "0", "drive": self.drive, "columns": columns}).to_string();
        let length = (header.len() as u32).to_le_bytes();
        let rest = [&length[..], header.as_bytes(), &data].concat();
        let checksum = XxHash3_64::oneshot(&rest).to_le_bytes();
        let whole = [&self.magic_and_version[..], &checksum, &rest].concat();
        std::fs::write(path, whole).expect("room for a file");
    }

    fn column(&mut self, name: &str) -> &mut Vec<u32> {
        let column = self.columns.iter_mut().find(|(own, _)| own == name);
        &mut column.unwrap_or_else(|| panic!("no column {name}")).1
    }
}

/// The state at the end of a run of the drive, some blocks of which are full, some free.
fn saved(sets: &[&str], path: &Path) -> File {
    let scenario = load(DRIVE, sets).expect("a good scenario");
    let mut ssd = Ssd::new(scenario, false).expect("a drive");
    while ssd.step(1000).expect("a generator without bad rows") {}
    ssd.save_state(path).expect("room for a file");
    File::read(path)
}

/// Starts from a state, and if it is one runs to the end under the checker.
fn start(sets: &[&str], path: &Path) -> Result<(), String> {
    let options = Options {
        from_state: Some(path.to_path_buf()),
        check: Some(format!("a forged state with {sets:?}")),
        ..Options::default()
    };
    let scenario = load(DRIVE, sets).expect("a good scenario");
    let mut ssd = Ssd::with(scenario, &options).map_err(|error| error.to_string())?;
    while ssd.step(1000).expect("what is accepted runs to its end") {}
    Ok(())
}

/// A forgery: what is done to the state, and a piece of what is said to it.
type Forgery = (fn(&mut File), &'static str);

/// Changes an entry of a column.
fn put(file: &mut File, column: &str, index: usize, value: u32) {
    file.column(column)[index] = value;
}

/// A logical page that is in flash, with the page.
fn mapped(file: &mut File, number: usize) -> (usize, u32) {
    let pages = file.column("map.physical").iter().copied().enumerate();
    pages.filter(|(_, page)| *page < 256).nth(number).expect("many are in flash")
}

const FORGERIES: &[Forgery] = &[
    (|file| put(file, "plane.free", 0, 16), "plane 0 has block 16 of 16"),
    (|file| put(file, "plane.open", 1, 4_000_000_000), "plane 1 has block 4000000000 of 16"),
    (
        |file| {
            let first = file.column("plane.free")[0];
            put(file, "plane.free", 1, first);
        },
        "of plane 0 has two of the roles",
    ),
    (
        |file| {
            let open = file.column("plane.open")[0];
            put(file, "plane.free", 0, open);
        },
        "of plane 0 has two of the roles",
    ),
    (|file| put(file, "plane.next_page", 0, 9), "the next page of plane 0 is 9, of blocks of 8"),
    (
        |file| {
            put(file, "plane.open", 1, NONE);
            put(file, "plane.next_page", 1, 3);
        },
        "the next page of plane 1 is 3",
    ),
    (|file| file.column("plane.free_blocks")[0] += 1, "no column \"plane.free\""),
    (|file| put(file, "plane.free_blocks", 0, u32::MAX), "no column \"plane.free\""),
    // One plane gives a free block to the other, where that number is not free.
    (
        |file| {
            file.column("plane.free_blocks")[0] -= 1;
            file.column("plane.free_blocks")[1] += 1;
        },
        "the state contradicts itself: ",
    ),
    (|file| put(file, "plane.fills", 0, 0), "the blocks of plane 0 were filled in no order"),
    (|file| put(file, "plane.fills", 1, u32::MAX), "the blocks of plane 1 were filled in no order"),
    (|file| file.column("block.filled").fill(0), "were filled in no order"),
    (
        |file| {
            let free = file.column("plane.free")[0] as usize;
            put(file, "block.filled", free, 1);
        },
        "the blocks of plane 0 were filled in no order",
    ),
    (|file| put(file, "block.erases", 3, u32::MAX), "block 3 was erased 4294967295 times"),
    (|file| put(file, "placement.position", 0, 2), "placement is at 2 of 2 places"),
    (
        |file| {
            let (lpn, _) = mapped(file, 5);
            put(file, "map.physical", lpn, 256);
        },
        "is on page 256, which is not programmed",
    ),
    (
        |file| {
            let (lpn, _) = mapped(file, 5);
            let free = file.column("plane.free")[0];
            put(file, "map.physical", lpn, free * 8);
        },
        "which is not programmed",
    ),
    (
        |file| {
            // The first page of the open block is as if it was not programmed yet.
            let (lpn, _) = mapped(file, 5);
            let open = file.column("plane.open")[1];
            put(file, "plane.next_page", 1, 0);
            put(file, "map.physical", lpn, (16 + open) * 8);
        },
        "which is not programmed",
    ),
    (
        |file| {
            let (lpn, _) = mapped(file, 5);
            let (_, page) = mapped(file, 9);
            put(file, "map.physical", lpn, page);
        },
        " are both on page ",
    ),
    (
        |file| {
            let (lpn, _) = mapped(file, 5);
            put(file, "map.physical", lpn, (1 << 31) + 5);
        },
        "is in the buffer of a drive at rest",
    ),
    // All blocks are full, and nothing can be gained.
    (
        |file| {
            let free: u32 = file.column("plane.free_blocks")[0];
            file.column("plane.free_blocks")[0] = 0;
            file.column("plane.free").drain(..free as usize);
            put(file, "plane.next_page", 0, 8);
            let filled = file.column("block.filled");
            (0..16).for_each(|block| filled[block as usize] = block);
            put(file, "plane.fills", 0, 16);
            let open = file.column("plane.open")[0] as usize;
            put(file, "block.filled", open, 0);
            let entries = file.column("map.physical");
            (0..128).for_each(|lpn| entries[lpn as usize] = lpn);
        },
        "the state contradicts itself: plane 0 holds 128 pages of the user, and has room for",
    ),
    (|file| file.columns.push(("more".into(), vec![1])), "a column \"more\" that no drive has"),
    (|file| file.columns.push(("buffer.dirty".into(), vec![128])), "pages in its buffer"),
    (|file| file.column("plane.open").push(1), "no column \"plane.open\" of 2 entries"),
    (|file| file.columns.push(file.columns[0].clone()), "or has it twice"),
];

#[test]
fn a_state_that_contradicts_itself_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("drive.state");
    let whole = saved(&[], &path);
    whole.write(&path);
    assert_eq!(start(&[], &path), Ok(()), "taken apart and put together it is the same");
    for (number, (forge, said)) in FORGERIES.iter().enumerate() {
        let mut file = whole.clone();
        forge(&mut file);
        file.write(&path);
        let error = start(&[], &path).expect_err("a forged state");
        assert!(error.contains(said), "forgery {number}: {error}");
        assert!(error.starts_with(&path.display().to_string()), "{error}");
    }
}

#[test]
fn a_page_is_once_in_a_buffer_that_overwrites_it() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("drive.state");
    let mut file = saved(&[], &path);
    file.columns.push(("buffer.dirty".into(), vec![3, 3]));
    file.write(&path);
    assert_eq!(start(&[], &path), Ok(()), "both are programmed");
    let error = start(&["buffer.replacement=lru"], &path).expect_err("one page twice");
    assert!(error.contains("one of them twice"), "{error}");
}

#[test]
fn a_wordline_is_programmed_as_a_whole() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("drive.state");
    let sets = ["timing.wordline_pages=2", "ftl.over_provisioning=0.7"];
    let mut file = saved(&sets, &path);
    let next = file.column("plane.next_page");
    next[0] = 7;
    file.write(&path);
    let error = start(&sets, &path).expect_err("half of a wordline");
    assert!(error.contains("the next page of plane 0 is 7"), "{error}");
    assert!(error.contains("programs of 2"), "{error}");
}

#[test]
fn a_header_that_claims_more_than_there_is_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("drive.state");
    let file = saved(&[], &path);
    let column =
        |entries: u64, bytes: u64| json!({"name": "a", "entries": entries, "bytes": bytes});
    for (columns, data) in [
        (vec![column(u64::MAX, 0)], vec![]),
        (vec![column(1 << 60, 4)], vec![0; 4]),
        (vec![column(2, u64::MAX)], vec![0; 4]),
        (vec![column(0, 0)], vec![0; 4]),
        (vec![json!({"name": 3})], vec![]),
    ] {
        file.write_with(columns, data, &path);
        let error = start(&[], &path).expect_err("a forged header");
        assert!(error.contains("save it anew"), "{error}");
    }
    // Four thousand entries that are compressed where ten are claimed.
    let packed = compress_to_vec(&[0u8; 16_000][..], CompressionLevel::Fastest);
    let bytes = packed.len() as u64;
    file.write_with(vec![column(10, bytes)], packed, &path);
    assert!(start(&[], &path).expect_err("a forged column").contains("save it anew"));
}

/// Drives whose states have something of their own.
const DRIVES: [&[&str]; 11] = [
    &[],
    &["ftl.gc_victim=fifo", "ftl.precondition=steady", "ftl.free_block=least-worn"],
    &["ftl.gc_victim=cost-benefit", "ftl.placement=cwdp", "ftl.static_wear_spread=3"],
    &["ftl.gc_victim=random", "ftl.precondition=sequential", "ftl.gc_background=false"],
    &["geometry.planes_per_die=2", "parallelism.multi_plane=page", "ftl.twin_blocks=true"],
    &["ftl.stream=hot-cold", "ftl.gc_stream=separate", "geometry.blocks_per_plane=24"],
    &["nand.program_failure=0.002", "ftl.factory_bad_share=0.1", "geometry.blocks_per_plane=24"],
    &["reliability.model=power", "reliability.delta=0.1", "ecc.code=ldpc"],
    &["ftl.mapping=demand", "ftl.map_cache_bytes=64", "geometry.blocks_per_plane=24"],
    &["timing.wordline_pages=2", "ftl.over_provisioning=0.7"],
    &["ftl.partial_write=track_sectors", "workload.request_bytes=512"],
];

/// What became of states with one number changed.
#[derive(Debug, Default)]
struct Outcome {
    refused: u64,
    ran: u64,
}

/// Changes one number of the state of each drive, so many times.
fn forge(seed: u64, times: u64, outcome: &mut Outcome) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("drive.state");
    for (number, sets) in (0..).zip(DRIVES) {
        let whole = saved(sets, &path);
        let mut stream = Stream::new(seed, "test.forged", number);
        for _ in 0..times {
            let mut file = whole.clone();
            let Some(change) = change_a_number(&mut file, &mut stream) else { continue };
            file.write(&path);
            match start(sets, &path) {
                Err(error) => {
                    let repeat = format!("seed {seed}, {sets:?}, {change}: {error}");
                    assert!(error.contains("save it anew"), "{repeat}");
                    outcome.refused += 1;
                }
                Ok(()) => outcome.ran += 1,
            }
        }
    }
}

/// Changes an entry of some column; says which, unless the column is empty.
fn change_a_number(file: &mut File, stream: &mut Stream) -> Option<String> {
    let mut below = |bound: usize| stream.below(bound as u64) as usize;
    let column = below(file.columns.len());
    let (name, entries) = &mut file.columns[column];
    if entries.is_empty() {
        return None;
    }
    let (entry, other) = (below(entries.len()), below(entries.len()));
    let old = entries[entry];
    entries[entry] = match below(6) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_sub(1),
        2 => entries[other],
        3 => below(40) as u32,
        4 => below(600) as u32,
        _ => below(1 << 32) as u32,
    };
    Some(format!("{name}[{entry}] = {} in place of {old}", entries[entry]))
}

#[test]
fn a_state_with_one_number_changed_is_refused_or_runs() {
    let mut outcome = Outcome::default();
    forge(11, 150, &mut outcome);
    assert!(outcome.refused > 200 && outcome.ran > 100, "{outcome:?}");
}

#[test]
#[ignore = "takes ten minutes: make long"]
#[expect(clippy::disallowed_methods, reason = "a new seed each time, for ten minutes")]
fn states_with_numbers_changed_are_refused_or_run() {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let first_seed = since.as_secs();
    println!("forged states: seeds from {first_seed} on");
    let mut outcome = Outcome::default();
    let (begun, ten_minutes) = (Instant::now(), Duration::from_secs(600));
    for seed in first_seed.. {
        if begun.elapsed() >= ten_minutes {
            break;
        }
        forge(seed, 500, &mut outcome);
    }
    println!("{outcome:?}");
    assert!(outcome.refused > 0 && outcome.ran > 0, "{outcome:?}");
}
