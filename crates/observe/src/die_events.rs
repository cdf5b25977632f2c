//! Events of dies for the checker, in order; empty unless it is on.

use reprieve_base::{PageAddress, Time};

/// Something that a die or a channel did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DieEvent {
    /// The array, or the page buffer, of a die is taken.
    Taken(Time),
    /// It is free again.
    Freed(Time),
    /// The program of a page, or of several, begins.
    Program(Time, Extent),
    /// The erase of a block begins.
    Erase(Time, Extent),
    /// A channel carries something from the first instant to the second.
    Transfer(Time, Time),
}

/// Pages or block of one plane that a program or an erase works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Its first page.
    pub at: PageAddress,
    /// Pages of a program, from there on.
    pub pages: u32,
    /// It is part of the command that was seen before, of another plane.
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

/// In a box, as most records keep nothing.
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

    /// Out of the way of runs that keep nothing.
    #[cold]
    fn push(&mut self, seen: DieEvent) {
        self.0.get_or_insert_default().seen.push(seen);
    }

    /// Takes the events since the last call.
    pub fn take(&mut self) -> impl Iterator<Item = DieEvent> {
        self.0.iter_mut().flat_map(|list| list.seen.drain(..))
    }
}
