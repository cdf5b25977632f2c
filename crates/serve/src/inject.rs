//! Faults on request: which commands they strike, and what becomes of those.
//!
//! Whether a command is struck depends on how many like it have come before, and on nothing else:
//! neither on the clock nor on the model.

use std::collections::BTreeMap;

use reprieve_base::{Dur, Stream};
use reprieve_ssd::scenario::{Acknowledge, Scenario};
use serde_json::{Value, json};

use crate::clock::Wall;
use crate::protocol::{Kind, Request};
use crate::slots::Key;
use crate::store::Losses;

mod grammar;

/// What becomes of a command that is struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It is answered by an error, and nothing is done.
    Error,
    /// It is answered so much later, by the model's clock.
    Late(Dur),
    /// It meets a loss of power.
    PowerCut(PowerCut),
}

/// A loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PowerCut {
    /// Whether half of the write that meets it is stored.
    pub is_torn: bool,
    /// Of a hundred blocks that nothing has brought to safety, how many are there all the same.
    pub keep_percent: u64,
    /// Which those are.
    pub seed: u64,
}

/// A fault that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    /// As it was written.
    pub text: String,
    pub(crate) effect: Effect,
    /// Commands that it is about; `None`: all that do something.
    kind: Option<Kind>,
    /// Bytes that they touch: from the first to before the last; `None`: any.
    range: Option<(u64, u64)>,
    /// How many of them it lets pass first, and which of the others it strikes.
    after: u64,
    every: u64,
}

impl Injection {
    /// Whether a command is one of those that it is about.
    fn concerns(&self, request: &Request) -> bool {
        let is_kind = match self.kind {
            Some(kind) => request.kind == kind,
            None => grammar::OPS.iter().any(|(_, kind)| *kind == Some(request.kind)),
        };
        // A flush is of no place.
        is_kind
            && self.range.is_none_or(|(first, end)| {
                let request_end = request.offset.saturating_add(request.bytes);
                request.kind != Kind::Flush && request.offset < end && request_end > first
            })
    }

    /// Whether it is about bytes that a drive of so many does not have.
    pub fn is_beyond(&self, drive_bytes: u64) -> bool {
        self.range.is_some_and(|(_, end)| end > drive_bytes)
    }

    /// Whether it is a loss of power.
    pub fn is_power_cut(&self) -> bool {
        matches!(self.effect, Effect::PowerCut(_))
    }
}

/// Bytes that the drive has acknowledged and may lose, where one of these faults makes it lose
/// them; `None`: nothing is lost.
///
/// What is acknowledged from the write buffer is in the flash only later.
pub fn volatile_bytes(faults: &[Injection], scenario: &Scenario) -> Option<u64> {
    let bytes = match scenario.buffer.acknowledge {
        Acknowledge::Back => scenario.buffer.bytes,
        Acknowledge::Through => 0,
    };
    faults.iter().any(Injection::is_power_cut).then_some(bytes)
}

/// What has struck a command, of all faults together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strike {
    pub is_error: bool,
    pub late: Dur,
    /// The loss of power that it meets, by its place in the list.
    pub power_cut: Option<usize>,
}

/// How often a fault has met commands that it is about, and struck them.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    commands: u64,
    struck: u64,
}

/// All faults, how far each has come, and the commands that are answered later because of them.
#[derive(Default)]
pub struct Injections {
    list: Vec<(Injection, Tally)>,
    late: BTreeMap<(Wall, u64), Key>,
    next_late: u64,
    /// The loss of power that has come to pass, and what it has taken.
    cut: Option<(usize, Losses)>,
}

impl Injections {
    pub fn new(list: Vec<Injection>) -> Injections {
        let list = list.into_iter().map(|injection| (injection, Tally::default())).collect();
        Injections { list, ..Injections::default() }
    }

    /// A command that can be served has come: what strikes it.
    pub fn strike(&mut self, request: &Request) -> Strike {
        let mut strike = Strike::default();
        for (place, (injection, count)) in self.list.iter_mut().enumerate() {
            if !injection.concerns(request) {
                continue;
            }
            count.commands += 1;
            let beyond = count.commands.saturating_sub(injection.after);
            if beyond == 0 || beyond % injection.every != 0 {
                continue;
            }
            count.struck += 1;
            match injection.effect {
                Effect::Error => strike.is_error = true,
                Effect::Late(late) => strike.late = strike.late.max(late),
                Effect::PowerCut(_) => strike.power_cut = strike.power_cut.or(Some(place)),
            }
        }
        strike
    }

    /// The loss of power at a place of the list.
    pub fn power_cut(&self, place: usize) -> PowerCut {
        match self.list[place].0.effect {
            Effect::PowerCut(cut) => cut,
            _ => panic!("{} is no loss of power", self.list[place].0.text),
        }
    }

    /// It has come to pass.
    pub fn has_cut(&mut self, place: usize, losses: Losses) {
        self.cut = Some((place, losses));
    }

    /// Whether the power has failed.
    pub fn is_off(&self) -> bool {
        self.cut.is_some()
    }

    /// A command is answered then, and not before.
    pub fn delay(&mut self, until: Wall, command: Key) {
        self.late.insert((until, self.next_late), command);
        self.next_late += 1;
    }

    /// When the next of them is answered.
    pub fn next_due(&self) -> Option<Wall> {
        self.late.first_key_value().map(|((due, _), _)| *due)
    }

    /// A command that was delayed until now or before.
    pub fn take_due(&mut self, now: Wall) -> Option<Key> {
        let first = self.late.first_entry().filter(|first| first.key().0 <= now)?;
        Some(first.remove())
    }

    /// What is told of them in a summary; `None`: there are none.
    pub fn summary(&self) -> Option<Value> {
        let each = self.list.iter().map(|(injection, count)| {
            json!({
                "fault": injection.text,
                "commands": count.commands,
                "struck": count.struck,
            })
        });
        let power_cut = self.cut.map(|(place, losses)| {
            json!({
                "fault": self.list[place].0.text,
                "kept_blocks": losses.kept_blocks,
                "lost_blocks": losses.lost_blocks,
            })
        });
        let told = json!({"list": each.collect::<Vec<_>>(), "power_cut": power_cut});
        (!self.list.is_empty()).then_some(told)
    }
}

impl PowerCut {
    /// Whether the next block that nothing has brought to safety is there all the same.
    pub fn keeps(&self) -> impl FnMut() -> bool + use<> {
        let (mut stream, keep_percent) =
            (Stream::new(self.seed, "power cut", 0), self.keep_percent);
        move || stream.below(100) < keep_percent
    }

    /// Bytes of a write that are stored before it.
    pub fn stored_bytes(&self, request: &Request) -> u64 {
        const SECTOR_BYTES: u64 = 512;
        if self.is_torn { request.bytes / (2 * SECTOR_BYTES) * SECTOR_BYTES } else { 0 }
    }
}

#[cfg(test)]
mod tests;
