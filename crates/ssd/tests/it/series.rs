//! How a run goes over time: the collector of a drive against its request log and its summary.

use std::fmt::Write as _;
use std::io::Write as _;

use reprieve_base::Op;
use reprieve_ssd::stats::{Bin, SAMPLED};
use reprieve_ssd::txn::PART_NAMES;
use reprieve_ssd::{Options, Ssd, TimeSeries};
use serde_json::Value;

use super::drive::{self, Row};

/// Reads and writes that are collected and suspended; every channel has two dies.
const DRIVE: &str = "seed = 3\ndevice = \"fast12-mlc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nchannels = 2\ndies_per_channel = 2\nplanes_per_die = 2\nblocks_per_plane = 24\n\
    pages_per_block = 16\n[ftl]\nover_provisioning = 0.4\nprecondition = \"steady\"\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 6000\nread_fraction = 0.6\n\
    arrivals = \"poisson\"\nrate_iops = 1500\nrequest_bytes = 8192\n";

/// Variants of it: a closed loop, several planes at once, planes apart, programs inside erases,
/// queues and a mapping in flash.
const MODES: [&[&str]; 6] = [
    &[],
    &["policy=fifo", "workload.arrivals=closed", "workload.queue_depth=32"],
    &["parallelism.multi_plane=page"],
    &[
        "policy=pes-ips",
        "parallelism.multi_plane=page",
        "parallelism.independent_plane_reads=true",
        "suspension.multi_plane=plane",
    ],
    &["suspension.host_write_suspends=[\"erase\"]"],
    &["host.interface=nvme", "buffer.acknowledge=back", "ftl.mapping=demand"],
];

fn watched(text: &str, sets: &[&str], series: bool) -> (Vec<Row>, Value, Option<TimeSeries>) {
    let options = Options { log_requests: true, series, ..Options::default() };
    let mut ssd = Ssd::with(drive::load_with(text, sets), &options).expect("it fits into memory");
    let mut rows = Vec::new();
    while ssd.step(700).expect("a generator without bad rows") {}
    drive::take_rows(&ssd.take_log(), &mut rows);
    (rows, ssd.summary(), ssd.course())
}

fn number(summary: &Value, path: &str) -> u64 {
    let value = summary.pointer(path).unwrap_or_else(|| panic!("no {path}"));
    value.as_u64().unwrap_or_else(|| panic!("{path} is no count"))
}

fn counted(course: &TimeSeries, name: &str) -> u64 {
    let index = SAMPLED.iter().position(|own| *own == name).expect("a name of the series");
    course.series.bins.iter().map(|bin| bin.counted[index]).sum()
}

/// The longest time from a share of simulated time and how many things have it.
fn busy_ns(summary: &Value, share: &str, units: f64) -> f64 {
    let share = summary["device"][share].as_f64().expect("a share");
    share * units * number(summary, "/device/simulated_ns") as f64
}

#[test]
fn watching_changes_no_number() {
    for sets in MODES {
        let (rows, summary, course) = watched(DRIVE, sets, false);
        assert!(course.is_none());
        let (watched_rows, watched_summary, course) = watched(DRIVE, sets, true);
        assert!(course.is_some());
        assert_eq!(rows, watched_rows, "{sets:?}");
        assert_eq!(summary, watched_summary, "{sets:?}");
    }
}

#[test]
fn sums_over_bins_are_those_of_the_summary() {
    for sets in MODES {
        let (_, summary, course) = watched(DRIVE, sets, true);
        let course = course.expect("it was asked for");
        let flash = [
            ("flash_reads", "/flash/reads"),
            ("host_programs", "/flash/host_programs"),
            ("gc_programs", "/flash/gc_programs"),
            ("erases", "/flash/erases"),
            ("program_suspensions", "/flash/suspensions/program"),
            ("erase_suspensions", "/flash/suspensions/erase"),
        ];
        for (name, path) in flash {
            assert_eq!(counted(&course, name), number(&summary, path), "{sets:?}: {name}");
        }
        for (kind, name) in ["program", "erase"].iter().enumerate() {
            let ages: u64 = course.ages[kind].iter().sum();
            assert_eq!(ages, number(&summary, &format!("/flash/suspensions/{name}")), "{sets:?}");
        }
        let units = [
            ("die_busy_ns", "die_busy_share", &course.die_busy_ns),
            ("channel_busy_ns", "channel_busy_share", &course.channel_busy_ns),
        ];
        for (name, share, each) in units {
            let sum: u64 = each.iter().sum();
            assert_eq!(counted(&course, name), sum, "{sets:?}: {name}");
            let expected = busy_ns(&summary, share, each.len() as f64);
            assert!((sum as f64 - expected).abs() < 1.0, "{sets:?}: {sum} {expected}");
        }
        let erases: u64 =
            course.erases.iter().map(|(each, blocks)| u64::from(*each) * blocks).sum();
        assert_eq!(erases, number(&summary, "/flash/erases"), "{sets:?}");
        assert_eq!(course.erases.iter().map(|(_, blocks)| blocks).sum::<u64>(), 2 * 2 * 2 * 24);
        let series = &course.series;
        let length = (series.bins.len() as u64 - 1) * series.width_ns + series.length_ns_last;
        assert_eq!(length, number(&summary, "/device/simulated_ns"));
    }
    // What the modes are for has happened: nothing above was 0 on both sides everywhere.
    let (_, summary, _) = watched(DRIVE, MODES[0], true);
    for path in ["suspensions/program", "suspensions/erase", "gc_programs", "erases"] {
        assert!(number(&summary, &format!("/flash/{path}")) > 0, "{path}");
    }
}

/// Whether a request was completed in a bin.
fn is_in(row: &Row, index: u64, width_ns: u64) -> bool {
    row.completion_ns.saturating_sub(1) / width_ns == index
}

#[test]
fn every_bin_has_the_requests_of_the_log() {
    let (rows, _, course) = watched(DRIVE, &[], true);
    let series = course.expect("it was asked for").series;
    assert!(series.bins.len() > 256, "a run of seconds has outgrown bins of a microsecond");
    for (index, bin) in (0u64..).zip(&series.bins) {
        for (kind, op) in [(0, Op::Read), (1, Op::Write)] {
            let own = rows.iter().filter(|row| row.op == op);
            let own: Vec<&Row> = own.filter(|row| is_in(row, index, series.width_ns)).collect();
            let completed = &bin.completed[kind];
            assert_eq!(completed.count, own.len() as u64, "bin {index}");
            assert_eq!(completed.bytes, own.iter().map(|row| row.bytes).sum::<u64>());
            let latency_ns: u128 = own.iter().map(|row| u128::from(row.latency_ns())).sum();
            assert_eq!(completed.latency_ns, latency_ns, "bin {index}");
            let longest = own.iter().map(|row| row.latency_ns()).max().unwrap_or(0);
            assert_eq!(completed.latency_ns_max, longest, "bin {index}");
        }
    }
    // A request is open for its latency, so that all of them were open for the sum of theirs.
    let open = |bin: &Bin| bin.open_request_ns;
    let open_ns: u128 = series.bins.iter().map(open).sum();
    assert_eq!(open_ns, rows.iter().map(|row| u128::from(row.latency_ns())).sum::<u128>());
}

#[test]
fn a_closed_loop_has_as_many_open_requests_as_it_is_deep() {
    let (_, _, course) = watched(DRIVE, MODES[1], true);
    let series = course.expect("it was asked for").series;
    let most = series.bins.iter().map(|bin| bin.open_requests_max).max();
    assert_eq!(most, Some(32));
    let middle = &series.bins[series.bins.len() / 2];
    assert_eq!(middle.open_request_ns, 32 * u128::from(series.width_ns));
}

#[test]
fn the_time_of_slow_reads_is_that_of_the_log() {
    let (rows, _, course) = watched(DRIVE, MODES[1], true);
    let series = course.expect("it was asked for").series;
    for (kind, op) in [(0, Op::Read), (1, Op::Write)] {
        // All from the bucket on that begins at 2^20 ns: the borders of octaves are exact.
        let slow = rows.iter().filter(|row| row.op == op && row.latency_ns() >= 1 << 20);
        let mut expected = [0u128; PART_NAMES.len()];
        let mut count = 0;
        for row in slow {
            count += 1;
            for (sum, part) in expected.iter_mut().zip(row.parts_ns) {
                *sum += u128::from(part);
            }
        }
        let first = (20 - 3) * 16;
        let classes = &series.classes[kind][first..];
        let mut sums = [0u128; PART_NAMES.len()];
        for class in classes {
            sums.iter_mut().zip(class.parts_ns).for_each(|(sum, part)| *sum += part);
        }
        assert_eq!(classes.iter().map(|class| class.count).sum::<u64>(), count);
        assert!(count > 100, "{op:?}: {count} slow ones are too few to show anything");
        assert_eq!(sums, expected, "{op:?}");
    }
}

/// Suspensions of programs by what was done, where a read comes at each of these microseconds
/// into a program of its own.
fn ages_of_programs(reads_us: &[u64]) -> Vec<u64> {
    // SLC of FAST 2012: data in until 20, then 5 x (20 + 8): a program alone takes 160 us.
    let text = "device = \"fast12-slc\"\npolicy = \"pes-ips\"\n\
        [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n\
        pages_per_block = 4\n[ftl]\nover_provisioning = 0.5\nprecondition = \"sequential\"\n\
        [host]\nlink_bytes_per_s = \"none\"\n";
    let mut trace = String::new();
    for (index, read_us) in (0u64..).zip(reads_us) {
        let start_us = 1000 * index;
        for (at_us, page, op) in [(start_us, index, 'W'), (start_us + read_us, 40 + index, 'R')] {
            let (s, us) = (at_us / 1_000_000, at_us % 1_000_000);
            writeln!(trace, "{s}.{us:06} ; {} ; 4 ; {op} ; 0.0 ; 0.0", 4 * page)
                .expect("a string takes any text");
        }
    }
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(trace.as_bytes()).expect("room for a few rows");
    let path = file.path().display();
    let load = format!("[workload]\ntrace = '{path}'\nformat = \"blkreplay\"\n");
    let (_, _, course) = watched(&format!("{text}{load}"), &[], true);
    course.expect("it was asked for").ages[0].to_vec()
}

#[test]
fn programs_count_by_the_share_that_was_done_when_a_read_came() {
    // A bin is 8 us of 160: 30, 47 and 48 us are in the fourth, the sixth and the seventh, and
    // 81 us in the eleventh.
    let ages = ages_of_programs(&[30, 47, 48, 81, 10]);
    let mut expected = vec![0; 20];
    for bin in [3, 5, 6, 10] {
        expected[bin] = 1;
    }
    // The read at 10 us stops the program at 20, when its page is in; but it asks at 10.
    expected[1] = 1;
    assert_eq!(ages, expected);
}

#[test]
fn erases_are_suspended_at_every_age() {
    let (_, _, course) = watched(DRIVE, &[], true);
    let ages = course.expect("it was asked for").ages[1];
    // Reads come at any time, so that no fifth of an erase is without a suspension.
    for fifth in ages.chunks(4) {
        assert!(fifth.iter().sum::<u64>() > 0, "{ages:?}");
    }
}
