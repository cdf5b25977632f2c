//! Events of dies for the checker, in order; empty unless it is on.

use reprieve_base::{PageAddress, Time};

/// An event of a die or a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DieEvent {
    /// The use of a die's array, or page buffer, starts.
    Taken(Time),
    /// It ends.
    Freed(Time),
    /// The program of a page, or of several, starts.
    Program(Time, Extent),
    /// The erase of a block starts.
    Erase(Time, Extent),
    /// A transfer on a channel from the first instant to the second.
    Transfer(Time, Time),
}

/// Pages or block of one plane in a program or an erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Its first page.
    pub at: PageAddress,
    /// Pages of a program, from there on.
    pub pages: u32,
    /// Part of the command of the event before, on another plane.
    pub joins: bool,
}

impl Extent {
    /// One page, or the block of one.
    #[inline]
    pub fn of_page(at: PageAddress, joins: bool) -> Extent {
        Extent { at, pages: 1, joins }
    }
}

/// A list of events, kept only on demand.
#[derive(Clone, Debug, Default)]
pub struct Record(Option<Box<List>>);

/// Boxed, as most records are empty.
#[derive(Clone, Debug, Default)]
struct List {
    seen: Vec<DieEvent>,
}

impl Record {
    /// Starts to keep events.
    pub fn keep(&mut self) {
        self.0 = Some(Box::default());
    }

    /// Keeps an event, if enabled.
    #[inline]
    pub fn note(&mut self, seen: DieEvent) {
        if self.0.is_some() {
            self.push(seen);
        }
    }

    /// Not inlined, for runs without records.
    #[cold]
    fn push(&mut self, seen: DieEvent) {
        self.0.get_or_insert_default().seen.push(seen);
    }

    /// Takes the events since the last call.
    pub fn take(&mut self) -> impl Iterator<Item = DieEvent> {
        self.0.iter_mut().flat_map(|list| list.seen.drain(..))
    }
}
