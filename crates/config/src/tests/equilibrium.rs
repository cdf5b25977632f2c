//! The load of `[precondition.load]`: where it comes from, what is refused, and that it is printed.

use reprieve_trace::WorkloadConfig;

use super::{REGISTRIES, bad, good};
use crate::{EquilibriumLoad, Scenario, Sources, load_served, print};

const STEADY: &str = "device = \"fast12-mlc\"\n[ftl]\nprecondition = \"steady\"\n[workload]\n\
    generator = \"mixed\"\nrequests = 10\nread_fraction = 0.5\nrequest_bytes = 4096\n\
    queue_depth = 4\n";
const TABLE: &str = "[precondition.load]\nread_fraction = 0.25\nrequest_bytes = 8192\n\
    queue_depth = 2\n";

fn given(scenario: &Scenario) -> &WorkloadConfig {
    match &scenario.equilibrium {
        EquilibriumLoad::Given(load) => load,
        other => panic!("{other:?} is no load by hand"),
    }
}

#[test]
fn a_table_gives_a_load_by_hand_and_is_printed() {
    let scenario = good(&format!("{STEADY}{TABLE}"), &[]);
    let WorkloadConfig::Mixed(mixed) = given(&scenario) else { panic!("a generator's") };
    assert_eq!((mixed.read_fraction, mixed.sizes[0].0), (0.25, 8192));
    let printed = print(&scenario);
    assert!(printed.contains("[precondition.load]"), "{printed}");
    assert_eq!(good(&printed, &[]).equilibrium, scenario.equilibrium);
}

#[test]
fn without_one_it_is_the_run_s_own_or_random_writes_of_a_served_drive() {
    assert_eq!(good(STEADY, &[]).equilibrium, EquilibriumLoad::Scenario);
    let sources = Sources { text: STEADY, path: "test.toml", sets: &[] };
    let served = load_served(&sources, &REGISTRIES).expect("a drive to serve");
    assert_eq!(served.equilibrium, EquilibriumLoad::RandomWrites);
    let word = good(STEADY, &["precondition.load=random-writes"]);
    assert_eq!(word.equilibrium, EquilibriumLoad::RandomWrites);
}

#[test]
fn overrides_outrank_the_file() {
    let text = format!("{STEADY}{TABLE}");
    let set = good(&text, &["precondition.load.read_fraction=0.75"]);
    let WorkloadConfig::Mixed(mixed) = given(&set) else { panic!("a generator's") };
    assert_eq!((mixed.read_fraction, mixed.sizes[0].0), (0.75, 8192));
    assert_eq!(good(&text, &["precondition.load=scenario"]).equilibrium, EquilibriumLoad::Scenario);
}

#[test]
fn what_cannot_be_an_equilibrium_is_refused_by_its_cause() {
    let text = format!("{STEADY}{TABLE}");
    for (set, wanted) in [
        ("ftl.precondition=sequential", "only while ftl.precondition is \"steady\""),
        ("precondition.load.read_fraction=1", "never writes"),
        ("precondition.load.fio=x.fio", "must be a trace or a generator's load"),
        ("precondition.load.request_byte=1", "did you mean precondition.load.request_bytes?"),
        ("precondition.load.read_fraction=2", "precondition.load.read_fraction"),
        ("precondition.load=idle", "must be one of \"scenario\", \"random-writes\""),
    ] {
        let told = bad(&text, &[set]);
        assert!(told.contains(wanted), "{set}: {told}");
    }
}
