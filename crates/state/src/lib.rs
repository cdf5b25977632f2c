//! A saved drive: named columns of numbers that components write and read, and their file.

mod file;
mod prepared;

use std::collections::BTreeMap;
use std::path::Path;

use reprieve_base::UserError;
use reprieve_config::Scenario;

pub use prepared::{Claim, Found, Key, Prepared, Store};

/// The state of a drive beyond its scenario.
///
/// A component saves its part under its own names, and takes it back when a drive starts from
/// the state. A new column needs one line in each, and a higher `VERSION` of the file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct State {
    columns: BTreeMap<String, Vec<u32>>,
}

impl State {
    /// Adds a column under a name that no other has.
    pub fn put(&mut self, name: &str, column: Vec<u32>) {
        let before = self.columns.insert(name.to_string(), column);
        assert!(before.is_none(), "two columns {name:?} in a state");
    }

    /// Takes a column of `entries` numbers.
    ///
    /// Errors if the state has none of that name and length.
    pub fn take(&mut self, name: &str, entries: usize) -> Result<Vec<u32>, UserError> {
        let column = self.columns.remove(name);
        column.filter(|column| column.len() == entries).ok_or_else(|| {
            let what = format!("the state has no column {name:?} of {entries} entries");
            UserError::new(what + "; save it anew")
        })
    }

    /// Adds a column of 64-bit numbers, as two.
    pub fn put_wide(&mut self, name: &str, column: Vec<u64>) {
        let [low, high] = halves(name);
        self.put(&low, column.iter().map(|number| *number as u32).collect());
        self.put(&high, column.iter().map(|number| (*number >> u32::BITS) as u32).collect());
    }

    /// Takes a column of `entries` 64-bit numbers.
    ///
    /// Errors as [`State::take`] does.
    pub fn take_wide(&mut self, name: &str, entries: usize) -> Result<Vec<u64>, UserError> {
        let [low, high] = halves(name);
        let (low, high) = (self.take(&low, entries)?, self.take(&high, entries)?);
        let whole = |(low, high)| u64::from(high) << u32::BITS | u64::from(low);
        Ok(low.into_iter().zip(high).map(whole).collect())
    }

    /// Whether there is a column of that name with 64-bit numbers.
    pub fn has_wide(&self, name: &str) -> bool {
        halves(name).iter().any(|name| self.has(name))
    }

    /// Entries of the column of that name; 0 if there is none.
    pub fn entries(&self, name: &str) -> usize {
        self.columns.get(name).map_or(0, Vec::len)
    }

    /// Whether there is a column of that name.
    pub fn has(&self, name: &str) -> bool {
        self.columns.contains_key(name)
    }

    /// The name of a column that no component has taken.
    pub fn left(&self) -> Option<&str> {
        self.columns.keys().next().map(String::as_str)
    }

    /// Takes a column of any length; empty if the state has none of that name.
    pub fn take_any(&mut self, name: &str) -> Vec<u32> {
        self.columns.remove(name).unwrap_or_default()
    }

    /// Writes the state of a drive of this scenario, atomically.
    ///
    /// Errors if the file cannot be written.
    pub fn write(self, path: &Path, scenario: &Scenario) -> Result<(), UserError> {
        file::write(path, &file::encode(self, scenario)).map_err(|error| {
            let what = format!("cannot write the state: {error}; name another place");
            UserError::new(what).at(path.display())
        })
    }

    /// Reads the state of a drive of this scenario.
    ///
    /// Errors if the file is not a whole state, or one of another drive.
    pub fn read(path: &Path, scenario: &Scenario) -> Result<State, UserError> {
        let bytes = file::read(path).map_err(|error| {
            format!("cannot read the state: {error}; name a file that --save-state wrote")
        });
        let state = bytes.map_err(UserError::new).and_then(|it| file::decode(&it, scenario));
        state.map_err(|error| error.at(path.display()))
    }
}

/// The names of the two columns of a 64-bit one.
fn halves(name: &str) -> [String; 2] {
    [".low", ".high"].map(|half| format!("{name}{half}"))
}

#[cfg(test)]
mod tests;
