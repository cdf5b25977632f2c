//! Drives with zones: instants and addresses by hand, and random loads against a small model.

use std::fmt::Write as _;
use std::io::Write as _;

use reprieve_base::{Op, Stream};
use reprieve_ssd::Options;

use super::drive::{self, Outcome};

/// Two SLC dies, each with a channel: page over the bus 20 us, tR 10, program 140, erase 1508.
/// Eight zones of four pages of 2 KiB on each die, 32 sectors; no host link.
const DRIVE: &str = "device = \"fast12-slc\"\n\
    [geometry]\nchannels = 2\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\n[zones]\nmodel = \"host-managed\"\nmax_open = 2\n\
    max_active = 3\n[host]\nlink_bytes_per_s = \"none\"\n";

/// A row of a trace: nanoseconds, operation, first sector, sectors.
type ZoneRow = (u64, Op, u64, u64);

const fn us(us: u64) -> u64 {
    us * 1000
}

fn try_replay(text: &str, sets: &[&str], rows: &[ZoneRow]) -> Result<Outcome, String> {
    let mut trace = String::new();
    for (ns, op, sector, sectors) in rows {
        writeln!(trace, "{ns},{},{sector},{sectors}", op.name()).expect("a string takes any text");
    }
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(trace.as_bytes()).expect("room for a few rows");
    let path = file.path().display();
    let text = format!(
        "{text}[workload]\ntrace = '{path}'\nformat = \"columns\"\n\
         columns = \"time_ns,op,sector,sectors\"\naddress = \"error\"\n"
    );
    let scenario = drive::load_with(&text, sets);
    drive::try_run(scenario, 1000, &Options::default()).map_err(|error| error.to_string())
}

#[track_caller]
fn replay(sets: &[&str], rows: &[ZoneRow]) -> Outcome {
    try_replay(DRIVE, sets, rows).unwrap_or_else(|error| panic!("{error}"))
}

/// First sectors of appends, and their completions in microseconds.
fn appends(outcome: &Outcome) -> Vec<(u64, u64)> {
    outcome.of(Op::Append).map(|row| (row.lba, row.completion_ns / 1000)).collect()
}

fn done_us(outcome: &Outcome) -> Vec<u64> {
    outcome.rows.iter().map(|row| row.completion_ns / 1000).collect()
}

#[test]
fn an_append_that_ends_in_the_measured_part_is_left_out() {
    // It is programmed after 160 us.
    let rows = [(0, Op::Append, 32, 4), (us(10), Op::Append, 64, 8)];
    let outcome = replay(&["measure.from_s=0.000005"], &rows);
    assert_eq!(outcome.count("measure.requests_excluded"), 1);
    assert_eq!(outcome.count("measure.earlier_written_bytes"), 2048);
}

#[test]
fn appends_get_the_next_addresses_of_their_zones() {
    let rows = [
        (0, Op::Append, 32, 4),
        (0, Op::Append, 32, 4),
        (0, Op::Append, 64, 8),
        (0, Op::Append, 32, 4),
    ];
    let outcome = replay(&[], &rows);
    // Pages of a zone go to dies 0 and 1 by turns: 20 + 140 for the first of each. Behind them zone
    // 2 has a page for each, to 320, and then zone 1 its third, on die 0, to 480.
    assert_eq!(appends(&outcome), [(32, 160), (36, 160), (64, 320), (40, 480)]);
    let zones = |key: &str| outcome.count(&format!("zones.{key}"));
    assert_eq!([zones("count"), zones("appends"), zones("open"), zones("empty")], [8, 4, 2, 6]);
    assert_eq!(outcome.count("requests.write.count"), 4);
    assert_eq!(outcome.number("flash.waf"), 1.0);
}

#[test]
fn a_write_begins_at_the_write_pointer_and_moves_it() {
    let rows = [(0, Op::Write, 0, 12), (us(1000), Op::Write, 12, 4), (us(2000), Op::Append, 0, 4)];
    let outcome = replay(&[], &rows);
    assert_eq!(done_us(&outcome), [320, 1160, 2160]);
    assert_eq!(outcome.of(Op::Append).next().expect("an append").lba, 16);
    let refused = |rows: &[ZoneRow]| try_replay(DRIVE, &[], rows).expect_err("a bad row");
    assert_eq!(
        refused(&[(0, Op::Write, 0, 4), (us(500), Op::Write, 8, 4)]),
        "workload: write: zone 0 has its write pointer at unit 1 of 8, and the write begins at \
         unit 2; it must begin at the write pointer"
    );
    assert_eq!(
        refused(&[(0, Op::Write, 0, 28), (us(5000), Op::Append, 0, 8)]),
        "workload: append: zone 0 has room for 1 units, and 2 are written"
    );
    assert_eq!(
        refused(&[(0, Op::Write, 0, 32), (us(5000), Op::Append, 0, 4)]),
        "workload: append: zone 0 is full; it must be reset first"
    );
    assert_eq!(
        refused(&[(0, Op::Write, 0, 36)]),
        "workload: write: a write of 18432 bytes at byte 0 ends beyond the 16384 bytes that zone 0 \
         holds"
    );
    assert_eq!(
        refused(&[(0, Op::Append, 34, 4)]),
        "workload: append: an append at byte 17408: zone 1 begins at byte 16384, which names it"
    );
    assert_eq!(
        refused(&[(0, Op::Write, 0, 2)]),
        "workload: write: a write of 1024 bytes at byte 0: a drive with zones is written in whole \
         units of 2048"
    );
    assert_eq!(
        refused(&[(0, Op::Trim, 0, 4)]),
        "workload: trim: a trim at byte 0: a drive with zones has none; reset zones"
    );
}

#[test]
fn a_drive_without_zones_refuses_their_operations() {
    let text = DRIVE.replace("host-managed", "none").replace("max_open = 2\nmax_active = 3\n", "");
    let refused = try_replay(&text, &[], &[(0, Op::Reset, 0, 0)]).expect_err("no zones");
    assert_eq!(
        refused,
        "workload: reset: the operation \"reset\" is of zones, and the drive has none; it needs \
         zones.model = \"host-managed\""
    );
}

/// Zones 0 and 1 are written, zone 0 with two pages of each die; zone 0 is reset at 2000 us.
const RESET: [ZoneRow; 4] = [
    (0, Op::Write, 0, 16),
    (0, Op::Write, 32, 8),
    (us(2000), Op::Reset, 0, 0),
    (us(2500), Op::Read, 32, 4),
];

#[test]
fn a_read_waits_for_the_erase_of_a_reset_or_suspends_it() {
    // Each die erases a block from 2000 to 3508; the read, on die 0, takes 10 + 20.
    let outcome = replay(&["policy=rps", "zones.reset=erased"], &RESET);
    assert_eq!(done_us(&outcome), [320, 480, 3508, 3538]);
    assert_eq!(outcome.count("flash.erases"), 2);
    assert_eq!(outcome.count("zones.reset_erases"), 2);
    // Suspended: 4 for the voltages, 10 + 20, and 4 to come up: the erase ends at 3508 + 38.
    let outcome = replay(&["policy=pes-ipc", "zones.reset=erased"], &RESET);
    assert_eq!(done_us(&outcome), [320, 480, 3546, 2534]);
    assert_eq!(outcome.count("flash.suspensions.erase"), 1);
    // The reset is complete at once; its erases are the same.
    let outcome = replay(&["policy=pes-ipc"], &RESET);
    assert_eq!(done_us(&outcome), [320, 480, 2000, 2534]);
    assert_eq!(outcome.count("requests.zone.count"), 1);
}

#[test]
fn a_zone_that_was_reset_reads_as_zeros_and_is_written_anew() {
    let rows = [
        (0, Op::Write, 0, 32),
        (us(2000), Op::Reset, 0, 0),
        (us(2000), Op::Read, 0, 4),
        (us(2001), Op::Append, 0, 4),
        (us(9000), Op::Read, 0, 4),
        (us(9000), Op::Read, 4, 4),
    ];
    let outcome = replay(&["policy=rps"], &rows);
    // Four programs a die to 640. The append waits for the erase to 3508, as host writes are no
    // more urgent; it goes to another block.
    assert_eq!(done_us(&outcome), [640, 2000, 2000, 3668, 9030, 9000]);
    assert_eq!(outcome.count("device.zero_reads"), 2);
    assert_eq!(outcome.number("flash.waf"), 1.0);
}

#[test]
fn a_reset_waits_for_writes_that_are_under_way() {
    let rows = [(0, Op::Write, 0, 8), (us(100), Op::Reset, 0, 0), (us(4000), Op::Append, 0, 4)];
    for (reset, reset_us) in [("mapped", 160), ("erased", 160 + 1508)] {
        let reset = format!("zones.reset={reset}");
        let outcome = replay(&["policy=rps", &reset], &rows);
        assert_eq!(done_us(&outcome), [160, reset_us, 4160], "{reset}");
        assert_eq!(appends(&outcome), [(0, 4160)]);
        assert_eq!(outcome.count("flash.erases"), 2);
    }
}

#[test]
fn a_finished_zone_is_full_and_its_blocks_are_erased_by_its_reset() {
    let rows = [
        (0, Op::Write, 0, 4),
        (us(1000), Op::Finish, 0, 0),
        (us(1000), Op::Finish, 32, 0),
        (us(1000), Op::Read, 0, 4),
        (us(1000), Op::Read, 4, 4),
        (us(2000), Op::Reset, 0, 0),
        (us(9000), Op::Append, 0, 4),
    ];
    let outcome = replay(&["policy=rps"], &rows);
    assert_eq!(done_us(&outcome), [160, 1000, 1000, 1030, 1000, 2000, 9160]);
    // Only die 0 had a block of zone 0, and none one of zone 1.
    assert_eq!(outcome.count("flash.erases"), 1);
    assert_eq!(outcome.count("zones.finishes"), 2);
    let append = [(0, Op::Write, 0, 4), (us(1000), Op::Finish, 0, 0), (us(2000), Op::Append, 0, 4)];
    let refused = try_replay(DRIVE, &[], &append).expect_err("it is full");
    assert_eq!(refused, "workload: append: zone 0 is full; it must be reset first");
}

#[test]
fn limits_of_open_and_active_zones_hold() {
    let zone = |number: u64| number * 32;
    let rows = [
        (0, Op::Append, zone(0), 4),
        (us(500), Op::Append, zone(1), 4),
        (us(1000), Op::Append, zone(2), 4),
    ];
    // Two may be open: the third write closes zone 0, which still is active.
    let outcome = replay(&[], &rows);
    assert_eq!(outcome.count("zones.implicit_closes"), 1);
    assert_eq!([outcome.count("zones.open"), outcome.count("zones.closed")], [2, 1]);
    let with = |more: &[ZoneRow]| try_replay(DRIVE, &[], &[&rows[..], more].concat());
    assert_eq!(
        with(&[(us(2000), Op::Append, zone(3), 4)]).expect_err("too many are active"),
        "workload: append: zone 3 would be one more than zones.max_active = 3; another must be \
         filled, finished or reset first"
    );
    let free = [(us(2000), Op::Reset, zone(1), 0), (us(9000), Op::Append, zone(3), 4)];
    assert!(with(&free).is_ok());
    let opens =
        [(0, Op::Open, zone(4), 0), (0, Op::Open, zone(5), 0), (us(10), Op::Append, zone(6), 4)];
    assert_eq!(
        try_replay(DRIVE, &[], &opens).expect_err("too many are open"),
        "workload: append: zone 6 would be one more than zones.max_open = 2, all of them opened \
         explicitly; one must be closed first"
    );
    let closed = [opens[0], opens[1], (us(5), Op::Close, zone(4), 0), opens[2]];
    let outcome = replay(&[], &closed);
    let zones = |key: &str| outcome.count(&format!("zones.{key}"));
    assert_eq!([zones("opens"), zones("closes"), zones("open"), zones("closed")], [2, 1, 2, 1]);
}

#[test]
fn zones_may_lie_further_apart_than_they_are_large() {
    // 64 KiB apart, 128 sectors, of which the first 32 are written.
    let sets = ["zones.size_bytes=65536"];
    let rows = [
        (0, Op::Append, 128, 4),
        (us(500), Op::Append, 128, 4),
        (us(1000), Op::Read, 132, 4),
        (us(2000), Op::Reset, 128, 0),
    ];
    let outcome = replay(&sets, &rows);
    assert_eq!(appends(&outcome), [(128, 160), (132, 660)]);
    assert_eq!(done_us(&outcome)[2..], [1030, 2000]);
    let beyond = try_replay(DRIVE, &sets, &[(0, Op::Read, 160, 4)]).expect_err("nothing is there");
    assert_eq!(
        beyond,
        "workload: read: a read of 2048 bytes at byte 81920 ends beyond the 16384 bytes that zone \
         1 holds"
    );
}

#[test]
fn zones_of_one_die_leave_the_other_alone() {
    // Zones of one plane: four pages, 16 sectors, on dies 0 and 1 by turns; 16 zones.
    let sets = ["zones.planes=1", "policy=rps", "zones.reset=erased"];
    let rows = [
        (0, Op::Append, 0, 8),
        (0, Op::Append, 16, 4),
        (us(1000), Op::Reset, 0, 0),
        (us(1100), Op::Read, 16, 4),
    ];
    let outcome = replay(&sets, &rows);
    // Two programs on die 0; an erase there to 2508, while die 1 reads.
    assert_eq!(done_us(&outcome), [320, 160, 2508, 1130]);
    assert_eq!(outcome.count("zones.count"), 16);
}

#[test]
fn a_filled_drive_has_full_zones_whose_blocks_hold_nothing_else() {
    // Each reset erases the block of each die, whatever its zone, and moves nothing.
    let resets = (0..8).map(|zone| (us(zone * 4000), Op::Reset, zone * 32, 0));
    let sets = ["ftl.precondition=sequential", "policy=rps", "zones.reset=erased"];
    let outcome = replay(&sets, &resets.collect::<Vec<_>>());
    let done: Vec<u64> = (0..8).map(|zone| zone * 4000 + 1508).collect();
    assert_eq!(done_us(&outcome), done);
    let counts = ["flash.erases", "flash.gc_reads", "flash.gc_programs", "zones.empty"];
    assert_eq!(counts.map(|count| outcome.count(count)), [16, 0, 0, 8]);
}

/// What a host knows of a zone.
#[derive(Clone, Copy, Default)]
struct Model {
    pages: u64,
    is_full: bool,
    is_active: bool,
}

/// Rows of a random load that keeps the rules, and of every append its address; reads of what holds
/// nothing; blocks erased.
struct Load {
    rows: Vec<ZoneRow>,
    addresses: Vec<u64>,
    pages_written: u64,
    empty_reads: u64,
    erases: u64,
    zones: [Model; 8],
}

/// One request a millisecond, so that each is complete before the next but for erases.
fn random_load(seed: u64, count: u64) -> Load {
    let mut stream = Stream::new(seed, "test.zones", 0);
    let mut load = Load {
        rows: Vec::new(),
        addresses: Vec::new(),
        pages_written: 0,
        empty_reads: 0,
        erases: 0,
        zones: [Model::default(); 8],
    };
    for number in 0..count {
        let zone = stream.below(8);
        let first = zone * 32;
        let active = load.zones.iter().filter(|zone| zone.is_active).count();
        let state = &mut load.zones[zone as usize];
        let mut push =
            |op, sector, sectors| load.rows.push((us(number * 4000), op, sector, sectors));
        match stream.below(8) {
            0..=3 if !state.is_full && (state.is_active || active < 3) => {
                let pages = 1 + stream.below(8 - state.pages);
                if stream.below(2) == 0 {
                    push(Op::Append, first, 4 * pages);
                    load.addresses.push(first + 4 * state.pages);
                } else {
                    push(Op::Write, first + 4 * state.pages, 4 * pages);
                }
                state.pages += pages;
                load.pages_written += pages;
                state.is_full = state.pages == 8;
                state.is_active = !state.is_full;
            }
            4 => {
                push(Op::Reset, first, 0);
                // Pages of a zone go to the dies by turns.
                load.erases += state.pages.min(2);
                *state = Model::default();
            }
            5 => {
                push(Op::Finish, first, 0);
                (state.is_full, state.is_active) = (true, false);
            }
            _ => {
                let page = stream.below(8);
                push(Op::Read, first + 4 * page, 4);
                load.empty_reads += u64::from(page >= state.pages);
            }
        }
    }
    // What is in the buffer then comes to the flash.
    load.rows.push((us(count * 4000), Op::Read, 0, 4));
    load.empty_reads += u64::from(load.zones[0].pages == 0);
    load
}

#[test]
fn random_loads_do_what_a_small_model_says() {
    for seed in 0..12 {
        let load = random_load(seed, 400);
        let policy = ["policy=rps", "policy=pes-ipc", "policy=fifo"][seed as usize % 3];
        let reset = ["zones.reset=erased", "zones.reset=mapped"][seed as usize % 2];
        let back = ["buffer.acknowledge=back", "buffer.acknowledge=through"][seed as usize / 2 % 2];
        let sets = [policy, reset, back];
        let outcome = replay(&sets, &load.rows);
        let addresses: Vec<u64> = outcome.of(Op::Append).map(|row| row.lba).collect();
        assert_eq!(addresses, load.addresses, "seed {seed}");
        assert_eq!(outcome.count("device.zero_reads"), load.empty_reads, "seed {seed}");
        assert_eq!(outcome.count("flash.host_programs"), load.pages_written, "seed {seed}");
        assert_eq!(outcome.count("zones.reset_erases"), load.erases, "seed {seed}");
        assert_eq!(outcome.count("flash.gc_programs"), 0, "seed {seed}");
        assert_eq!(outcome.number("flash.waf"), 1.0, "seed {seed}");
        let full = load.zones.iter().filter(|zone| zone.is_full).count();
        assert_eq!(outcome.count("zones.full"), full as u64, "seed {seed}");
        assert!(load.erases > 20 && full > 0, "the load of seed {seed} does little");
        assert_eq!(outcome, replay(&sets, &load.rows), "seed {seed} again");
    }
}

#[test]
fn wordlines_of_several_planes_keep_zones_apart() {
    // TLC wordlines of three pages on two planes of two dies; zones of 4 planes of 6 pages.
    let text = "device = \"fast12-slc\"\n[geometry]\nchannels = 2\nplanes_per_die = 2\n\
        blocks_per_plane = 20\npages_per_block = 6\n[timing]\nwordline_pages = 3\n\
        [parallelism]\nmulti_plane = \"page\"\n[ftl]\nover_provisioning = 0.6\n\
        placement = \"wordline\"\nwordline_timeout_us = 300\n\
        [zones]\nmodel = \"host-managed\"\n[host]\nlink_bytes_per_s = \"none\"\n\
        [buffer]\nacknowledge = \"back\"\n";
    // 24 pages of 4 sectors; appends of all sizes to two zones by turns, and resets of full ones.
    let mut stream = Stream::new(7, "test.zones", 1);
    let mut pages = [0u64; 2];
    // Of each zone the wordlines that are programmed in each plane.
    let mut wordlines = [[0u64; 4]; 2];
    let (mut rows, mut erases, mut written) = (Vec::new(), 0, 0);
    for number in 0..600 {
        let zone = number % 2;
        let at = us(number * 5000);
        let held = &mut pages[zone as usize];
        let own = &mut wordlines[zone as usize];
        if *held == 24 {
            rows.push((at, Op::Reset, zone * 96, 0));
            // Two wordlines are a block.
            erases += own.iter().map(|wordlines| wordlines.div_ceil(2)).sum::<u64>();
            (*held, *own) = (0, [0; 4]);
        } else {
            let more = 1 + stream.below((24 - *held).min(7));
            rows.push((at, Op::Append, zone * 96, 4 * more));
            let mut of_planes = [0u64; 4];
            for page in *held..*held + more {
                // Six pages to each die, to its planes by turns.
                of_planes[(page / 6 % 2 * 2 + page % 2) as usize] += 1;
            }
            // Nothing more comes within 300 us: what is incomplete is padded.
            own.iter_mut().zip(of_planes).for_each(|(own, pages)| *own += pages.div_ceil(3));
            *held += more;
            written += more;
        }
    }
    rows.push((us(3_005_000), Op::Read, 0, 4));
    let outcome = try_replay(text, &["policy=pes-ipc"], &rows).expect("a good load");
    assert_eq!(outcome.count("zones.reset_erases"), erases);
    assert!(erases > 4 * outcome.count("zones.resets"), "no zone had a further block");
    assert_eq!(outcome.count("flash.host_programs"), written);
}

#[test]
fn a_zone_whose_wordlines_are_padded_may_find_no_further_block() {
    // Every page is padded to a wordline: four pages to a plane take four wordlines, two blocks.
    let text = "device = \"fast12-slc\"\n[geometry]\nchannels = 1\nplanes_per_die = 1\n\
        blocks_per_plane = 10\npages_per_block = 6\n[timing]\nwordline_pages = 3\n\
        [ftl]\nover_provisioning = 0.7\nplacement = \"wordline\"\nwordline_timeout_us = 300\n\
        [zones]\nmodel = \"host-managed\"\n[host]\nlink_bytes_per_s = \"none\"\n";
    let rows: Vec<ZoneRow> =
        (0..18).map(|number| (us(number * 5000), Op::Append, number / 6 * 24, 4)).collect();
    // Three zones of six pages would take nine blocks; two of ten are kept.
    let refused = try_replay(text, &["policy=rps"], &rows).expect_err("no block is left");
    assert!(refused.starts_with("plane 0 has no free block for a zone: flushes"), "{refused}");
    assert!(try_replay(text, &["policy=rps"], &rows[..16]).is_ok());
}

#[test]
fn zones_are_saved_after_a_run_and_the_next_goes_on_with_them() {
    // Zone 0 is full, 1 finished, 2 open, 3 closed; zone 4 has been reset.
    let first = [
        (0, Op::Write, 0, 32),
        (us(3000), Op::Append, 32, 12),
        (us(4000), Op::Finish, 32, 0),
        (us(5000), Op::Append, 64, 8),
        (us(6000), Op::Open, 96, 0),
        (us(7000), Op::Close, 96, 0),
        (us(8000), Op::Append, 128, 8),
        (us(9000), Op::Reset, 128, 0),
    ];
    let next = [
        (0, Op::Append, 64, 4),
        (0, Op::Append, 96, 4),
        (us(1000), Op::Read, 36, 4),
        (us(2000), Op::Reset, 32, 0),
    ];
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let scenario = |rows: &[ZoneRow]| {
        let mut text = String::new();
        for (ns, op, sector, sectors) in rows {
            writeln!(text, "{ns},{},{sector},{sectors}", op.name()).expect("room");
        }
        std::fs::write(file.path(), text).expect("room for a few rows");
        let path = file.path().display();
        drive::load_with(
            &format!(
                "{DRIVE}[workload]\ntrace = '{path}'\nformat = \"columns\"\n\
                 columns = \"time_ns,op,sector,sectors\"\n"
            ),
            &["policy=rps"],
        )
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let state = folder.path().join("zones.state");
    let mut ssd = reprieve_ssd::Ssd::new(scenario(&first), false).expect("a drive");
    while ssd.step(100).expect("a good load") {}
    ssd.save_state(&state).expect("room for a small drive");
    let options = Options { from_state: Some(state.clone()), ..Options::default() };
    let outcome = drive::run_with(scenario(&next), 100, &options);
    // They go on where they were: page 2 of zone 2, on die 0, and page 0 of zone 3, on die 0 too.
    assert_eq!(appends(&outcome), [(72, 160), (96, 320)]);
    assert_eq!(done_us(&outcome)[2..], [1030, 2000]);
    // Of zone 1 each die has a block.
    assert_eq!(outcome.count("zones.reset_erases"), 2);
    let zones = |key: &str| outcome.count(&format!("zones.{key}"));
    assert_eq!([zones("full"), zones("open"), zones("closed"), zones("empty")], [1, 2, 0, 5]);
    // The same drive with fewer zones active at a time cannot go on from there.
    let mut fewer = scenario(&next);
    fewer.zones.as_mut().expect("it has zones").max_active = 1;
    assert!(reprieve_ssd::Ssd::with(fewer, &options).is_err());
}
