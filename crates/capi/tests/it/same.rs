//! A trace through the C interface completes to the nanosecond as in a run of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use reprieve::Request;
use reprieve_ssd::scenario::{self, Sources};
use reprieve_ssd::{Options, Ssd, registries};

use super::c_drive::{Asked, Drive, OK, TIME};

/// A busy little drive.
pub const DRIVE: &str = "device = \"fast12-slc\"\n[geometry]\nchannels = 2\n\
    dies_per_channel = 2\nplanes_per_die = 2\nblocks_per_plane = 24\npages_per_block = 8\n\
    [ftl]\nover_provisioning = 0.35\nprecondition = \"steady\"\n[workload]\nunwritten = \"zero\"\n";

/// What makes a difference to when things happen; each with two policies and several loads.
const DRIVES: [&[&str]; 10] = [
    &[],
    &["buffer.acknowledge=back", "ftl.gc_background=false"],
    &["host.interface=nvme", "host.queues=3", "host.t_command_us=1", "host.pcie_generation=3"],
    &["buffer.acknowledge=back", "buffer.replacement=lru", "buffer.flush_idle_us=500"],
    &["ftl.precondition=none", "buffer.acknowledge=back", "ftl.gc_start_free_share=0.5"],
    &["timing.wordline_pages=2", "ftl.over_provisioning=0.65", "buffer.acknowledge=back"],
    &["host.interface=sata", "ftl.placement=dynamic"],
    &["read_cache.bytes=32768", "ftl.precondition=sequential", "ftl.gc_hard_free_blocks=3"],
    &["ftl.partial_write=track_sectors", "suspension.max_per_operation=1"],
    &["host.pcie_generation=3", "host.commands_cross_link=true", "host.interface=nvme"],
];
const POLICIES: [&str; 5] = ["fifo", "rps", "pe0", "pes-ips", "pes-ipc"];
const REQUESTS: u64 = 1_500;

/// Numbers that look random, from a seed: the multiplier is Knuth's for 64 bits.
pub struct Draws(pub u64);

impl Draws {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

/// Requests in bursts, some at one instant, with gaps in which the drive falls idle.
pub fn requests(sectors: u64, count: u64, seed: u64) -> Vec<Asked> {
    let mut draws = Draws(seed);
    let mut at_ns = 0;
    let mut next = |number: u64| {
        if number > 0 {
            at_ns += match draws.below(10) {
                0 => draws.below(3_000_000),
                1 => 0,
                2..4 => 1,
                _ => draws.below(100_000),
            };
        }
        let op = [3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
        let op = if number == 0 { 1 } else { op[draws.below(20) as usize] };
        let length = 1 + draws.below(24);
        let lba = draws.below(sectors - length);
        let fua = u8::from(op == 1 && draws.below(4) == 0);
        let (lba, bytes) = if op == 3 { (0, 0) } else { (lba, length as u32 * 512) };
        // Tags that say nothing of the order.
        (at_ns, Request { tag: number ^ 0xffff_0000_0000, lba, bytes, op, fua, reserved: 0 })
    };
    (0..count).map(&mut next).collect()
}

/// The trace of these requests.
fn trace(requests: &[Asked]) -> String {
    let mut text = "arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns\n".to_string();
    for (at_ns, Request { lba, bytes, op, fua, .. }) in requests {
        let op = ["read", "write", "trim", "flush"][usize::from(*op)];
        writeln!(text, "{at_ns},{op},{lba},{bytes},{fua},0,0").expect("a string takes any text");
    }
    text
}

/// When requests complete, by number, and the latencies that the summary has.
type Outcome = (BTreeMap<u64, u64>, serde_json::Value);

/// The run of a trace.
fn run(text: &str, sets: &[String], trace: &Path) -> Outcome {
    let sources = Sources { text, path: "test.toml", sets };
    let drive = scenario::load_served(&sources, registries()).expect("a drive");
    let scenario = scenario::replaying(&drive, trace.to_owned());
    let options = Options { log_requests: true, ..Options::default() };
    let mut ssd = Ssd::with(scenario, &options).expect("it fits into memory");
    let mut done = BTreeMap::new();
    let mut goes_on = true;
    while goes_on {
        goes_on = ssd.step(1_000).expect("a trace without bad rows");
        let log = ssd.take_log();
        let pairs = log.id.iter().zip(&log.completion_ns);
        done.extend(pairs.map(|(id, at_ns)| (*id as u64, *at_ns as u64)));
    }
    // As text, as a decimal of some digits may be another number when it is read.
    (done, serde_json::from_str(&ssd.summary().to_string()).expect("a summary is JSON"))
}

/// The same requests by way of C, submitted some ahead, and in the order that `shuffled` says.
fn embedded(toml: &str, requests: &[Asked], ahead: u64, by_steps: bool) -> Outcome {
    let drive = Drive::open(toml);
    let mut done = BTreeMap::new();
    let mut draws = Draws(ahead);
    let (mut next, mut last_ns) = (0, 0);
    while done.len() < requests.len() {
        // Those of the next instants; of different instants in any order.
        let until = (next + draws.below(ahead) as usize + 1).min(requests.len());
        let until = requests[until..]
            .iter()
            .take_while(|(at_ns, _)| until > 0 && *at_ns == requests[until - 1].0)
            .count()
            + until;
        let mut batch = requests[next..until].to_vec();
        if ahead % 2 == 0 {
            batch.sort_by_key(|(at_ns, _)| std::cmp::Reverse(*at_ns));
        }
        for (at_ns, request) in batch {
            assert_eq!(drive.submit(at_ns, request), OK, "{}", drive.error());
        }
        next = until;
        let arrives_ns = requests.get(next).map_or(super::c_drive::NEVER >> 2, |(at_ns, _)| *at_ns);
        let before_ns = arrives_ns - 1;
        while done.len() < requests.len() && last_ns < before_ns {
            let promised_ns = drive.next();
            if by_steps {
                last_ns = promised_ns.min(before_ns);
                assert_eq!(drive.advance(last_ns), OK, "{}", drive.error());
            } else {
                last_ns = drive.run(before_ns);
            }
            for (tag, number, arrival_ns, completion_ns) in drive.poll() {
                assert_eq!(completion_ns, last_ns, "a completion is told when it happens");
                assert!(completion_ns >= promised_ns.min(before_ns), "nothing before it is due");
                let (at_ns, request) = &requests[number as usize];
                assert_eq!((tag, arrival_ns), (request.tag, *at_ns));
                assert_eq!(done.insert(number, completion_ns), None, "complete twice");
            }
        }
    }
    assert_eq!(drive.advance(last_ns - 1), TIME);
    (done, drive.summary())
}

#[test]
fn fifty_scenarios_complete_as_their_runs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (case, sets) in DRIVES.iter().enumerate() {
        for (other, policy) in POLICIES.iter().enumerate() {
            let seed = (10 * case + other) as u64;
            let text = format!("seed = {seed}\n{DRIVE}");
            let sets: Vec<String> =
                sets.iter().map(ToString::to_string).chain([format!("policy={policy}")]).collect();
            let sources = Sources { text: &text, path: "test.toml", sets: &sets };
            let drive = scenario::load_served(&sources, registries())
                .unwrap_or_else(|error| panic!("{error}"));
            let requests = requests(drive.capacity_bytes() / 512, REQUESTS, seed);
            let path = folder.path().join("trace.csv");
            std::fs::write(&path, trace(&requests)).expect("room for a trace");
            let (expected, summary) = run(&text, &sets, &path);
            assert_eq!(expected.len() as u64, REQUESTS);
            let toml = scenario::print(&drive);
            let ahead = 1 + seed % 20;
            let (done, told) = embedded(&toml, &requests, ahead, seed % 2 == 0);
            let differs = done.iter().find(|(number, at_ns)| expected[number] != **at_ns);
            assert_eq!(differs, None, "{sets:?} seed {seed}: expected {expected:?}");
            for part in ["read", "write", "flash"] {
                assert_eq!(told[part], summary[part], "{sets:?} {part}");
            }
        }
    }
}
