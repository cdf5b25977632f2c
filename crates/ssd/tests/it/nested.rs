//! Host writes that suspend erases and run inside them, calculated by hand on rig and drive.

use reprieve_base::{PageAddress, Stream, Time};
use reprieve_ssd::rig::{self, RigCommand, RigOp, RigResult};
use reprieve_ssd::{registries, scenario};

use super::drive::{self, Outcome, TraceRow};

const WRITES_SUSPEND: &str = "suspension.host_write_suspends=[\"erase\"]";

const fn us(us: u64) -> u64 {
    us * 1000
}

/// Runs `(arrival_ns, op, block, page)` on the rig of the SLC device.
fn rig(sets: &[&str], commands: &[(u64, RigOp, u32, u32)]) -> Vec<RigResult> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let scenario =
        scenario::load_rig("fast12-slc", &sets, registries()).expect("a built-in device");
    let command = |&(arrival_ns, op, block, page): &(u64, RigOp, u32, u32)| RigCommand {
        arrival: Time::from_ns(arrival_ns),
        op,
        at: PageAddress { plane: 0, block, page },
    };
    let commands: Vec<_> = commands.iter().map(command).collect();
    rig::run(&scenario, &commands).expect("legal commands")
}

/// Completions in whole microseconds, and suspensions, in the order of the commands.
fn rig_us(sets: &[&str], commands: &[(u64, RigOp, u32, u32)]) -> Vec<(u64, u32)> {
    let results = rig(sets, commands);
    let row = |result: &RigResult| {
        let ns = result.completion.ns();
        assert_eq!(ns % 1000, 0, "{result:?}");
        (ns / 1000, result.suspensions)
    };
    results.iter().map(row).collect()
}

/// An erase of block 0 at 0, a program of block 1 at 500, a read of block 2 at 561.
const ERASE_PROGRAM_READ: [(u64, RigOp, u32, u32); 3] =
    [(0, RigOp::Erase, 0, 0), (us(500), RigOp::Program, 1, 0), (us(561), RigOp::Read, 2, 0)];

#[test]
fn a_read_inside_a_program_inside_an_erase() {
    // The erase is free at 504. Data in to 524; the second pulse, from 552, ends at 572; read to
    // 602; restore 3, verify 8, 3 x 28: 697. Set-up 4, the other 1000 of the pulse, verify 8.
    let done = rig_us(&["policy=pes-ips", WRITES_SUSPEND], &ERASE_PROGRAM_READ);
    assert_eq!(done, [(1709, 1), (697, 1), (602, 0)]);
    // Cancelled at 561, free at 565; read to 595; restore 3, verify 8, 4 x 28: 718.
    let done = rig_us(&["policy=pes-ipc", WRITES_SUSPEND], &ERASE_PROGRAM_READ);
    assert_eq!(done, [(1730, 1), (718, 1), (595, 0)]);
    // Reads may suspend erases only: the program runs to its end at 664, the read to 694.
    let erases = "suspension.host_read_suspends=[\"erase\"]";
    let done = rig_us(&["policy=pes-ips", WRITES_SUSPEND, erases], &ERASE_PROGRAM_READ);
    assert_eq!(done, [(1706, 1), (664, 0), (694, 0)]);
}

#[test]
fn without_the_setting_a_program_waits_for_the_erase() {
    // The read alone suspends it: 565 to 595, set-up 4, 939 and 8 to 1546; the program to 1706.
    let done = rig_us(&["policy=pes-ips"], &ERASE_PROGRAM_READ);
    assert_eq!(done, [(1546, 1), (1706, 0), (595, 0)]);
    // Nothing is suspended where the policy or the part does not suspend, whoever may ask.
    for policy in ["fifo", "rps", "per", "pe0"] {
        let policy = format!("policy={policy}");
        let with = rig(&[&policy, WRITES_SUSPEND], &ERASE_PROGRAM_READ);
        assert_eq!(with, rig(&[&policy], &ERASE_PROGRAM_READ), "{policy}");
    }
    let done = rig_us(&["suspension.erase=false", WRITES_SUSPEND], &ERASE_PROGRAM_READ);
    assert_eq!(done, [(1508, 0), (1698, 0), (1538, 0)]);
}

#[test]
fn every_program_that_meets_the_pulse_of_an_erase_takes_a_reset_more_than_alone() {
    // Each lets 4 of the pulse pass until it begins, takes 160, and costs a set-up of 4.
    const ALONE: u64 = us(160);
    const COST: u64 = us(4 + 160 + 4);
    let mut stream = Stream::new(1, "test.nested", 0);
    for programs in 1..=6 {
        let mut arrival_ns = 0;
        let mut commands = vec![(0, RigOp::Erase, 0, 0)];
        for page in 0..programs {
            arrival_ns += COST + 1 + stream.below(us(90));
            commands.push((arrival_ns, RigOp::Program, 1, page));
        }
        let with = rig(&["policy=pes-ips", WRITES_SUSPEND], &commands);
        assert_eq!(with[0].completion.ns(), us(1508) + u64::from(programs) * COST);
        assert_eq!(with[0].suspensions, programs);
        for (result, (arrival_ns, ..)) in with[1..].iter().zip(&commands[1..]) {
            assert_eq!(result.completion.ns() - arrival_ns, us(4) + ALONE);
        }
        // Without, they follow each other after the erase.
        let without = rig(&["policy=pes-ips"], &commands);
        for (position, result) in without[1..].iter().enumerate() {
            assert_eq!(result.completion.ns(), us(1508) + (position as u64 + 1) * ALONE);
        }
    }
}

#[test]
fn programs_and_erases_keep_their_order() {
    let sets = ["policy=pes-ips", WRITES_SUSPEND];
    // Behind the erase from the beginning: it is suspended at its first instant, before its pulse,
    // and has its set-up, pulse and verify from 160 on.
    let commands = [(0, RigOp::Erase, 0, 0), (0, RigOp::Program, 1, 0)];
    assert_eq!(rig_us(&sets, &commands), [(1672, 1), (160, 0)]);
    // A program of the block itself waits, and so does what stands behind it.
    let commands =
        [(0, RigOp::Erase, 0, 0), (us(500), RigOp::Program, 0, 0), (us(500), RigOp::Program, 1, 0)];
    assert_eq!(rig_us(&sets, &commands), [(1508, 0), (1668, 0), (1828, 0)]);
    // An erase goes into no other, and holds up the program behind it: 504 to 664, then the first
    // erase to 1676; the second is suspended when it begins, until 1836.
    let commands = [
        (0, RigOp::Erase, 0, 0),
        (us(500), RigOp::Program, 1, 0),
        (us(500), RigOp::Erase, 2, 0),
        (us(500), RigOp::Program, 1, 1),
    ];
    assert_eq!(rig_us(&sets, &commands), [(1676, 1), (664, 0), (3348, 1), (1836, 0)]);
}

#[test]
fn an_erase_that_was_suspended_for_long_enough_runs_to_its_end() {
    let sets = [
        "policy=pes-ips",
        WRITES_SUSPEND,
        "suspension.policy=threshold",
        "suspension.max_suspended_us=100",
    ];
    let begin = [(0, RigOp::Erase, 0, 0), (us(500), RigOp::Program, 1, 0)];
    let with = |more: &[(u64, RigOp, u32, u32)]| rig_us(&sets, &[&begin[..], more].concat());
    // Suspended from 504 to 664; the second program waits for 1676, the erase's end.
    let done = with(&[(us(510), RigOp::Program, 1, 1)]);
    assert_eq!(done, [(1676, 1), (664, 0), (1836, 0)]);
    // After 100 in suspension not even the program inside makes way: the read waits as well.
    let done = with(&[(us(650), RigOp::Read, 2, 0)]);
    assert_eq!(done, [(1676, 1), (664, 0), (1706, 0)]);
    // The program is suspended at 572 and reads go to 602 and, after 98, to 632. Then it goes on,
    // and with it the erase: 3 + 8 + 84 to 727, 4 + 1000 + 8 to 1739; the last read after that.
    let reads = [561, 590, 620].map(|arrival_us| (us(arrival_us), RigOp::Read, 2, 0));
    assert_eq!(with(&reads), [(1739, 1), (727, 1), (602, 0), (632, 0), (1769, 0)]);
}

#[test]
fn under_pressure_the_program_goes_before_the_reads() {
    let commands = [
        (0, RigOp::Erase, 0, 0),
        (us(500), RigOp::Program, 1, 0),
        (us(500), RigOp::Read, 2, 0),
        (us(561), RigOp::Read, 2, 1),
    ];
    // Reads first: 504 to 534; data in to 554. The second read, at 561, suspends the program at
    // the pulse's end, 574, and is done at 604. 3 + 8 + 4 x 28 = 123 to 727; 4 + 1000 + 8.
    let done = rig_us(&["policy=pes-ips", WRITES_SUSPEND], &commands);
    assert_eq!(done, [(1739, 1), (727, 1), (534, 0), (604, 0)]);
    // At the limit the program goes first, 504 to 664, and is not suspended; then the reads.
    let limit = "scheduling.write_queue_limit=1";
    let done = rig_us(&["policy=pes-ips", WRITES_SUSPEND, limit], &commands);
    assert_eq!(done, [(1736, 1), (664, 0), (694, 0), (724, 0)]);
    // Without the setting nothing is suspended while the program waits.
    let done = rig_us(&["policy=pes-ips", limit], &commands);
    assert_eq!(done, [(1508, 0), (1668, 0), (1698, 0), (1728, 0)]);
}

/// Eight blocks of four pages, of which the user has three, written in order; one is kept free.
const TINY: &str = "device = \"fast12-slc\"\npolicy = \"pes-ips\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 8\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.625\ngc_hard_free_blocks = 1\ngc_background = false\n\
    precondition = \"sequential\"\n[host]\nlink_bytes_per_s = \"none\"\n";

/// Thirteen writes, one each millisecond, after which one block is free; then `more`.
///
/// The last write goes to the first page of the block that is open. It is done at 12160; then
/// collection reads a page to 12190, programs it into that block to 12350, and erases: the pulse
/// ends at 13850, the verify at 13858. The open block has two pages left, and the reserve is one.
fn on_tiny(sets: &[&str], more: &[TraceRow]) -> Outcome {
    let pages = [0, 1, 2, 4, 5, 8, 0, 1, 0, 5, 0, 5, 9];
    let writes = pages.into_iter().enumerate();
    let writes = writes.map(|(index, page)| (us(1000) * index as u64, 'W', 4 * page, 4));
    drive::replay(TINY, sets, &writes.chain(more.iter().copied()).collect::<Vec<_>>())
}

/// Completions of what follows the thirteen writes, in whole microseconds.
fn later_us(outcome: &Outcome) -> Vec<u64> {
    let done = outcome.rows[13..].iter().map(|row| row.completion_ns);
    done.inspect(|ns| assert_eq!(ns % 1000, 0, "{ns}")).map(|ns| ns / 1000).collect()
}

#[test]
fn writes_run_inside_an_erase_as_long_as_there_is_room() {
    let writes = [24, 28, 32].map(|sector| (us(13_000), 'W', sector, 4));
    // Free at 13004; two fill the open block, to 13164 and 13324. The third needs the block that is
    // being erased: set-up to 13328, the other 850 of the pulse, verify to 14186; the write.
    let outcome = on_tiny(&[WRITES_SUSPEND], &writes);
    assert_eq!(later_us(&outcome), [13_164, 13_324, 14_346]);
    let first = &outcome.rows[13];
    let parts =
        ["suspend_wait_ns", "queue_ns", "bus_ns", "array_ns"].map(|name| first.part_ns(name));
    assert_eq!(parts, [us(4), 0, us(20), us(140)]);
    let third = &outcome.rows[15];
    assert_eq!([third.part_ns("suspend_wait_ns"), third.part_ns("queue_ns")], [0, us(1186)]);
    assert_eq!(outcome.count("flash.suspensions.erase"), 1);
    assert_eq!(outcome.count("flash.suspensions_by_write"), 1);
    assert_eq!(outcome.count("flash.suspended_ns.erase"), us(320));
    // Without the setting they wait for 13858.
    let outcome = on_tiny(&[], &writes);
    assert_eq!(later_us(&outcome), [14_018, 14_178, 14_338]);
    assert!(outcome.summary.pointer("/flash/suspensions_by_write").is_none());
}

#[test]
fn a_read_suspends_the_write_inside_the_erase() {
    // Data in from 13004 to 13024, the third pulse from 13080 to 13100: suspended there; read of a
    // page of block 1 to 13130; 3 + 8 + 56 to 13197. The erase has its set-up to 13201 and of the
    // 850 left of its pulse 299 when the second write comes at 13500: free at 13504, the write to
    // 13664, filling the block. Set-up, 551 and verify to 14227; then there is room for the last.
    let rows = [
        (us(13_000), 'W', 24, 4),
        (us(13_090), 'R', 24 + 4, 4),
        (us(13_500), 'W', 28, 4),
        (us(13_600), 'W', 32, 4),
    ];
    let outcome = on_tiny(&[WRITES_SUSPEND], &rows);
    assert_eq!(later_us(&outcome), [13_197, 13_130, 13_664, 14_387]);
    assert_eq!(outcome.count("flash.suspensions.erase"), 2);
    assert_eq!(outcome.count("flash.suspensions_by_write"), 2);
    assert_eq!(outcome.count("flash.suspensions.program"), 1);
    assert_eq!(outcome.count("flash.suspended_ns.program"), us(30));
    assert_eq!(outcome.count("flash.suspended_ns.erase"), us(193 + 160));
    assert_eq!(outcome.rows[13].part_ns("suspended_ns"), us(30));
    // A suspension that a read asks for is not a write's.
    let outcome = on_tiny(&[WRITES_SUSPEND], &[(us(13_000), 'R', 28, 4)]);
    assert_eq!(outcome.count("flash.suspensions.erase"), 1);
    assert_eq!(outcome.count("flash.suspensions_by_write"), 0);
}

#[test]
fn an_erase_does_not_begin_before_a_write_that_would_suspend_it() {
    // The write comes while collection programs its page, to 12350, and goes before the erase.
    let rows = [(us(12_300), 'W', 24, 4)];
    let outcome = on_tiny(&[WRITES_SUSPEND], &rows);
    assert_eq!(later_us(&outcome), [12_510]);
    assert_eq!(outcome.count("flash.suspensions.erase"), 0);
    assert_eq!(later_us(&on_tiny(&[], &rows)), [14_018]);
    // Where it would not suspend the erase it waits for it.
    let never = ["suspension.policy=threshold", "suspension.min_remaining_us=1509"];
    let outcome = on_tiny(&[WRITES_SUSPEND, never[0], never[1]], &rows);
    assert_eq!(later_us(&outcome), [14_018]);
    let always = ["suspension.policy=threshold", "suspension.min_remaining_us=1508"];
    let outcome = on_tiny(&[WRITES_SUSPEND, always[0], always[1]], &rows);
    assert_eq!(later_us(&outcome), [12_510]);
}

#[test]
fn a_full_drive_under_writes_alone_comes_to_its_end() {
    // As little spare as is allowed, and always more writes waiting than there is room for.
    for planes in [1, 2, 4] {
        for resume in ["exact", "restart"] {
            for acknowledge in ["through", "back"] {
                let text = format!(
                    "seed = 5\ndevice = \"fast12-slc\"\npolicy = \"pes-ips\"\n\
                     [geometry]\nchannels = 1\nplanes_per_die = {planes}\n\
                     blocks_per_plane = 24\npages_per_block = 8\n\
                     [ftl]\nover_provisioning = 0.25\nprecondition = \"steady\"\n\
                     [suspension]\nhost_write_suspends = [\"erase\"]\n\
                     erase_resume = \"{resume}\"\n[buffer]\nacknowledge = \"{acknowledge}\"\n\
                     [workload]\ngenerator = \"mixed\"\nrequests = 4000\nread_fraction = 0\n\
                     request_bytes = 2048\nqueue_depth = 40\n"
                );
                let outcome = drive::run_text(&text);
                let what = format!("{planes} planes, {resume}, {acknowledge}");
                assert_eq!(outcome.count("requests.write.count"), 4000, "{what}");
                // Each page takes a place that an erase has made, but for those free at first.
                let programs = outcome.count("flash.programs");
                let free_at_first = 24 * 8 / 4 * planes;
                let gained = 8 * outcome.count("flash.erases");
                assert!(programs <= free_at_first + gained, "{what}");
            }
        }
    }
}

#[test]
fn a_trickle_of_writes_suspends_the_erases_of_a_full_drive() {
    let text = "seed = 5\ndevice = \"fast12-slc\"\npolicy = \"pes-ips\"\n\
         [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 24\n\
         pages_per_block = 8\n[ftl]\nover_provisioning = 0.25\nprecondition = \"steady\"\n\
         [workload]\ngenerator = \"mixed\"\nrequests = 4000\nread_fraction = 0.2\n\
         request_bytes = 2048\narrivals = \"poisson\"\nrate_iops = 300\n";
    let with = drive::run(drive::load_with(text, &[WRITES_SUSPEND]));
    let without = drive::run(drive::load(text));
    let by_write = with.count("flash.suspensions_by_write");
    assert!(by_write > 100 && by_write <= with.count("flash.suspensions.erase"), "{by_write}");
    let mean = |outcome: &Outcome| outcome.number("requests.write.latency_ns.mean");
    assert!(mean(&with) < mean(&without), "{} against {}", mean(&with), mean(&without));
}
