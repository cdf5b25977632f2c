//! Fault injection: selection of the commands that a fault hits, and its effects.
//!
//! Whether a fault hits a command depends only on the number of matching commands before it, and
//! not on the clock or the model.

use std::collections::BTreeMap;

use reprieve_base::{Dur, Stream};
use reprieve_ssd::scenario::{Acknowledge, Scenario};
use serde_json::{Value, json};

use crate::clock::Wall;
use crate::protocol::{Kind, Request};
use crate::slots::Key;
use crate::store::Losses;

mod grammar;

/// The effect of a fault on a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It fails with an error, and has no effect.
    Error,
    /// Its answer is delayed, in the model's time.
    Late(Dur),
    /// It triggers a power loss.
    PowerCut(PowerCut),
}

/// A power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PowerCut {
    /// Whether half of the write that triggers it is stored.
    pub is_torn: bool,
    /// Percentage of volatile blocks that survive.
    pub keep_percent: u64,
    /// Seed of their selection.
    pub seed: u64,
}

/// A fault to inject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    /// The text of the option.
    pub text: String,
    pub(crate) effect: Effect,
    /// Kind of the commands that match; `None`: all that do something.
    kind: Option<Kind>,
    /// Bytes that matching commands touch: first to before the last; `None`: any.
    range: Option<(u64, u64)>,
    /// Matching commands to skip first, and the interval of hits among the rest.
    after: u64,
    every: u64,
}

impl Injection {
    /// Whether a command matches.
    fn concerns(&self, request: &Request) -> bool {
        let is_kind = match self.kind {
            Some(kind) => request.kind == kind,
            None => grammar::OPS.iter().any(|(_, kind)| *kind == Some(request.kind)),
        };
        // A flush has no address.
        is_kind
            && self.range.is_none_or(|(first, end)| {
                let request_end = request.offset.saturating_add(request.bytes);
                request.kind != Kind::Flush && request.offset < end && request_end > first
            })
    }

    /// Whether its range lies beyond a drive of `drive_bytes`.
    pub fn is_beyond(&self, drive_bytes: u64) -> bool {
        self.range.is_some_and(|(_, end)| end > drive_bytes)
    }

    /// Whether it is a power loss.
    pub fn is_power_cut(&self) -> bool {
        matches!(self.effect, Effect::PowerCut(_))
    }
}

/// Acknowledged bytes that the drive may lose to one of these faults; `None`: nothing is ever
/// lost.
///
/// Data acknowledged from the write buffer reaches the flash only later.
pub fn volatile_bytes(faults: &[Injection], scenario: &Scenario) -> Option<u64> {
    let bytes = match scenario.buffer.acknowledge {
        Acknowledge::Back => scenario.buffer.bytes,
        Acknowledge::Through => 0,
    };
    faults.iter().any(Injection::is_power_cut).then_some(bytes)
}

/// The combined effect of all faults on a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InjectedFault {
    pub is_error: bool,
    pub late: Dur,
    /// The index of the power loss that it triggers.
    pub power_cut: Option<usize>,
}

/// Numbers of commands that matched a fault, and that it hit.
#[derive(Clone, Copy, Debug, Default)]
struct HitCounts {
    commands: u64,
    struck: u64,
}

/// All faults with their counts, and the delayed commands.
#[derive(Default)]
pub struct Injections {
    list: Vec<(Injection, HitCounts)>,
    late: BTreeMap<(Wall, u64), Key>,
    next_late: u64,
    /// The power loss that has occurred, and its losses.
    cut: Option<(usize, Losses)>,
}

impl Injections {
    pub fn new(list: Vec<Injection>) -> Injections {
        let list = list.into_iter().map(|injection| (injection, HitCounts::default())).collect();
        Injections { list, ..Injections::default() }
    }

    /// Determines the faults that hit a valid command.
    pub fn strike(&mut self, request: &Request) -> InjectedFault {
        let mut strike = InjectedFault::default();
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

    /// The power loss at an index of the list.
    pub fn power_cut(&self, place: usize) -> PowerCut {
        match self.list[place].0.effect {
            Effect::PowerCut(cut) => cut,
            _ => panic!("{} is no loss of power", self.list[place].0.text),
        }
    }

    /// Records that a power loss has occurred.
    pub fn has_cut(&mut self, place: usize, losses: Losses) {
        self.cut = Some((place, losses));
    }

    /// Whether the power has failed.
    pub fn is_off(&self) -> bool {
        self.cut.is_some()
    }

    /// Delays the answer of a command.
    pub fn delay(&mut self, until: Wall, command: Key) {
        self.late.insert((until, self.next_late), command);
        self.next_late += 1;
    }

    /// The end of the next delay.
    pub fn next_due(&self) -> Option<Wall> {
        self.late.first_key_value().map(|((due, _), _)| *due)
    }

    /// Takes a command whose delay is over.
    pub fn take_due(&mut self, now: Wall) -> Option<Key> {
        let first = self.late.first_entry().filter(|first| first.key().0 <= now)?;
        Some(first.remove())
    }

    /// The faults in the summary; `None`: there are none.
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
    /// Whether the next volatile block survives.
    pub fn keeps(&self) -> impl FnMut() -> bool + use<> {
        let (mut stream, keep_percent) =
            (Stream::new(self.seed, "power cut", 0), self.keep_percent);
        move || stream.below(100) < keep_percent
    }

    /// Bytes of a write that are stored before the power loss.
    pub fn stored_bytes(&self, request: &Request) -> u64 {
        const SECTOR_BYTES: u64 = 512;
        if self.is_torn { request.bytes / (2 * SECTOR_BYTES) * SECTOR_BYTES } else { 0 }
    }
}

#[cfg(test)]
mod tests;
