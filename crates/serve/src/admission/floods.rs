//! A test of the latency of one client's reads among clients that flood, in the model's time: it
//! uses no clock and no socket, so that it does not depend on the machine.

use reprieve_base::{Dur, Op, Time};
use reprieve_ssd::scenario::{self, Sources};
use reprieve_ssd::stats::LogBatch;
use reprieve_ssd::{Options, Ssd};

use super::*;

const DRIVE: &str = "device = \"fast12-slc\"
[geometry]
channels = 4
dies_per_channel = 4
blocks_per_plane = 64
page_bytes = 16384
[timing]
t_bus_us = 0
t_read_us = 80
[host]
link_bytes_per_s = \"none\"
[ftl]
precondition = \"none\"
[workload]
unwritten = \"flash\"
";
const READ_BYTES: u64 = 4096;
const FLOOD_BYTES: u64 = 1 << 20;
const READS: usize = 200;
/// Reads before the measurement, in which the floods fill the model.
const READS_BEFORE: usize = 20;

/// The latency of one of the client's reads: as it sees it, and from submission on.
#[derive(Clone, Copy)]
struct Latency {
    seen: Dur,
    of_model: Dur,
}

/// The server as the model sees it, in simulated time.
struct Bench {
    ssd: Ssd,
    admission: Admission,
    /// Client and load of each request, by number; client 0 reads one block at a time.
    handed: Vec<(u32, Load)>,
    /// The time of client 0's pending request.
    asked: Time,
    place: u64,
    found: Vec<Latency>,
}

impl Bench {
    fn new() -> Bench {
        let sources = Sources { text: DRIVE, path: "<floods>", sets: &[] };
        let scenario = scenario::load_served(&sources, reprieve_ssd::registries());
        let options = Options { served: true, log_requests: true, ..Options::default() };
        let mut ssd = Ssd::with(scenario.expect("good keys"), &options).expect("a drive");
        while !ssd.is_preconditioned() {
            ssd.step(1).expect("it is prepared");
        }
        ssd.start_serving().expect("it is ready");
        let (admission, handed, found) = (Admission::default(), Vec::new(), Vec::new());
        Bench { ssd, admission, handed, asked: Time::ZERO, place: 0, found }
    }

    /// A client requests the next piece of the drive.
    fn ask(&mut self, client: u32, bytes: u64) {
        // Steps that go around all dies, and never end in the middle of a page.
        self.place = (self.place + 37 * FLOOD_BYTES) % (self.ssd.scenario().capacity_bytes() / 2);
        let key = Key { index: client, generation: 0 };
        self.admission.push(key, key, Split::of(Op::Read, self.place, bytes, false));
    }

    /// Submits what the limits admit, each a nanosecond after the one before.
    fn admit(&mut self, now: Time) {
        let mut arrival = now;
        while let Some(Admitted { command, request, .. }) = self.admission.next() {
            if !self.handed.is_empty() {
                arrival = arrival.max(self.ssd.now() + Dur::from_ns(1));
            }
            self.ssd.submit(reprieve_base::Request { arrival, ..request }).expect("it is there");
            self.handed.push((command.index, Load::of(&request)));
        }
    }

    /// Takes completions; each client then sends another request at once.
    fn settle(&mut self) {
        let mut log = LogBatch::default();
        self.ssd.take_completed(&mut log);
        for (row, number) in log.id.iter().enumerate() {
            let (client, load) = self.handed[*number as usize];
            self.admission.completed(Key { index: client, generation: 0 }, load);
            if client > 0 {
                self.ask(client, FLOOD_BYTES);
                continue;
            }
            let time = |column: &[i64]| Time::from_ns(column[row] as u64);
            let (arrival, completion) = (time(&log.arrival_ns), time(&log.completion_ns));
            let (seen, of_model) = (completion - self.asked, completion - arrival);
            self.found.push(Latency { seen, of_model });
            self.asked = completion;
            self.ask(0, READ_BYTES);
        }
    }

    /// The 99th percentiles of a client's reads of one block, one at a time, among `floods`
    /// clients with 64 reads of 1 MiB each: as it sees them, and as the model does.
    fn p99(mut self, floods: u32) -> [Dur; 2] {
        for client in 1..=floods {
            (0..64).for_each(|_| self.ask(client, FLOOD_BYTES));
        }
        self.ask(0, READ_BYTES);
        let mut now = Time::ZERO;
        while self.found.len() < READS_BEFORE + READS {
            self.admit(now);
            now = self.ssd.next_instant();
            self.ssd.advance(now).expect("nothing fails");
            self.settle();
        }
        let found = &self.found[READS_BEFORE..];
        [|read: &Latency| read.seen, |read: &Latency| read.of_model].map(|of| {
            let mut sorted: Vec<Dur> = found.iter().map(of).collect();
            sorted.sort();
            sorted[READS * 99 / 100 - 1]
        })
    }
}

#[test]
fn among_floods_reads_take_less_than_twice_as_much_more_as_in_the_model() {
    // Alone: tR, and nothing for bus and link. It arrives in the nanosecond after the request.
    let [alone, of_model] = Bench::new().p99(0);
    assert_eq!([alone, of_model].map(Dur::ns), [80_001, 80_000]);
    for floods in [1, 8] {
        let [seen, of_model] = Bench::new().p99(floods);
        // Sixteen dies read 16 MiB of one flood, and 64 MiB of eight: 64 or 256 pages each.
        assert!(of_model > Dur::from_us(80 * 8 * u64::from(floods)), "{floods}: {of_model:?}");
        let (rise, of_model) = ((seen - alone).ns(), (of_model - alone).ns());
        assert!(rise < 2 * of_model, "{floods} floods: {rise} and {of_model} ns");
    }
}
