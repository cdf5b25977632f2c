//! Wait attribution of transactions: a clock by cause on each die, and accounts of waits by it.
//!
//! Waits begin and end with the events of [`Observe`]. At the end of an instant the causes on each
//! die that something happened to are set anew, see `wait_attribution.rs`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use reprieve_base::{Dur, Time};
use reprieve_observe::causes::{Cause, CauseTimes};
use reprieve_policy::txn::{Kind, LatencyComponent, NONE, Txn};

use super::clocks::{Account, Clock, Side, slot};
use super::request_attribution::RequestAccounts;
use super::{Observe, Scene};
use crate::facts::FlashFacts;

/// Attribution of all waits of a drive, one cause for each nanosecond.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Attribution {
    /// Planes of a die that are distinguished for reads; else 1.
    planes: u32,
    /// Waits may begin before a transaction is in its queue, so that every clock has to run.
    pub(crate) looks_always: bool,
    dies: Vec<DieCauses>,
    /// By place: planes of all dies, or dies.
    places: Vec<PlaceCauses>,
    /// Dies with events at this instant.
    touched: Vec<u32>,
    /// The first request that waits for the buffer arrived at this instant.
    looks_at_all: bool,
    planned: BinaryHeap<Reverse<PlannedTurn>>,
    /// By transaction.
    accounts: Vec<Account>,
    requests: RequestAccounts,
}

/// Causes on a die, and notes about its queues.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct DieCauses {
    /// Clock of programs.
    write: Clock,
    /// Cause for which it counts for requests that wait for the buffer.
    counted: Option<Cause>,
    /// First of the queued reads whose page an operation holds.
    first_barred: Option<u32>,
    /// Queued reads of old pages, for writes of part of a page.
    old_pages: u32,
    is_touched: bool,
    /// Which reads are barred may have changed.
    bars_changed: bool,
    /// Number of times that its causes were set.
    looks: u32,
}

/// Causes at a place of a die, and the reasons that have kept its operation from suspension.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct PlaceCauses {
    read: Clock,
    barred: Clock,
    /// The limit, since the operation started or resumed.
    pub(crate) limit: bool,
    /// The page of the operation, since then.
    pub(crate) bar: bool,
}

/// A change of cause known in advance: from the channel to an operation.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
struct PlannedTurn {
    at: Time,
    die: u32,
    /// The plane of the reads; `None`: reads of all planes.
    plane: Option<u32>,
    /// The plan holds while the die's causes are not set again.
    looks: u32,
    cause: Cause,
}

/// Causes for reads at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadCauses {
    pub(crate) read: Cause,
    pub(crate) barred: Cause,
}

impl Attribution {
    /// Attribution of a drive at rest; `looks_always`: see [`Attribution::looks_always`].
    pub(crate) fn new(facts: &FlashFacts, looks_always: bool) -> Attribution {
        let by_plane = facts.parallelism.independent_plane_reads || facts.splits;
        let planes = if by_plane { facts.geometry.planes_per_die } else { 1 };
        let dies = facts.geometry.dies() as usize;
        let die = DieCauses {
            write: Clock::NEW,
            counted: None,
            first_barred: None,
            old_pages: 0,
            is_touched: false,
            bars_changed: false,
            looks: 0,
        };
        let place = PlaceCauses { read: Clock::NEW, barred: Clock::NEW, limit: false, bar: false };
        Attribution {
            planes,
            looks_always,
            dies: vec![die; dies],
            places: vec![place; dies * planes as usize],
            touched: Vec::with_capacity(dies),
            looks_at_all: false,
            planned: BinaryHeap::new(),
            accounts: Vec::new(),
            requests: RequestAccounts::new(),
        }
    }

    /// Whether waits of a transaction are attributed: it belongs to a request.
    fn is_attributed(txn: &Txn) -> bool {
        let of_host = matches!(txn.kind, Kind::HostRead | Kind::RmwRead | Kind::Program);
        of_host && txn.request != NONE
    }

    /// Whether planes of a die are distinguished.
    pub(crate) fn is_by_plane(&self) -> bool {
        self.planes > 1
    }

    fn place(&self, die: u32, plane: u32) -> usize {
        (die * self.planes + if self.planes > 1 { plane } else { 0 }) as usize
    }

    fn account(&mut self, id: u32) -> &mut Account {
        slot(&mut self.accounts, id, Account::NEW)
    }

    fn clock(&self, place: usize, side: Side) -> &Clock {
        match side {
            Side::Write => &self.dies[place / self.planes as usize].write,
            Side::Read => &self.places[place].read,
            Side::Barred => &self.places[place].barred,
        }
    }

    // ---- Waits for a die ------------------------------------------------------------------------

    fn begin(&mut self, id: u32, (die, plane): (u32, u32), side: Side, since: Time) {
        self.pass(since);
        let place = self.place(die, plane);
        let clock = *self.clock(place, side);
        self.account(id).begin((place, side), &clock, since);
    }

    /// Ends the wait of a transaction, if it waits.
    fn end(&mut self, id: u32, now: Time) {
        self.pass(now);
        let Account { at, side, waits, .. } = *self.account(id);
        if waits {
            let clock = *self.clock(at, side);
            self.account(id).end(&clock, now);
        }
    }

    /// Begins the wait of a transaction from its mark on, unless it waits already.
    fn waits(&mut self, id: u32, txn: &Txn) {
        if !Attribution::is_attributed(txn) || self.account(id).waits {
            return;
        }
        if txn.kind == Kind::HostRead && txn.further_senses == 0 {
            self.account(id).times = CauseTimes::default();
        }
        let side = if txn.kind.is_read() { Side::Read } else { Side::Write };
        self.begin(id, (txn.die, txn.at.plane), side, txn.mark);
    }

    /// Moves a queued read to the clock of barred reads, or back.
    pub(crate) fn bar(&mut self, id: u32, at: (u32, u32), is_barred: bool, now: Time) {
        let side = if is_barred { Side::Barred } else { Side::Read };
        let account = self.account(id);
        if account.waits && account.side != side {
            self.end(id, now);
            self.begin(id, at, side, now);
        }
    }

    // ---- Waits for the buffer -------------------------------------------------------------------

    /// Begins the wait of a request for room in the buffer.
    pub fn buffer_begins(&mut self, request: u32, now: Time) {
        self.pass(now);
        if !self.buffer_is_wanted() {
            self.looks_at_all = true;
            self.dies.iter_mut().for_each(|die| die.counted = None);
        }
        self.requests.wait_for_buffer(request, now);
    }

    /// Ends the wait of a page of a request, with or without a transaction.
    pub fn buffer_ends(&mut self, request: u32, id: Option<u32>, is_last: bool, now: Time) {
        self.pass(now);
        let times = self.requests.page_in_buffer(request, is_last, now);
        if let Some(id) = id {
            let account = self.account(id);
            *account = Account::NEW;
            account.times = times;
        }
    }

    /// Whether a request waits for room in the buffer.
    pub(crate) fn buffer_is_wanted(&self) -> bool {
        self.requests.buffer.runs()
    }

    // ---- Results --------------------------------------------------------------------------------

    /// Closes a request; returns the causes of its last page's waits, and that page's die.
    pub fn close(&mut self, request: u32) -> (CauseTimes, Option<u32>) {
        self.requests.close(request)
    }

    /// Attributes the rest of a write's wait to the read of its old page, or of another write's.
    pub fn old_page_read(&mut self, id: u32, txn: &Txn) {
        // A write that was acknowledged before has no account: its slot may hold an older one.
        if txn.request == NONE {
            return;
        }
        let waits = [LatencyComponent::Buffer, LatencyComponent::Rmw];
        let waited_ns: u64 = waits.iter().map(|part| txn.parts.0[*part as usize]).sum();
        let times = &mut self.account(id).times;
        let rest_ns = waited_ns.checked_sub(times.sum_ns()).unwrap_or_else(|| {
            panic!("transaction {id} has causes {times:?} for {waited_ns} ns until its old page")
        });
        times.add(Cause::HostRead, rest_ns);
    }

    /// Ends a page of a request that came from no die.
    pub fn page_there(&mut self, request: u32) {
        self.requests.page_without_die(request);
    }

    /// Ends the page of a transaction of a request.
    pub fn page_ends(&mut self, request: u32, id: u32, die: u32) {
        let times = self.account(id).times;
        let account = self.requests.at(request);
        (account.times, account.die) = (times, Some(die));
    }

    // ---- Causes ---------------------------------------------------------------------------------

    /// Has the causes on a die updated at the end of the instant.
    pub(crate) fn touch(&mut self, die: u32) {
        if !std::mem::replace(&mut self.dies[die as usize].is_touched, true) {
            self.touched.push(die);
        }
    }

    /// Takes the next die to be updated, and whether its barred reads may have changed.
    pub(crate) fn next_touched(&mut self) -> Option<(u32, bool)> {
        let die = self.touched.pop()?;
        let causes = &mut self.dies[die as usize];
        causes.is_touched = false;
        causes.looks = causes.looks.wrapping_add(1);
        Some((die, std::mem::take(&mut causes.bars_changed)))
    }

    /// Whether requests wait for the buffer since this instant, so that every die is updated.
    pub(crate) fn take_looks_at_all(&mut self) -> bool {
        std::mem::take(&mut self.looks_at_all) && self.buffer_is_wanted()
    }

    /// Applies planned changes that are due at `now`.
    pub(crate) fn pass(&mut self, now: Time) {
        while self.planned.peek().is_some_and(|Reverse(next)| next.at <= now) {
            let Some(Reverse(turn)) = self.planned.pop() else { return };
            let die = &mut self.dies[turn.die as usize];
            if die.looks != turn.looks {
                continue;
            }
            let first = (turn.die * self.planes) as usize;
            let planes = match turn.plane {
                Some(plane) => first + plane as usize..first + plane as usize + 1,
                None => first..first + self.planes as usize,
            };
            let places = &mut self.places[planes];
            let clocks = places.iter_mut().flat_map(|place| [&mut place.read, &mut place.barred]);
            let all = clocks.chain([&mut die.write]);
            for clock in all.filter(|clock| clock.cause() == Cause::Channel) {
                clock.turn_as_planned(turn.cause, turn.at);
            }
            if die.counted == Some(Cause::Channel) {
                die.counted = Some(turn.cause);
                self.requests.buffer.move_die(Some(Cause::Channel), Some(turn.cause), turn.at);
            }
        }
    }

    /// Plans a change of cause from the channel to an operation, on a die or on one plane.
    pub(crate) fn plan(&mut self, (die, plane): (u32, Option<u32>), cause: Cause, at: Time) {
        let looks = self.dies[die as usize].looks;
        self.planned.push(Reverse(PlannedTurn { at, die, plane, looks, cause }));
    }

    /// Returns the reasons against suspension on a plane, or on all of a die.
    pub(crate) fn reasons(&mut self, die: u32, plane: Option<u32>) -> &mut PlaceCauses {
        let place = self.place(die, plane.unwrap_or(0));
        &mut self.places[place]
    }

    /// Returns the first queued read of a die whose page an operation holds.
    pub(crate) fn first_barred(&self, die: u32) -> Option<u32> {
        self.dies[die as usize].first_barred
    }

    pub(crate) fn set_first_barred(&mut self, die: u32, read: Option<u32>) {
        self.dies[die as usize].first_barred = read;
    }

    /// Whether the old page of a write is queued on a die.
    pub(crate) fn old_page_waits(&self, die: u32) -> bool {
        self.dies[die as usize].old_pages > 0
    }

    /// Sets the causes for reads at a place from `now` on.
    pub(crate) fn set_reads(&mut self, (die, plane): (u32, u32), causes: ReadCauses, now: Time) {
        let place = self.place(die, plane);
        let place = &mut self.places[place];
        place.read.turn(causes.read, now);
        place.barred.turn(causes.barred, now);
    }

    /// Sets the cause for programs on a die; `counts`: also for requests that wait for the buffer.
    pub(crate) fn set_writes(&mut self, die: u32, cause: Cause, counts: bool, now: Time) {
        let causes = &mut self.dies[die as usize];
        causes.write.turn(cause, now);
        if self.requests.buffer.runs() {
            let after = counts.then_some(cause);
            let before = std::mem::replace(&mut causes.counted, after);
            self.requests.buffer.move_die(before, after, now);
        }
    }

    fn each(scene: &Scene, first: u32, mut tell: impl FnMut(u32, &Txn)) {
        let mut each = first;
        while each != NONE {
            let txn = scene.txn(each);
            tell(each, txn);
            each = txn.next;
        }
    }

    /// Ends the waits of a command that starts or resumes, and clears the reasons against its
    /// suspension.
    fn runs(&mut self, scene: &Scene, first: u32) {
        let die = scene.txn(first).die;
        Attribution::each(scene, first, |id, txn| {
            if Attribution::is_attributed(txn) {
                self.end(id, scene.now);
            }
        });
        let place = self.place(die, 0);
        for place in &mut self.places[place..][..self.planes as usize] {
            (place.limit, place.bar) = (false, false);
        }
        self.dies[die as usize].bars_changed = true;
        self.touch(die);
    }
}

impl Observe for Attribution {
    fn held_back(&mut self, scene: &Scene, id: u32) {
        let txn = scene.txn(id);
        if txn.die != NONE {
            self.waits(id, txn);
            self.dies[txn.die as usize].bars_changed = true;
            self.touch(txn.die);
        }
    }

    fn queued(&mut self, scene: &Scene, id: u32) {
        let txn = scene.txn(id);
        let die = &mut self.dies[txn.die as usize];
        die.bars_changed = true;
        die.old_pages += u32::from(txn.kind == Kind::RmwRead);
        self.waits(id, txn);
        self.touch(txn.die);
    }

    fn sensing(&mut self, scene: &Scene, id: u32, _until: Time) {
        Attribution::each(scene, id, |id, txn| {
            let is_old_page = txn.kind == Kind::RmwRead && txn.further_senses == 0;
            self.dies[txn.die as usize].old_pages -= u32::from(is_old_page);
            if Attribution::is_attributed(txn) {
                self.end(id, scene.now);
            }
        });
        self.touch(scene.txn(id).die);
    }

    fn sensed(&mut self, die: u32) {
        self.touch(die);
    }

    fn started(&mut self, scene: &Scene, id: u32, data_in: Option<(Dur, u64)>) {
        self.runs(scene, id);
        if data_in.is_some() {
            return;
        }
        // It was in the register, after the program before it.
        Attribution::each(scene, id, |id, txn| {
            if Attribution::is_attributed(txn) {
                let queue_ns = txn.parts.0[LatencyComponent::Queue as usize];
                let account = self.account(id);
                account.times.add(Cause::HostProgram, queue_ns - account.loaded_ns);
            }
        });
    }

    fn loaded(&mut self, scene: &Scene, id: u32, _data_in: (Dur, u64)) {
        Attribution::each(scene, id, |id, txn| {
            if Attribution::is_attributed(txn) {
                self.end(id, scene.now);
                self.account(id).loaded_ns = txn.parts.0[LatencyComponent::Queue as usize];
            }
        });
        self.touch(scene.txn(id).die);
    }

    fn suspending(&mut self, scene: &Scene, id: u32, _free_at: Time) {
        self.touch(scene.txn(id).die);
    }

    fn suspended(&mut self, scene: &Scene, id: u32) {
        Attribution::each(scene, id, |id, txn| {
            if Attribution::is_attributed(txn) {
                self.begin(id, (txn.die, txn.at.plane), Side::Write, scene.now);
            }
        });
        self.touch(scene.txn(id).die);
    }

    fn resumed(&mut self, scene: &Scene, id: u32, _data_in: Option<Dur>) {
        self.runs(scene, id);
    }

    fn completed(&mut self, scene: &Scene, id: u32) {
        let die = scene.txn(id).die;
        self.dies[die as usize].bars_changed = true;
        self.touch(die);
    }

    fn page_left(&mut self, _: &Scene, die: u32, _plane: u32) {
        self.touch(die);
    }

    fn read_done(&mut self, scene: &Scene, id: u32) {
        let txn = scene.txn(id);
        if txn.kind == Kind::HostRead && txn.request != NONE {
            self.page_ends(txn.request, id, txn.die);
        }
    }
}
