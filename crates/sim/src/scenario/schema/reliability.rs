//! The part of the schema that says what goes wrong in cells, what corrects it, and what wears out.

use reprieve_base::Entry;

use super::{Interval, Key, Kind, Section, Unit, When, above, closed, count, optional, usual};

const US: Kind = Kind::Duration(Unit::Microseconds);
const RATE: Kind = closed(0.0, 0.5);
const FACTOR: Interval = Interval { min: 0.0, max: 1000.0, min_open: false, max_open: false };
const EXPONENT: Kind = closed(0.0, 10.0);
const FORM: &str = "Kim, Choi and Min, FAST 2019, for the form";
const ZAMBELLI: &str = "Zambelli et al. 2021, Figure 9: no change, so 0";
const WEAR: &str = "US9886214B2 and US10152273B2 book suspensions as wear; no figure is published";
const DECODE: &str = "Microsemi 2014: 1, 4 and 20 us for 1, 4 and 20 iterations of LDPC";

const MODELS: &[Entry] = &[
    Entry { name: "none", doc: "Cells neither err nor wear out." },
    Entry { name: "power", doc: "Power laws of cycles, age and reads; blocks count their wear." },
];

const CODES: &[Entry] = &[
    Entry { name: "none", doc: "Errors are counted as a rate, and harm nobody." },
    Entry { name: "ldpc", doc: "Hard decoding, read retry, soft decoding." },
];

const IF_POWER: When = When::Equals("reliability.model", &["power"]);
const IF_LDPC: When = When::Equals("ecc.code", &["ldpc"]);

const fn factor(name: &'static str, doc: &'static str) -> Key {
    usual(name, RATE, "0", doc).source(FORM)
}

const fn exponent(name: &'static str, doc: &'static str) -> Key {
    usual(name, EXPONENT, "1", doc).source(FORM)
}

/// Section `[reliability]`.
pub(super) const RELIABILITY: Section = Section {
    name: "reliability",
    doc: "Raw bit errors, epsilon + alpha C^k + beta C^m t^n + gamma C^p R^q + delta S, and wear.",
    keys: &[
        usual("reliability.model", Kind::Choice(MODELS), "\"none\"", "Whether cells err and wear."),
        factor("reliability.epsilon", "Share of bits that are wrong from the start."),
        factor("reliability.alpha", "Factor of wear, over the cycles C of the block."),
        exponent("reliability.k", "Exponent of the cycles in wear."),
        factor("reliability.beta", "Factor of retention, over cycles C and days t."),
        exponent("reliability.m", "Exponent of the cycles in retention."),
        exponent("reliability.n", "Exponent of the days since the page was programmed."),
        factor("reliability.gamma", "Factor of read disturb, over cycles C and reads R."),
        exponent("reliability.p", "Exponent of the cycles in read disturb."),
        exponent("reliability.q", "Exponent of the reads of the block since its erase."),
        usual(
            "reliability.delta",
            RATE,
            "0",
            "Added for each suspension S of the program that wrote the page.",
        )
        .source(ZAMBELLI),
        optional(
            "reliability.rber_factor_by_type",
            Kind::Numbers(FACTOR),
            "Factor of the rate of pages of each type; absent: alike.",
        )
        .when(When::Given("timing.page_types")),
        optional(
            "reliability.rated_cycles",
            count(1, 100_000_000),
            "Cycles that a block is rated for; absent: the summary tells no lifetime.",
        ),
        usual(
            "reliability.age_days",
            closed(0.0, 36_500.0),
            "0",
            "Days that the data of before the first request has lain there.",
        )
        .when(IF_POWER),
        usual(
            "reliability.cycles_at_start",
            count(0, 100_000_000),
            "0",
            "Cycles of the blocks before the first request.",
        )
        .when(IF_POWER),
        usual(
            "reliability.cycles_spread",
            closed(0.0, 1.0),
            "0",
            "Each block draws its cycles at the start from within so much of their mean.",
        )
        .when(IF_POWER),
        usual(
            "reliability.wear_per_program_suspend",
            closed(0.0, 1.0),
            "0",
            "Share of a cycle that the suspension of a program costs its block.",
        )
        .when(IF_POWER)
        .source(WEAR),
        usual(
            "reliability.wear_per_erase_suspend",
            closed(0.0, 1.0),
            "0",
            "Share of a cycle that the suspension of an erase costs its block.",
        )
        .when(IF_POWER)
        .source(WEAR),
        usual(
            "reliability.wear_per_suspend",
            closed(0.0, 1.0),
            "0",
            "Share of a cycle that the suspension of a program or erase costs its block.",
        )
        .when(IF_POWER)
        .source(WEAR)
        .stands_for(&[
            "reliability.wear_per_program_suspend",
            "reliability.wear_per_erase_suspend",
        ]),
        usual(
            "reliability.warranty_days",
            count(1, 36_500),
            "1825",
            "Days over which the rated cycles last, for drive writes a day.",
        )
        .when(IF_POWER)
        .source("five years, usual for enterprise drives"),
    ],
};

/// Section `[ecc]`.
pub(super) const ECC: Section = Section {
    name: "ecc",
    doc: "The error-correcting code, and what follows where it fails.",
    keys: &[
        usual("ecc.code", Kind::Choice(CODES), "\"none\"", "What corrects raw bit errors.")
            .when(IF_POWER),
        of_ldpc("ecc.codeword_bytes", count(64, 1 << 20), "1024", "User data of a codeword.")
            .source("72 bits per 1 KiB: Park et al., ASPLOS 2021 (unconfirmed)"),
        of_ldpc("ecc.code_rate", above(0.0, 1.0), "0.9", "User data as a share of the codeword.")
            .source("assumed"),
        of_ldpc(
            "ecc.correctable_bits",
            count(0, 1 << 20),
            "72",
            "Wrong bits of a codeword that hard decoding corrects.",
        )
        .source("72 bits per 1 KiB: Park et al., ASPLOS 2021 (unconfirmed)"),
        of_ldpc("ecc.t_decode_min_us", US, "1", "Hard decoding without an error.").source(DECODE),
        of_ldpc("ecc.t_decode_typ_us", US, "4", "Hard decoding at half the limit.").source(DECODE),
        of_ldpc("ecc.t_decode_max_us", US, "20", "Hard decoding at the limit, and beyond.")
            .source(DECODE),
        of_ldpc(
            "ecc.retries_max",
            count(0, 100),
            "8",
            "How often a page is sensed again, with other voltages, if hard decoding fails.",
        )
        .source("assumed"),
        of_ldpc(
            "ecc.retry_rber_factor",
            closed(0.0, 1.0),
            "0.7",
            "Rate of raw bit errors of such a sense, as a share of that of the one before.",
        )
        .source("assumed"),
        of_ldpc(
            "ecc.soft_senses",
            count(0, 100),
            "2",
            "Further senses for soft decoding after the last retry; 0: there is none.",
        )
        .source("assumed: one on each side of the last"),
        of_ldpc(
            "ecc.soft_correctable_bits",
            count(0, 1 << 20),
            "108",
            "Wrong bits of a codeword that soft decoding corrects.",
        )
        .source("assumed: half as many again as hard decoding"),
        of_ldpc("ecc.t_soft_decode_us", US, "20", "Soft decoding.")
            .source("assumed: as long as the longest hard decoding"),
    ],
};

const fn of_ldpc(name: &'static str, kind: Kind, toml: &'static str, doc: &'static str) -> Key {
    usual(name, kind, toml, doc).when(IF_LDPC)
}
