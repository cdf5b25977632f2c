//! Every registered policy on every built-in device: runs to its end, and twice alike.

use reprieve_base::Entry;
use reprieve_ssd::{Ssd, registries, scenario};
use serde_json::Value;

use super::cases::times;
use super::drive;

/// Requests of a run.
const REQUESTS: u64 = 5_000;

/// Small enough to be collected many times over by so many requests.
const SMALL: &str = "[geometry]\nchannels = 2\ndies_per_channel = 2\nchips_per_channel = 2\n\
    planes_per_die = 2\nblocks_per_plane = 16\npages_per_block = 12\n\
    [zones]\nmodel = \"none\"\n[slc_cache]\nmode = \"none\"\n\
    [ftl]\nover_provisioning = 0.5\nprecondition = \"sequential\"\n\
    [buffer]\nbytes = 1048576\n\
    [workload]\ngenerator = \"mixed\"\nread_fraction = 0.5\nqueue_depth = 16\n\
    request_bytes = [[512, 1], [16384, 2]]\n";

/// One choice from every registry, on a device.
#[derive(Clone, Copy, Debug)]
struct Choice {
    device: &'static str,
    scheduler: &'static str,
    suspend_policy: &'static str,
    placement: &'static str,
    victim: &'static str,
}

impl Choice {
    fn run(self) -> Value {
        let sets = [
            format!("device={}", self.device),
            format!("scheduling.policy={}", self.scheduler),
            format!("suspension.policy={}", self.suspend_policy),
            format!("ftl.placement={}", self.placement),
            format!("ftl.gc_victim={}", self.victim),
            format!("workload.requests={REQUESTS}"),
        ];
        let of_policy: &[&str] = match self.suspend_policy {
            "batch" => &["suspension.batch.reads=2"],
            "deadline" => &["suspension.deadline.read_slo_us=500"],
            _ => &[],
        };
        let mut sets: Vec<&str> =
            sets.iter().map(String::as_str).chain(of_policy.iter().copied()).collect();
        // A device in smaller units would fill fewer blocks.
        let page_bytes = drive::load_with(SMALL, &sets).geometry.page_bytes;
        let unit = format!("ftl.mapping_bytes={page_bytes}");
        sets.push(&unit);
        let mut ssd = Ssd::new(drive::load_with(SMALL, &sets), false).expect("it fits into memory");
        while ssd.step(REQUESTS).expect("a generator without bad rows") {}
        ssd.summary()
    }
}

fn names(entries: &[Entry]) -> Vec<&'static str> {
    entries.iter().map(|entry| entry.name).collect()
}

/// Every device with every scheduler and every placement; pairs of a victim policy and a suspension
/// policy take turns. Schedulers and placements together outnumber the pairs, so that each pair
/// meets each device too, at a cost that does not multiply with every new policy.
fn choices() -> Vec<Choice> {
    let registries = registries();
    let placements = names(registries.placements);
    let mut pairs = Vec::new();
    for victim in names(registries.gc_victims) {
        for suspend_policy in names(registries.suspend_policies) {
            pairs.push((victim, suspend_policy));
        }
    }
    let meetings = placements.len() * registries.schedulers.len();
    assert!(pairs.len() <= meetings, "pairs are left out: go around them twice");
    let mut choices = Vec::new();
    for device in scenario::devices() {
        let mut pairs = pairs.iter().cycle();
        for scheduler in names(registries.schedulers) {
            for (placement, (victim, suspend_policy)) in placements.iter().zip(pairs.by_ref()) {
                let device = device.name;
                choices.push(Choice { device, scheduler, suspend_policy, placement, victim });
            }
        }
    }
    choices
}

fn runs_and_repeats(choice: Choice) {
    let summary = choice.run();
    let count = |key: &str| summary.pointer(key).and_then(Value::as_u64).expect("a count");
    assert_eq!(count("/requests/total/count"), REQUESTS, "{choice:?}");
    assert!(count("/flash/erases") > 100, "{choice:?}: {summary}");
    assert_eq!(choice.run(), summary, "{choice:?} does not repeat");
}

/// On two threads: it takes long, and would go on alone at the end of the tests. In `make test` it
/// is every eleventh choice: a number that divides no count of policies leaves none of them out.
#[test]
fn every_policy_runs_on_every_device_and_repeats() {
    let step = if times() < 1.0 { 11 } else { 1 };
    let choices: Vec<Choice> = choices().into_iter().step_by(step).collect();
    let (some, others) = choices.split_at(choices.len() / 2);
    std::thread::scope(|scope| {
        scope.spawn(|| some.iter().copied().for_each(runs_and_repeats));
        others.iter().copied().for_each(runs_and_repeats);
    });
}
