//! Every script of a few requests, and the laws that each run keeps.

use std::fmt::{self, Write as _};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use reprieve_base::{Op, Request, Time};
use reprieve_ssd::power_loss::RecoveredPages;
use reprieve_ssd::scenario::{self, LossPolicy, Scenario, Sources};
use reprieve_ssd::{Options, Ssd, registries};

use crate::ghost::{Account, Ghost};

/// A drive of one die, whose phases take nanoseconds, and which is full: writes have it collect.
const DRIVE: &str = "seed = 1\ndevice = \"fast12-slc\"\npolicy = \"pes-ips\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 8\npages_per_block = 2\n\
    page_bytes = 512\n\
    [timing]\nt_command_us = 0.001\nt_bus_us = 0.002\nt_read_us = 0.003\n\
    program_iterations = 2\nt_program_pulse_us = 0.004\nt_verify_us = 0.003\n\
    t_erase_us = 0.009\nt_erase_verify_us = 0.003\nt_voltage_reset_us = 0.001\n\
    t_buffer_us = 0.002\n\
    [ftl]\nover_provisioning = 0.75\nprecondition = \"steady\"\n\
    gc_start_free_share = 0.6\n\
    [host]\nlink_bytes_per_s = 1000000000000\n\
    [power_loss]\nmode = \"on\"\np_controller_mw = 1000\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 1\n\
    read_fraction = 0\nqueue_depth = 1\nrequest_bytes = 512\n";

/// A time in which a drive collects all that it wants to.
const REST_NS: u64 = 2_000;

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// Requests of a script.
    pub requests: u32,
    /// Times between two arrivals.
    pub gaps_ns: &'static [u64],
    /// Whether the power fails in every nanosecond, not only at instants and just before them.
    pub all_cuts: bool,
}

/// Counts of a search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub scripts: u64,
    pub instants: u64,
    pub cuts: u64,
    pub suspensions: u64,
    pub nested: u64,
    pub erases: u64,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Seen { scripts, instants, cuts, suspensions, nested, erases } = self;
        write!(f, "{scripts} scripts, {instants} instants, {cuts} cuts, ")?;
        write!(f, "{suspensions} suspensions, {nested} nested, {erases} erases")
    }
}

fn load(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let sources = Sources { text: DRIVE, path: "test.toml", sets: &sets };
    scenario::load(&sources, registries()).unwrap_or_else(|error| panic!("{error}"))
}

/// The requests that a script is made of.
fn letters(scenario: &Scenario) -> Vec<(Op, u64)> {
    let last = u64::from(scenario.logical_pages()) - 1;
    vec![(Op::Read, 0), (Op::Read, last), (Op::Write, 0), (Op::Write, last), (Op::Flush, 0)]
}

/// Visits every script within a bound, on one drive.
pub fn visit(sets: &[&str], bound: Bound) -> Seen {
    let scenario = load(sets);
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let letters = letters(&scenario);
    let ways = letters.len() as u64 * bound.gaps_ns.len() as u64;
    let mut seen = Seen::default();
    // Each script is a number in the base of a request and the time before it; that before the
    // first one does not matter.
    for number in 0..ways.pow(bound.requests - 1) * letters.len() as u64 {
        let (mut rest, mut at_ns) = (number, 1);
        let mut script = Vec::new();
        for place in 0..bound.requests {
            let (op, page) = letters[(rest % letters.len() as u64) as usize];
            rest /= letters.len() as u64;
            if place > 0 {
                at_ns += bound.gaps_ns[(rest % bound.gaps_ns.len() as u64) as usize];
                rest /= bound.gaps_ns.len() as u64;
            }
            let bytes = if op == Op::Flush { 0 } else { 512 };
            let arrival = Time::from_ns(at_ns);
            script.push(Request { arrival, op, lba: page, bytes, fua: false });
        }
        // Long after all that the others have set off.
        let arrival = Time::from_ns(at_ns + REST_NS);
        script.push(Request { arrival, op: Op::Read, lba: 0, bytes: 512, fua: false });
        Run::new(&scenario, script, file.path()).go(bound.all_cuts, &mut seen);
    }
    seen
}

/// Versions of a logical page that recoveries have found and have to find.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    found: Option<u64>,
    before_write: Option<u64>,
    /// A recovery finds a later version than this.
    later_than: Option<u64>,
    /// Once that is so.
    is_promised: bool,
}

/// The script as a recording of a served drive.
fn recording(script: &[Request]) -> String {
    let mut text = "arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns\n".to_string();
    for Request { arrival, op, lba, bytes, .. } in script {
        writeln!(text, "{},{},{lba},{bytes},0,0,0", arrival.ns(), op.name())
            .expect("a string takes any text");
    }
    text
}

/// A run of one script.
struct Run<'a> {
    scenario: &'a Scenario,
    ssd: Ssd,
    script: Vec<Request>,
    account: Arc<Mutex<Account>>,
    known: Vec<Known>,
    done: Vec<bool>,
}

impl Run<'_> {
    fn new<'a>(scenario: &'a Scenario, script: Vec<Request>, path: &Path) -> Run<'a> {
        fs::write(path, recording(&script)).expect("room for a few rows");
        let replayed = scenario::replaying(scenario, path.to_owned());
        let check = Some(format!("a script: {script:?}"));
        let options = Options { log_requests: true, check, ..Options::default() };
        let mut ssd = Ssd::with(replayed, &options).expect("it fits into memory");
        let (ghost, account) = Ghost::of(scenario);
        ssd.join_observer(Box::new(ghost));
        let known = vec![Known::default(); scenario.logical_pages() as usize];
        let done = vec![false; script.len()];
        Run { scenario, ssd, script, account, known, done }
    }

    fn go(mut self, all_cuts: bool, seen: &mut Seen) {
        let mut now = Time::ZERO;
        while self.ssd.run_until(now).expect("a good script") {
            self.take_completed();
            seen.instants += 1;
            let next = self.ssd.next_instant();
            let last_ns = next.ns() - 1;
            for at_ns in now.ns()..=last_ns {
                let is_one = all_cuts || at_ns == now.ns() || at_ns == last_ns;
                if is_one {
                    self.cut(Time::from_ns(at_ns));
                    seen.cuts += 1;
                }
            }
            assert!(next < Time::NEVER, "nothing happens any more in {:?}", self.script);
            self.note_writes(next);
            now = next;
        }
        self.take_completed();
        assert!(self.done.iter().all(|done| *done), "{:?} of {:?}", self.done, self.script);
        let account = self.account.lock().expect("nothing has panicked with it");
        assert!(account.is_settled(), "{:?} leaves {account:#?}", self.script);
        let [programs, erases] = self.ssd.activity().suspensions;
        assert_eq!(programs + erases, account.suspensions, "{:?}", self.script);
        seen.scripts += 1;
        seen.suspensions += account.suspensions;
        seen.nested += account.nested;
        seen.erases += account.ended[1];
    }

    /// Records, for each write that arrives next, the version that the last recovery found: the
    /// one that it supersedes.
    fn note_writes(&mut self, next: Time) {
        for request in &self.script {
            if request.arrival == next && request.op == Op::Write {
                let known = &mut self.known[request.lba as usize];
                known.before_write = known.found;
            }
        }
    }

    /// A write that is done is found from now on; behind a buffer, once a flush is.
    fn take_completed(&mut self) {
        let is_durable = self.scenario.buffer.acknowledge == scenario::Acknowledge::Through;
        for id in self.ssd.take_log().id {
            self.done[id as usize] = true;
            let request = self.script[id as usize];
            let (earlier, later) = self.script.split_at(id as usize);
            let promised: Vec<u64> = match request.op {
                Op::Write if is_durable => vec![request.lba],
                // Writes that are done, of pages that no later request writes again.
                Op::Flush => earlier
                    .iter()
                    .zip(&self.done)
                    .filter(|(one, done)| one.op == Op::Write && **done)
                    .map(|(one, _)| one.lba)
                    .filter(|page| !later.iter().any(|one| (one.op, one.lba) == (Op::Write, *page)))
                    .collect(),
                _ => Vec::new(),
            };
            for page in promised {
                let known = &mut self.known[page as usize];
                (known.later_than, known.is_promised) = (known.before_write, true);
            }
        }
    }

    /// The power fails, by every policy that the part knows: what was promised is found.
    fn cut(&mut self, at: Time) {
        let view = self.ssd.power_loss();
        let mut found = None;
        for policy in LossPolicy::ALL.into_iter().filter(|one| one.is_possible(self.scenario)) {
            let cut = view.cut(at, policy);
            let recovered = view.recover(&cut);
            view.check_cut(&cut, &recovered);
            self.is_found(&recovered.found, at);
            // Without a capacitor the reset leaves least.
            if policy == LossPolicy::Reset {
                found = Some(recovered.found);
            }
        }
        let found = found.expect("every part can be reset");
        for (page, known) in (0..).zip(&mut self.known) {
            known.found = found.version(page);
        }
    }

    fn is_found(&self, found: &RecoveredPages, at: Time) {
        for (page, known) in (0..).zip(&self.known).filter(|(_, known)| known.is_promised) {
            let version = found.version(page);
            let is_later = version.is_some() && version > known.later_than;
            assert!(is_later, "page {page} at {at}: {version:?}, {known:?} of {:?}", self.script);
        }
    }
}
