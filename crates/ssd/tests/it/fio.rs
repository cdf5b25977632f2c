//! Job files of fio as loads: the course of jobs by hand on one die, and what they may not say.
//!
//! SLC of FAST 2012 without a link: a read takes 30 us, and the die does one at a time.

use std::io::Write as _;

use reprieve_ssd::registries;
use reprieve_ssd::scenario::{self, Sources};

use super::drive::{self, Outcome};

const SLC: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n\
    [host]\nlink_bytes_per_s = \"none\"\n";

/// What the jobs have in common: reads of a page.
const READS: &str = "[global]\nrw=randread\nbs=2k\ndirect=1\nioengine=libaio\n";

fn file(jobs: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    write!(file, "{READS}{jobs}").expect("room for a few jobs");
    file
}

fn workload(file: &tempfile::NamedTempFile) -> String {
    format!("{SLC}[workload]\nfio = '{}'\n", file.path().display())
}

fn run(jobs: &str) -> Outcome {
    let file = file(jobs);
    drive::run(drive::load(&workload(&file)))
}

/// Arrivals of a job, in microseconds.
fn arrivals_us(outcome: &Outcome, job: u64) -> Vec<u64> {
    let rows = outcome.rows.iter().filter(|row| row.flow == job);
    rows.map(|row| row.arrival_ns / 1000).collect()
}

fn latencies_us(outcome: &Outcome, job: u64) -> Vec<u64> {
    let rows = outcome.rows.iter().filter(|row| row.flow == job);
    rows.map(|row| row.latency_ns() / 1000).collect()
}

#[test]
fn jobs_are_flows_with_figures_of_their_own() {
    let outcome = run("[one]\nsize=8k\n[two]\nsize=4k\n");
    // By turns from 0, as two flows are.
    assert_eq!(latencies_us(&outcome, 0), [30, 60, 60, 30]);
    assert_eq!(latencies_us(&outcome, 1), [60, 60]);
    assert_eq!(outcome.count("flows.one.requests.read.count"), 4);
    assert_eq!(outcome.count("flows.two.requests.read.count"), 2);
    assert_eq!(outcome.count("workload.requests"), 6);
}

#[test]
fn clones_share_the_figures_and_have_depths_of_their_own() {
    // Four outstanding: the first wait for one to four reads, all others for four.
    let outcome = run("[a]\nsize=8k\niodepth=2\nnumjobs=2\n");
    assert_eq!(latencies_us(&outcome, 0), [30, 60, 90, 120, 120, 120, 120, 120]);
    assert_eq!(outcome.count("flows.a.requests.read.count"), 8);
    let flows = outcome.summary["flows"].as_object().expect("a table").len();
    assert_eq!(flows, 1);
    // Each has an order of its own: two clones of the whole drive do not read the same pages.
    let lbas: Vec<u64> =
        run("[a]\nsize=50%\nnumjobs=2\nnumber_ios=4\n").rows.iter().map(|row| row.lba).collect();
    let [one, other] = [0, 1].map(|clone| lbas.iter().skip(clone).step_by(2).collect::<Vec<_>>());
    assert_ne!(one, other);
}

#[test]
fn a_stonewall_waits_for_the_jobs_before_it() {
    let jobs = "[a]\nsize=6k\n[b]\nsize=2k\n[c]\nstonewall\nsize=4k\n[d]\nsize=2k\nstartdelay=1ms\n\
                [e]\nstonewall\nsize=2k\n";
    let outcome = run(jobs);
    // a and b read four pages by turns, to 120; c begins there and ends at 180; d waits for its
    // delay and reads until 1030, where e begins.
    assert_eq!(arrivals_us(&outcome, 2), [120, 150]);
    assert_eq!(arrivals_us(&outcome, 3), [1000]);
    assert_eq!(arrivals_us(&outcome, 4), [1030]);
}

#[test]
fn time_ends_a_job() {
    // At 120 the time is up; the size would have lasted for longer.
    let outcome = run("[a]\nsize=32k\nruntime=100us\n");
    assert_eq!(arrivals_us(&outcome, 0), [0, 30, 60, 90]);
    assert_eq!(outcome.count("workload.requests"), 4);
    // Without time_based a small region ends it first, with it the region begins anew.
    assert_eq!(arrivals_us(&run("[a]\nsize=4k\nruntime=100us\n"), 0), [0, 30]);
    let again = run("[a]\nsize=4k\nruntime=100us\ntime_based\n");
    assert_eq!(arrivals_us(&again, 0), [0, 30, 60, 90]);
    // What follows a job that waits for its rate begins when its time is up.
    let idle = run("[a]\nsize=8k\nrate_iops=100\nruntime=5ms\n[b]\nstonewall\nsize=2k\n");
    assert_eq!((arrivals_us(&idle, 0), arrivals_us(&idle, 1)), (vec![0], vec![5000]));
}

#[test]
fn a_ramp_is_not_counted_and_comes_before_the_runtime() {
    // Reads at 0, 30, ... 150, and nothing from 160 on; those from 60 on count.
    let outcome = run("[a]\nsize=32k\nruntime=100us\nramp_time=60us\n");
    assert_eq!(arrivals_us(&outcome, 0), [0, 30, 60, 90, 120, 150]);
    assert_eq!(outcome.count("flows.a.requests.read.count"), 4);
    assert_eq!(outcome.count("flows.a.active_ns"), 120_000);
    assert_eq!(outcome.count("requests.read.count"), 6);
}

#[test]
fn a_rate_holds_back_and_is_caught_up_with() {
    // Slow: one each 100 us.
    let slow = run("[a]\nsize=6k\nrate_iops=10000\niodepth=4\n");
    assert_eq!(arrivals_us(&slow, 0), [0, 100, 200]);
    assert_eq!(latencies_us(&slow, 0), [30, 30, 30]);
    // Fast: one each 20 us, two outstanding. The third may come at 40, as the first is done at
    // 30; the fourth at 60, when the second is done; the fifth could at 80, and does at 90.
    let fast = run("[a]\nsize=12k\nrate_iops=50000\niodepth=2\n");
    assert_eq!(arrivals_us(&fast, 0), [0, 20, 40, 60, 90, 120]);
    assert_eq!(latencies_us(&fast, 0), [30, 40, 50, 60, 60, 60]);
}

#[test]
fn a_job_thinks_when_all_it_has_issued_is_complete() {
    // Two reads one after the other, done at 60; 50 us later the next two.
    let one = run("[a]\nsize=10k\nthinktime=50\nthinktime_blocks=2\n");
    assert_eq!(arrivals_us(&one, 0), [0, 30, 110, 140, 220]);
    // Two at once are done at 60 as well.
    let two = run("[a]\nsize=8k\niodepth=8\nthinktime=50\nthinktime_blocks=2\n");
    assert_eq!(arrivals_us(&two, 0), [0, 0, 110, 110]);
}

#[test]
fn jobs_take_their_turns_at_submission_queues() {
    let file = file("[a]\nsize=4k\n[b]\nsize=4k\n");
    let text = workload(&file).replace("[host]\n", "[host]\ninterface = \"nvme\"\nqueues = 2\n");
    let outcome = drive::run(drive::load(&text));
    assert_eq!(outcome.count("flows.a.requests.read.count"), 2);
    assert_eq!(outcome.count("flows.b.requests.read.count"), 2);
}

#[test]
fn the_printed_scenario_names_the_file_and_runs_alike() {
    let file = file("[a]\nsize=8k\niodepth=2\n[b]\nsize=4k\nrwmixread=30\nrw=randrw\n");
    let scenario = drive::load(&workload(&file));
    let printed = scenario::print(&scenario);
    assert!(printed.contains("fio = ") && !printed.contains("[flow"), "{printed}");
    let again = drive::load(&printed);
    assert_eq!(again, scenario);
    assert_eq!(drive::run(again), drive::run(scenario));
}

#[test]
fn a_file_of_jobs_stands_alone() {
    let file = file("[a]\nsize=8k\n");
    let bad = |text: &str, sets: &[String]| {
        let sources = Sources { text, path: "test.toml", sets };
        scenario::load(&sources, registries()).expect_err("a mistake").to_string()
    };
    let text = workload(&file);
    let with_flow = bad(&format!("{text}[flow.x]\nqueue_depth = 1\n"), &[]);
    assert!(with_flow.contains("workload.fio") && with_flow.contains("[flow.x]"), "{with_flow}");
    let set = [format!("flow.x.fio='{}'", file.path().display())];
    let in_flow = bad(&format!("{SLC}[workload]\ngenerator = \"mixed\"\n"), &set);
    assert!(in_flow.contains("flow.x.fio") && in_flow.contains("workload.fio"), "{in_flow}");
    let both = bad(&format!("{text}generator = \"mixed\"\n"), &[]);
    assert!(both.contains("workload.fio") && both.contains("give one"), "{both}");
    let key = bad(&format!("{text}queue_depth = 4\n"), &[]);
    assert!(key.contains("workload.queue_depth") && key.contains("only while"), "{key}");
    let missing = bad(&format!("{SLC}[workload]\nfio = \"no-such.fio\"\n"), &[]);
    assert!(missing.contains("workload.fio") && missing.contains("no-such.fio"), "{missing}");
    let wrong = self::file("[a]\nsize=8k\nverify=crc32c\n");
    let option = bad(&workload(&wrong), &[]);
    assert!(option.contains(":8: verify = crc32c"), "{option}");
    // Over a generator of the file it is the one that holds.
    let sets = [format!("workload.fio='{}'", file.path().display())];
    let text =
        format!("{SLC}[workload]\ngenerator = \"mixed\"\nrequests = 3\nread_fraction = 0.5\n");
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let scenario = drive::load_with(&text, &sets);
    assert_eq!((scenario.flows.len(), scenario.workload), (1, None));
}
