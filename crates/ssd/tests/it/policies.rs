//! Policies of a program's own, in place of those that a scenario names, calculated by hand.
//!
//! One die of the SLC part of FAST 2012: data in to 20 us, then five times a pulse of 20 and a
//! verify of 8. A read of another block comes at 61, in the second pulse, and takes 30.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Arc, Mutex};

use reprieve_base::{Dur, Time};
use reprieve_ssd::causes::{Cause, CauseTimes};
use reprieve_ssd::scenario::Class;
use reprieve_ssd::sched::{Choice, DieView, Scheduler, SuspendView};
use reprieve_ssd::suspend::{Answer, OperationView, Reason, SuspendPolicy};
use reprieve_ssd::{Options, Policies, Ssd};

use super::drive;

const SLC: &str = "device = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\n[host]\nlink_bytes_per_s = \"none\"\n";

/// When the write and the read are done, in us.
fn run(with: impl Fn(Policies) -> Policies) -> [u64; 2] {
    run_attributed(with).map(|(done, _)| done)
}

/// The same, and what they waited behind.
fn run_attributed(with: impl Fn(Policies) -> Policies) -> [(u64, CauseTimes); 2] {
    replay_attributed([(0, 'W', 0), (61, 'R', 64)], with)
}

fn replay_attributed<const N: usize>(
    rows: [(u64, char, u64); N],
    with: impl Fn(Policies) -> Policies,
) -> [(u64, CauseTimes); N] {
    let mut trace = String::new();
    for (us, op, sector) in rows {
        writeln!(trace, "0.{us:06} ; {sector} ; 4 ; {op} ; 0.0 ; 0.0").expect("it takes text");
    }
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(trace.as_bytes()).expect("room for a few rows");
    let path = file.path().display();
    let scenario = drive::load(&format!(
        "{SLC}[suspension]\nsame_block = \"block\"\n\
         [workload]\ntrace = '{path}'\nformat = \"blkreplay\"\n"
    ));
    let policies = with(Policies::of(&scenario));
    let options = Options { log_requests: true, ..Options::default() };
    let mut ssd = Ssd::with_policies(scenario, &options, policies).expect("it fits into memory");
    while ssd.step(1000).expect("a good trace") {}
    let log = ssd.take_log();
    std::array::from_fn(|id| {
        let row = log.id.iter().position(|found| *found == id as i64).expect("all are done");
        let done_ns = u64::try_from(log.completion_ns[row]).expect("not before the start");
        (done_ns / 1000, log.causes[row])
    })
}

/// What it sees of what runs.
#[derive(Clone, Copy)]
struct Seen {
    now: Time,
    die: u32,
    class: Class,
    remaining: Dur,
    suspended: Dur,
}

/// Answers as it is told, and keeps what it sees of what runs.
struct Told {
    suspends: bool,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl SuspendPolicy for Told {
    fn suspend(&self, operation: &dyn OperationView) -> Answer {
        self.seen.lock().expect("one thread").push(Seen {
            now: operation.now(),
            die: operation.die(),
            class: operation.class(),
            remaining: operation.remaining(),
            suspended: operation.suspended(),
        });
        if self.suspends { Answer::Now } else { Answer::No(Reason::Policy) }
    }
}

/// Has spent its budget; what it is asked besides is counted, if it may be asked in vain.
struct Spent {
    answer: Reason,
    asked: Arc<Mutex<u32>>,
    in_vain: bool,
}

impl SuspendPolicy for Spent {
    fn suspend(&self, _: &dyn OperationView) -> Answer {
        *self.asked.lock().expect("one thread") += 1;
        Answer::No(self.answer)
    }

    fn may_be_asked_in_vain(&self) -> bool {
        self.in_vain
    }
}

/// Reads first, but what runs is left alone before 98 us.
struct Patient;

impl Scheduler for Patient {
    fn choose(&self, view: &DieView) -> Choice {
        match view {
            DieView { read: Some(_), .. } => Choice::Read,
            DieView { suspended: Some(_), .. } => Choice::Resume,
            DieView { write: Some(_), .. } => Choice::Write,
            _ => Choice::Wait,
        }
    }

    fn suspends(&self) -> bool {
        true
    }

    fn allow_suspend(&self, view: &SuspendView) -> bool {
        view.now >= Time::from_ns(98_000)
    }

    fn asks_again(&self, _: &SuspendView) -> Option<Time> {
        Some(Time::from_ns(98_000))
    }
}

#[test]
fn a_suspension_policy_of_the_programs_own_decides() {
    // Free at 65, the page is out at 95; restore 3, verify 8, 4 x 28: 218.
    assert_eq!(run(|named| named), [218, 95]);
    for (suspends, done) in [(true, [218, 95]), (false, [160, 190])] {
        let seen = Arc::default();
        let told = || Box::new(Told { suspends, seen: Arc::clone(&seen) });
        assert_eq!(run(|named| Policies { suspension: told(), ..named }), done);
        let seen = seen.lock().expect("one thread");
        let first = seen.first().expect("a read is in the way");
        assert_eq!((first.now, first.die), (Time::from_ns(61_000), 0));
        assert_eq!(first.class, Class::HostWrite);
        assert_eq!((first.remaining, first.suspended), (Dur::from_ns(99_000), Dur::ZERO));
    }
}

#[test]
fn a_scheduler_of_the_programs_own_is_asked_again_when_it_says() {
    // The verify from 96 is cancelled at 98, free at 102; read to 132; 3, verify 8, 2 x 28: 199.
    assert_eq!(run(|named| Policies { scheduler: Box::new(Patient), ..named }), [199, 132]);
}

#[test]
fn a_policy_without_suspensions_left_in_its_budget_is_blamed_by_that() {
    // The read waits from 61 to the end of the program at 160.
    for (answer, cause) in [(Reason::Budget, Cause::Budget), (Reason::Policy, Cause::HostProgram)] {
        let spent = || Box::new(Spent { answer, asked: Arc::default(), in_vain: true });
        let [_, (done, blamed)] = run_attributed(|named| Policies { suspension: spent(), ..named });
        assert_eq!((done, blamed.0[cause as usize], blamed.sum_ns()), (190, 99_000, 99_000));
    }
}

#[test]
fn a_policy_that_may_not_be_asked_in_vain_is_asked_as_often_without_the_log() {
    // Of the block that is programmed, so that only an account of waits would ask.
    for (in_vain, often, cause) in [(true, 1, Cause::HostProgram), (false, 0, Cause::SameBlock)] {
        let asked = Arc::new(Mutex::new(0));
        let spent =
            || Box::new(Spent { answer: Reason::Policy, asked: Arc::clone(&asked), in_vain });
        let rows = [(0, 'W', 0), (200, 'W', 4), (261, 'R', 0)];
        let [_, _, (done, blamed)] =
            replay_attributed(rows, |named| Policies { suspension: spent(), ..named });
        assert_eq!((done, blamed.0[cause as usize]), (390, 99_000));
        assert_eq!(*asked.lock().expect("one thread"), often);
    }
}
