//! Keys of a loss of power: what does not go together, by name.

use super::super::{Capacitor, LossPolicy, Sources, load, print};
use super::{BASE, REGISTRIES, bad, good};

const ON: [&str; 2] = ["power_loss.mode=on", "power_loss.p_controller_mw=1500"];

fn with<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    ON.iter().chain(sets).copied().collect()
}

#[test]
fn a_drive_is_prepared_only_if_it_is_asked_for() {
    assert_eq!(good(BASE, &[]).power_loss, None);
    let loss = good(BASE, &ON).power_loss.expect("it is on");
    assert_eq!((loss.policy, loss.controller_uw), (LossPolicy::Wait, 1_500_000));
    assert!(loss.capacitor.is_none() && !loss.is_protected());
    let volts = ["power_loss.capacitor_start_v=12", "power_loss.capacitor_min_v=4"];
    let loss = good(BASE, &with(&volts)).power_loss.expect("it is on");
    assert_eq!(loss.capacitor, Some(Capacitor { capacitance_uf: None, volts: [12.0, 4.0] }));
    assert!(!loss.is_protected());
}

#[test]
fn power_may_fail_whatever_the_drive_does() {
    let own = "parallelism.independent_plane_reads=true";
    good(BASE, &with(&["suspension.multi_plane=plane", own]));
    for set in
        ["ftl.mapping=demand", "scheduling.dispatch=sprinkler", "ftl.partial_write=track_sectors"]
    {
        good(BASE, &with(&[set]));
    }
}

#[test]
fn values_that_do_not_fit_each_other_are_refused() {
    let start = "power_loss.capacitor_start_v=12";
    for (sets, error) in [
        (&[start][..], "capacitor_start_v = 12: needs both"),
        (&["power_loss.capacitance_uf=100"], "capacitance_uf = 100: needs both"),
        (&[start, "power_loss.capacitor_min_v=12"], "must be more than power_loss.capacitor_min_v"),
        (
            &[start, "power_loss.capacitor_min_v=4", "power_loss.capacitance_uf=100"],
            "must be absent with power.account = \"off\"",
        ),
        (&["power_loss.planes=64"], "planes = 64: must be at most geometry.planes_per_die"),
        (&["geometry.page_bytes=512", "power_loss.oob_bytes=513"], "must be at most geometry.page"),
        (&["policy=fifo", "power_loss.policy=suspend"], "the part does not suspend that"),
    ] {
        let said = bad(BASE, &with(sets));
        assert!(said.contains(error), "{said}");
    }
    let missing = bad(BASE, &ON[..1]);
    assert!(missing.contains("power_loss.p_controller_mw"), "{missing}");
}

#[test]
fn what_is_printed_is_read_back() {
    for sets in [
        &["power_loss.at_us=0.5", "power_loss.hold_up_us=1000.001"][..],
        &[
            "power.account=on",
            "power_loss.capacitance_uf=99.5",
            "power_loss.capacitor_start_v=11.9",
            "power_loss.capacitor_min_v=4.5",
            "power_loss.conversion_efficiency=0.85",
            "power_loss.t_program_us=250",
            "power_loss.t_reset_erase_us=400",
            "power_loss.policy=reset",
            "power_loss.oob_bytes=32",
        ],
    ] {
        let scenario = good(BASE, &with(sets));
        let printed = print(&scenario);
        let sources = Sources { text: &printed, path: "printed.toml", sets: &[] };
        assert_eq!(load(&sources, &REGISTRIES).expect("it was valid"), scenario, "{sets:?}");
    }
}
