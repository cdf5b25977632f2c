//! Promises to the host: an independent record of accepted, acknowledged and flushed data, which
//! the drive is checked against after a loss of power.

use std::collections::{BTreeMap, BTreeSet};

/// Contents of a logical page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Number of the page among all that the buffer accepted; 0: the data from before the run.
    Version(u64),
    /// Nothing: never written, or trimmed.
    Nothing,
}

/// Strength of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// All acknowledged data.
    Acknowledged,
    /// Data written with forced unit access or write-through, or flushed; not a trim, after which
    /// older data may return.
    Durable,
}

/// Contents of a logical page in time, with the promises on them.
#[derive(Clone, Debug)]
struct History {
    /// In order of acceptance.
    contents: Vec<Content>,
    acknowledged: usize,
    durable: usize,
}

/// A page of a request: its content, and whether the completion promises durability.
#[derive(Clone, Copy, Debug)]
struct PromisedPart {
    lpn: u32,
    content: usize,
    is_durable: bool,
}

/// The record of all logical pages.
#[derive(Clone, Debug, Default)]
pub struct Promises {
    /// Whether each page held data at the start.
    at_start: Vec<bool>,
    pages: BTreeMap<u32, History>,
    /// Promises of open requests.
    open: BTreeMap<u64, Vec<PromisedPart>>,
    /// Pages with acknowledged data that is not durable.
    floating: BTreeSet<u32>,
    accepted: u64,
}

impl Promises {
    /// Creates the record of a drive from whether its logical pages hold data.
    pub fn new(at_start: Vec<bool>) -> Promises {
        Promises { at_start, ..Promises::default() }
    }

    fn first(&self, lpn: u32) -> Content {
        if self.at_start[lpn as usize] { Content::Version(0) } else { Content::Nothing }
    }

    /// Adds new contents of a page; returns their number.
    fn add(&mut self, lpn: u32, content: Content) -> usize {
        let first = self.first(lpn);
        let new = || History { contents: vec![first], acknowledged: 0, durable: 0 };
        let history = self.pages.entry(lpn).or_insert_with(new);
        history.contents.push(content);
        history.contents.len() - 1
    }

    /// Adds a page of a write that the buffer has accepted as this version; `request` has its
    /// number, and whether its completion promises durability. `None`: promised before the run.
    ///
    /// Errors if versions are not counted one by one.
    pub fn accepted(
        &mut self,
        lpn: u32,
        version: u64,
        request: Option<(u64, bool)>,
    ) -> Result<(), String> {
        let content = self.add_version(lpn, version)?;
        match request {
            None => self.acknowledge(PromisedPart { lpn, content, is_durable: false }),
            Some((id, is_durable)) => {
                self.open.entry(id).or_default().push(PromisedPart { lpn, content, is_durable });
            }
        }
        Ok(())
    }

    /// Adds a page that the drive rewrites as this version, which is equivalent to the one before.
    ///
    /// Errors if versions are not counted one by one.
    pub fn rewritten(&mut self, lpn: u32, version: u64) -> Result<(), String> {
        self.add_version(lpn, version).map(|_| ())
    }

    fn add_version(&mut self, lpn: u32, version: u64) -> Result<usize, String> {
        self.accepted += 1;
        if version != self.accepted {
            return Err(format!("page {} comes as version {version}", self.accepted));
        }
        Ok(self.add(lpn, Content::Version(version)))
    }

    /// Returns the accepted pages of a request.
    pub fn accepted_of(&self, id: u64) -> usize {
        self.open.get(&id).map_or(0, Vec::len)
    }

    /// Adds a trim of a page.
    pub fn trimmed(&mut self, lpn: u32, id: u64) {
        let content = self.add(lpn, Content::Nothing);
        self.open.entry(id).or_default().push(PromisedPart { lpn, content, is_durable: false });
    }

    /// Adds a flush: its completion promises that everything acknowledged before is durable.
    pub fn flushed(&mut self, id: u64) {
        let part = |lpn: &u32| PromisedPart {
            lpn: *lpn,
            content: self.pages[lpn].acknowledged,
            is_durable: true,
        };
        let parts = self.floating.iter().map(part).collect();
        self.open.insert(id, parts);
    }

    /// Adds a completed request, on which the host relies.
    pub fn completed(&mut self, id: u64) {
        for part in self.open.remove(&id).unwrap_or_default() {
            self.acknowledge(part);
        }
    }

    fn acknowledge(&mut self, PromisedPart { lpn, content, is_durable }: PromisedPart) {
        let history = self.pages.get_mut(&lpn).expect("it has held this");
        history.acknowledged = history.acknowledged.max(content);
        if is_durable {
            history.durable = history.durable.max(content);
        }
        if history.durable < history.acknowledged {
            self.floating.insert(lpn);
        } else {
            self.floating.remove(&lpn);
        }
    }

    /// Checks the contents of pages after a loss of power.
    pub fn verify(&self, promise: Promise, held: impl Fn(u32) -> Content) -> Result<(), String> {
        for lpn in 0..self.at_start.len() as u32 {
            let content = held(lpn);
            let is_kept = match self.pages.get(&lpn) {
                None => content == self.first(lpn),
                Some(history) => history.keeps(promise, content),
            };
            if !is_kept {
                return Err(format!(
                    "logical page {lpn} holds {content:?} after it; it held {:?} and {promise:?} \
                     was promised",
                    self.pages.get(&lpn)
                ));
            }
        }
        Ok(())
    }
}

impl History {
    fn keeps(&self, promise: Promise, content: Content) -> bool {
        let Some(found) = self.contents.iter().rposition(|held| *held == content) else {
            return false;
        };
        match promise {
            Promise::Acknowledged => found >= self.acknowledged,
            Promise::Durable => {
                found >= self.durable || self.contents[self.durable..].contains(&Content::Nothing)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Promises {
        let mut record = Promises::new(vec![true, false]);
        record.accepted(0, 1, Some((7, false))).expect("in turn");
        record.accepted(0, 2, Some((8, true))).expect("in turn");
        record
    }

    fn keeps(record: &Promises, promise: Promise, content: Content) -> bool {
        let other = Content::Nothing;
        record.verify(promise, |lpn| if lpn == 0 { content } else { other }).is_ok()
    }

    #[test]
    fn what_is_acknowledged_has_to_stay_and_what_is_newer_may() {
        let mut record = record();
        let all = [0, 1, 2].map(Content::Version);
        let kept = |record: &Promises, promise| all.map(|content| keeps(record, promise, content));
        assert_eq!(kept(&record, Promise::Acknowledged), [true; 3]);
        record.completed(7);
        assert_eq!(kept(&record, Promise::Acknowledged), [false, true, true]);
        assert_eq!(kept(&record, Promise::Durable), [true; 3]);
        record.completed(8);
        assert_eq!(kept(&record, Promise::Acknowledged), [false, false, true]);
        assert_eq!(kept(&record, Promise::Durable), [false, false, true]);
        assert!(!keeps(&record, Promise::Durable, Content::Version(3)), "never accepted");
        assert!(!keeps(&record, Promise::Durable, Content::Nothing), "never trimmed");
        let wrong = |lpn| if lpn == 0 { all[2] } else { all[0] };
        assert!(record.verify(Promise::Durable, wrong).is_err(), "page 1 was never written");
    }

    #[test]
    fn a_page_written_anew_may_be_found_as_before_or_anew() {
        let mut record = record();
        record.completed(8);
        record.rewritten(0, 3).expect("the third version");
        for (version, is_kept) in [(1, false), (2, true), (3, true)] {
            let content = Content::Version(version);
            assert_eq!(keeps(&record, Promise::Acknowledged, content), is_kept, "{version}");
        }
        assert!(record.rewritten(0, 5).is_err(), "the fourth is left out");
    }

    #[test]
    fn a_flush_makes_durable_what_was_acknowledged_when_it_came() {
        let mut record = record();
        record.completed(7);
        record.flushed(9);
        record.completed(9);
        assert!(!keeps(&record, Promise::Durable, Content::Version(0)));
        assert!(keeps(&record, Promise::Durable, Content::Version(1)));
        record.trimmed(0, 10);
        assert!(keeps(&record, Promise::Durable, Content::Version(0)), "a trim lifts it");
        record.completed(10);
        assert!(!keeps(&record, Promise::Acknowledged, Content::Version(2)));
        assert!(keeps(&record, Promise::Acknowledged, Content::Nothing));
    }
}
