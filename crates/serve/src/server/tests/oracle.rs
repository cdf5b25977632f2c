//! Decides what each cell of the drive may hold: by the order of commands, and after each death.
//!
//! A cell is a register. Its states are all that some order of the commands could have led to: a
//! command takes effect once, between its request and its reply. Writes of one connection do so in
//! their order, and those of a connection that the server has closed before all later ones.

use std::collections::{BTreeMap, BTreeSet};

/// The number of the command that wrote a cell; 0: zeros.
pub type Value = u32;
/// The number of a command, in order of their requests.
pub type Number = u32;
/// The number of a connection.
pub type Connection = u32;

/// A state that a cell may be in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    value: Value,
    /// Pending writes that have taken effect.
    done: Vec<Number>,
    /// Values since the request of each pending read.
    seen: BTreeMap<Number, BTreeSet<Value>>,
}

/// A write, or a trim.
#[derive(Clone, Copy, Debug)]
struct Pending {
    number: Number,
    value: Value,
    connection: Connection,
    /// The next command when its connection was closed.
    closed: Number,
}

impl Pending {
    /// Whether it cannot take effect after another one.
    fn precedes(&self, other: &Pending) -> bool {
        self.connection == other.connection && self.number < other.number
            || self.closed <= other.number
    }
}

/// A cell.
#[derive(Clone, Debug)]
struct Cell {
    states: Vec<State>,
    pending: Vec<Pending>,
    /// Values that may be there after a loss of power.
    durable: BTreeSet<Value>,
    /// Of these, the ones that remain if a pending flush or FUA command succeeds.
    promised: BTreeMap<Number, BTreeSet<Value>>,
    /// Values before a sync of this server that failed: it flushes nothing any more.
    failed: BTreeSet<Value>,
    /// Such values of earlier servers: the disk may keep them until the cell is written again.
    doomed: BTreeSet<Value>,
    is_rewritten: bool,
}

/// How a server ended, and so what has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It said that all data is safe.
    Stopped,
    /// All that was acknowledged is there.
    Killed,
    /// All that was flushed is there, perhaps only in the cache.
    Lost,
    /// The drive's power has failed: all that was flushed is there, and safe.
    PowerLost,
    /// The machine has died: all that was flushed is there.
    Cut,
    /// The disk has lied: anything that was ever there.
    Lied,
}

/// The cells of a drive.
pub struct Oracle {
    cells: Vec<Cell>,
    /// All values that were ever written to each cell.
    ever: Vec<BTreeSet<Value>>,
    /// The first command after the last sync that failed.
    number_after_failure: Number,
}

impl Cell {
    fn new(value: Value) -> Cell {
        Cell {
            states: vec![State { value, done: Vec::new(), seen: BTreeMap::new() }],
            pending: Vec::new(),
            durable: BTreeSet::from([value]),
            promised: BTreeMap::new(),
            failed: BTreeSet::new(),
            doomed: BTreeSet::new(),
            is_rewritten: false,
        }
    }

    /// Adds the states to which pending writes lead.
    fn close(&mut self) {
        let mut next = 0;
        while let Some(state) = self.states.get(next).cloned() {
            next += 1;
            for write in self.pending.clone() {
                let Pending { number, value, .. } = write;
                let Err(place) = state.done.binary_search(&number) else { continue };
                let is_late =
                    |other: &Pending| write.precedes(other) && state.done.contains(&other.number);
                if self.pending.iter().any(is_late) {
                    continue;
                }
                let mut child = state.clone();
                child.value = value;
                child.done.insert(place, number);
                for seen in child.seen.values_mut() {
                    seen.insert(value);
                }
                next = next.min(self.add(child));
            }
        }
    }

    /// Adds a state, or what its reads have seen to the same; returns the first to look at again.
    fn add(&mut self, child: State) -> usize {
        let is_same = |other: &State| other.value == child.value && other.done == child.done;
        let Some(place) = self.states.iter().position(is_same) else {
            self.states.push(child);
            return usize::MAX;
        };
        let mut has_changed = false;
        for (number, values) in child.seen {
            let seen = self.states[place].seen.entry(number).or_default();
            let before = seen.len();
            seen.extend(values);
            has_changed |= seen.len() > before;
        }
        if has_changed { place } else { usize::MAX }
    }

    fn values(&self) -> BTreeSet<Value> {
        self.states.iter().map(|state| state.value).collect()
    }

    /// Merges states that have become the same.
    fn merge(&mut self) {
        for state in std::mem::take(&mut self.states) {
            self.add(state);
        }
    }

    fn begin_write(&mut self, write: Pending, is_forced: bool) {
        let value = write.value;
        if is_forced {
            let later = self.pending.iter().filter(|other| !other.precedes(&write));
            let promised = later.map(|other| other.value).chain([value]).collect();
            self.promised.insert(write.number, promised);
        }
        self.pending.push(write);
        self.durable.insert(value);
        for promised in self.promised.values_mut() {
            promised.insert(value);
        }
        self.close();
    }

    fn end_write(&mut self, number: Number, has_effect: Option<bool>) {
        let Some(place) = self.pending.iter().position(|other| other.number == number) else {
            return self.forget_write(number, has_effect);
        };
        let write = self.pending.remove(place);
        if has_effect == Some(true) {
            self.pending.retain(|other| !other.precedes(&write));
        }
        self.forget_write(number, has_effect);
    }

    fn forget_write(&mut self, number: Number, has_effect: Option<bool>) {
        if let Some(has_effect) = has_effect {
            self.states.retain(|state| state.done.contains(&number) == has_effect);
        }
        self.states.iter_mut().for_each(|state| state.done.retain(|other| *other != number));
        self.merge();
    }

    fn begin_read(&mut self, number: Number) {
        for state in &mut self.states {
            state.seen.insert(number, BTreeSet::from([state.value]));
        }
        self.close();
    }

    /// Whether a read may have this value; `None`: it has failed.
    fn end_read(&mut self, number: Number, value: Option<Value>) -> bool {
        if let Some(value) = value {
            self.states.retain(|state| state.seen[&number].contains(&value));
        }
        self.states.iter_mut().for_each(|state| drop(state.seen.remove(&number)));
        self.merge();
        !self.states.is_empty()
    }

    fn begin_flush(&mut self, number: Number) {
        let mut promised = self.values();
        if !self.is_rewritten {
            promised.extend(&self.doomed);
        }
        self.promised.insert(number, promised);
    }

    fn end_flush(&mut self, number: Number, has_succeeded: bool) {
        let Some(promised) = self.promised.remove(&number) else { return };
        if has_succeeded {
            self.durable = self.durable.intersection(&promised).copied().collect();
        }
    }
}

impl Oracle {
    pub fn new(cells: usize) -> Oracle {
        let ever = vec![BTreeSet::from([0]); cells];
        Oracle { cells: vec![Cell::new(0); cells], ever, number_after_failure: 0 }
    }

    /// Whether another command on these cells keeps the number of orders small.
    pub fn has_room(&self, cells: std::ops::Range<usize>) -> bool {
        self.cells[cells].iter().all(|cell| cell.pending.len() < 4)
    }

    pub fn begin_write(
        &mut self,
        connection: Connection,
        number: Number,
        cell: usize,
        value: Value,
        is_forced: bool,
    ) {
        self.ever[cell].insert(value);
        let write = Pending { number, value, connection, closed: Number::MAX };
        self.cells[cell].begin_write(write, is_forced);
    }

    /// Records that the server has closed a connection; `next`: the number of the next command.
    pub fn closed(&mut self, connection: Connection, next: Number) {
        let pending = self.cells.iter_mut().flat_map(|cell| &mut cell.pending);
        pending
            .filter(|write| write.connection == connection)
            .for_each(|write| write.closed = next);
    }

    /// Ends a write: it has taken effect, or has not, or that is unknown.
    ///
    /// Errors if reads have seen otherwise.
    pub fn end_write(
        &mut self,
        number: Number,
        cell: usize,
        has_effect: Option<bool>,
    ) -> Result<(), String> {
        self.cells[cell].end_write(number, has_effect);
        if has_effect == Some(true) && number >= self.number_after_failure {
            self.cells[cell].is_rewritten = true;
        }
        self.cells[cell].end_flush(number, has_effect == Some(true));
        match self.cells[cell].states.is_empty() {
            true => Err(format!("command {number} has failed, and a read has seen its effect")),
            false => Ok(()),
        }
    }

    pub fn begin_read(&mut self, number: Number, cell: usize) {
        self.cells[cell].begin_read(number);
    }

    /// Errors if no order of the commands gives a read this value; `None`: it has failed.
    pub fn end_read(
        &mut self,
        number: Number,
        cell: usize,
        value: Option<Value>,
    ) -> Result<(), String> {
        let before: Vec<_> = self.cells[cell].states.iter().map(|state| state.value).collect();
        match self.cells[cell].end_read(number, value) {
            true => Ok(()),
            false => Err(format!(
                "command {number} reads {} in cell {cell}, which may be {before:?}",
                value.expect("a failure is always possible")
            )),
        }
    }

    pub fn begin_flush(&mut self, number: Number) {
        self.cells.iter_mut().for_each(|cell| cell.begin_flush(number));
    }

    pub fn end_flush(&mut self, number: Number, has_succeeded: bool) {
        self.cells.iter_mut().for_each(|cell| cell.end_flush(number, has_succeeded));
    }

    /// Records that a sync has failed: the disk may never get what was written before; `next`: the
    /// number of the next command.
    pub fn sync_failed(&mut self, next: Number) {
        self.number_after_failure = next;
        for cell in &mut self.cells {
            cell.failed.extend(&cell.durable);
            cell.is_rewritten = false;
        }
    }

    /// Continues with the values that are there after the end of a server.
    ///
    /// Errors if one is not what the end allows.
    pub fn end(&mut self, end: End, found: &[Value]) -> Result<(), String> {
        assert_eq!(found.len(), self.cells.len());
        for ((place, cell), value) in self.cells.iter_mut().enumerate().zip(found) {
            let allowed = match end {
                End::Stopped | End::Killed => cell.values(),
                End::Lost | End::PowerLost | End::Cut => cell.durable.clone(),
                End::Lied => self.ever[place].clone(),
            };
            if !allowed.contains(value) {
                return Err(format!(
                    "after {end:?} cell {place} is {value}, and must be one of {allowed:?}"
                ));
            }
            let mut next = Cell::new(*value);
            if !matches!(end, End::Stopped | End::PowerLost) {
                cell.doomed.append(&mut cell.failed);
            }
            match end {
                End::Killed | End::Lost => next.durable.extend(&cell.durable),
                End::Stopped if cell.is_rewritten => {}
                End::Stopped => next.durable.extend(&cell.doomed),
                End::PowerLost => next.durable.extend(cell.doomed.intersection(&cell.durable)),
                End::Cut | End::Lied => cell.doomed.clear(),
            }
            next.doomed.clone_from(&cell.doomed);
            *cell = next;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive of one cell, with commands that have a name as the number.
    fn one() -> Oracle {
        Oracle::new(1)
    }

    fn copy(oracle: &Oracle) -> Oracle {
        let (cells, ever) = (oracle.cells.clone(), oracle.ever.clone());
        Oracle { cells, ever, number_after_failure: oracle.number_after_failure }
    }

    fn write(oracle: &mut Oracle, number: Number) {
        oracle.begin_write(number, number, 0, number, false);
        oracle.end_write(number, 0, Some(true)).expect("nothing was read");
    }

    fn read(oracle: &mut Oracle, number: Number, value: Value) -> bool {
        oracle.begin_read(number, 0);
        oracle.end_read(number, 0, Some(value)).is_ok()
    }

    #[test]
    fn a_read_has_the_last_write_or_one_under_way() {
        let mut oracle = one();
        write(&mut oracle, 1);
        oracle.begin_write(2, 2, 0, 2, false);
        oracle.begin_write(3, 3, 0, 3, false);
        for value in [1, 2, 3] {
            assert!(read(&mut copy(&oracle), 9, value));
        }
        assert!(!read(&mut copy(&oracle), 9, 0));
        // A read that has seen a write puts all later ones behind it.
        assert!(read(&mut oracle, 4, 2));
        assert!(!read(&mut copy(&oracle), 9, 1));
        oracle.end_write(3, 0, Some(true)).expect("it may be first");
        assert!(read(&mut oracle, 5, 2) && !read(&mut oracle, 6, 3));
    }

    #[test]
    fn a_read_under_way_may_have_what_was_there_at_any_time_of_it() {
        let mut oracle = one();
        write(&mut oracle, 1);
        oracle.begin_read(2, 0);
        write(&mut oracle, 3);
        write(&mut oracle, 4);
        for (value, is_right) in [(0, false), (1, true), (3, true), (4, true)] {
            let mut other = copy(&oracle);
            assert_eq!(other.end_read(2, 0, Some(value)).is_ok(), is_right, "{value}");
        }
    }

    #[test]
    fn a_write_that_fails_has_taken_effect_or_not() {
        let mut oracle = one();
        write(&mut oracle, 1);
        oracle.begin_write(2, 2, 0, 2, false);
        let mut none = copy(&oracle);
        none.end_write(2, 0, Some(false)).expect("nothing was read");
        assert!(read(&mut none, 3, 1) && !read(&mut none, 4, 2));
        oracle.end_write(2, 0, None).expect("nothing was read");
        assert!(read(&mut copy(&oracle), 9, 1));
        assert!(read(&mut oracle, 3, 2) && !read(&mut oracle, 4, 1));
    }

    #[test]
    fn writes_of_a_connection_take_effect_in_their_order() {
        let mut oracle = one();
        oracle.begin_write(1, 1, 0, 1, false);
        oracle.begin_write(1, 2, 0, 2, false);
        oracle.end_write(2, 0, Some(true)).expect("it may be last");
        assert!(!read(&mut copy(&oracle), 9, 1));
        oracle.end_write(1, 0, Some(true)).expect("it was first");
        assert!(read(&mut oracle, 3, 2));
        // One of a closed connection is no later than what is sent afterwards.
        oracle.begin_write(2, 4, 0, 4, false);
        oracle.closed(2, 5);
        assert!(read(&mut copy(&oracle), 9, 4));
        oracle.begin_write(3, 5, 0, 5, false);
        oracle.end_write(5, 0, Some(true)).expect("it may be last");
        assert!(!read(&mut copy(&oracle), 9, 4) && read(&mut oracle, 6, 5));
    }

    #[test]
    fn a_flush_covers_what_was_acknowledged_before_it_and_nothing_else() {
        let ends = |oracle: &Oracle, value| {
            let mut other = copy(oracle);
            other.end(End::Cut, &[value]).is_ok()
        };
        let mut oracle = one();
        write(&mut oracle, 1);
        oracle.begin_flush(10);
        write(&mut oracle, 2);
        assert!([0, 1, 2].iter().all(|value| ends(&oracle, *value)));
        oracle.end_flush(10, true);
        assert_eq!([0, 1, 2].map(|value| ends(&oracle, value)), [false, true, true]);
        oracle.begin_flush(11);
        oracle.end_flush(11, false);
        assert!(ends(&oracle, 1), "a flush that fails promises nothing");
        oracle.begin_write(3, 3, 0, 3, true);
        oracle.end_write(3, 0, Some(true)).expect("nothing was read");
        assert_eq!([1, 2, 3].map(|value| ends(&oracle, value)), [false, false, true]);
    }

    #[test]
    fn after_a_sync_that_failed_only_what_is_written_again_can_be_flushed() {
        let mut oracle = one();
        write(&mut oracle, 1);
        oracle.sync_failed(2);
        let mut same = copy(&oracle);
        same.begin_flush(10);
        same.end_flush(10, true);
        assert!(same.end(End::Cut, &[0]).is_err(), "the same server knows of the failure");
        oracle.end(End::Killed, &[1]).expect("it is in the cache");
        let mut later = copy(&oracle);
        for oracle in [&mut oracle, &mut later] {
            oracle.begin_flush(10);
            oracle.end_flush(10, true);
        }
        assert!(oracle.end(End::Cut, &[0]).is_ok());
        write(&mut later, 2);
        later.begin_flush(11);
        later.end_flush(11, true);
        assert!(later.end(End::Cut, &[0]).is_err());
    }
}
