//! The rig: one die on its own channel, driven with raw commands; no FTL, no buffer, no host link.

use std::fmt::Write as _;

use reprieve_base::event::EventQueue;
use reprieve_base::{Dur, PageAddress, Time, UserError};
use reprieve_config::Scenario;
use reprieve_flash::{Flash, FlashEvent};
use reprieve_observe::power::PowerStep;
use reprieve_observe::timeline::{Arrival, Name, Timeline, Window};
use reprieve_policy::Policies;
use reprieve_policy::txn::{Kind, NONE, Txn};
use reprieve_policy::work::{GcNeed, Work};

use crate::observe::Observe;

const HEADER: &str = "arrival_ns,op,plane,block,page";

/// A raw command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RigCommand {
    /// When it reaches the die's queue.
    pub arrival: Time,
    /// Operation.
    pub op: RigOp,
    /// Plane, block and page; an erase ignores the page.
    pub at: PageAddress,
}

/// Operations of raw commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RigOp {
    /// Read a page, programmed or not.
    Read,
    /// Program a page.
    Program,
    /// Erase a block.
    Erase,
}

impl RigOp {
    fn name(self) -> &'static str {
        match self {
            RigOp::Read => "read",
            RigOp::Program => "program",
            RigOp::Erase => "erase",
        }
    }
}

/// Result of a raw command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RigResult {
    /// When the die started to serve it.
    pub start: Time,
    /// When it completed.
    pub completion: Time,
    /// Number of suspensions.
    pub suspensions: u32,
}

/// The rig has no mapping and no garbage collection.
struct NoWork;

impl Work for NoWork {
    fn place(&mut self, _: &mut Txn) -> bool {
        true
    }
    fn place_beside(&mut self, txn: &mut Txn, first: PageAddress, number: u32) -> bool {
        txn.at == PageAddress { page: first.page + number, ..first }
    }
    fn next_page(&self, txn: &Txn) -> Option<PageAddress> {
        Some(txn.at)
    }
    fn locate(&mut self, _: &mut Txn) {}
    fn located(&self, txn: &Txn) -> PageAddress {
        txn.at
    }
    fn gc_need(&mut self, _: u32) -> GcNeed {
        GcNeed::None
    }
    fn gc_next(&mut self, _: u32) -> Option<Kind> {
        None
    }
    fn free_blocks(&self, _: u32, _: u32) -> Option<u32> {
        None
    }
    fn gc_take(&mut self, _: u32, _: Time) -> Txn {
        unreachable!("the rig collects no garbage")
    }
    fn gc_take_page(&mut self, _: &Txn, _: u32, _: Time) -> Option<Txn> {
        None
    }
    fn gc_take_beside(&mut self, _: &Txn, _: Time) -> Option<Txn> {
        None
    }
    fn gc_peek(&self, _: u32) -> Kind {
        unreachable!("the rig collects no garbage")
    }

    fn gc_next_read(&mut self, _: u32) -> Option<u32> {
        None
    }
    fn gc_take_erase(&mut self, _: u32, _: Option<u32>, _: Time) -> Option<Txn> {
        None
    }
}

/// Runs the commands, in order of arrival; results are in the order of `commands`.
///
/// Errors at a command that the die refuses, with the row (from 1) and the reason.
pub fn run(scenario: &Scenario, commands: &[RigCommand]) -> Result<Vec<RigResult>, UserError> {
    Ok(run_with(scenario, commands, Asked::default())?.results)
}

/// Options of a run of the rig.
#[derive(Default)]
pub struct Asked {
    /// Policies in place of those of the scenario.
    pub policies: Option<Policies>,
    /// Record every step of the die's power; the scenario needs a power model.
    pub power: bool,
    /// The part of the run in the timeline.
    pub timeline: Option<Window>,
    /// Observes all events.
    pub observer: Option<Box<dyn Observe>>,
}

/// Results of a run of the rig.
pub struct Outcome {
    /// In the order of the commands.
    pub results: Vec<RigResult>,
    /// Every step of power, if requested.
    pub power: Vec<PowerStep>,
    /// A trace that Perfetto opens; empty if not requested.
    pub timeline: Vec<u8>,
}

/// Runs commands as [`run`] does, with options.
pub fn run_with(
    scenario: &Scenario,
    commands: &[RigCommand],
    asked: Asked,
) -> Result<Outcome, UserError> {
    if asked.power && scenario.power.is_none() {
        let what = "power.account = \"off\": must be \"on\" for a trace of power";
        return Err(UserError::new(what));
    }
    run_flash(scenario, commands, asked)
}

fn run_flash(
    scenario: &Scenario,
    commands: &[RigCommand],
    asked: Asked,
) -> Result<Outcome, UserError> {
    let mut scenario = scenario.clone();
    scenario.geometry.channels = 1;
    scenario.geometry.chips_per_channel = 1;
    scenario.geometry.dies_per_channel = 1;
    let policies = asked.policies.unwrap_or_else(|| Policies::of(&scenario));
    let mut flash = Flash::with(&scenario, policies);
    if asked.power {
        flash.observers_mut().trace_power();
    }
    if let Some(window) = asked.timeline {
        flash.draw(window);
    }
    asked.observer.into_iter().for_each(|observer| flash.join(observer));
    let mut events: EventQueue<FlashEvent> = EventQueue::new(scenario.timing.read, Dur::ZERO);
    let mut order: Vec<usize> = (0..commands.len()).collect();
    order.sort_by_key(|row| commands[*row].arrival);
    let mut arrivals = order.into_iter().peekable();
    let blank = RigResult { start: Time::NEVER, completion: Time::NEVER, suspensions: 0 };
    let mut results = vec![blank; commands.len()];
    let mut end = Time::ZERO;
    loop {
        let arrival = arrivals.peek().map_or(Time::NEVER, |row| commands[*row].arrival);
        let now = events.next_time().min(arrival);
        if now == Time::NEVER {
            break;
        }
        end = now;
        while let Some(event) = events.pop_at(now) {
            flash.handle(event, now, &mut events);
            while let Some(id) = flash.next_done() {
                let txn = flash.txns_mut().remove(id);
                flash.observers_mut().request_done(now, txn.request);
                results[txn.request as usize] =
                    RigResult { start: txn.start, completion: now, suspensions: txn.suspensions };
            }
        }
        while let Some(row) = arrivals.next_if(|row| commands[*row].arrival == now) {
            let kind = match commands[row].op {
                RigOp::Read => Kind::HostRead,
                RigOp::Program => Kind::Program,
                RigOp::Erase => Kind::Erase,
            };
            let id =
                flash.txns_mut().insert(Txn::new(kind, 0, commands[row].at, NONE, row as u32, now));
            flash.observers_mut().request_arrived(now, arrival_of(row as u32, kind));
            flash.enqueue(id);
        }
        flash.decide(now, &mut NoWork, &mut events);
        if let Some(error) = refused(&flash, commands) {
            return Err(error);
        }
    }
    assert!(flash.txns().is_empty(), "the rig stopped with commands waiting");
    // A nanosecond more, in which the die is idle, ends the trace.
    let power = flash.observers().power_report(end + Dur::from_ns(1)).and_then(|power| power.trace);
    let power = power.unwrap_or_default();
    flash.observers_mut().end(end);
    let timeline = flash.observers_mut().timeline_mut().map_or_else(Vec::new, Timeline::take);
    Ok(Outcome { results, power, timeline })
}

/// Returns a command as an arrival of the timeline: by its row.
fn arrival_of(row: u32, kind: Kind) -> Arrival {
    Arrival { slot: row, number: u64::from(row), name: Name::of_kind(kind), range: None }
}

/// Reads commands from CSV text.
///
/// Errors with row and line at a command that the die does not have.
pub fn parse(text: &str, scenario: &Scenario) -> Result<Vec<RigCommand>, UserError> {
    let mut lines = text.lines().map(str::trim_end).enumerate();
    let header = lines.next().map_or("", |(_, line)| line);
    if header.trim_start_matches('\u{feff}') != HEADER {
        return Err(UserError::new(format!("line 1: {header:?} is not the header {HEADER:?}")));
    }
    let mut commands = Vec::new();
    for (number, line) in lines {
        if line.trim().is_empty() {
            continue;
        }
        let place = format!("row {} (line {})", number, number + 1);
        commands.push(parse_row(line, scenario).map_err(|error| error.at(place))?);
    }
    Ok(commands)
}

fn parse_row(line: &str, scenario: &Scenario) -> Result<RigCommand, UserError> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let &[arrival, op, plane, block, page] = fields.as_slice() else {
        return Err(UserError::new(format!(
            "{line:?} has {} fields; a command is {HEADER}",
            fields.len()
        )));
    };
    let op = match op {
        "read" => RigOp::Read,
        "program" => RigOp::Program,
        "erase" => RigOp::Erase,
        _ => return Err(UserError::new(format!("op = {op:?} is none of read, program, erase"))),
    };
    let arrival_ns = arrival.parse().ok().filter(|ns| *ns < 1 << 62).ok_or_else(|| {
        UserError::new(format!("arrival_ns = {arrival:?} is not a whole number of ns below 2^62"))
    })?;
    let geometry = &scenario.geometry;
    let index = |name: &str, value: &str, count: u32| match value.parse::<u32>() {
        Ok(index) if index < count => Ok(index),
        _ => Err(UserError::new(format!("{name} = {value:?} is not one of 0 to {}", count - 1))),
    };
    let page = match (op, page) {
        // The page of an erase is ignored, and optional.
        (RigOp::Erase, _) => 0,
        _ => index("page", page, geometry.pages_per_block)?,
    };
    let plane = index("plane", plane, geometry.planes_per_die)?;
    let block = index("block", block, geometry.blocks_per_plane)?;
    let (arrival, at) = (Time::from_ns(arrival_ns), PageAddress { plane, block, page });
    Ok(RigCommand { arrival, op, at })
}

/// Returns the error of a command that the die has refused.
fn refused(flash: &Flash, commands: &[RigCommand]) -> Option<UserError> {
    let (id, refusal) = flash.refused()?;
    let row = flash.txns()[id].request as usize;
    let RigCommand { op, at, .. } = commands[row];
    Some(UserError::new(format!(
        "row {} (line {}): {} of plane {} block {} page {} is refused: {refusal}",
        row + 1,
        row + 2,
        op.name(),
        at.plane,
        at.block,
        at.page
    )))
}

/// Returns steps of power as CSV text.
pub fn power_csv(steps: &[PowerStep]) -> String {
    let mut csv = "time_ns,power_core_mw,power_io_mw\n".to_string();
    for PowerStep { from, core_uw, io_uw } in steps {
        let mw = [core_uw, io_uw].map(|uw| *uw as f64 / 1e3);
        writeln!(csv, "{},{},{}", from.ns(), mw[0], mw[1]).expect("a string takes any text");
    }
    csv
}

/// Returns the commands with their results as CSV text: the rows of `text`, in its order.
pub fn to_csv(text: &str, results: &[RigResult]) -> String {
    let mut csv = format!("{HEADER},start_ns,completion_ns,suspensions\n");
    let rows = text.lines().skip(1).map(str::trim_end).filter(|line| !line.trim().is_empty());
    for (row, result) in rows.zip(results) {
        let RigResult { start, completion, suspensions } = result;
        writeln!(csv, "{row},{},{},{suspensions}", start.ns(), completion.ns())
            .expect("a string takes any text");
    }
    csv
}
