//! Both stores against a plain array of bytes, and what they refuse.

use std::sync::Arc;

use reprieve_base::Stream;

use super::file::FileStore;
use super::holes::Zeroing;
use super::worker::Worker;
use super::{Extent, Fault, Store, System};
use crate::protocol::Allocation;

const BYTES: u64 = 5 << 20;

/// Makes bytes zero and waits until they are.
fn zero(store: &mut Store, at: u64, bytes: u64, keep_room: bool) {
    let ticket = store.begin_zero(at, bytes, keep_room, false).expect("zeros need no room");
    if let Some(ticket) = ticket {
        wait(store, ticket);
    }
}

fn wait(store: &Store, ticket: u64) {
    let outcome = loop {
        match store.outcome(ticket) {
            Some(outcome) => break outcome,
            None => std::thread::yield_now(),
        }
    };
    assert_eq!(outcome, Ok(()));
}

/// Reads, writes and zeros at random places, and whole leaves and pages among them.
fn agrees_with_an_array(mut store: Store) {
    let mut expected = vec![0u8; BYTES as usize];
    let mut stream = Stream::new(3, "store", 0);
    for round in 0..2000u32 {
        let longest = [1, 600, 20_000, 3 << 20][stream.below(4) as usize];
        let bytes = 1 + stream.below(longest);
        let at = stream.below(BYTES - bytes + 1);
        let (from, to) = (at as usize, (at + bytes) as usize);
        match stream.below(4) {
            0 => {
                let data: Vec<u8> = (from..to).map(|place| (place as u32 ^ round) as u8).collect();
                store.write(at, &data).expect("there is room");
                expected[from..to].copy_from_slice(&data);
            }
            1 => {
                zero(&mut store, at, bytes, stream.below(2) == 0);
                expected[from..to].fill(0);
            }
            2 => says_where_data_is(&store, &expected, at, bytes),
            _ => {
                let mut data = vec![9; to - from];
                store.read(at, &mut data).expect("it can be read");
                assert!(data == expected[from..to], "round {round}");
            }
        }
    }
}

/// Stretches follow each other, take turns, and hold all that is not zero.
fn says_where_data_is(store: &Store, expected: &[u8], at: u64, bytes: u64) {
    for most in [1, 3, 10_000] {
        let found = store.extents(at, bytes, most).expect("it can be looked at");
        assert!((1..=most).contains(&found.len()), "{found:?}");
        assert!(found.windows(2).all(|pair| pair[0].allocation != pair[1].allocation));
        let mut next = at as usize;
        for extent in &found {
            let end = next + extent.bytes as usize;
            let holds = expected[next..end].iter().any(|byte| *byte != 0);
            let is_data = extent.allocation == Allocation::Data;
            assert!(extent.bytes > 0 && (is_data || !holds), "{next} {extent:?}");
            next = end;
        }
        let is_whole = next == at as usize + bytes as usize;
        assert!(is_whole || found.len() == most && next < at as usize + bytes as usize);
    }
}

#[test]
fn what_was_never_written_or_was_trimmed_is_a_hole() {
    let mut store = Store::in_memory(BYTES, 2 * BYTES);
    let [hole, data, _] = EXTENTS;
    let all = |store: &Store| store.extents(0, BYTES, 100).expect("it can be looked at");
    assert_eq!(all(&store), [hole(BYTES)]);
    // A byte makes a page of 4 KiB; the last of a leaf and the first of the next are one stretch.
    store.write(100, &[1]).expect("there is room");
    store.write((2 << 20) - 1, &[1, 2]).expect("there is room");
    let rest = (BYTES) - (2 << 20) - 4096;
    assert_eq!(all(&store), [data(4096), hole((2 << 20) - 8192), data(8192), hole(rest)]);
    assert_eq!(store.extents(50, 4100, 100), Ok(vec![data(4046), hole(54)]));
    assert_eq!(store.extents(50, 4100, 1), Ok(vec![data(4046)]));
    zero(&mut store, 0, 4096, false);
    assert_eq!(store.extents(0, 8192, 100), Ok(vec![hole(8192)]));
}

/// A hole, data, and zeros that are allocated.
const EXTENTS: [fn(u64) -> Extent; 3] = [
    |bytes| Extent { bytes, allocation: Allocation::Hole },
    |bytes| Extent { bytes, allocation: Allocation::Data },
    |bytes| Extent { bytes, allocation: Allocation::Zero },
];

#[test]
fn zeros_without_a_hole_are_allocated_until_they_are_trimmed() {
    let [hole, data, zeros] = EXTENTS;
    let mut store = Store::in_memory(BYTES, 2 * BYTES);
    let all = |store: &Store| store.extents(0, BYTES, 100).expect("it can be looked at");
    store.write(0, &[1; 8192]).expect("there is room");
    // Beyond the end of a leaf of the table, and a part of its last page.
    zero(&mut store, 4096, (3 << 20) + 1, true);
    let rest = BYTES - (3 << 20) - 8192;
    assert_eq!(all(&store), [data(4096), zeros((3 << 20) + 4096), hole(rest)]);
    assert_eq!(store.memory_bytes(), 2 * 4096, "a page, and its leaf of the table");
    store.write(8192, &[1]).expect("there is room");
    zero(&mut store, 12_288, 4097, false);
    let rest = [zeros((3 << 20) - 8192), hole(rest)];
    assert_eq!(all(&store)[..4], [data(4096), zeros(4096), data(4096), hole(4096)]);
    assert_eq!(all(&store)[4..], rest);
    zero(&mut store, 0, BYTES, false);
    assert_eq!(all(&store), [hole(BYTES)]);
    zero(&mut store, 0, 0, true);
    assert_eq!(all(&store), [hole(BYTES)]);
}

#[test]
fn a_file_keeps_allocated_zeros_when_it_is_opened_again() {
    let [hole, data, _] = EXTENTS;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("store");
    for memory_bytes in [None, Some(0), Some(1 << 20), Some(1 << 30)] {
        let make = || match memory_bytes {
            None => Store::in_file(&System, &path, BYTES, None).expect("it can be made"),
            Some(bytes) => {
                Store::in_file(&System, &path, BYTES, Some(bytes)).expect("it can be made")
            }
        };
        let mut store = make();
        zero(&mut store, 1 << 20, 2 << 20, true);
        zero(&mut store, 2 << 20, 4096, false);
        store.close().expect("all of it is brought to safety");
        drop(store);
        let found = make().extents(0, BYTES, 100).expect("it can be looked at");
        let expected = [
            hole(1 << 20),
            data(1 << 20),
            hole(4096),
            data((1 << 20) - 4096),
            hole(BYTES - (3 << 20)),
        ];
        assert_eq!(found, expected, "{memory_bytes:?}");
        std::fs::remove_file(&path).expect("it is there");
    }
}

#[test]
fn memory_holds_what_was_written() {
    agrees_with_an_array(Store::in_memory(BYTES, 2 * BYTES));
}

#[test]
fn a_file_holds_what_was_written_and_keeps_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("store");
    agrees_with_an_array(Store::in_file(&System, &path, BYTES, None).expect("it can be made"));
    let mut store = Store::in_file(&System, &path, BYTES, None).expect("it is free again");
    store.write(BYTES - 3, &[1, 2, 3]).expect("there is room");
    let ticket = store.begin_sync(0, BYTES).expect("there is room");
    let ticket = ticket.expect("a file is not safe by itself");
    wait(&store, ticket);
    let in_use =
        Store::in_file(&System, &path, BYTES, None).err().expect("it is in use").to_string();
    assert!(in_use.contains("in use by another server"), "{in_use}");
    drop(store);
    let longer =
        Store::in_file(&System, &path, BYTES + 512, None).err().expect("another size").to_string();
    assert!(longer.contains("has 5242880 bytes, and the drive has 5243392"), "{longer}");
    let store = Store::in_file(&System, &path, BYTES, None).expect("it is as it was");
    let mut read = [0; 3];
    store.read(BYTES - 3, &mut read).expect("it can be read");
    assert_eq!(read, [1, 2, 3]);
}

#[test]
fn a_file_without_a_name_holds_what_was_written_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = FileStore::temporary(folder.path(), BYTES).expect("it can be made");
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "it has no name");
    let mut store = Store::File(file);
    assert_eq!(store.begin_sync(0, BYTES), Ok(None), "it goes with the process");
    assert_eq!(store.close(), Ok(()));
    agrees_with_an_array(store);
}

#[test]
fn a_file_without_a_name_takes_up_what_was_written_only() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // More than any machine has memory for.
    let file = FileStore::temporary(folder.path(), 1 << 42).expect("it can be made");
    let mut store = Store::File(file);
    store.write((1 << 42) - 4, &[1, 2, 3, 4]).expect("there is room");
    let mut read = [9; 8];
    store.read((1 << 42) - 8, &mut read).expect("it can be read");
    assert_eq!(read, [0, 0, 0, 0, 1, 2, 3, 4]);
    assert_eq!(store.memory_bytes(), 0);
}

#[test]
fn a_file_without_a_name_that_cannot_be_made_is_one_sentence() {
    let nowhere = std::path::Path::new("/no/such/folder");
    let refused = FileStore::temporary(nowhere, BYTES).err().expect("no folder").to_string();
    assert!(refused.starts_with("/no/such/folder: the drive has 5242880 bytes"), "{refused}");
    assert!(refused.contains("--discard-data"), "{refused}");
}

#[test]
fn what_is_written_after_a_zero_stays_though_the_zero_is_under_way() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut store =
        Store::in_file(&System, &folder.path().join("store"), BYTES, None).expect("it can be made");
    let mut stream = Stream::new(5, "overlap", 0);
    for round in 0..200 {
        store.write(0, &vec![9; BYTES as usize]).expect("there is room");
        // Many holes, the last of them of all.
        let tickets: Vec<u64> = (0..20)
            .map(|at| (at * 8192, if at < 19 { 4096 } else { BYTES - at * 8192 }))
            .chain([(0, BYTES)])
            .filter_map(|(at, bytes)| store.begin_zero(at, bytes, false, false).expect("a file"))
            .collect();
        let at = stream.below(BYTES - 10);
        store.write(at, &[7; 10]).expect("there is room");
        tickets.into_iter().for_each(|ticket| wait(&store, ticket));
        let mut read = vec![1; BYTES as usize];
        store.read(0, &mut read).expect("it can be read");
        let mut expected = vec![0; BYTES as usize];
        expected[at as usize..][..10].fill(7);
        assert!(read == expected, "round {round}");
    }
}

#[test]
fn what_goes_wrong_is_told_of_its_own_ticket() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("store");
    std::fs::write(&path, [1; 8192]).expect("there is room");
    // No hole can be made in what may only be read, and it can be brought to safety.
    let mut worker =
        Worker::start(Arc::new(std::fs::File::open(&path).expect("it is there")), true)
            .expect("one");
    let zeroing = Zeroing { at: 0, bytes: 4096, keep_room: false };
    let hole = worker.begin_zero(zeroing, false);
    let sync = worker.begin_sync();
    let forced = worker.begin_zero(zeroing, true);
    let nothing = worker.begin_zero(Zeroing { bytes: 0, ..zeroing }, false);
    worker.wait_for_all();
    let told = [hole, sync, forced, nothing].map(|ticket| worker.outcome(ticket));
    let failed = Err(Fault::Failed);
    assert_eq!(told, [failed, Ok(()), failed, Ok(())].map(Some));
    assert!(!worker.has_failed());
    assert_eq!(worker.outcome(nothing + 1), None);
}

#[test]
fn a_file_behind_a_memory_holds_what_was_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // All of it fits, some, a single block, none.
    for memory_bytes in [1 << 30, 1 << 20, 4096, 0] {
        let path = folder.path().join(memory_bytes.to_string());
        let make =
            || Store::in_file(&System, &path, BYTES, Some(memory_bytes)).expect("it can be made");
        agrees_with_an_array(make());
        let mut before = vec![0; BYTES as usize];
        let mut store = make();
        store.write(BYTES - 3000, &[7; 3000]).expect("there is room");
        store.read(0, &mut before).expect("it can be read");
        assert!(store.memory_bytes() <= memory_bytes);
        store.close().expect("all of it is brought to safety");
        assert!(std::fs::read(&path).expect("it is there") == before, "{memory_bytes}");
    }
}

/// Bytes as a drive has them, and as it would have them if its power failed.
struct Promised {
    now: Vec<u8>,
    safe: Vec<u8>,
}

impl Promised {
    /// Brings to safety the blocks of these bytes.
    fn sync(&mut self, from: usize, to: usize) {
        let (from, to) = (from / 4096 * 4096, to.next_multiple_of(4096).min(self.now.len()));
        self.safe[from..to].copy_from_slice(&self.now[from..to]);
    }
}

#[test]
fn a_loss_of_power_takes_what_was_not_brought_to_safety_and_nothing_else() {
    // The last block is half of one.
    let bytes = (1 << 20) + 2048;
    for (seed, kept) in [(1, 0), (2, 0), (3, 1), (4, 2)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("store");
        let mut store =
            Store::in_file(&System, &path, bytes, Some(1 << 30)).expect("it can be made");
        let mut drive = Promised { now: vec![0; bytes as usize], safe: vec![0; bytes as usize] };
        let mut stream = Stream::new(seed, "losses", 0);
        for round in 0..600u32 {
            let length = 1 + stream.below(9000);
            let at = stream.below(bytes - length + 1);
            let (from, to) = (at as usize, (at + length) as usize);
            match stream.below(16) {
                0 if round < 500 => {
                    store.begin_sync(0, bytes).expect("there is room");
                    drive.sync(0, bytes as usize);
                }
                1 | 2 => {
                    store.begin_sync(at, length).expect("there is room");
                    drive.sync(from, to);
                }
                3 | 4 => {
                    zero(&mut store, at, length, stream.below(2) == 0);
                    drive.now[from..to].fill(0);
                }
                _ => {
                    let data = vec![1 + round as u8 % 255; to - from];
                    store.write(at, &data).expect("there is room");
                    drive.now[from..to].copy_from_slice(&data);
                }
            }
        }
        // None, each, every other.
        let mut asked = 0;
        let is_kept = || {
            asked += 1;
            kept == 1 || kept == 2 && asked % 2 == 0
        };
        // As a write that was torn.
        let torn = (512 * 9, 512 * 3);
        let losses = store.lose(Some(torn), is_kept).expect("the file is well");
        drive.sync(torn.0 as usize, (torn.0 + torn.1) as usize);
        let found = std::fs::read(&path).expect("it is there");
        assert_eq!(found.len() as u64, bytes);
        let mut differ = [0, 0];
        for (at, block) in (0..).step_by(4096).zip(found.chunks(4096)) {
            let (now, safe) = (&drive.now[at..][..block.len()], &drive.safe[at..][..block.len()]);
            differ[0] += u64::from(block == safe && now != safe);
            differ[1] += u64::from(block == now && now != safe);
            assert!(block == safe && kept != 1 || block == now && kept != 0, "{seed} {at}");
        }
        // A block that was written may hold again what it held before.
        assert!(losses.lost_blocks >= differ[0] && losses.kept_blocks >= differ[1]);
        assert!(differ[0] > 10 || kept == 1, "{differ:?}");
        assert!(differ[1] > 10 || kept == 0, "{differ:?}");
        let mut read = vec![0; bytes as usize];
        store.read(0, &mut read).expect("it can be read");
        assert!(read == found, "what is lost is not read either");
    }
}

#[test]
fn what_is_discarded_reads_as_zeros() {
    let mut store = Store::Discarded;
    store.write(5, &[1, 2, 3]).expect("there is always room");
    zero(&mut store, 0, BYTES, true);
    let mut read = [9; 3];
    store.read(5, &mut read).expect("it can be read");
    assert_eq!(read, [0; 3]);
    assert_eq!((store.begin_sync(0, BYTES), store.memory_bytes()), (Ok(None), 0));
}

#[test]
fn a_folder_and_a_path_to_nowhere_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert!(Store::in_file(&System, folder.path(), BYTES, None).is_err());
    let nowhere = folder.path().join("no/such/store");
    assert!(Store::in_file(&System, &nowhere, BYTES, None).is_err());
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "nothing is left behind");
}

#[test]
fn memory_is_never_exceeded_and_comes_back() {
    // Room for a leaf of the table and two pages.
    let mut store = Store::in_memory(BYTES, 2 * 4096 + 4096);
    store.write(0, &[1; 8192]).expect("two pages");
    assert_eq!(store.write(8192, &[1]), Err(Fault::Full));
    assert_eq!(store.memory_bytes(), 3 * 4096);
    store.write(4095, &[2, 2]).expect("these pages are there");
    zero(&mut store, 0, 4096, false);
    store.write(8192, &[3]).expect("there is room again");
    assert_eq!(store.write(4 << 20, &[3]), Err(Fault::Full));
    // A whole leaf goes with its table.
    zero(&mut store, 0, BYTES, false);
    assert_eq!(store.memory_bytes(), 0);
    store.write(4 << 20, &[3; 8192]).expect("there is room again");
    assert_eq!(store.memory_bytes(), 3 * 4096);
}
