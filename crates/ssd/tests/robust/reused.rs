//! A drive that takes the state that another was prepared in is that other: to the bit, under every
//! feature, and with no state of a drive that differs in a key.

use std::sync::Arc;
use std::thread;

use reprieve_base::{Archive, Stream};
use reprieve_ssd::scenario::{Precondition, Scenario};
use reprieve_ssd::{Options, Ssd, Store, Window};

use super::features::{self, DRIVE, sets};
use super::load;

const STEADY: [&str; 2] = ["ftl.precondition=steady", "workload.requests=60"];

fn store() -> Arc<Store> {
    Store::new(None, 1 << 30, 0)
}

/// All that a run says, and its steps until the drive is prepared.
fn ran(scenario: &Scenario, store: &Arc<Store>) -> Result<(String, Vec<u8>, u32), String> {
    let options = Options {
        log_requests: true,
        series: true,
        check: Some("a prepared drive".into()),
        timeline: Some(Window::ALL),
        states: Some(Arc::clone(store)),
        ..Options::default()
    };
    let run = || {
        let mut ssd = Ssd::with(scenario.clone(), &options)?;
        let mut steps = 0;
        while !ssd.is_preconditioned() {
            ssd.step(1)?;
            steps += 1;
        }
        let place = tempfile::NamedTempFile::new().expect("a file");
        ssd.save_state(place.path())?;
        let mut bytes = std::fs::read(place.path()).expect("it was written");
        while ssd.step(1_000)? {}
        bytes.extend(ssd.take_timeline());
        let (log, summary) = (ssd.take_log(), ssd.summary());
        Ok((format!("{summary}\n{log:?}\n{:?}", ssd.course()), bytes, steps))
    };
    run().map_err(|error: reprieve_base::UserError| error.to_string())
}

/// The drive as it is handed to a program that embeds it, with no request yet.
fn embedded(scenario: &Scenario, store: &Arc<Store>) -> Option<Vec<u8>> {
    let states = Some(Arc::clone(store));
    let options = Options { served: true, handed_over: true, states, ..Options::default() };
    let mut ssd = Ssd::with(scenario.clone(), &options).ok()?;
    while !ssd.is_preconditioned() {
        ssd.step(1).ok()?;
    }
    ssd.start_serving().ok()?;
    let mut archive = Archive::saving(Vec::new());
    ssd.archive(&mut archive);
    Some(archive.into_bytes())
}

#[test]
fn a_feature_changes_no_result_by_the_states_of_others() {
    let times: f64 = std::env::var("REPRIEVE_CASES").map_or(1.0, |n| n.parse().expect("a number"));
    let mut features = features::all();
    let pairs = (f64::from(features.len() as u32) * times) as usize;
    let mut stream = Stream::new(1, "test.reused", 0);
    let mut cases: Vec<Vec<String>> = vec![Vec::new()];
    for feature in &features {
        cases.extend(feature.choices.iter().cloned());
    }
    for number in 0..pairs {
        let other = stream.below(features.len() as u64 - 1) as usize;
        let one = features.swap_remove(number % features.len());
        cases.push(sets(&[&one, &features[other]], &mut stream));
        features.push(one);
    }
    // All share one: whoever took another's state would differ from who prepared its own.
    let shared = store();
    let (mut ran_cases, mut prepared) = (0, 0);
    for case in cases {
        // The seed is the one of all: else no two could take the same state.
        let case: Vec<String> = case.into_iter().filter(|set| !set.starts_with("seed=")).collect();
        let all = [&STEADY.map(str::to_owned)[..], &case].concat();
        let Ok(scenario) = load(DRIVE, &all) else { continue };
        let cold = ran(&scenario, &store());
        let first = ran(&scenario, &shared);
        let again = ran(&scenario, &shared);
        let (Ok(cold), Ok(first), Ok(again)) = (&cold, &first, &again) else {
            assert_eq!([&first, &again], [&cold, &cold], "{case:?}");
            continue;
        };
        assert!((&first.0, &first.1) == (&cold.0, &cold.1), "{case:?} has another's state");
        assert!((&again.0, &again.1) == (&cold.0, &cold.1), "{case:?} is taken back otherwise");
        let is_kept = scenario.ftl.precondition == Precondition::Steady;
        assert!(again.2 == 1 || !is_kept, "{case:?} is prepared a second time");
        ran_cases += 1;
        prepared += u32::from(first.2 > 1);
        if scenario.power_loss.is_none() {
            let fresh = embedded(&scenario, &store());
            assert!(embedded(&scenario, &shared) == fresh, "{case:?}: embedded otherwise");
            assert!(embedded(&scenario, &shared) == fresh, "{case:?}: embedded otherwise");
        }
    }
    println!("{ran_cases} cases ran, {prepared} of them with a state of their own");
    assert!(prepared > 50 && ran_cases > prepared, "{ran_cases} cases, {prepared} states");
}

/// Steps in which drives of these settings, one after the other, are prepared.
fn steps(store: &Arc<Store>, all: &[&[&str]]) -> Vec<u32> {
    let run = |sets: &&[&str]| {
        let scenario = load(DRIVE, &[&STEADY, *sets].concat()).expect("a scenario");
        ran(&scenario, store).expect("it runs").2
    };
    all.iter().map(run).collect()
}

#[test]
fn settings_of_the_run_alone_share_a_state() {
    const LOAD: [&str; 3] = [
        "precondition.load.generator=mixed",
        "precondition.load.read_fraction=0.5",
        "precondition.load.queue_depth=4",
    ];
    let given = |more: &'static [&'static str]| [&LOAD, more].concat();
    let taken = steps(
        &store(),
        &[&[], &["workload.requests=99"], &["measure.from_request=10"], &["name=other"], &LOSS],
    );
    assert!(taken[0] > 1 && taken[1..] == [1; 4], "{taken:?}");
    let other = given(&["workload.queue_depth=9", "workload.read_fraction=0.9"]);
    let taken = steps(&store(), &[&given(&[]), &other, &["seed=2"], &given(&["seed=2"])]);
    assert!(taken[0] > 1 && taken[1] == 1 && taken[2] > 1 && taken[3] > 1, "{taken:?}");
}

const LOSS: [&str; 2] = ["power_loss.mode=on", "power_loss.p_controller_mw=1000"];

#[test]
fn threads_that_want_one_state_get_it() {
    let scenario = load(DRIVE, &STEADY).expect("a scenario");
    let (cold, shared) = (ran(&scenario, &store()).expect("it runs"), store());
    // One is begun and left alone: it is not waited for without end.
    let states = Some(Arc::clone(&shared));
    let options = Options { states, ..Options::default() };
    let mut left = Ssd::with(scenario.clone(), &options).expect("a drive");
    left.step(1).expect("a step");
    let found = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| ran(&scenario, &shared))).collect();
        threads.into_iter().map(|it| it.join().expect("it runs")).collect::<Vec<_>>()
    });
    for found in found {
        let found = found.expect("it runs");
        assert!((found.0, found.1) == (cold.0.clone(), cold.1.clone()));
    }
    drop(left);
    let again = ran(&scenario, &shared).expect("nobody has it any more");
    assert!(again.2 > 1 && ran(&scenario, &shared).expect("it runs").2 == 1);
}
