//! A flush and a recovery, page by page, against times and energies worked out by hand.

use reprieve_base::{Dur, Time};
use reprieve_config::{self as scenario, Scenario};

use super::*;

/// Two channels of two dies; a page crosses a channel in 40 us and is saved in 200 us.
fn prepared(sets: &[&str]) -> Scenario {
    let always = [
        "geometry.channels=2",
        "geometry.dies_per_channel=2",
        "geometry.page_bytes=4096",
        "timing.t_bus_us=40",
        "timing.t_read_us=25",
        "power_loss.mode=on",
        "power_loss.p_controller_mw=1000",
        "power_loss.t_program_us=200",
    ];
    let sets: Vec<String> = always.iter().chain(sets).map(ToString::to_string).collect();
    scenario::load_rig("fast12-slc", &sets, &reprieve_policy::registries(|_| None))
        .expect("a good scenario")
}

const POWERS: Powers = Powers {
    base_uw: 1_000_000,
    sense: CommandPower { base_uw: 0, plane_uw: 0 },
    program: CommandPower { base_uw: 0, plane_uw: 50_000 },
    erase: CommandPower { base_uw: 0, plane_uw: 30_000 },
    suspended_uw: 0,
    bit_fj: 10,
};

fn us(us: u64) -> Time {
    Time::ZERO + Dur::from_us(us)
}

fn die(free_us: u64, draws: Vec<Draw>) -> CutDie {
    CutDie {
        free_at: us(free_us),
        channel_until: Time::ZERO,
        ends: Vec::new(),
        stopped_program: false,
        stopped_erase: false,
        draws,
    }
}

/// Five pages on dies that are free at 0, 1000, 0 and 300 us; the second draws for an erase.
fn five_pages(sets: &[&str], channel_until_us: u64, awaited_us: u64) -> PowerLossFlush {
    let scenario = prepared(sets);
    let erase = Draw { from: us(0), to: us(1000), uw: POWERS.erase.on(1u32) };
    let mut dies = [die(0, vec![]), die(1000, vec![erase]), die(0, vec![]), die(300, vec![])];
    dies[1].channel_until = us(channel_until_us);
    let loss = scenario.power_loss.as_ref().expect("it is prepared");
    flush_on_power_loss((Time::ZERO, us(awaited_us)), 5, &dies, &scenario, (loss, &POWERS))
}

// Pages begin at 0 on dies 0 and 2, end at 240, begin there again and end at 480; the fifth begins
// at 300 on die 3 and ends at 540. By then the base takes 540 uJ, five programs 10 uJ each, the
// erase 16.2 uJ, and five pages of 32,768 bits 327,680 fJ each.
const ENERGY_FJ: u128 = 540_000_000_000 + 50_000_000_000 + 16_200_000_000 + 5 * 327_680;
// By 480 us: 480 uJ, four programs of 10 uJ, 140 us of the fifth, the erase 14.4 uJ, five pages.
const FOUR_FJ: u128 =
    480_000_000_000 + 40_000_000_000 + 7_000_000_000 + 14_400_000_000 + 5 * 327_680;

#[test]
fn pages_go_to_the_dies_that_are_free_first() {
    let flush = five_pages(&["power_loss.hold_up_us=10000"], 0, 0);
    assert_eq!((flush.safe, flush.halt), (us(540), us(540)));
    assert_eq!((flush.saved_pages, flush.saved_by_die), (5, vec![2, 0, 2, 1]));
    assert_eq!(flush.energy_fj, ENERGY_FJ);
    // A program that ends later has to be waited for; the base and the erase go on.
    let awaited = five_pages(&["power_loss.hold_up_us=10000"], 0, 600);
    assert_eq!(awaited.safe, us(600));
    assert_eq!(awaited.energy_fj, ENERGY_FJ + 60_000_000_000 + 1_800_000_000);
}

#[test]
fn a_page_that_comes_in_holds_up_its_channel() {
    // Die 0 begins at 250 and ends at 490; die 2 has three: 240, 480, 720; but die 3 begins at 300
    // and ends at 540, so that the fourth is that of die 0 at 250, the fifth that of die 3.
    let flush = five_pages(&["power_loss.hold_up_us=10000"], 250, 0);
    assert_eq!(flush.saved_by_die, [1, 0, 3, 1]);
    assert_eq!(flush.safe, us(720));
}

#[test]
fn what_ends_when_time_or_energy_is_over_is_not_saved() {
    let saved = |sets: &[&str]| {
        let flush = five_pages(sets, 0, 0);
        (flush.saved_pages, flush.halt)
    };
    assert_eq!(saved(&[]), (0, Time::ZERO), "no capacitor");
    assert_eq!(saved(&["power_loss.hold_up_us=480"]), (4, us(480)));
    assert_eq!(saved(&["power_loss.hold_up_us=479.999"]), (2, Time::from_ns(479_999)));
    // 2 uF between 5 V and the square root of 24 V hold a microjoule.
    let energy = |fj: u128| {
        let capacitance = format!("power_loss.capacitance_uf={}", fj as f64 / 1e9 * 2.0);
        let volts = ["power_loss.capacitor_start_v=5", "power_loss.capacitor_min_v=4.898979486"];
        saved(&[volts[0], volts[1], &capacitance])
    };
    // A little more and a little less than four pages take, and more than all take.
    assert_eq!(energy(FOUR_FJ + 10_000_000).0, 4);
    let (pages, halt) = energy(FOUR_FJ - 10_000_000);
    assert_eq!(pages, 2);
    // 10 nJ are about 9 ns of what is drawn then: 1 W, 30 mW and three programs of 50 mW.
    assert!((479_985..480_000).contains(&halt.ns()), "{halt}");
    assert_eq!(energy(2 * ENERGY_FJ), (5, us(540)));
}

#[test]
fn capacitors_hold_half_their_capacitance_times_the_difference_of_squares() {
    let scenario = prepared(&[
        "power_loss.capacitance_uf=100",
        "power_loss.capacitor_start_v=12",
        "power_loss.capacitor_min_v=4",
        "power_loss.conversion_efficiency=0.8",
    ]);
    let loss = scenario.power_loss.expect("it is prepared");
    // 1/2 100 uF (144 - 16) V^2 0.8 = 5120 uJ.
    assert_eq!(loss.budget_fj(), Some(5_120_000_000_000));
    let back = loss.capacitance_uf(5_120_000_000_000).expect("the voltages are known");
    assert!((back - 100.0).abs() < 1e-9, "{back}");
}

#[test]
fn a_recovery_is_as_slow_as_its_slowest_die_or_its_channel() {
    let scenario = prepared(&[]);
    let time = |dies: &[DieScan]| recovery_time(dies, &scenario.geometry, &scenario.timing, 16);
    let scan = |pages, saved_pages, blocks: u64| DieScan {
        pages,
        sense_ns: pages * 25_000,
        saved_pages,
        // Of SLC: a pulse of 1500 us and a verify of 8 us.
        erase_ns: blocks * 1_508_000,
    };
    // 16 of 4096 bytes cross in 156.25 ns, which is 157.
    let idle = DieScan::default();
    let slow = time(&[scan(10, 1, 2), scan(2, 3, 1), scan(9, 0, 0), idle]);
    assert_eq!(slow.scan, Dur::from_ns(250_000 + 10 * 157));
    assert_eq!(slow.load, Dur::from_us(3 * 25 + 3 * 40));
    // The most of a die: twice.
    assert_eq!(slow.erase, Dur::from_us(2 * 1508));
    let busy = time(&[scan(0, 3, 0), scan(0, 3, 0), idle, idle]);
    assert_eq!((busy.scan, busy.load), (Dur::ZERO, Dur::from_us(25 + 6 * 40)));
    assert_eq!(busy.erase, Dur::ZERO);
}

#[test]
fn the_newest_version_wins_and_of_its_copies_the_last() {
    let mut journal = Journal::new(8);
    journal.starts_with(0, Some(1));
    journal.starts_with(1, None);
    assert_eq!((journal.accepted(0), journal.accepted(3)), (1, 2));
    journal.programmed(5, 1, 3);
    journal.programmed(3, 1, 0);
    journal.moved(5, 2);
    let mut found = RecoveredPages::new(3);
    (0..7).for_each(|page| found.read(page, journal.stamp(page)));
    assert_eq!((found.page(1), found.version(1)), (Some(2), Some(2)));
    assert_eq!((found.page(0), found.page(2), found.pages_below(3)), (None, None, 1));
    assert_eq!(found.unreadable_pages, 2, "pages 4 and 6");
    journal.erased(2, 4);
    let mut found = RecoveredPages::new(3);
    (0..2).for_each(|page| found.read(page, journal.stamp(page)));
    assert_eq!((found.page(1), found.version(1)), (Some(0), Some(0)));
}
