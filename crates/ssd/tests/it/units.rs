//! Mapping units below a page: packed into programs, read together, calculated by hand.
//!
//! The SLC part with pages of 8 KiB: a read takes 10 and a page 20 on the channel, a unit of 4 KiB
//! half of that; a program takes 20 and 140.

use reprieve_base::Op;

use super::drive::{self, Outcome, TraceRow};

/// One channel, one die of one plane; nothing is written.
const ONE: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 24\npages_per_block = 4\n\
    page_bytes = 8192\n[ftl]\nover_provisioning = 0.6\ngc_background = false\n\
    mapping_bytes = 4096\n[host]\nlink_bytes_per_s = \"none\"\n";

fn done_us(sets: &[&str], rows: &[TraceRow]) -> (Vec<u64>, Outcome) {
    let outcome = drive::replay(ONE, sets, rows);
    (outcome.rows.iter().map(|row| row.completion_ns / 1_000).collect(), outcome)
}

fn counts<const N: usize>(outcome: &Outcome, names: [&str; N]) -> [u64; N] {
    names.map(|name| outcome.count(&format!("flash.{name}")))
}

const PROGRAMMED: [&str; 2] = ["host_programs", "padded_units"];
const READ: [&str; 2] = ["host_reads", "rmw_reads"];

#[test]
fn two_writes_are_one_program() {
    let rows = [(0, 'W', 0, 8), (50_000, 'W', 72, 8)];
    let (done, outcome) = done_us(&[], &rows);
    assert_eq!(done, [210, 210], "the page is full at 50");
    assert_eq!((counts(&outcome, PROGRAMMED), outcome.number("flash.waf")), ([1, 0], 1.0));
    let parts = ["queue_ns", "bus_ns", "array_ns"].map(|name| outcome.rows[0].part_ns(name));
    assert_eq!(parts, [50_000, 20_000, 140_000]);
    // One alone is padded when it has waited for long enough.
    let (done, outcome) = done_us(&[], &rows[..1]);
    assert_eq!((done, counts(&outcome, PROGRAMMED)), (vec![1_160], [1, 1]));
    assert_eq!(outcome.number("flash.waf"), 2.0);
    let (done, _) = done_us(&["ftl.wordline_timeout_us=30"], &rows[..1]);
    assert_eq!(done, [190]);
    // Four fill a wordline of two pages: data in to 40.
    let rows: Vec<TraceRow> = (0..4).map(|unit| (unit * 10_000, 'W', unit * 8, 8)).collect();
    let (done, outcome) = done_us(&["timing.wordline_pages=2"], &rows);
    assert_eq!((done, counts(&outcome, PROGRAMMED)), (vec![210; 4], [2, 0]));
    // Three leave a unit of the second page empty, and no page.
    let (done, outcome) = done_us(&["timing.wordline_pages=2"], &rows[..3]);
    assert_eq!((done, counts(&outcome, PROGRAMMED)), (vec![1_180; 3], [2, 1]));
    assert_eq!(outcome.count("flash.padded_pages"), 0);
    // Two leave the second page out.
    let (_, outcome) = done_us(&["timing.wordline_pages=2"], &rows[..2]);
    assert_eq!(counts(&outcome, ["host_programs", "padded_units", "padded_pages"]), [1, 2, 1]);
}

#[test]
fn pages_of_two_planes_are_one_program() {
    let planes = ["geometry.planes_per_die=2", "parallelism.multi_plane=page"];
    let rows = [(0, 'W', 0, 32)];
    // Data of both planes in to 40.
    let (done, outcome) = done_us(&[&planes[..], &["ftl.placement=aligned"]].concat(), &rows);
    assert_eq!((done, counts(&outcome, PROGRAMMED)), (vec![180], [2, 0]));
    assert_eq!(outcome.count("flash.multi_plane_commands.program"), 1);
    // One that is not full joins no other.
    let rows = [(0, 'W', 0, 24)];
    let (done, outcome) = done_us(&[&planes[..], &["ftl.placement=aligned"]].concat(), &rows);
    assert_eq!((done, counts(&outcome, PROGRAMMED)), (vec![1_160], [2, 1]));
}

#[test]
fn units_of_a_page_are_sensed_once() {
    let write = (0, 'W', 0, 16);
    let read = |sector, sectors| [write, (500_000, 'R', sector, sectors)];
    // Both units, one, and a part of each: a unit leaves whole.
    for (sector, sectors, us) in [(0, 16, 30), (0, 8, 20), (8, 8, 20), (4, 8, 30), (3, 1, 20)] {
        let (done, outcome) = done_us(&[], &read(sector, sectors));
        assert_eq!((done[1], counts(&outcome, READ)), (500 + us, [1, 0]), "{sector} {sectors}");
    }
    // With smaller units of transfers what is wanted of each leaves: a quarter of 10 each.
    let small = "channel.transfer_unit_bytes=1024";
    let (done, _) = done_us(&[small], &read(6, 4));
    assert_eq!(done[1], 500 + 10 + 5);
    // Two requests for one page are two reads.
    let rows = [write, (500_000, 'R', 0, 8), (500_000, 'R', 8, 8)];
    let (done, outcome) = done_us(&[], &rows);
    assert_eq!((&done[1..], counts(&outcome, READ)), (&[520, 540][..], [2, 0]));
    // A cache register lets the next read begin while the first page leaves.
    let (done, _) = done_us(&["timing.cache_register=true"], &rows);
    assert_eq!(done[1..], [520, 530]);
}

#[test]
fn units_of_four_pages_are_sensed_four_times() {
    // Units 0 to 3 are written apart, each with another behind it, and then again all together.
    let apart = |unit: u64| {
        let at = unit * 1_000_000;
        [(at, 'W', unit * 8, 8), (at, 'W', (20 + unit) * 8, 8)]
    };
    let mut rows: Vec<TraceRow> = (0..4).flat_map(apart).collect();
    rows.push((5_000_000, 'R', 0, 32));
    let (done, outcome) = done_us(&[], &rows);
    assert_eq!((done[8], counts(&outcome, READ)), (5_080, [4, 0]));
    rows.extend([(6_000_000, 'W', 0, 32), (7_000_000, 'R', 0, 32)]);
    let (done, outcome) = done_us(&[], &rows);
    assert_eq!((done[10], counts(&outcome, READ)), (7_060, [6, 0]));
    // On two planes that are read together: both at 7,010, and four units cross the channel.
    let planes = ["geometry.planes_per_die=2", "parallelism.multi_plane=page"];
    let (done, outcome) = done_us(&planes, &rows);
    assert_eq!(done[10], 7_050);
    // The first read of the four pages was of two such commands.
    assert_eq!(outcome.count("flash.multi_plane_commands.read"), 3);
    // On planes that read by themselves, too.
    let alone = [planes[0], planes[1], "parallelism.independent_plane_reads=true"];
    assert_eq!(done_us(&alone, &rows).0[10], 7_050);
}

#[test]
fn a_write_of_part_of_a_unit_reads_that_unit() {
    let rows = [(0, 'W', 0, 16), (500_000, 'W', 1, 1)];
    let at_once = "ftl.wordline_timeout_us=0";
    let (done, outcome) = done_us(&[at_once], &rows);
    // 10 and 10 for the old unit, 20 and 140 for the page, of which the other unit is padding.
    assert_eq!((done[1], counts(&outcome, READ)), (500 + 20 + 160, [0, 1]));
    assert_eq!(counts(&outcome, PROGRAMMED), [2, 1]);
    assert_eq!(outcome.rows[1].part_ns("rmw_ns"), 20_000);
    assert_eq!(outcome.number("flash.waf"), 2.0 * 8192.0 / (17.0 * 512.0));
    // Two units in part, of one page: each is read, and both are one program.
    let rows = [(0, 'W', 0, 16), (500_000, 'W', 7, 2)];
    let (done, outcome) = done_us(&[], &rows);
    assert_eq!((done[1], counts(&outcome, PROGRAMMED)), (500 + 30 + 160, [2, 0]));
    assert_eq!(counts(&outcome, READ), [0, 1], "they were sensed once");
    // What is whole is not read.
    let rows = [(0, 'W', 0, 16), (500_000, 'W', 8, 8)];
    let (_, outcome) = done_us(&[at_once], &rows);
    assert_eq!((counts(&outcome, READ), outcome.of(Op::Write).count()), ([0, 0], 2));
}

#[test]
fn the_unit_may_be_the_page() {
    let rows = [(0, 'W', 0, 32), (400_000, 'W', 3, 9), (900_000, 'R', 0, 24)];
    let page = done_us(&["ftl.mapping_bytes=8192"], &rows).1;
    let none = drive::replay(&ONE.replace("mapping_bytes = 4096\n", ""), &[], &rows);
    assert_eq!(page.rows, none.rows);
    assert_eq!(page.summary["flash"], none.summary["flash"]);
    assert!(page.summary.pointer("/flash/padded_units").is_none());
}

#[test]
fn a_unit_that_does_not_fit_is_refused() {
    for (sets, what) in [
        (&["ftl.mapping_bytes=3072"][..], "must be geometry.page_bytes = 8192 divided by 1, 2, 4"),
        (&["ftl.mapping_bytes=16384"], "must be geometry.page_bytes = 8192 divided by 1, 2, 4"),
        (&["geometry.page_bytes=262144", "ftl.mapping_bytes=512"], "is 512 units a page"),
        (
            &["geometry.blocks_per_plane=300000000"],
            "2147483632 in all can be mapped; must be larger",
        ),
        (&["channel.transfer_unit_bytes=8192"], "must divide ftl.mapping_bytes = 4096"),
        (&["ftl.copyback=true"], "a copyback moves whole pages"),
        (&["nand.program_failure=0.1"], "is not modelled with ftl.mapping_bytes below"),
        (&["scheduling.dispatch=mbm"], "must be geometry.page_bytes with scheduling.dispatch"),
        (
            &["ftl.over_provisioning=0.35", "ftl.mapping_bytes=512"],
            "and with programs of 16, of which",
        ),
    ] {
        let text = format!("{ONE}[workload]\ngenerator = \"mixed\"\nrequests = 1\n");
        let more = ["workload.read_fraction=1", "workload.queue_depth=1"];
        let error = drive::bad(&text, &[&more[..], sets].concat());
        assert!(error.contains(what), "{sets:?}: {error}");
    }
}
