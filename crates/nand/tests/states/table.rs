//! The table of transitions in ARCHITECTURE.md, held against every step of a search.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use reprieve_nand::Refusal;

use crate::spec::{Action, Buffer, Kind, Work};
use crate::world::World;

/// Cells by state and cause, and which of them have been met.
pub struct Table {
    cells: BTreeMap<(String, String), String>,
    met: RefCell<BTreeSet<(String, String)>>,
}

const HEAD: &str = "| a lane that is … |";

fn split(row: &str) -> Vec<String> {
    row.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect()
}

/// The state of a lane by its name in the table.
fn name(world: &World) -> &'static str {
    let inside = world.ops.len() == 2;
    let inner = world.innermost();
    let suspended = inner.is_some_and(|op| op.work == Work::Suspended);
    match (inner.map(|op| (op.kind, op.work)), world.reads.buffer) {
        (_, Buffer::Senses { .. }) if suspended => "sensing in a suspension",
        (_, Buffer::Senses { .. }) => "sensing",
        (_, Buffer::Holds { .. }) if suspended => "page held in a suspension",
        (_, Buffer::Holds { .. }) => "page held",
        (None, _) => "idle",
        (Some((_, Work::Runs)), _) if inside => "program runs in an erase",
        (Some((Kind::Program, Work::Runs)), _) => "program runs",
        (Some((Kind::Erase, Work::Runs)), _) => "erase runs",
        (Some((_, Work::Entering(_))), _) if inside => "entering in an erase",
        (Some((_, Work::Entering(_))), _) => "entering suspension",
        (Some((_, Work::Suspended)), _) if inside => "suspended in an erase",
        (Some((Kind::Program, _)), _) => "program suspended",
        (Some((Kind::Erase, _)), _) => "erase suspended",
    }
}

fn cause(action: Action) -> Option<&'static str> {
    match action {
        Action::Read(..) => Some("read"),
        Action::Program(..) => Some("program"),
        Action::Erase(..) => Some("erase"),
        Action::Suspend(_) => Some("suspend"),
        Action::Resume(_) => Some("resume"),
        Action::Elapse(_) => Some("its time comes"),
        Action::Load(..) | Action::Release(_) | Action::Tick => None,
    }
}

/// A refusal in the words of the table; `None`: a matter of addresses and limits.
fn word(refusal: Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::Busy => Some("– busy"),
        Refusal::Nested => Some("– nested"),
        Refusal::NothingToSuspend => Some("– nothing runs"),
        Refusal::AlreadySuspending => Some("– under way"),
        Refusal::NothingToResume => Some("– nothing is suspended"),
        _ => None,
    }
}

impl Table {
    pub fn read() -> Table {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ARCHITECTURE.md");
        let text = fs::read_to_string(path).expect("the project's own page");
        let mut rows = text.lines().skip_while(|line| !line.starts_with(HEAD));
        let head = split(rows.next().expect("the table of transitions"));
        let mut cells = BTreeMap::new();
        for row in rows.skip(1).take_while(|line| line.starts_with('|')) {
            let row = split(row);
            for (cause, cell) in head.iter().zip(&row).skip(1) {
                cells.insert((row[0].clone(), cause.clone()), cell.clone());
            }
        }
        Table { cells, met: RefCell::default() }
    }

    fn cell(&self, world: &World, action: Action) -> Option<&str> {
        let key = (name(world).to_string(), cause(action)?.to_string());
        let cell = self.cells.get(&key)?;
        self.met.borrow_mut().insert(key);
        Some(cell)
    }

    /// Checks that the cell of a refused command names one of the reasons.
    pub fn check_refusal(&self, world: &World, action: Action, reasons: &[Refusal]) {
        let words: Vec<&str> = reasons.iter().filter_map(|reason| word(*reason)).collect();
        if words.is_empty() {
            return;
        }
        if let Some(cell) = self.cell(world, action) {
            assert!(words.contains(&cell), "{action:?}, {words:?} but {cell}: {world:#?}");
        }
    }

    /// Checks that a step leads to the state in its cell.
    pub fn check_step(&self, before: &World, action: Action, after: &World) {
        let Some(cell) = self.cell(before, action) else { return };
        let found = name(after);
        // A request that comes too late leaves the operation to run to its end.
        let too_late = matches!(action, Action::Suspend(_)) && name(before) == found;
        let fits = too_late
            || match cell {
                "runs" => matches!(found, "program runs" | "erase runs"),
                // The table has the entry of an erase; that of a program leads to its own.
                "erase suspended" if name(before) == "entering suspension" => {
                    matches!(found, "program suspended" | "erase suspended")
                }
                cell => found == cell,
            };
        assert!(fits, "{action:?} leads to {found}, not {cell}: {before:#?}");
    }

    /// Every cell but those of what is never due has been met.
    pub fn check_all_met(&self) {
        let met = self.met.borrow();
        let unmet: Vec<_> = self
            .cells
            .iter()
            .filter(|(key, cell)| !met.contains(*key) && *cell != "– nothing is due")
            .collect();
        assert!(!self.cells.is_empty() && unmet.is_empty(), "{unmet:?}");
    }
}
