//! Every state of a die: all interleavings of commands, suspensions, resumptions and timers.

mod laws;
mod parts;
mod refused;
mod search;
mod spec;
mod table;
mod world;

use parts::{matrix, rows};
use search::Seen;
use table::Table;

/// Visits the states of every row, each with at most `histories_max` histories of the die.
fn visit(rows: Vec<parts::Row>, histories_max: u32, prints: bool) {
    let mut all = Seen::default();
    let count = rows.len();
    for row in rows {
        let table = row.has_table.then(Table::read);
        let seen = search::search(row.part, histories_max, table.as_ref());
        if let Some(table) = table {
            table.check_all_met();
        }
        assert!(seen.suspensions > 0, "{}: nothing is suspended", row.name);
        if prints {
            println!("{}: {seen}", row.name);
        }
        all = all + seen;
    }
    println!("{count} parts: {all}");
}

#[test]
fn every_state_of_a_die_keeps_the_laws() {
    visit(rows(), 1, true);
}

#[test]
#[ignore = "minutes: make long"]
fn every_state_keeps_the_laws_whatever_the_die_remembers() {
    visit(rows(), u32::MAX, true);
}

#[test]
#[ignore = "minutes: make long"]
fn every_way_to_suspend_keeps_the_laws() {
    visit(matrix(), 1, false);
}
