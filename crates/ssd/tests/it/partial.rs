//! Writes of part of a page: what they read first, by hand and against a map of sectors held.
//!
//! SLC of FAST 2012: page over the bus 20 us, tR 10, program 5 x (20 + 8); 4 sectors a page.

use std::collections::{BTreeMap, BTreeSet};

use reprieve_base::{Op, SECTOR_BYTES, Stream};

use super::drive::{self, Outcome, Row, TraceRow};

/// One die of 16 blocks of 4 pages, of which the user has half.
const SLC: &str = "device = \"fast12-slc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\n[host]\nlink_bytes_per_s = \"none\"\n[scheduling]\n";

const TRACK: &str = "ftl.partial_write=track_sectors";
const PAD: &str = "ftl.partial_write=pad";
const ZERO: &str = "workload.unwritten=zero";
const BACK: &str = "buffer.acknowledge=back";

/// The whole page in and its program, and the same behind a read of the old page.
const PROGRAM_US: u64 = 20 + 140;
const READ_US: u64 = 10 + 20;
const BOTH_US: u64 = READ_US + PROGRAM_US;

/// Requests a millisecond apart, each of `(operation, first sector, sectors)`.
fn spaced(requests: &[(char, u64, u64)]) -> Vec<TraceRow> {
    let rows = (0..).zip(requests);
    rows.map(|(n, (op, sector, sectors))| (n * 1_000_000, *op, *sector, *sectors)).collect()
}

/// Latencies in microseconds of requests that come one by one.
fn latencies_us(sets: &[&str], requests: &[(char, u64, u64)]) -> Vec<u64> {
    let outcome = drive::replay(SLC, sets, &spaced(requests));
    let ns = outcome.rows.iter().map(Row::latency_ns);
    ns.inspect(|ns| assert_eq!(ns % 1000, 0, "{ns}")).map(|ns| ns / 1000).collect()
}

#[test]
fn a_page_never_written_is_just_programmed() {
    let one = [('W', 1, 2)];
    assert_eq!(latencies_us(&[], &one), [BOTH_US]);
    assert_eq!(latencies_us(&[TRACK], &one), [PROGRAM_US]);
    assert_eq!(latencies_us(&[PAD], &one), [PROGRAM_US]);
}

#[test]
fn a_write_reads_first_only_what_it_leaves() {
    // Page 0 holds 1 and 2; a write of 0 leaves them. Then it holds 0 to 2: a write of these leaves
    // none, one of 1 to 3 leaves 0, and one of the whole page none, which is read by nobody.
    let requests = [('W', 1, 2), ('W', 0, 1), ('W', 0, 3), ('W', 1, 3), ('W', 0, 4), ('W', 3, 1)];
    let track = [PROGRAM_US, BOTH_US, PROGRAM_US, BOTH_US, PROGRAM_US, BOTH_US];
    assert_eq!(latencies_us(&[TRACK], &requests), track);
    let all = [BOTH_US, BOTH_US, BOTH_US, BOTH_US, PROGRAM_US, BOTH_US];
    assert_eq!(latencies_us(&[], &requests), all);
    assert_eq!(latencies_us(&[PAD], &requests), [PROGRAM_US; 6]);
    // A write over two pages: page 0 holds sector 0, which it leaves; page 1 holds none.
    let two = latencies_us(&[TRACK, "policy=rps"], &[('W', 0, 1), ('W', 2, 4)]);
    // The old page is read beside nothing, then both pages are programmed one after the other.
    assert_eq!(two, [PROGRAM_US, READ_US + 2 * PROGRAM_US]);
}

#[test]
fn the_first_read_of_a_page_never_written_finds_what_it_reads() {
    let after_a_read = |write| [('R', 0, 1), ('R', 3, 1), write];
    // It holds sector 0: a write of 1 to 3 leaves it, one of 0 does not, for sector 3, which was
    // read later, is not known.
    let reads = [READ_US, READ_US];
    for (write, us) in [(('W', 1, 3), BOTH_US), (('W', 0, 1), PROGRAM_US)] {
        let expected = [&reads[..], &[us]].concat();
        assert_eq!(latencies_us(&[TRACK], &after_a_read(write)), expected, "{write:?}");
    }
    // Where such a read costs nothing, nothing is there to be found.
    assert_eq!(latencies_us(&[TRACK, ZERO], &after_a_read(('W', 1, 3))), [0, 0, PROGRAM_US]);
    // Of a page that is written, a read finds nothing more; its other sectors cost a read.
    let written = [('W', 0, 1), ('R', 2, 2), ('W', 0, 1)];
    assert_eq!(latencies_us(&[TRACK], &written), [PROGRAM_US, READ_US, PROGRAM_US]);
    assert_eq!(latencies_us(&[PAD], &written), [PROGRAM_US, READ_US, PROGRAM_US]);
}

#[test]
fn what_is_read_first_leaves_in_the_units_that_hold_it() {
    let unit = |bytes: u32| format!("channel.transfer_unit_bytes={bytes}");
    // It holds 0 and 1, and the write of 1 and 2 leaves 0: one of four sectors crosses, 5 us.
    let requests = [('W', 0, 2), ('W', 1, 2)];
    let by_sector = latencies_us(&[TRACK, &unit(512)], &requests);
    assert_eq!(by_sector, [PROGRAM_US, 10 + 5 + PROGRAM_US]);
    // Without the key 0 and 3 are left, two of four sectors.
    assert_eq!(latencies_us(&[&unit(512)], &requests)[1], 10 + 10 + PROGRAM_US);
    // Units of two sectors: that of 0 and 1 crosses; the other holds nothing that is left.
    assert_eq!(latencies_us(&[TRACK, &unit(1024)], &requests)[1], 10 + 10 + PROGRAM_US);
    assert_eq!(latencies_us(&[&unit(1024)], &requests)[1], 10 + 20 + PROGRAM_US);
}

#[test]
fn a_trim_takes_its_sectors_out_of_a_page_and_with_the_last_the_page() {
    // Whole, then without 0 and 1: a write of 2 and 3 leaves nothing, one of 2 leaves 3.
    let half = |write| [('W', 0, 4), ('D', 0, 2), write];
    assert_eq!(latencies_us(&[TRACK], &half(('W', 2, 2))), [PROGRAM_US, 0, PROGRAM_US]);
    assert_eq!(latencies_us(&[TRACK], &half(('W', 2, 1))), [PROGRAM_US, 0, BOTH_US]);
    assert_eq!(latencies_us(&[], &half(('W', 2, 2))), [PROGRAM_US, 0, BOTH_US]);
    // In two halves: no sector is left, and a read finds zeros. Without the key it finds the page.
    let gone = [('W', 0, 4), ('D', 0, 2), ('D', 2, 2), ('R', 0, 4), ('W', 0, 1)];
    assert_eq!(latencies_us(&[TRACK], &gone), [PROGRAM_US, 0, 0, 0, PROGRAM_US]);
    assert_eq!(latencies_us(&[], &gone), [PROGRAM_US, 0, 0, READ_US, BOTH_US]);
    // What was read of a page never written is gone as well, but the image is still there.
    let image = [('R', 0, 1), ('D', 0, 1), ('R', 1, 1), ('W', 1, 1), ('W', 0, 1)];
    let track = [READ_US, 0, READ_US, PROGRAM_US, BOTH_US];
    assert_eq!(latencies_us(&[TRACK], &image), track);
    // A trim of the whole page.
    let whole = [('W', 0, 4), ('D', 0, 4), ('W', 3, 1), ('W', 2, 1)];
    assert_eq!(latencies_us(&[TRACK], &whole), [PROGRAM_US, 0, PROGRAM_US, BOTH_US]);
}

#[test]
fn writes_that_merge_in_the_buffer_make_one_page_of_their_sectors() {
    // The program of page 1 is under way when 0 and 1 of page 0 come, and then 2: one program.
    let merged = [(0, 'W', 4, 4), (10_000, 'W', 0, 2), (20_000, 'W', 2, 1)];
    // The last request comes when all is programmed.
    let then = |row| [&merged[..], &[row, (2_000_000, 'R', 4, 4)]].concat();
    for (row, reads) in [((1_000_000, 'W', 0, 3), 0), ((1_000_000, 'W', 0, 2), 1)] {
        let outcome = drive::replay(SLC, &[TRACK, BACK], &then(row));
        assert_eq!(outcome.count("device.merged_writes"), 1);
        assert_eq!(outcome.count("flash.host_programs"), 3);
        assert_eq!(outcome.count("flash.rmw_reads"), reads, "{row:?}");
    }
    // Acknowledged when programmed, the second has its rest from the first, which is in the buffer.
    let through = drive::replay(SLC, &[TRACK], &then((1_000_000, 'W', 0, 2)));
    assert_eq!(through.count("flash.host_programs"), 4);
    assert_eq!(through.count("flash.rmw_reads"), 1);
}

/// Sectors that each page holds, as the model's text has it.
#[derive(Default)]
struct Held {
    pages: BTreeMap<u64, BTreeSet<u64>>,
    /// Pages that were written, and not trimmed since.
    written: BTreeSet<u64>,
    /// Pages that were trimmed as a whole, and not written since.
    trimmed: BTreeSet<u64>,
    /// Writes of part of a page, and those of them that have to read first.
    partial_writes: u64,
    reads_first: u64,
}

impl Held {
    /// A drive of which every page is written.
    fn full(pages: u64, per_page: u64) -> Held {
        let page = |lpn| (lpn, (0..per_page).collect());
        Held {
            pages: (0..pages).map(page).collect(),
            written: (0..pages).collect(),
            ..Held::default()
        }
    }

    fn request(&mut self, row: &Row, per_page: u64, reads_find: bool) {
        let end = row.lba + row.bytes / SECTOR_BYTES;
        for lpn in row.lba / per_page..end.div_ceil(per_page) {
            let first = (lpn * per_page).max(row.lba);
            let covered: BTreeSet<u64> =
                (first..end.min((lpn + 1) * per_page)).map(|sector| sector % per_page).collect();
            let is_whole = covered.len() as u64 == per_page;
            let held = self.pages.entry(lpn).or_default();
            match row.op {
                Op::Read => {
                    let is_new = !self.written.contains(&lpn) && !self.trimmed.contains(&lpn);
                    if is_new && held.is_empty() && reads_find {
                        *held = covered;
                    }
                }
                Op::Write => {
                    self.partial_writes += u64::from(!is_whole);
                    self.reads_first += u64::from(!held.is_subset(&covered));
                    held.extend(covered);
                    self.written.insert(lpn);
                    self.trimmed.remove(&lpn);
                }
                Op::Trim => {
                    held.retain(|sector| !covered.contains(sector));
                    let was_written = self.written.contains(&lpn);
                    if is_whole || was_written && held.is_empty() {
                        self.written.remove(&lpn);
                        self.trimmed.insert(lpn);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Requests one by one on a small drive that has to collect, of which some rewrite a few pages.
const BUSY: &str = "device = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nchannels = 2\ndies_per_channel = 2\nchips_per_channel = 2\nplanes_per_die = 2\n\
    blocks_per_plane = 24\npages_per_block = 8\n[ftl]\nover_provisioning = 0.5\n\
    partial_write = \"track_sectors\"\n[workload]\ngenerator = \"mixed\"\nrequests = 3000\n\
    read_fraction = 0.3\ntrim_fraction = 0.2\nalign_bytes = 512\nqueue_depth = 1\n\
    request_bytes = [[512, 2], [1024, 2], [2560, 1], [4096, 1]]\n";

/// What each drive adds to that.
const DRIVES: [&[&str]; 10] = [
    &[],
    &["workload.unwritten=zero"],
    &["ftl.precondition=sequential"],
    &["ftl.precondition=sequential", "ftl.gc_background=false"],
    &["geometry.page_bytes=4096", "timing.t_bus_us=40", "channel.transfer_unit_bytes=512"],
    &["geometry.page_bytes=1536", "ftl.copyback=true"],
    &["ftl.mapping=demand", "ftl.map_cache_bytes=64"],
    &["ftl.stream=hot-cold", "ftl.gc_stream=separate", "ftl.placement=dynamic"],
    &["ftl.twin_blocks=true", "parallelism.multi_plane=page"],
    &["scheduling.dispatch=sprinkler"],
];

#[test]
fn reads_before_programs_are_those_of_a_map_of_sectors() {
    let mut stream = Stream::new(11, "test.partial", 0);
    for sets in DRIVES {
        let seed = format!("seed={}", stream.below(1 << 30));
        let sets = [sets, &[seed.as_str()]].concat();
        let scenario = drive::load_with(BUSY, &sets);
        let per_page = u64::from(scenario.geometry.page_bytes) / SECTOR_BYTES;
        let reads_find = scenario.host.unwritten_costs_read;
        let is_full = sets.iter().any(|set| set.contains("precondition"));
        let mut held = match is_full {
            true => Held::full(scenario.logical_pages().into(), per_page),
            false => Held::default(),
        };
        let outcome = drive::run(scenario);
        outcome.rows.iter().for_each(|row| held.request(row, per_page, reads_find));
        assert_eq!(outcome.count("device.partial_writes"), held.partial_writes, "{sets:?}");
        assert_eq!(outcome.count("flash.rmw_reads"), held.reads_first, "{sets:?}");
        // Both happen often, and garbage was collected: none of it would show in a drive at rest.
        let (reads, writes) = (held.reads_first, held.partial_writes);
        assert!(reads > 100 && writes > reads + 100, "{reads} of {writes} {sets:?}");
        assert!(outcome.count("flash.erases") > 0, "{sets:?}");
    }
}

fn count(outcome: &Outcome) -> (u64, u64) {
    (outcome.count("device.partial_writes"), outcome.count("flash.rmw_reads"))
}

#[test]
fn padded_pages_are_read_by_nobody() {
    for sets in DRIVES {
        let outcome = drive::run(drive::load_with(BUSY, &[sets, &[PAD]].concat()));
        let (writes, reads) = count(&outcome);
        assert!(writes > 500 && reads == 0, "{reads} of {writes} {sets:?}");
    }
}
