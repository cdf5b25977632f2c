//! A mapping in flash: sequences computed by hand, and shares of hits by a second method.
//!
//! SLC of FAST 2012 without a link: read 30 us, program 160, erase 1508. A page of 2 KiB holds 512
//! entries: that of these small drives has one page, which is page 12 of an image.

use super::drive::{self, Outcome, TraceRow};

/// One die of twelve blocks of four pages; the user has three, written in order, and the mapping
/// has one more page. Two are kept free.
const TINY: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 12\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.75\ngc_hard_free_blocks = 2\ngc_background = false\n\
    precondition = \"sequential\"\nmapping = \"demand\"\n\
    [host]\nlink_bytes_per_s = \"none\"\n";

/// Eight entries, the oldest of which leaves.
const SMALL: [&str; 2] = ["ftl.map_cache_bytes=64", "ftl.map_cache_policy=lru"];

const fn us(us: u64) -> u64 {
    us * 1000
}

fn done_us(outcome: &Outcome) -> Vec<u64> {
    let done = outcome.rows.iter().map(|row| row.completion_ns);
    done.inspect(|ns| assert_eq!(ns % 1000, 0, "{ns}")).map(|ns| ns / 1000).collect()
}

fn counts(outcome: &Outcome) -> [u64; 6] {
    ["hits", "misses", "reads", "programs", "evicted_pages", "updated_pages"]
        .map(|name| outcome.count(&format!("flash.mapping.{name}")))
}

#[test]
fn a_miss_reads_a_page_of_the_mapping_first() {
    let rows = [
        (0, 'R', 0, 4),
        (us(100), 'R', 0, 4),
        (us(200), 'R', 4, 4),
        // Two at once need the same page of the mapping, which is read once: to 330, 360, 390.
        (us(300), 'R', 8, 4),
        (us(300), 'R', 12, 4),
        // A write, too, learns where the old page is; a part of a page then reads it.
        (us(400), 'W', 16, 4),
        (us(600), 'W', 20, 1),
        (us(900), 'W', 20, 1),
    ];
    let outcome = drive::replay(TINY, &[], &rows);
    assert_eq!(done_us(&outcome), [60, 130, 260, 360, 390, 590, 820, 1_090]);
    let map_us: Vec<u64> = outcome.rows.iter().map(|row| row.part_ns("map_ns") / 1000).collect();
    assert_eq!(map_us, [30, 0, 30, 30, 30, 30, 30, 0]);
    assert_eq!(counts(&outcome), [2, 6, 5, 0, 0, 0]);
    assert_eq!(outcome.count("flash.rmw_reads"), 2);
    assert_eq!(outcome.number("flash.mapping.hit_share"), 0.25);
    // Nothing of a drive that is empty and costs nothing has to be read.
    let empty = ["ftl.precondition=none", "workload.unwritten=zero"];
    let outcome = drive::replay(TINY, &empty, &rows[..3]);
    assert_eq!(done_us(&outcome), [0, 100, 200]);
    assert_eq!(counts(&outcome), [1, 2, 0, 0, 0, 0]);
    // In an image, the page of the mapping lies behind the data.
    let outcome = drive::replay(TINY, &["ftl.precondition=none"], &rows[..3]);
    assert_eq!(done_us(&outcome), [60, 130, 260]);
}

#[test]
fn a_second_part_of_a_page_waits_with_the_first() {
    // The entry to 30, the old page to 60; then both programs.
    let rows = [(0, 'W', 0, 1), (us(5), 'W', 1, 1), (us(40), 'W', 2, 1)];
    let outcome = drive::replay(TINY, &[], &rows);
    assert_eq!(done_us(&outcome), [220, 380, 540]);
    assert_eq!(outcome.count("flash.rmw_reads"), 1);
    assert_eq!(counts(&outcome), [0, 1, 1, 0, 0, 0]);
}

#[test]
fn a_buffer_without_hits_looks_up_where_the_old_copy_lies() {
    const WITHOUT: &str = "buffer.read_hits=false";
    // Both need the page of the mapping, which is read to 30: the read goes first, to 60, and the
    // program ends at 220. Then the entry is there.
    let rows = [(0, 'W', 0, 4), (us(10), 'R', 0, 4), (us(300), 'R', 0, 4)];
    let outcome = drive::replay(TINY, &[WITHOUT], &rows);
    assert_eq!(done_us(&outcome), [220, 60, 330]);
    assert_eq!(counts(&outcome), [1, 2, 1, 0, 0, 0]);
    // With hits it is answered at once, and needs no entry.
    let outcome = drive::replay(TINY, &[], &rows);
    assert_eq!(done_us(&outcome), [190, 10, 330]);
    assert_eq!(counts(&outcome), [1, 1, 1, 0, 0, 0]);
    // A page that stays in the buffer while its entry leaves the cache: eight reads of other pages,
    // 60 each, the last of which has the mapping written anew. The entry is read to 2030.
    let mut rows = vec![(0, 'W', 0, 4)];
    rows.extend((1..9).map(|page| (us(100) * page, 'R', 4 * page, 4)));
    rows.push((us(2_000), 'R', 0, 4));
    let stays = ["buffer.acknowledge=back", "buffer.replacement=fifo"];
    let without = [&SMALL[..], &stays[..], &[WITHOUT]].concat();
    let outcome = drive::replay(TINY, &without, &rows);
    assert_eq!(done_us(&outcome)[1..], [160, 260, 360, 460, 560, 660, 760, 860, 2_060]);
    assert_eq!(counts(&outcome), [0, 10, 11, 1, 1, 0]);
    assert_eq!(outcome.count("flash.host_programs"), 0);
    let outcome = drive::replay(TINY, &without[..without.len() - 1], &rows);
    assert_eq!(done_us(&outcome)[9], 2_000);
    assert_eq!(counts(&outcome), [0, 9, 10, 1, 1, 0]);
}

#[test]
fn changed_entries_leave_together() {
    // Eight writes, 30 + 160 each, fill the cache with changed entries.
    let mut rows: Vec<TraceRow> = (0..8).map(|page| (us(1_000) * page, 'W', 4 * page, 4)).collect();
    rows.extend([
        // Entry to 8030, page to 8060; meanwhile entry 0 has left, with it all changes: the page of
        // the mapping is read to 8090 and written to 8250.
        (us(8_000), 'R', 32, 4),
        // That page is still in the controller: no read. Entry 1 leaves, which is written already.
        (us(8_100), 'W', 36, 4),
        // Entry 1 has left; the new page of the mapping is read. Entry 2 leaves.
        (us(9_000), 'R', 4, 4),
        // Entry 9 was changed again, but has not left.
        (us(9_100), 'R', 36, 4),
    ]);
    let outcome = drive::replay(TINY, &SMALL, &rows);
    assert_eq!(done_us(&outcome)[7..], [7_190, 8_060, 8_410, 9_060, 9_130]);
    assert_eq!(counts(&outcome), [1, 11, 8 + 1 + 1 + 1, 1, 1, 0]);
    assert_eq!(outcome.count("flash.host_programs"), 9);
    assert_eq!(outcome.count("flash.programs"), 10);
}

#[test]
fn collection_writes_the_entries_of_a_victim_together() {
    // Writes of pages 0 to 2, over and over, fill blocks 4 to 8 and open 9; two are free. The block
    // that was filled first is block 0, with page 3; its entry is not in the cache.
    let mut rows: Vec<TraceRow> =
        (0..21).map(|write| (us(1_000) * write, 'W', 4 * (write % 3), 4)).collect();
    // Moved from 20160 to 20350, erased to 21858; the page of the mapping is read to 21888 and
    // written to 22048; then the host writes.
    rows.push((us(21_900), 'W', 0, 4));
    let fifo = [&SMALL[..], &["ftl.gc_victim=fifo"]].concat();
    let outcome = drive::replay(TINY, &fifo, &rows);
    assert_eq!(done_us(&outcome)[20..], [20_160, 22_208]);
    assert_eq!(counts(&outcome), [19, 3, 4, 1, 0, 1]);
    // With its entry in the cache nothing is to be written: it changes there.
    rows.insert(20, (us(19_500), 'R', 12, 4));
    let outcome = drive::replay(TINY, &fifo, &rows);
    assert_eq!(done_us(&outcome)[20..], [19_560, 20_160, 22_060]);
    assert_eq!(counts(&outcome), [19, 4, 4, 0, 0, 0]);
    // A trim of that page changes its entry: here outside the cache, where it is written at once.
    let trim = [(0, 'D', 12, 4), (us(500), 'R', 12, 4)];
    let outcome = drive::replay(TINY, &SMALL, &trim);
    assert_eq!(counts(&outcome)[2..], [2, 1, 0, 1]);
}

#[test]
fn blocks_of_the_mapping_are_collected() {
    // Every write evicts: each page of the mapping is written anew again and again, and lies among
    // others of its kind.
    let text = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
        [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 256\n\
        [ftl]\nover_provisioning = 0.2\nprecondition = \"sequential\"\ngc_background = false\n\
        mapping = \"demand\"\nmap_cache_bytes = 64\nmap_cache_policy = \"lru\"\n\
        [workload]\ngenerator = \"mixed\"\nrequests = 60000\nread_fraction = 0.0\n\
        request_bytes = 2048\nqueue_depth = 1\n";
    let outcome = drive::run(drive::load(text));
    let [hits, misses, _, programs, evicted, updated] = counts(&outcome);
    // 8 of 13107 entries are there: five hits of 8192 requests. Evictions follow writes that missed
    // when the cache is full.
    let share = hits as f64 / (hits + misses) as f64;
    assert!(
        (share - 8.0 / 13_107.0).abs() < 4.0 * (8.0f64 / 13_107.0 / 60_000.0).sqrt(),
        "{share}"
    );
    // Eight changed entries, of 26 pages of the mapping: those of the oldest one's page are written
    // with it and leave unchanged.
    assert!(evicted < misses && evicted > misses * 3 / 4, "{evicted} of {misses}");
    // Programs of the mapping, but for those that go together.
    assert!(programs <= evicted + updated && programs > (evicted + updated) / 2);
    assert!(outcome.count("flash.erases") > 1_000);
}

#[test]
fn a_cache_of_all_entries_is_a_flat_mapping_after_the_first_misses() {
    let text = "device = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
        [geometry]\nchannels = 2\nblocks_per_plane = 64\npages_per_block = 16\n\
        [ftl]\nover_provisioning = 0.4\nprecondition = \"none\"\ngc_hard_free_blocks = 2\n\
        [workload]\ngenerator = \"mixed\"\nrequests = 20000\nread_fraction = 0.5\n\
        unwritten = \"zero\"\nrequest_bytes = 2048\narrivals = \"poisson\"\nrate_iops = 4000\n";
    // Its pages are never written, so that no entry costs a read: every instant is the same.
    // Its open block lets collection begin below 4 + 1 free blocks: so it does below 5 of 64.
    let flat = drive::run(drive::load_with(text, &["ftl.gc_start_free_share=0.078125"]));
    let sets = ["ftl.mapping=demand", "ftl.gc_start_free_share=0.0625"];
    let demand = drive::run(drive::load_with(text, &sets));
    assert_eq!(counts(&demand)[2..], [0, 0, 0, 0]);
    assert_eq!(demand.rows, flat.rows);
}
