//! Every pair of features on a small drive: refused in one sentence when the scenario is read, or
//! it runs to its end under the checker.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use reprieve_base::{Stream, Time};
use reprieve_ssd::scenario::{self, LossPolicy, Scenario};
use reprieve_ssd::{Options, Ssd};

use super::features::{self, DRIVE, Feature, sets};
use super::load;

/// Sentences of runs that cannot be told before: blocks fail by chance, and some drives have no
/// steady state to come to.
const LATER: [&str; 2] = ["good blocks left of", "overwrites of the drive its write"];

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Refused,
    Ran,
}

/// Cases that were refused, that ran, and that went wrong: each with what repeats it.
#[derive(Debug, Default)]
struct Tally {
    refused: u64,
    ran: u64,
    wrong: Vec<String>,
}

impl Tally {
    fn case(&mut self, sets: &[String]) {
        match catch_unwind(AssertUnwindSafe(|| case(sets))) {
            Ok(Ok(End::Refused)) => self.refused += 1,
            Ok(Ok(End::Ran)) => self.ran += 1,
            Ok(Err(what)) => self.wrong.push(format!("{}: {what}", sets.join(" "))),
            Err(panic) => self.wrong.push(format!("{}: {}", sets.join(" "), words_of(&*panic))),
        }
    }

    fn assert_right(&self, seed: u64) {
        let Tally { refused, ran, wrong } = self;
        println!("seed {seed}: {refused} pairs were refused, {ran} ran");
        assert!(wrong.is_empty(), "seed {seed}, {} cases: {}", wrong.len(), wrong.join("\n"));
        assert!(*ran > *refused / 4, "most pairs are refused, so that little is tried");
    }
}

/// Returns what a panic says.
pub fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or(panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

/// Reads a scenario; refused it has to be now, and in one sentence.
fn case(sets: &[String]) -> Result<End, String> {
    let scenario = match load(DRIVE, sets) {
        Ok(scenario) => scenario,
        Err(error) => {
            let text = error.to_string();
            if text.contains("unknown key") {
                return Err(text);
            }
            let is_one = !text.contains('\n') && text.contains(": ") && text.len() < 1_000;
            return if is_one { Ok(End::Refused) } else { Err(format!("no sentence: {text}")) };
        }
    };
    let again = load(&scenario::print(&scenario), &[""; 0]);
    let again = again.map_err(|error| format!("what is printed is refused: {error}"))?;
    if scenario::print(&again) != scenario::print(&scenario) {
        return Err("what is printed is another scenario".to_string());
    }
    if scenario.power_loss.is_some() {
        cuts(&scenario)?;
    }
    match run(scenario) {
        Err(what) if !LATER.iter().any(|later| what.contains(later)) => Err(what),
        _ => Ok(End::Ran),
    }
}

pub fn options() -> Options {
    Options { log_requests: true, check: Some("a pair of features".into()), ..Options::default() }
}

fn run(scenario: Scenario) -> Result<(), String> {
    let end = Ssd::with(scenario, &options()).and_then(|mut ssd| {
        while ssd.step(1_000)? {}
        ssd.summary();
        Ok(())
    });
    end.map_err(|error| format!("too late: {error}"))
}

/// Lets the power fail at some instants, and the drive go on after one of them.
pub fn cuts(scenario: &Scenario) -> Result<(), String> {
    let late = |error| format!("too late: {error}");
    let mut ssd = Ssd::with(scenario.clone(), &options()).map_err(late)?;
    let mut stream = Stream::new(scenario.seed, "test.cuts", 0);
    let policies = LossPolicy::ALL.into_iter().filter(|policy| policy.is_possible(scenario));
    let policies: Vec<LossPolicy> = policies.collect();
    let (mut at, mut number) = (Time::ZERO, 0);
    while ssd.run_until(at).map_err(late)? {
        let next = ssd.next_instant();
        if stream.below(12) == 0 && next < Time::NEVER {
            let policy = policies[stream.below(policies.len() as u64) as usize];
            let cut = ssd.power_loss().cut(Time::from_ns(next.ns() - 1), policy);
            let recovered = ssd.power_loss().recover(&cut);
            ssd.power_loss().check_cut(&cut, &recovered);
            number += 1;
            if number % 16 == 1 {
                let after = ssd.after(&recovered, scenario.clone(), &options()).map_err(late)?;
                end_of(after).map_err(late)?;
            }
        }
        at = next;
    }
    Ok(())
}

fn end_of(mut ssd: Ssd) -> Result<(), reprieve_base::UserError> {
    while ssd.step(1_000)? {}
    Ok(())
}

/// Cases that went wrong once: a trimmed page that was being written again came back with what it
/// had held before; a printed scenario was refused; and a page that `mbm` writes anew had a number
/// of another page, by which a recovery took it for newer or older than it was.
const FOUND: &[&str] = &[
    "seed=157 workload.requests=122 power_loss.mode=on power_loss.p_controller_mw=1000 \
     power_loss.hold_up_us=900",
    "seed=150 workload.requests=111 power_loss.mode=on power_loss.p_controller_mw=1000 \
     power_loss.hold_up_us=900 host.interface=nvme",
    "seed=196 workload.requests=145 host.interface=nvme host.commands_cross_link=true \
     read_cache.replacement=lru workload.request_bytes=16384 scheduling.dispatch=mbm \
     scheduling.mbm_chips=least-then-greatest scheduling.mbm_first_chip=channel \
     power_loss.mode=on power_loss.p_controller_mw=1000 power_loss.hold_up_us=900",
    "seed=480 workload.requests=130 scheduling.dispatch=mbm scheduling.mbm_joint_reads=any \
     workload.request_bytes=16384 power_loss.mode=on power_loss.p_controller_mw=1000",
    "workload.requests=50 timing.page_types=2 timing.program_iterations_weights=[[3,1],[5,2]]",
    "workload.requests=50 timing.page_types=2 timing.wordline_pages=2",
];

#[test]
fn what_went_wrong_once_is_right() {
    for found in FOUND {
        let sets: Vec<String> = found.split_whitespace().map(str::to_string).collect();
        assert_eq!(case(&sets), Ok(End::Ran), "{found}");
    }
}

#[test]
fn every_feature_has_a_name_of_its_own() {
    let mut names: Vec<&str> = features::all().iter().map(|feature| feature.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two features of one name are one in the recorded results");
}

#[test]
fn every_pair_of_features_is_refused_at_once_or_runs() {
    let features = features::all();
    let mut stream = Stream::new(1, "test.pairs", 0);
    let mut tally = Tally::default();
    for (number, one) in features.iter().enumerate() {
        for other in &features[..number] {
            tally.case(&sets(&[one, other], &mut stream));
        }
    }
    tally.assert_right(1);
}

#[test]
#[ignore = "takes ten minutes: make long"]
#[expect(clippy::disallowed_methods, reason = "a new seed each time, for ten minutes")]
fn features_together_are_refused_at_once_or_run() {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let seed = since.as_secs();
    println!("features together: seed {seed}");
    let features = features::all();
    let mut stream = Stream::new(seed, "test.pairs", 1);
    let mut tally = Tally::default();
    let (begun, ten_minutes) = (Instant::now(), Duration::from_secs(600));
    while begun.elapsed() < ten_minutes {
        let count = 2 + stream.below(4);
        let mut drawn = || &features[stream.below(features.len() as u64) as usize];
        let some: Vec<&Feature> = (0..count).map(|_| drawn()).collect();
        tally.case(&sets(&some, &mut stream));
    }
    tally.assert_right(seed);
}
