//! The schema: every section and key of the scenario file, as data.

mod channel;
mod dispatch;
mod drive;
mod front;
mod ftl;
mod key;
mod mbm;
mod measure;
mod parallelism;
mod power;
mod power_loss;
mod reading;
mod reliability;
mod suspension;
mod workload;

use std::sync::LazyLock;

pub use drive::SHORTHANDS;
pub use key::{Fallback, Family, Interval, Key, Kind, Unit, When};

/// A section of the scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its name; empty for the keys that stand before every section.
    pub name: &'static str,
    /// One sentence: what it is about.
    pub doc: &'static str,
    /// Its keys, in canonical order; a key stands after those that it depends on.
    pub keys: &'static [Key],
}

/// Every section, in canonical order.
pub const SECTIONS: &[Section] = &[
    drive::TOP,
    drive::GEOMETRY,
    drive::TIMING,
    parallelism::PARALLELISM,
    suspension::SUSPENSION,
    reliability::RELIABILITY,
    reliability::ECC,
    drive::SCHEDULING,
    channel::CHANNEL,
    power::POWER,
    power_loss::POWER_LOSS,
    drive::FTL,
    ftl::NAND,
    front::BUFFER,
    front::READ_CACHE,
    front::HOST,
    workload::WORKLOAD,
    measure::MEASURE,
];

static KEYS: LazyLock<Vec<Key>> =
    LazyLock::new(|| SECTIONS.iter().flat_map(|section| section.keys).copied().collect());

/// Every key of the scenario file, in canonical order.
pub fn keys() -> &'static [Key] {
    &KEYS
}

/// The key of this full name, such as `timing.t_read_us`.
pub(super) fn key(full_name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.full_name == full_name)
}

const fn count(min: u64, max: u64) -> Kind {
    Kind::Count { min, max, step: 1 }
}

const fn sectors(max: u64) -> Kind {
    Kind::Count { min: 512, max, step: 512 }
}

const fn open(min: f64, max: f64) -> Kind {
    Kind::Number(Interval { min, max, min_open: true, max_open: true })
}

const fn closed(min: f64, max: f64) -> Kind {
    Kind::Number(Interval { min, max, min_open: false, max_open: false })
}

const fn above(min: f64, max: f64) -> Kind {
    Kind::Number(Interval { min, max, min_open: true, max_open: false })
}

const fn below(min: f64, max: f64) -> Kind {
    Kind::Number(Interval { min, max, min_open: false, max_open: true })
}

const fn required(full_name: &'static str, kind: Kind, doc: &'static str) -> Key {
    let (default, when) = (Fallback::Required, When::Always);
    Key { full_name, kind, default, when, doc, source: "", stands_for: &[] }
}

const fn optional(full_name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { default: Fallback::Absent, ..required(full_name, kind, doc) }
}

const fn usual(name: &'static str, kind: Kind, toml: &'static str, doc: &'static str) -> Key {
    Key { default: Fallback::Toml(toml), ..required(name, kind, doc) }
}

const fn same(name: &'static str, kind: Kind, other: &'static str, doc: &'static str) -> Key {
    Key { default: Fallback::SameAs(other), ..required(name, kind, doc) }
}

impl Key {
    const fn source(self, source: &'static str) -> Key {
        Key { source, ..self }
    }

    const fn when(self, when: When) -> Key {
        Key { when, ..self }
    }

    const fn stands_for(self, stands_for: &'static [&'static str]) -> Key {
        Key { stands_for, ..self }
    }
}
