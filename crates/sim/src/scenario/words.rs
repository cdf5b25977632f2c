//! The words that a scenario writes for the values of fixed choices, in both directions.

use reprieve_nand::{
    EraseResume, MultiPlane, PageOrder, ProgramSuspension, ReadLaw, Restore, ResumeAt, SameBlock,
    VthReached,
};
use reprieve_trace::AddressPolicy;

use super::{ChannelOrder, LimitScope, LinkOrder, Precondition};

/// A type whose every value has a word.
pub(super) trait Word: Copy + PartialEq + 'static {
    /// Every value with its word.
    const WORDS: &'static [(&'static str, Self)];

    /// The value of a word that the schema has let through.
    fn of_word(word: &str) -> Self {
        let row = Self::WORDS.iter().find(|row| row.0 == word);
        row.unwrap_or_else(|| panic!("{word} is in the schema and has no value")).1
    }

    /// The word of a value.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|row| row.1 == self).expect("every value has a word").0
    }
}

impl Word for LimitScope {
    const WORDS: &'static [(&'static str, Self)] =
        &[("die", LimitScope::Die), ("drive", LimitScope::Drive)];
}

impl Word for LinkOrder {
    const WORDS: &'static [(&'static str, Self)] =
        &[("free", LinkOrder::Free), ("in_order", LinkOrder::InOrder)];
}

impl Word for ProgramSuspension {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("none", ProgramSuspension::None),
        ("ips", ProgramSuspension::Ips),
        ("ipc", ProgramSuspension::Ipc),
        ("iteration", ProgramSuspension::Iteration),
        ("sliced", ProgramSuspension::Sliced),
    ];
}

impl Word for EraseResume {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("exact", EraseResume::Exact),
        ("redo_phase", EraseResume::RedoPhase),
        ("restart", EraseResume::Restart),
    ];
}

impl Word for ReadLaw {
    const WORDS: &'static [(&'static str, Self)] =
        &[("fixed", ReadLaw::Fixed), ("exponential", ReadLaw::Exponential)];
}

impl Word for PageOrder {
    const WORDS: &'static [(&'static str, Self)] =
        &[("modulo", PageOrder::Modulo), ("interleaved", PageOrder::Interleaved)];
}

impl Word for MultiPlane {
    const WORDS: &'static [(&'static str, Self)] =
        &[("none", MultiPlane::None), ("page", MultiPlane::Page), ("block", MultiPlane::Block)];
}

impl Word for SameBlock {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("block", SameBlock::Block),
        ("wordline", SameBlock::Wordline),
        ("page", SameBlock::Page),
    ];
}

impl Word for ResumeAt {
    const WORDS: &'static [(&'static str, Self)] =
        &[("data_out", ResumeAt::DataOut), ("array_read", ResumeAt::ArrayRead)];
}

impl Word for Restore {
    const WORDS: &'static [(&'static str, Self)] =
        &[("atomic", Restore::Atomic), ("interruptible", Restore::Interruptible)];
}

impl Word for VthReached {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("never", VthReached::Never),
        ("always", VthReached::Always),
        ("proportional", VthReached::Proportional),
    ];
}

impl Word for Precondition {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("none", Precondition::None),
        ("sequential", Precondition::Sequential),
        ("steady", Precondition::Steady),
    ];
}

impl Word for ChannelOrder {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("asked", ChannelOrder::Asked),
        ("data_first", ChannelOrder::DataFirst),
        ("commands_first", ChannelOrder::CommandsFirst),
    ];
}

impl Word for AddressPolicy {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("modulo", AddressPolicy::Modulo),
        ("scale", AddressPolicy::Scale),
        ("clamp", AddressPolicy::Clamp),
        ("drop", AddressPolicy::Drop),
        ("error", AddressPolicy::Error),
    ];
}
