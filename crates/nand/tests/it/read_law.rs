//! Array reads whose time is drawn: by the exponential law, from the die's own stream.

use reprieve_base::{Dur, Stream, Time};
use reprieve_nand::{Command, ProgramSuspension, ReadLaw, Timing};

use crate::device::{Answer, Ask, Device, PROGRAM, READ, SHAPE, one_die, page, part, suspending};

const MEAN_NS: u64 = 1_000_000;

fn device(seed: u64, index: u64) -> Device {
    let timing = Timing { read_law: ReadLaw::Exponential, read: Dur::from_ns(MEAN_NS), ..part() };
    Device::of_die(one_die(SHAPE, timing, suspending(ProgramSuspension::Ips), seed, index))
}

/// The times of the first reads, without their command of 100.
fn reads_ns(device: &mut Device, count: usize) -> Vec<u64> {
    let mut now_ns = 0;
    let mut times_ns = Vec::new();
    for _ in 0..count {
        let Answer::EndsAt(end_ns) = device.issue(now_ns, READ) else {
            panic!("a start says when the read ends");
        };
        times_ns.push(end_ns - now_ns - 100);
        device.elapse(end_ns);
        device.die.release();
        now_ns = end_ns;
    }
    times_ns
}

#[test]
fn each_read_takes_one_draw_of_the_die_s_own_stream() {
    for (seed, index) in [(1, 0), (1, 1), (2, 0)] {
        let mut draws = Stream::new(seed, "nand.read", index);
        for time_ns in reads_ns(&mut device(seed, index), 1_000) {
            // Of the inverse of the distribution function; another logarithm may round otherwise.
            let want_ns = -(1.0 - draws.unit()).ln() * MEAN_NS as f64;
            assert!((time_ns as f64 - want_ns).abs() <= 0.51, "{time_ns} for {want_ns}");
        }
    }
}

#[test]
fn the_law_is_exponential() {
    let times_ns = reads_ns(&mut device(5, 0), 100_000);
    // Mean and deviation are equal: a standard error of 1 / sqrt(100,000) of the mean.
    let mean_ns = times_ns.iter().sum::<u64>() as f64 / 1e5;
    let error = mean_ns / MEAN_NS as f64 - 1.0;
    assert!(error.abs() < 5.0 * 0.003_163, "{mean_ns}");
    // A share of exp(-2) = 0.13534 lasts longer than two means; standard error 0.00108.
    let share = times_ns.iter().filter(|&&ns| ns > 2 * MEAN_NS).count() as f64 / 1e5;
    assert!((share - 0.135_34).abs() < 5.0 * 0.001_08, "{share}");
}

#[test]
fn what_is_refused_and_what_is_no_read_takes_no_draw() {
    let other = Command::Read(page(1, 0, 0));
    let own = Command::Read(page(0, 0, 0));
    let mut disturbed = device(3, 0);
    disturbed.issue(0, PROGRAM);
    assert!(disturbed.die.start(Time::from_ns(10), other).is_err(), "the array is busy");
    disturbed.issue(2_200, Ask::Suspend);
    disturbed.elapse(2_400);
    assert!(disturbed.die.start(Time::from_ns(2_400), own).is_err(), "its block is suspended");
    let first_ns = reads_ns(&mut device(3, 0), 1)[0];
    assert_eq!(disturbed.issue(2_400, READ), Answer::EndsAt(2_500 + first_ns));
}
