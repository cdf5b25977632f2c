//! Keys of errors, their correction and wear: what they mean and what does not go together.

use super::super::read::{self, Rank};
use super::super::{keys, print};
use super::{BASE, bad, good};

const POWER: &str = "reliability.model=power";
const LDPC: &str = "ecc.code=ldpc";

#[test]
fn nothing_errs_and_nothing_wears_unless_it_is_asked_for() {
    let scenario = good(BASE, &[]);
    assert!(scenario.reliability.ageing.is_none() && scenario.ecc.is_none());
    // Parameters of a part's cells may be given without a model.
    let known = good(BASE, &["reliability.epsilon=1e-3", "reliability.rated_cycles=3000"]);
    assert!(known.reliability.ageing.is_none());
    assert_eq!(known.reliability.rber.epsilon, 1e-3);
    assert!(good(BASE, &[POWER]).ecc.is_none());
    assert_eq!(good(BASE, &[POWER, LDPC]).ecc.expect("a code").correctable_bits, 72);
}

#[test]
fn what_the_drive_went_through_needs_a_model() {
    assert_eq!(
        bad(BASE, &["reliability.age_days=3"]),
        "--set: reliability.age_days = 3: only while reliability.model is \"power\", but by \
         default it is \"none\""
    );
    assert_eq!(
        bad(BASE, &[LDPC]),
        "--set: ecc.code = \"ldpc\": only while reliability.model is \"power\", but by default it \
         is \"none\""
    );
    assert_eq!(
        bad(BASE, &[POWER, "ecc.retries_max=3"]),
        "--set: ecc.retries_max = 3: only while ecc.code is \"ldpc\", but by default it is \"none\""
    );
}

#[test]
fn values_that_do_not_fit_each_other_are_refused_by_name() {
    for (set, error) in [
        (
            "ecc.t_decode_typ_us=0.5",
            "--set: ecc.t_decode_typ_us = 0.5: must be at least \
            ecc.t_decode_min_us (1000 ns)",
        ),
        (
            "ecc.t_decode_max_us=3",
            "--set: ecc.t_decode_max_us = 3: must be at least \
            ecc.t_decode_typ_us (4000 ns)",
        ),
        (
            "ecc.soft_correctable_bits=71",
            "--set: ecc.soft_correctable_bits = 71: must be at least \
            ecc.correctable_bits (72)",
        ),
        (
            "ecc.correctable_bits=9104",
            "--set: ecc.correctable_bits = 9104: must be at most the 9103 \
            bits of a codeword",
        ),
        ("ecc.code_rate=0", "--set: ecc.code_rate = 0: must be a number above 0 and at most 1"),
        (
            "reliability.epsilon=0.6",
            "--set: reliability.epsilon = 0.6: must be a number at least 0 \
            and at most 0.5",
        ),
        (
            "timing.page_types=3|reliability.rber_factor_by_type=[1, 2]",
            "--set: \
            reliability.rber_factor_by_type = [1, 2]: must have one entry for each of \
            timing.page_types = 3",
        ),
    ] {
        let sets: Vec<&str> = [POWER, LDPC].into_iter().chain(set.split('|')).collect();
        let got = bad(BASE, &sets);
        assert_eq!(got, error, "{set}");
    }
}

#[test]
fn every_key_that_applies_is_printed() {
    let missing = |sets: &[&str]| -> Vec<&str> {
        let printed = print(&good(BASE, sets));
        let leaves = read::read(&printed, "printed", Rank::File).expect("it is TOML").leaves;
        let own = keys().iter().filter(|key| ["reliability", "ecc"].contains(&key.section()));
        own.map(|key| key.full_name).filter(|name| !leaves.contains_key(name)).collect()
    };
    let typed = "timing.page_types=2";
    // A name for two keys is printed as these.
    let for_both = "reliability.wear_per_suspend";
    assert_eq!(missing(&[POWER, LDPC, typed]), [for_both]);
    let untyped = missing(&[POWER, LDPC]);
    assert_eq!(untyped.len(), 2);
    assert!(untyped.contains(&for_both) && untyped.contains(&"reliability.rber_factor_by_type"));
    // Only the part's parameters are printed without a model.
    let conditional = missing(&[typed]);
    let of_wear = [
        "reliability.wear_per_program_suspend",
        "reliability.wear_per_erase_suspend",
        for_both,
        "reliability.warranty_days",
        "ecc.code",
    ];
    assert_eq!((conditional[0], &conditional[3..8]), ("reliability.age_days", &of_wear[..]));
    assert_eq!(conditional.len(), 7 + 13);
}

#[test]
fn everything_is_printed_and_read_back() {
    for sets in [
        &[POWER, "reliability.age_days=0.25", "reliability.cycles_at_start=7"][..],
        &[POWER, "reliability.wear_per_suspend=0.01", "reliability.warranty_days=365"],
        &[POWER, LDPC, "ecc.code_rate=0.75", "ecc.t_decode_max_us=31.5", "ecc.soft_senses=0"],
        &["timing.page_types=2", "reliability.rber_factor_by_type=[0.5, 2.0]"],
        &["reliability.alpha=3.9e-10", "reliability.k=2.05", "reliability.rated_cycles=3000"],
    ] {
        let scenario = good(BASE, sets);
        assert_ne!(scenario, good(BASE, &[]), "{sets:?}");
        assert_eq!(good(&print(&scenario), &[]), scenario, "{sets:?}");
    }
}
