//! The search: every state that a die can get into, each action there against the specification.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Add;
use std::sync::Arc;

use reprieve_base::{PageAddress, Time};
use reprieve_nand::{Command, Die, Elapsed, Part, Refusal, Suspend};

use crate::laws;
use crate::spec::{Action, Answer, Buffer, Due, Kind, Work};
use crate::table::Table;
use crate::world::World;

/// How often an operation without a limit is suspended here.
pub const SUSPENSIONS_MAX: u32 = 2;

/// Past times that are longer ago than this are alike: no operation here takes as long.
const PAST_NS: u64 = 40;

/// A die and its specification, at one instant.
#[derive(Clone)]
pub struct State {
    pub die: Die,
    pub world: World,
    pub now: Time,
}

/// Counts of a search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// States by the specification.
    pub states: u64,
    /// Dies in them, which differ by what they remember.
    pub histories: u64,
    pub transitions: u64,
    pub refusals: u64,
    pub suspensions: u64,
}

impl Add for Seen {
    type Output = Seen;

    fn add(self, other: Seen) -> Seen {
        Seen {
            states: self.states + other.states,
            histories: self.histories + other.histories,
            transitions: self.transitions + other.transitions,
            refusals: self.refusals + other.refusals,
            suspensions: self.suspensions + other.suspensions,
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Seen { states, histories, transitions, refusals, suspensions } = self;
        write!(f, "{states} states in {histories} histories, {transitions} transitions, ")?;
        write!(f, "{refusals} refusals, {suspensions} suspensions")
    }
}

/// The states that have been visited.
struct Visited {
    histories: BTreeSet<u64>,
    histories_by_state: BTreeMap<u64, u32>,
    histories_max: u32,
}

impl Visited {
    fn new(histories_max: u32) -> Visited {
        let (histories, histories_by_state) = Default::default();
        Visited { histories, histories_by_state, histories_max }
    }

    /// Whether a state is to be visited.
    fn insert(&mut self, state: &State) -> bool {
        let mut hasher = Relative::new(Time::ZERO);
        write!(hasher, "{:?}", state.world).expect("it can be written");
        let known = self.histories_by_state.entry(hasher.hasher.finish()).or_default();
        let is_new = *known < self.histories_max && self.histories.insert(state.key());
        *known += u32::from(is_new);
        is_new
    }
}

/// Hashes what a die says of itself, its times as differences from now.
struct Relative {
    hasher: DefaultHasher,
    now_ns: u64,
    /// How much of the beginning of a time, `Time(`, has come.
    begun: u8,
}

impl Relative {
    fn new(now: Time) -> Relative {
        Relative { hasher: DefaultHasher::new(), now_ns: now.ns(), begun: 0 }
    }
}

impl Write for Relative {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let is_number = text.as_bytes().first().is_some_and(u8::is_ascii_digit);
        if self.begun == 2 && is_number {
            let ns: u64 = text.parse().map_err(|_| fmt::Error)?;
            let ahead = ns as i64 - self.now_ns as i64;
            ahead.max(-(PAST_NS as i64)).hash(&mut self.hasher);
        } else {
            self.hasher.write(text.as_bytes());
        }
        self.begun = match (self.begun, text) {
            (_, "Time") => 1,
            (1, "(") => 2,
            _ => 0,
        };
        Ok(())
    }
}

impl State {
    fn key(&self) -> u64 {
        let mut relative = Relative::new(self.now);
        write!(relative, "{:?} {:?}", self.die, self.world).expect("both can be written");
        relative.hasher.finish()
    }

    /// Does an action to both. Returns the answer that both have given.
    #[track_caller]
    pub fn act(&mut self, part: &Part, action: Action) -> Answer {
        let said = perform(&mut self.die, self.now, action);
        let expected = self.world.act(part, action);
        assert_eq!(said, Ok(expected), "{action:?} at {}: {:#?}", self.now, self.world);
        if action == Action::Tick {
            self.now = Time::from_ns(self.now.ns() + 1);
        }
        expected
    }
}

/// Does an action to a die.
pub fn perform(die: &mut Die, now: Time, action: Action) -> Result<Answer, Refusal> {
    let start = |die: &mut Die, command, other: Option<PageAddress>| {
        let until = match other {
            None => die.start(now, command),
            Some(other) => die.start_together(now, command, &[other]),
        };
        until.map(|until| Answer::EndsIn((until - now).ns()))
    };
    let suspend = |stop| match stop {
        Suspend::FreeAt(at) => Answer::FreeIn((at - now).ns()),
        Suspend::RunsToEnd => Answer::RunsToEnd,
    };
    match action {
        Action::Read(at, other) => start(die, Command::Read(at), other),
        Action::Program(at, other) => start(die, Command::Program(at), other),
        Action::Erase(at, other) => start(die, Command::Erase(at), other),
        Action::Load(at, other) => {
            let others: Vec<PageAddress> = other.into_iter().collect();
            die.load(now, at, &others).map(|until| Answer::EndsIn((until - now).ns()))
        }
        Action::Suspend(None) => die.suspend(now).map(suspend),
        Action::Suspend(Some(plane)) => die.suspend_plane(now, plane).map(suspend),
        Action::Resume(None) => die.resume(now).map(|until| Answer::EndsIn((until - now).ns())),
        Action::Resume(Some(plane)) => {
            die.resume_plane(now, plane).map(|until| Answer::EndsIn((until - now).ns()))
        }
        Action::Release(None) => Ok(Answer::NextLeaves(die.release())),
        Action::Release(Some(plane)) => Ok(Answer::NextLeaves(die.release_plane(plane))),
        Action::Elapse(Due::Array) => Ok(Answer::Came(die.elapse(now))),
        Action::Elapse(Due::Piece(plane)) => Ok(Answer::Came(die.elapse_piece(now, plane))),
        Action::Elapse(Due::PlaneRead(plane)) => Ok(Answer::Came(die.elapse_plane(now, plane))),
        Action::Tick => Ok(Answer::Passed),
    }
}

/// Every command, suspension and resumption that a part could be given, right or wrong.
fn commands(part: &Part) -> Vec<Action> {
    let shape = part.shape;
    let mut all = vec![Action::Suspend(None), Action::Resume(None)];
    if part.parallelism.plane_suspension {
        all.extend((0..shape.planes).map(|plane| Action::Suspend(Some(plane))));
        all.extend((0..shape.planes).map(|plane| Action::Resume(Some(plane))));
    }
    let mut pages = Vec::new();
    for plane in 0..shape.planes {
        for block in 0..shape.blocks_per_plane {
            pages.extend((0..shape.pages_per_block).map(|page| PageAddress { plane, block, page }));
        }
    }
    for at in &pages {
        let beside = pages.iter().filter(|other| other.plane > at.plane);
        let others: Vec<Option<PageAddress>> = match part.parallelism.multi_plane {
            reprieve_nand::MultiPlane::None => vec![None],
            _ => std::iter::once(None).chain(beside.copied().map(Some)).collect(),
        };
        for other in others {
            all.extend([Action::Read(*at, other), Action::Program(*at, other)]);
            if at.page == 0 && other.is_none_or(|other| other.page == 0) {
                all.push(Action::Erase(*at, other));
            }
            if part.parallelism.cache_program {
                all.push(Action::Load(*at, other));
            }
        }
    }
    all
}

/// Events that need no command: the array, the clock, and pages that leave over the channel.
fn happenings(world: &World) -> Vec<Action> {
    let mut all: Vec<Action> = world.dues().into_iter().map(Action::Elapse).collect();
    if all.is_empty() && world.has_promised() {
        all.push(Action::Tick);
    }
    if world.reads.has_page() {
        all.push(Action::Release(None));
    }
    let planes = (0..).zip(&world.plane_reads).filter(|(_, reads)| reads.has_page());
    all.extend(planes.map(|(plane, _)| Action::Release(Some(plane))));
    all
}

/// Whether the search asks for a suspension, which it does not do for ever.
fn is_within_bound(part: &Part, world: &World, action: Action) -> bool {
    let op = match action {
        Action::Suspend(Some(plane)) => world.work_on_plane(plane),
        Action::Suspend(None) => world.innermost(),
        _ => return true,
    };
    op.is_none_or(|op| {
        let most = match op.kind {
            Kind::Program => part.suspension.max_per_program,
            Kind::Erase => part.suspension.max_per_erase,
        };
        most.is_some() || op.suspensions < SUSPENSIONS_MAX
    })
}

/// Visits every state of a die of a part, each with at most `histories_max` histories of the die.
pub fn search(part: Part, histories_max: u32, table: Option<&Table>) -> Seen {
    let commands = commands(&part);
    let die = Die::new(Arc::new(part), 1, 0);
    let start = State { die, world: World::new(&part), now: Time::from_ns(100) };
    let mut seen = Seen::default();
    let mut visited = Visited::new(histories_max);
    visited.insert(&start);
    let mut left = VecDeque::from([start]);
    while let Some(state) = left.pop_front() {
        seen.histories += 1;
        laws::hold_in(&part, &state);
        let mut next = Vec::new();
        let mut unmoved = state.clone();
        for action in commands.iter().copied() {
            if !is_within_bound(&part, &state.world, action) {
                continue;
            }
            let reasons = state.world.reasons(&part, action, state.now.ns());
            if reasons.is_empty() {
                next.push(action);
                continue;
            }
            seen.refusals += 1;
            let said = perform(&mut unmoved.die, state.now, action);
            let why = said.err().filter(|why| reasons.contains(why));
            assert!(
                why.is_some(),
                "{action:?}: {said:?}, not of {reasons:?} in {:#?}",
                state.world
            );
            if let Some(table) = table {
                table.check_refusal(&state.world, action, &reasons);
            }
        }
        assert_eq!(unmoved.key(), state.key(), "a refusal changes {:#?}", state.world);
        next.extend(happenings(&state.world));
        for action in next {
            let mut after = state.clone();
            let answer = after.act(&part, action);
            seen.transitions += 1;
            seen.suspensions += u64::from(matches!(answer, Answer::FreeIn(_)));
            laws::hold_between(&part, &state, action, answer, &after);
            if let Some(table) = table {
                table.check_step(&state.world, action, &after.world);
            }
            if visited.insert(&after) {
                left.push_back(after);
            } else if action != Action::Tick {
                // Another history of a known state: all that is under way ends as it should.
                laws::all_ends(&part, &after);
            }
        }
    }
    seen.states = visited.histories_by_state.len() as u64;
    seen
}

/// Lets everything come to its end: pages leave, what is suspended is resumed.
///
/// Returns how many programs and erases have ended, and how many pages have left.
pub fn drain(part: &Part, mut state: State) -> (usize, u32) {
    let (mut ended, mut left_pages) = (0, 0);
    for _ in 0..1_000 {
        let first = happenings(&state.world).into_iter().next();
        let suspended = state.world.ops.iter().rfind(|op| op.work == Work::Suspended);
        let resume = suspended.map(|op| Action::Resume(op.alone.then(|| op.pages[0].plane)));
        let Some(action) = first.or(resume) else { return (ended, left_pages) };
        match state.act(part, action) {
            Answer::Came(Elapsed::Programmed | Elapsed::Erased) => ended += 1,
            Answer::NextLeaves(_) => left_pages += 1,
            _ => {}
        }
    }
    panic!("it comes to no end: {:#?}", state.world);
}

/// Pages that are sensed or to be, and have not left.
pub fn pages_inside(world: &World) -> u32 {
    let inside = |reads: &crate::spec::Reads| {
        reads.register_pages
            + match reads.buffer {
                Buffer::Free => 0,
                Buffer::Senses { pages, .. } | Buffer::Holds { pages } => pages,
            }
    };
    world.plane_reads.iter().chain([&world.reads]).map(inside).sum()
}
