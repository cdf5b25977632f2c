//! The part of the schema that says what flash and channels draw, and what they may draw.

use reprieve_base::Entry;

use super::{Key, Kind, Section, Unit, When};
use super::{above, closed, count, optional, required, same, usual};

const ACCOUNT: &[Entry] = &[
    Entry { name: "off", doc: "No: the other keys of the section are not looked at." },
    Entry { name: "on", doc: "Yes." },
];

const COUNTS: &[Entry] = &[
    Entry { name: "mean", doc: "Its mean over pulses and verifies." },
    Entry { name: "peak", doc: "The phase that draws most." },
];

const ON: When = When::Equals("power.account", &["on"]);
/// Up to a kilowatt for a die is more than enough.
const MW: Kind = closed(0.0, 1e6);
const MW_LIST: Kind = Kind::Counts { min: 0, max: 1_000_000 };

const fn mw(name: &'static str, doc: &'static str) -> Key {
    required(name, MW, doc).when(ON)
}

const fn by_type(name: &'static str, doc: &'static str) -> Key {
    optional(name, MW_LIST, doc).when(ON)
}

/// Section `[power]`.
pub(super) const POWER: Section = Section {
    name: "power",
    doc: "What the flash draws from its supplies, and what it may draw at once.",
    keys: &[
        usual(
            "power.account",
            Kind::Choice(ACCOUNT),
            "\"off\"",
            "Whether power and energy are accounted for.",
        ),
        mw("power.p_idle_mw", "A die of which nothing runs and nothing is suspended."),
        mw("power.p_sense_mw", "A die while one of its planes senses a page."),
        mw("power.p_program_pulse_mw", "A die in a program pulse, on one plane."),
        mw("power.p_program_verify_mw", "A die in a program verify, on one plane."),
        mw("power.p_erase_pulse_mw", "A die in an erase pulse, on one plane."),
        same(
            "power.p_erase_verify_mw",
            MW,
            "power.p_program_verify_mw",
            "A die in an erase verify, on one plane.",
        )
        .when(ON),
        same(
            "power.p_suspended_mw",
            MW,
            "power.p_idle_mw",
            "A die with a suspended operation of which nothing runs.",
        )
        .when(ON)
        .source("Zambelli et al. 2021, Figure 3b: the idle consumption during a suspension"),
        by_type("power.p_sense_mw_by_type", "p_sense_mw by page type; absent: alike."),
        by_type(
            "power.p_program_pulse_mw_by_type",
            "p_program_pulse_mw by page type; absent: alike.",
        ),
        by_type(
            "power.p_program_verify_mw_by_type",
            "p_program_verify_mw by page type; absent: alike.",
        ),
        usual(
            "power.e_resume_nj",
            closed(0.0, 1e9),
            "0",
            "Energy of a die for a resume, to bring its voltages up again.",
        )
        .when(ON),
        optional(
            "power.e_io_pj_per_bit",
            closed(0.0, 1e6),
            "A bit over the channel, in or out; goes before io_capacitance_pf.",
        )
        .when(ON),
        optional(
            "power.io_capacitance_pf",
            closed(0.0, 1e6),
            "Capacitance of a line of the channel: a bit takes 1/2 io_activity C vdd_q_v^2.",
        )
        .when(ON),
        usual(
            "power.io_activity",
            closed(0.0, 1.0),
            "0.5",
            "Share of bits at which a line changes; of random data the half.",
        )
        .when(ON),
        optional(
            "power.vdd_core_v",
            above(0.0, 100.0),
            "Voltage of the core supply, to state currents.",
        )
        .when(ON)
        .source("Zambelli et al. 2021, Table 2: 2.7 to 3.6 V"),
        optional("power.vdd_q_v", above(0.0, 100.0), "Voltage of the I/O supply.")
            .when(ON)
            .source("Zambelli et al. 2021, Table 2: 1.2 to 1.8 V"),
        optional(
            "power.series_us",
            Kind::Duration(Unit::Microseconds),
            "Width of the bins of the time series of power; absent: none is kept.",
        )
        .when(ON),
        optional(
            "power.max_active_dies",
            count(1, 1 << 31),
            "Dies that may sense, program or erase at once; absent: all.",
        )
        .when(ON),
        optional("power.budget_mw", MW, "What all dies together may draw; absent: no limit.")
            .when(ON),
        usual(
            "power.budget_counts",
            Kind::Choice(COUNTS),
            "\"mean\"",
            "As what a program or an erase counts under budget_mw.",
        )
        .when(ON),
    ],
};
