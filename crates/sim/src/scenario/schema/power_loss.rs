//! The part of the schema that says what happens when the power fails.

use reprieve_base::Entry;

use super::{Key, Kind, Section, Unit, When};
use super::{above, closed, count, optional, required, usual};

const MODE: &[Entry] = &[
    Entry { name: "off", doc: "No: the other keys of the section are not looked at." },
    Entry { name: "on", doc: "Yes." },
];

const POLICY: &[Entry] = &[
    Entry { name: "wait", doc: "It is waited for." },
    Entry { name: "suspend_erase", doc: "An erase is suspended; a program is waited for." },
    Entry { name: "suspend", doc: "It is suspended." },
    Entry { name: "reset", doc: "It is broken off by a reset of the die, and of no use." },
];

const ON: When = When::Equals("power_loss.mode", &["on"]);
const VOLTS: Kind = above(0.0, 1000.0);
const US: Kind = Kind::Duration(Unit::Microseconds);
const RESET: &str = "ONFI 1.0, tRST: at most 5, 10 and 500 us during read, program and erase";

const fn when_on(key: Key) -> Key {
    key.when(ON)
}

/// Section `[power_loss]`.
pub(super) const POWER_LOSS: Section = Section {
    name: "power_loss",
    doc: "What the drive does when its power fails, and how long it lives on.",
    keys: &[
        usual(
            "power_loss.mode",
            Kind::Choice(MODE),
            "\"off\"",
            "Whether the drive is prepared for a loss of power.",
        ),
        when_on(optional(
            "power_loss.at_us",
            US,
            "When the power fails, which ends the run; absent: it does not.",
        )),
        when_on(usual(
            "power_loss.policy",
            Kind::Choice(POLICY),
            "\"wait\"",
            "What becomes of the operation that a die is at work on when the power fails.",
        )),
        when_on(required(
            "power_loss.p_controller_mw",
            closed(0.0, 1e6),
            "The controller with its memory, from the failure until all is safe.",
        )),
        when_on(optional(
            "power_loss.hold_up_us",
            US,
            "How long the drive lives on at most; absent: as long as the capacitor lasts.",
        )),
        when_on(optional(
            "power_loss.capacitance_uf",
            above(0.0, 1e9),
            "The capacitor from which the drive lives on; absent: hold_up_us says how long.",
        )),
        when_on(optional(
            "power_loss.capacitor_start_v",
            VOLTS,
            "Voltage of the charged capacitor, with which needed capacitances are stated.",
        )),
        when_on(optional("power_loss.capacitor_min_v", VOLTS, "Voltage at which the drive stops.")),
        when_on(usual(
            "power_loss.conversion_efficiency",
            Kind::Number(super::Interval { min: 0.0, max: 1.0, min_open: true, max_open: false }),
            "1.0",
            "Share of the capacitor's energy that reaches controller and flash.",
        )),
        when_on(optional(
            "power_loss.t_program_us",
            US,
            "Program of a page that is saved, as in SLC mode; absent: as of the part's page 0.",
        )),
        when_on(usual(
            "power_loss.planes",
            count(1, 128),
            "1",
            "Pages that a die saves with one program, on as many planes.",
        )),
        when_on(usual("power_loss.t_reset_read_us", US, "5", "Reset of a die that senses."))
            .source(RESET),
        when_on(usual("power_loss.t_reset_program_us", US, "10", "Reset of one that programs."))
            .source(RESET),
        when_on(usual("power_loss.t_reset_erase_us", US, "500", "Reset of one that erases."))
            .source(RESET),
        when_on(usual(
            "power_loss.oob_bytes",
            count(1, 4096),
            "16",
            "Bytes read of each programmed page when the mapping is rebuilt.",
        )),
    ],
};
