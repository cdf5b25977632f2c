//! One model, two ways through it: a die of one plane, and a lane of one plane. Every policy that a
//! scenario can name gives the same either way.

use reprieve_base::Entry;
use reprieve_ssd::{Options, registries};
use serde_json::Value;

use super::cases;
use super::drive::{self, Outcome, Row};

/// A small drive that is full, with dies of one plane, on which everything is suspended. Its
/// load writes at least 300 pages of some 270, and has 180 free ones: it collects.
const BUSY: &str = "seed = 11\ndevice = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nchannels = 2\ndies_per_channel = 2\nplanes_per_die = 1\nblocks_per_plane = 28\n\
    pages_per_block = 4\n\
    [suspension]\nvth_reached = \"proportional\"\n\
    [ftl]\nover_provisioning = 0.4\nprecondition = \"sequential\"\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 750\nread_fraction = 0.6\n\
    trim_fraction = 0.05\nrequest_bytes = [[512, 1], [2048, 3], [6144, 1]]\nalign_bytes = 512\n\
    addresses = \"zipf\"\nzipf_theta = 0.9\narrivals = \"poisson\"\nrate_iops = 4500\n";

/// What the scheduler of that name cannot do without.
fn of_scheduler(name: &str) -> Vec<String> {
    let steps = "[\"host_read\", \"gc_read urgent\", \"host_write queued=3\", \
        \"resume after_us=100\", \"gc_read\", \"gc_program\", \"erase\", \"host_write\", \
        \"resume\"]";
    let more = match name {
        "microcode" => vec![format!("scheduling.steps={steps}")],
        // So short that some of what waits exceeds it.
        "rps-age" => vec!["scheduling.age_limit_us=300".to_string()],
        "deadline" => ["read_deadline_us=200", "write_deadline_us=500", "gc_deadline_us=900"]
            .map(|set| format!("scheduling.{set}"))
            .to_vec(),
        _ => vec![],
    };
    [vec![format!("scheduling.policy={name}")], more].concat()
}

fn of_suspension(name: &str) -> Vec<String> {
    let more: &[&str] = match name {
        "threshold" => &["suspension.min_remaining_us=40", "suspension.max_suspended_us=90"],
        "batch" => &["suspension.batch.reads=2", "suspension.batch.oldest_us=120"],
        "deadline" => &["suspension.deadline.read_slo_us=300"],
        _ => &[],
    };
    let policy = format!("suspension.policy={name}");
    [vec![policy], more.iter().map(ToString::to_string).collect()].concat()
}

fn of_dispatcher(name: &str) -> Vec<String> {
    let more: &[&str] = match name {
        // A page is written anew without a look at its entry of the mapping.
        "mbm" => &["scheduling.mbm_redistribution=none"],
        _ => &[],
    };
    let policy = format!("scheduling.dispatch={name}");
    [vec![policy], more.iter().map(ToString::to_string).collect()].concat()
}

/// Every scheduler with every suspension policy under every dispatcher: the names, and what each
/// needs.
fn combinations() -> Vec<([&'static str; 3], Vec<String>)> {
    let registries = registries();
    let names = |entries: &'static [Entry]| entries.iter().map(|entry| entry.name);
    let mut all = Vec::new();
    for scheduler in names(registries.schedulers) {
        for suspension in names(registries.suspend_policies) {
            for dispatcher in names(registries.dispatchers) {
                let sets =
                    [of_scheduler(scheduler), of_suspension(suspension), of_dispatcher(dispatcher)];
                all.push(([scheduler, suspension, dispatcher], sets.concat()));
            }
        }
    }
    all
}

fn run(sets: &[String], more: &[&str]) -> Outcome {
    let sets: Vec<&str> = sets.iter().map(String::as_str).chain(more.iter().copied()).collect();
    drive::run_with(drive::load_with(BUSY, &sets), u64::MAX, &Options::default())
}

/// Ways for planes to work apart, which a die of one plane has no use for.
const LANES: [&[&str]; 3] = [
    &["parallelism.independent_plane_reads=true"],
    &["parallelism.independent_plane_reads=true", "suspension.multi_plane=plane"],
    &[
        "parallelism.independent_plane_reads=true",
        "suspension.multi_plane=plane",
        "parallelism.multi_plane=page",
    ],
];

/// Settings on which a lane and a die could differ. Channels have two dies: where a die has one to
/// itself, pages that leave two of them at one instant do so in another order.
const SETTINGS: [&[&str]; 6] = [
    &["ftl.precondition=steady"],
    &["ftl.mapping=demand", "ftl.map_cache_bytes=256"],
    &["timing.cache_register=true", "timing.t_command_us=1"],
    &["suspension.program=ips", "scheduling.write_queue_limit=3", "suspension.same_block=page"],
    &["suspension.resume_at=array_read", "suspension.min_progress_us=50", "ftl.copyback=true"],
    &["suspension.max_per_operation=2", "suspension.erase_resume=redo_phase"],
];

/// Rows, and the summary without what counts commands that work on several planes.
fn comparable(outcome: &Outcome) -> (&[Row], Value) {
    let mut summary = outcome.summary.clone();
    let flash = summary["flash"].as_object_mut().expect("a table");
    flash.retain(|name, _| !name.contains("multi_plane"));
    (&outcome.rows, summary)
}

/// Each combination goes through every setting, and through the ways by turns: every policy meets
/// every way, on some of the settings. `make long` runs all of them, `make test` every fifth
/// combination, which leaves none of the policies out.
#[test]
fn a_lane_of_one_plane_is_a_die_of_one_plane() {
    let all = cases::times() > 1.0;
    let mut others = Vec::new();
    let step = if cases::times() < 1.0 { 5 } else { 1 };
    for (place, (names, sets)) in combinations().into_iter().enumerate().step_by(step) {
        for (turn, more) in SETTINGS.into_iter().enumerate() {
            let die = run(&sets, more);
            assert!(die.count("flash.erases") >= 10, "{names:?} {more:?}: it hardly collects");
            let due = (place + turn) % LANES.len();
            for lane in if all { &LANES[..] } else { &LANES[due..=due] } {
                let lane_outcome = run(&sets, &[more, *lane].concat());
                let [die, lane_outcome] = [&die, &lane_outcome].map(comparable);
                if die != lane_outcome {
                    let rows = die.0.iter().zip(lane_outcome.0);
                    let first = rows.into_iter().find(|(one, other)| one != other);
                    others.push(format!("{names:?} {more:?} {lane:?}: {first:?}"));
                }
            }
        }
    }
    assert!(others.is_empty(), "{} differ:\n{}", others.len(), others.join("\n"));
}
