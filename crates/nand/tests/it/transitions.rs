//! The table of transitions in ARCHITECTURE.md, compared with what a die does: every state, every
//! cause.

use std::fs;

use reprieve_base::Time;
use reprieve_nand::{Command, ProgramSuspension, Refusal, Suspension};

use crate::device::{Answer, Ask, Device, ERASE, PROGRAM, READ, page, part, suspending};

/// What can happen to a lane from outside; none of it touches a block that is worked on.
const CAUSES: [(&str, Ask); 5] = [
    ("read", READ),
    ("program", Ask::Start(Command::Program(page(1, 2, 0)))),
    ("erase", Ask::Start(Command::Erase(page(1, 2, 0)))),
    ("suspend", Ask::Suspend),
    ("resume", Ask::Resume),
];

/// A state by its name: a die that is in it, an instant then, and when its time comes, if it does.
type State = (&'static str, Device, u64, Option<u64>);

fn free_at(device: &mut Device, now_ns: u64) -> u64 {
    match device.issue(now_ns, Ask::Suspend) {
        Answer::FreeAt(at_ns) => at_ns,
        answer => panic!("{answer:?} to a suspend request"),
    }
}

fn suspended(operation: Ask, request_ns: u64) -> Device {
    let mut device = entering(operation, request_ns).0;
    let at_ns = device.promised_ns();
    device.elapse(at_ns);
    device
}

fn entering(operation: Ask, request_ns: u64) -> (Device, u64) {
    let mut device = begun(operation);
    let at_ns = free_at(&mut device, request_ns);
    (device, at_ns)
}

fn begun(operation: Ask) -> Device {
    let nesting = Suspension { program_in_erase: true, ..suspending(ProgramSuspension::Ips) };
    let mut device = Device::new(part(), nesting);
    device.issue(0, operation);
    device
}

/// Every state of a lane. The times are those of `part`.
fn states() -> Vec<State> {
    let nesting = Suspension { program_in_erase: true, ..suspending(ProgramSuspension::Ips) };
    let idle = Device::new(part(), nesting);
    let mut held = begun(READ);
    held.elapse(1_100);
    let (entering_it, entering_ns) = entering(ERASE, 2_100);
    let mut sensing_inside = suspended(ERASE, 2_100);
    sensing_inside.issue(3_000, READ);
    let inside = || {
        let mut device = suspended(ERASE, 2_100);
        device.issue(3_000, PROGRAM);
        device
    };
    let mut entering_inside = inside();
    let inside_ns = free_at(&mut entering_inside, 5_150);
    let mut suspended_inside = inside();
    let at_ns = free_at(&mut suspended_inside, 5_150);
    suspended_inside.elapse(at_ns);
    vec![
        ("idle", idle, 10, None),
        ("sensing", begun(READ), 500, Some(1_100)),
        ("page held", held, 1_200, None),
        ("program runs", begun(PROGRAM), 2_200, Some(3_240)),
        ("erase runs", begun(ERASE), 2_100, Some(5_190)),
        ("entering suspension", entering_it, 2_120, Some(entering_ns)),
        ("program suspended", suspended(PROGRAM, 2_200), 5_000, None),
        ("erase suspended", suspended(ERASE, 2_100), 5_000, None),
        ("sensing in a suspension", sensing_inside, 3_500, Some(4_100)),
        ("program runs in an erase", inside(), 5_150, Some(6_240)),
        ("entering in an erase", entering_inside, 5_200, Some(inside_ns)),
        ("suspended in an erase", suspended_inside, 8_000, None),
    ]
}

/// The state in which a die is, by what it says of itself.
fn name(device: &Device, holds: bool) -> &'static str {
    let die = &device.die;
    let inside = die.operations().outer_block().is_some();
    let works = die.operations().block().is_some();
    let is_erase = die.operations().block() == Some((0, 1));
    match (die.is_running(), die.is_suspended(), die.is_free()) {
        (true, ..) if inside => "program runs in an erase",
        (true, ..) => "runs",
        (_, true, true) if inside => "suspended in an erase",
        (_, true, true) if is_erase => "erase suspended",
        (_, true, true) => "program suspended",
        (_, true, false) if holds => "page held in a suspension",
        (_, true, false) => "sensing in a suspension",
        (_, false, false) if works && inside => "entering in an erase",
        (_, false, false) if works => "entering suspension",
        (_, false, false) if holds => "page held",
        (_, false, false) => "sensing",
        (_, false, true) => "idle",
    }
}

fn why(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Busy => "– busy",
        Refusal::Nested => "– nested",
        Refusal::NothingToSuspend => "– nothing runs",
        Refusal::AlreadySuspending => "– under way",
        Refusal::NothingToResume => "– nothing is suspended",
        other => panic!("{other:?} is a matter of addresses and limits"),
    }
}

fn row((state, device, now_ns, comes_ns): State) -> String {
    let mut cells = vec![state.to_string()];
    for (_, ask) in CAUSES {
        let mut after = Device::of_die(device.die.clone());
        let cell = match after.probe(now_ns, ask) {
            Err(refusal) => why(refusal),
            Ok(_) => {
                after.issue(now_ns, ask);
                name(&after, false)
            }
        };
        cells.push(cell.to_string());
    }
    let cell = comes_ns.map_or("– nothing is due", |at_ns| {
        let mut after = Device::of_die(device.die.clone());
        let sensed = after.die.elapse(Time::from_ns(at_ns));
        name(&after, sensed == reprieve_nand::Elapsed::ReadReady)
    });
    cells.push(cell.to_string());
    format!("| {} |", cells.join(" | "))
}

#[test]
fn the_table_of_transitions_is_what_a_die_does() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ARCHITECTURE.md");
    let written = fs::read_to_string(path).expect("the project's own page");
    let rows: Vec<String> = states().into_iter().map(row).collect();
    let causes = CAUSES.map(|(name, _)| name).join(" | ");
    let head = format!("| a lane that is … | {causes} | its time comes |");
    let table = [vec![head, "|---|---|---|---|---|---|---|".to_string()], rows].concat();
    let table = table.join("\n");
    assert!(written.contains(&table), "ARCHITECTURE.md has to say:\n{table}");
}
