//! Garbage collection by copyback, calculated by hand on a small drive.

use super::drive::{self, Outcome, TraceRow};

const fn us(us: u64) -> u64 {
    us * 1000
}

/// Eight blocks of four pages, of which the user has three, written in order; one is kept free.
const TINY: &str = "device = \"fast12-slc\"\npolicy = \"pes-ips\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 8\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.625\ngc_hard_free_blocks = 1\ngc_background = false\n\
    precondition = \"sequential\"\n[host]\nlink_bytes_per_s = \"none\"\n";
const COPYBACK: &str = "ftl.copyback=true";

/// Thirteen writes, one each millisecond, after which one block is free; then `more`.
///
/// The last write is done at 12160, and collection has one page to move before it erases.
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
fn a_moved_page_does_not_cross_the_channel() {
    let write = [(us(13_000), 'W', 24, 4)];
    // Read, out and in are 10 + 20 + 20, the program 140, to 12350; the erase to 13858.
    let outcome = on_tiny(&[], &write);
    assert_eq!(later_us(&outcome), [13_858 + 160]);
    assert!(outcome.summary.pointer("/flash/copybacks").is_none());
    // By copyback 10 + 140, to 12310; the erase to 13818.
    let outcome = on_tiny(&[COPYBACK], &write);
    assert_eq!(later_us(&outcome), [13_818 + 160]);
    let counts = ["flash.copybacks", "flash.gc_reads", "flash.gc_programs", "flash.erases"];
    assert_eq!(counts.map(|name| outcome.count(name)), [1, 1, 1, 1]);
    // Fourteen pages came in, and nothing else crossed the channel.
    let busy_ns = outcome.number("device.channel_busy_share") * us(13_978) as f64;
    assert!((busy_ns - us(14 * 20) as f64).abs() < 1.0, "{busy_ns}");
}

#[test]
fn commands_come_twice() {
    let write = [(us(13_000), 'W', 24, 4)];
    // The write ends 1 later, at 12161; two commands, 10, 140 to 12313; 1 + 1508; 1 + 160.
    let outcome = on_tiny(&[COPYBACK, "timing.t_command_us=1"], &write);
    assert_eq!(later_us(&outcome), [12_313 + 1_509 + 161]);
}

#[test]
fn a_read_suspends_the_program_of_a_copyback() {
    // Sensing to 12170, pulses from there, 12198 and so on: at 12200 the second is in progress, to
    // 12218. The read to 12248; restore 3, verify 8, three iterations of 28 to 12343; the erase.
    let rows = [(us(12_200), 'R', 28, 4), (us(13_000), 'W', 24, 4)];
    let outcome = on_tiny(&[COPYBACK], &rows);
    assert_eq!(later_us(&outcome), [12_248, 12_343 + 1_508 + 160]);
    assert_eq!(outcome.count("flash.suspensions.program"), 1);
    assert_eq!(outcome.count("flash.suspended_operations.program.count"), 1);
    assert_eq!(outcome.number("flash.suspended_operations.program.undisturbed_ns_mean"), 150e3);
    assert_eq!(outcome.number("flash.suspended_operations.program.actual_ns_mean"), 183e3);
    // It counts as a program of garbage collection.
    let spared = "suspension.host_read_suspends=[\"program\", \"erase\"]";
    assert_eq!(later_us(&on_tiny(&[COPYBACK, spared], &rows[..1])), [12_310 + 30]);
    // A read within the sensing waits for its end.
    let rows = [(us(12_165), 'R', 28, 4)];
    assert_eq!(later_us(&on_tiny(&[COPYBACK], &rows)), [12_200]);
}

#[test]
fn a_drive_in_steady_state_moves_the_same_pages_either_way() {
    let text = "seed = 5\ndevice = \"fast12-mlc\"\npolicy = \"pes-ipc\"\n\
         [geometry]\nchannels = 2\nplanes_per_die = 2\nblocks_per_plane = 24\n\
         pages_per_block = 8\n[ftl]\nover_provisioning = 0.3\nprecondition = \"steady\"\n\
         gc_background = false\n\
         [workload]\ngenerator = \"mixed\"\nrequests = 4000\nread_fraction = 0.3\n\
         request_bytes = 4096\nqueue_depth = 4\n";
    let with = drive::run(drive::load_with(text, &[COPYBACK]));
    let without = drive::run(drive::load(text));
    assert_eq!(with.count("flash.copybacks"), with.count("flash.gc_programs"));
    assert!(with.count("flash.copybacks") > 1000);
    assert!(with.number("device.channel_busy_share") < without.number("device.channel_busy_share"));
    let mean = |outcome: &Outcome| outcome.number("requests.write.latency_ns.mean");
    assert!(mean(&with) < mean(&without), "{} against {}", mean(&with), mean(&without));
}
