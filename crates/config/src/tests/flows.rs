//! Tables of several loads: what they inherit, what outranks what, and how mistakes are named.

use reprieve_trace::WorkloadConfig;

use super::super::{Scenario, load_rig, print};
use super::{BASE, REGISTRIES, bad, good};

const TWO: &str = "[flow.hot]\nrequests = 7\n[flow.cold]\ntrace = \"Cargo.toml\"\n";

fn with(flows: &str) -> String {
    format!("{BASE}{flows}")
}

/// Requests of a flow that is generated.
fn requests(scenario: &Scenario, flow: &str) -> u64 {
    let found = scenario.flows.iter().find(|found| found.name == flow).expect("a flow");
    match &found.workload {
        WorkloadConfig::Mixed(config) => config.requests,
        other => panic!("{flow} is generated as no other: {other:?}"),
    }
}

#[test]
fn a_flow_says_what_differs_from_the_workload() {
    let scenario = good(&with(TWO), &[]);
    let names: Vec<_> = scenario.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["cold", "hot"], "in the order of their names");
    assert_eq!(scenario.workload, None);
    assert_eq!(requests(&scenario, "hot"), 7);
    assert!(matches!(&scenario.flows[0].workload, WorkloadConfig::Trace(_)));
    // Its own word outranks even an override of what all have in common.
    assert_eq!(requests(&good(&with(TWO), &["workload.requests=9"]), "hot"), 7);
    assert_eq!(requests(&good(&with(TWO), &["flow.hot.requests=9"]), "hot"), 9);
    let more = good(&with(TWO), &["flow.third.queue_depth=2", "workload.requests=9"]);
    assert_eq!(requests(&more, "third"), 9);
}

#[test]
fn flows_are_printed_and_read_back() {
    for sets in
        [&[][..], &["host.interface=nvme", "flow.hot.queues=[0]"], &["workload.unwritten=zero"]]
    {
        let scenario = good(&with(TWO), sets);
        let printed = print(&scenario);
        assert_eq!(good(&printed, &[]), scenario, "{printed}");
    }
}

#[test]
fn mistakes_name_the_flow() {
    let line = BASE.lines().count() + 2;
    assert_eq!(
        bad(&with("[flow.hot]\nrequests = 0\n"), &[]),
        format!(
            "s.toml:{line}: flow.hot.requests = 0: must be an integer from 1 to \
             18446744073709551615"
        )
    );
    for (flows, words) in [
        (
            "[flow.hot]\nreqests = 1\n",
            "flow.hot.reqests: unknown key; did you mean flow.hot.requests?",
        ),
        ("[flow]\nhot = 1\n", "flow.hot: must be a table of a flow's keys"),
        ("[flow.\"a b\"]\nrequests = 1\n", "a flow's name has letters, digits, - and _ only"),
        ("[flow.hot]\nunwritten = \"zero\"\n", "it is of the drive, and the same for all"),
        ("[flow.hot]\narrivals = \"poisson\"\n", "[flow.hot]: workload.rate_iops is missing"),
        ("[flow.hot]\nzipf_theta = 1\n", "flow.hot.zipf_theta = 1: only while workload.addresses"),
    ] {
        let error = bad(&with(flows), &[]);
        assert!(error.contains(words), "{error}");
    }
    let error = bad(BASE, &["host.interface=nvme", "host.queues=2", "workload.queues=[0, 2]"]);
    assert!(error.contains("2 is no queue; there are those from 0 to 1"), "{error}");
    let error = load_rig("fast12-slc", &["flow.a.requests=1".to_string()], &REGISTRIES);
    let error = error.expect_err("no workload").to_string();
    assert_eq!(error, "--set: flow.a.requests = 1: the rig has no workload; leave it out");
}
