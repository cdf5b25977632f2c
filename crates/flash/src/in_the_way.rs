//! What stands in the way on each die: looked at at the end of an instant, where it was not told.

use reprieve_base::Time;
use reprieve_nand::{PlaneWork, Refusal};
use reprieve_observe::blame::Cause;
use reprieve_policy::suspend::{Answer, Reason};
use reprieve_policy::txn::NONE;
use reprieve_policy::work::Work;

use super::Flash;
use super::asking::Asking;
use super::controller::Controller;
use super::die::DieUnit;
use super::dies::Dies;
use super::lane::{Lane, LaneId};
use super::observe::{Blame, InTheWay, Look};
use super::serving::Serving;

/// The drive as it is looked at for who blames waits, and whose clocks are set by that.
///
/// Nothing else is changed: policies are asked only what may be asked in vain.
struct Lookout<'a> {
    controller: &'a Controller,
    serving: &'a Serving,
    blame: &'a mut Blame,
    now: Time,
}

impl Flash {
    /// Looks at the end of the instant what stands in the way on the dies to which something has
    /// happened.
    #[inline(always)]
    pub(super) fn look_in_the_way<W: Work>(&mut self, now: Time, work: &mut W) {
        let Some(blame) = &mut self.controller.observers.blame else { return };
        if blame.dies.has_more() {
            self.look_at_listed(now, work);
        } else {
            blame.dies.end_round();
        }
    }

    #[inline(never)]
    fn look_at_listed<W: Work>(&mut self, now: Time, work: &mut W) {
        let Some(mut blame) = self.controller.observers.blame.take() else { return };
        let (controller, serving) = (&self.controller, &self.serving);
        Lookout { controller, serving, blame: &mut blame, now }.look_at_listed(work);
        self.controller.observers.blame = Some(blame);
    }
}

impl<'a> Lookout<'a> {
    #[inline(always)]
    fn dies(&self) -> &'a Dies {
        &self.controller.dies
    }

    #[inline(always)]
    fn look_at_listed<W: Work>(&mut self, work: &mut W) {
        if self.blame.take_awakes() {
            self.look_at_all_writes();
        }
        while let Some(die) = self.blame.dies.next_listed() {
            let look = self.blame.dies.looked_at(die);
            self.look(die, look, work);
        }
        self.blame.dies.end_round();
    }

    /// What stands in the way on a die from now on, of those who wait for it.
    ///
    /// Where nothing waits nobody reads the clocks, until something comes and has them set. But
    /// what a dispatcher kept has waited before it comes.
    #[inline(always)]
    fn look<W: Work>(&mut self, die: u32, look: Look, work: &mut W) {
        let unit = &self.dies()[die];
        let always = self.blame.dies.looks_always;
        let has_reads = unit.reads.first().is_some() || always;
        let has_writes = unit.writes.first().is_some() || unit.die.is_suspended() || always;
        if has_reads && look.has_bars {
            self.look_at_bars(die, work);
        }
        if look.is_set && self.blame.dies.first_barred(die).is_none() {
            return;
        }
        if self.blame.dies.by_plane {
            self.look_at_planes(die, (has_reads, has_writes), work);
            return;
        }
        let for_buffer = self.blame.buffer_is_wanted();
        if !(has_reads || has_writes || for_buffer) {
            return;
        }
        let unit = &self.dies()[die];
        let operation = self.lane_in_the_way(&unit.whole, unit.die.is_running());
        if has_reads {
            self.look_at_reads(die, operation, work);
        }
        if has_writes || for_buffer {
            let cause = operation.unwrap_or_else(|| self.page_or_else(die));
            if for_buffer {
                self.set_writes(die, cause);
            } else {
                self.blame.dies.set_write(die, cause, self.now);
            }
        }
    }

    /// The same where planes of a die are in each other's way less than a die's.
    #[cold]
    fn look_at_planes<W: Work>(
        &mut self,
        die: u32,
        (has_reads, has_writes): (bool, bool),
        work: &mut W,
    ) {
        if has_reads {
            self.look_at_reads_by_plane(die, work);
        }
        if self.blame.buffer_is_wanted() {
            let cause = self.in_the_way_of_writes(die);
            self.set_writes(die, cause);
        } else if has_writes {
            self.blame.dies.set_write(die, self.in_the_way_of_writes(die), self.now);
        }
    }

    #[cold]
    fn look_at_all_writes(&mut self) {
        for die in 0..self.dies().facts.geometry.dies() {
            let cause = self.in_the_way_of_writes(die);
            self.set_writes(die, cause);
        }
    }

    /// Which of the reads that wait on a die are for what an operation there holds.
    #[inline(always)]
    fn look_at_bars<W: Work>(&mut self, die: u32, work: &mut W) {
        let unit = &self.dies()[die];
        if unit.whole.operation() == NONE
            && !self.dies().facts.splits
            && self.blame.dies.first_barred(die).is_none()
        {
            return;
        }
        let mut first = None;
        let mut next = unit.reads.first().unwrap_or(NONE);
        while next != NONE {
            // What a queue shows to a dispatcher is renewed by nobody but those who serve it.
            let txn = &self.dies().txns[next];
            let at = work.located(txn);
            let is_barred = unit.die.bars_read(at);
            self.blame.bar(next, (die, at.plane), is_barred, self.now);
            first = first.or(is_barred.then_some(next));
            next = txn.next;
        }
        self.blame.dies.set_first_barred(die, first);
    }

    /// What stands in the way of reads on a die of one lane, on which this operation is in the way.
    #[inline(always)]
    fn look_at_reads<W: Work>(&mut self, die: u32, operation: Option<Cause>, work: &mut W) {
        let (place, lane) = ((die, 0), (die, LaneId::WHOLE));
        let has_barred = self.blame.dies.first_barred(die).is_some();
        match operation {
            Some(operation) if operation != Cause::SuspendEntry => {
                let read = self.as_answered(lane, operation, work);
                self.blame.dies.set_read(place, read, self.now);
                if has_barred {
                    let barred = self.as_barred(lane, operation, work);
                    self.blame.dies.set_barred(place, barred, self.now);
                }
            }
            Some(entry) => {
                self.blame.dies.set_reads(place, InTheWay { read: entry, barred: entry }, self.now)
            }
            None => {
                let read = self.on_free_array(die, None);
                self.blame.dies.set_read(place, read, self.now);
                if has_barred {
                    self.blame.dies.set_barred(
                        place,
                        self.beside_suspended(die, read).barred,
                        self.now,
                    );
                }
            }
        }
    }

    fn look_at_reads_by_plane<W: Work>(&mut self, die: u32, work: &mut W) {
        let facts = &self.dies().facts;
        if facts.splits && !self.dies()[die].die.takes_reads() {
            for plane in 0..self.dies().facts.geometry.planes_per_die {
                let way = self.in_the_way_on_lane((die, plane), work);
                self.blame.dies.set_reads((die, plane), way, self.now);
            }
            return;
        }
        if let Some(operation) = self.operation_in_the_way(die) {
            let mut way = InTheWay { read: operation, barred: operation };
            if operation != Cause::SuspendEntry {
                way = InTheWay {
                    read: self.as_answered((die, LaneId::WHOLE), operation, work),
                    barred: self.as_barred((die, LaneId::WHOLE), operation, work),
                };
            }
            self.set_all_planes(die, way);
        } else if facts.parallelism.independent_plane_reads {
            for plane in 0..self.dies().facts.geometry.planes_per_die {
                let read = self.on_free_array(die, Some(plane));
                self.blame.dies.set_reads((die, plane), self.beside_suspended(die, read), self.now);
            }
        } else {
            let read = self.on_free_array(die, None);
            let way = self.beside_suspended(die, read);
            self.set_all_planes(die, way);
        }
    }

    fn set_all_planes(&mut self, die: u32, way: InTheWay) {
        let planes = 0..self.dies().facts.geometry.planes_per_die;
        planes.for_each(|plane| self.blame.dies.set_reads((die, plane), way, self.now));
    }

    /// A barred read waits, if nothing else is in its way, for the operation that holds its page.
    fn beside_suspended(&self, die: u32, read: Cause) -> InTheWay {
        let holds = self.dies()[die].whole.operation() != NONE;
        let barred = if holds && read == Cause::Other { Cause::SameBlock } else { read };
        InTheWay { read, barred }
    }

    /// The program or erase that the array of all planes works on, as something in the way.
    fn operation_in_the_way(&self, die: u32) -> Option<Cause> {
        let unit = &self.dies()[die];
        self.lane_in_the_way(&unit.whole, unit.die.is_running())
    }

    fn lane_in_the_way(&self, lane: &Lane, runs: bool) -> Option<Cause> {
        if lane.operation() == NONE {
            return None;
        }
        if lane.free_at > self.now {
            return Some(Cause::SuspendEntry);
        }
        runs.then(|| Cause::of(self.dies().txns[lane.operation()].kind))
    }

    /// What a running operation is to reads that it does not bar, by what the chain has answered.
    ///
    /// Had it made way at some instant, it would not be in the way later either, though by then it
    /// may be too near its end to make way.
    fn as_answered<W: Work>(
        &mut self,
        (die, lane): (u32, LaneId),
        operation: Cause,
        work: &mut W,
    ) -> Cause {
        if !self.blame.dies.was_asked(die) {
            return operation;
        }
        let unit = &self.dies()[die];
        match unit.lane(lane).answer {
            Answer::No(Reason::Budget) => Cause::Budget,
            Answer::No(Reason::Limit) => {
                let Some(first) = self.waiting_reads(die, lane).next() else { return operation };
                // What was answered of a plane may be of an earlier operation there.
                let holds = lane == LaneId::WHOLE
                    || unit.die.may_suspend(self.now, lane.plane()) == Err(Refusal::LimitReached);
                let stands = self.blame.dies.stands(die, lane.plane()).limit
                    || holds && self.stops_but_for_limit((die, lane), first, work);
                self.blame.dies.stands(die, lane.plane()).limit = stands;
                if stands { Cause::Limit } else { operation }
            }
            _ => operation,
        }
    }

    /// The same of reads of what it holds.
    fn as_barred<W: Work>(
        &mut self,
        (die, lane): (u32, LaneId),
        operation: Cause,
        work: &mut W,
    ) -> Cause {
        let barred = match lane {
            LaneId::WHOLE => self.blame.dies.first_barred(die),
            _ => self.first_barred_on(die, lane),
        };
        let Some(read) = barred else { return operation };
        let stands = self.blame.dies.stands(die, lane.plane()).bar
            || self.stops_but_for_bar((die, lane), read, work);
        self.blame.dies.stands(die, lane.plane()).bar = stands;
        if stands { Cause::SameBlock } else { operation }
    }

    /// The reads that wait for a plane, or for any.
    fn waiting_reads(&self, die: u32, lane: LaneId) -> impl Iterator<Item = u32> + use<'a> {
        let dies = self.dies();
        let next = |id: &u32| Some(dies.txns[*id].next).filter(|next| *next != NONE);
        let all = std::iter::successors(dies[die].reads.first(), next);
        all.filter(move |id| lane.plane().is_none_or(|plane| dies.txns[*id].at.plane == plane))
    }

    fn first_barred_on(&self, die: u32, lane: LaneId) -> Option<u32> {
        let unit = &self.dies()[die];
        self.waiting_reads(die, lane).find(|id| unit.die.bars_read(self.dies().txns[*id].at))
    }

    /// Whether what runs would make way for a read if it had not used up its suspensions.
    fn stops_but_for_limit<W: Work>(&self, lane: (u32, LaneId), read: u32, work: &mut W) -> bool {
        let asking = Asking { read: Some(read), ..Asking::default() };
        let answer =
            self.serving.ask_in_vain(self.controller, lane, self.now, (asking, false), work);
        !matches!(answer, Answer::No(_)) && self.has_time_to_stop(lane)
    }

    /// Whether it would if it did not hold what the read wants: as in `Dies::asking`, the read
    /// has to be eligible.
    fn stops_but_for_bar<W: Work>(
        &self,
        (die, lane): (u32, LaneId),
        read: u32,
        work: &mut W,
    ) -> bool {
        let unit = &self.dies()[die];
        let operation = &self.dies().txns[unit.running_lane(lane).operation()];
        let eligibility = &self.controller.suspension.eligibility;
        if !self.dies().facts.suspends
            || operation.unsuspendable
            || self.dies().limit.is_reached(unit)
            || !eligibility.admits(self.dies().txns[read].kind, operation.kind)
        {
            return false;
        }
        let asking = Asking { read: Some(read), ..Asking::default() };
        let answer =
            self.serving.ask_in_vain(self.controller, (die, lane), self.now, (asking, true), work);
        !matches!(answer, Answer::No(_)) && self.has_time_to_stop((die, lane))
    }

    /// Whether what runs, of a part that can suspend it, would make way before its end.
    fn has_time_to_stop(&self, (die, lane): (u32, LaneId)) -> bool {
        let under_way = self.dies()[die].die.under_way(lane.plane());
        under_way.is_some_and(|operation| operation.outlook(self.now).is_some())
    }

    /// The same where planes make way by themselves, of one plane.
    fn in_the_way_on_lane<W: Work>(&mut self, (die, plane): (u32, u32), work: &mut W) -> InTheWay {
        let lane = LaneId::of_plane(plane);
        let unit = &self.dies()[die];
        let runs = matches!(unit.die.plane_work(plane), PlaneWork::Running(_));
        let Some(operation) = self.lane_in_the_way(unit.running_lane(lane), runs) else {
            // What is done on other planes may keep a read of this one waiting.
            let others = self.dies()[die].operations().next();
            let read = match self.on_free_array(die, Some(plane)) {
                Cause::Other => {
                    others.map_or(Cause::Other, |id| Cause::of(self.dies().txns[id].kind))
                }
                read => read,
            };
            return self.beside_suspended(die, read);
        };
        if operation == Cause::SuspendEntry {
            return InTheWay { read: operation, barred: operation };
        }
        InTheWay {
            read: self.as_answered((die, lane), operation, work),
            barred: self.as_barred((die, lane), operation, work),
        }
    }

    /// What keeps a read waiting while no program or erase runs: pages that are sensed or leave,
    /// or what a command needs besides.
    fn on_free_array(&self, die: u32, plane: Option<u32>) -> Cause {
        let unit = &self.dies()[die];
        let in_use = match plane {
            Some(plane) => !unit.die.plane_reads().is_free(plane),
            None => !unit.die.takes_reads(),
        };
        match in_use {
            true => self.page_in_the_way(unit, plane),
            false => self.else_in_the_way(die),
        }
    }

    /// The page that is sensed, held or leaves, of a plane or of any.
    #[inline(always)]
    fn page_in_the_way(&self, unit: &DieUnit, plane: Option<u32>) -> Cause {
        if self.dies().facts.parallelism.independent_plane_reads {
            return self.page_of_plane(unit, plane);
        }
        let page = if unit.reading != NONE { unit.reading } else { unit.leaving.first() };
        if page == NONE { Cause::Other } else { Cause::of(self.dies().txns[page].kind) }
    }

    /// The same on planes that read by themselves.
    #[cold]
    fn page_of_plane(&self, unit: &DieUnit, plane: Option<u32>) -> Cause {
        let on_plane = |id: &u32| plane.is_none_or(|plane| self.dies().txns[*id].at.plane == plane);
        let reads = unit.planes.get().map_or(&[][..], |planes| &planes.reads);
        let sensed = [unit.reading].into_iter().chain(reads.iter().copied());
        let next = |id: &u32| Some(self.dies().txns[*id].next).filter(|next| *next != NONE);
        let leaving = Some(unit.leaving.first()).filter(|id| *id != NONE);
        let pages = sensed.chain(std::iter::successors(leaving, next));
        let page = pages.filter(|id| *id != NONE).find(on_plane);
        page.map_or(Cause::Other, |id| Cause::of(self.dies().txns[id].kind))
    }

    /// What a free die waits for that has something to begin.
    fn else_in_the_way(&self, die: u32) -> Cause {
        let unit = &self.dies()[die];
        if self
            .controller
            .observers
            .budget
            .as_ref()
            .is_some_and(|budget| budget.waits_for_power(die))
        {
            Cause::Power
        } else if self.controller.channels.has_in_line(die) {
            Cause::Channel
        } else if unit.gc_decoding > 0 {
            Cause::GcRead
        } else {
            Cause::Other
        }
    }

    /// What stands in the way of programs on a die.
    fn in_the_way_of_writes(&self, die: u32) -> Cause {
        let unit = &self.dies()[die];
        let enters = |lane: &Lane| lane.operation() != NONE && lane.free_at > self.now;
        let runs = if self.dies().facts.splits { unit.runs_on_a_plane() } else { unit.runs() };
        if unit.lanes().any(enters) {
            Cause::SuspendEntry
        } else if let Some(id) = runs {
            Cause::of(self.dies().txns[id].kind)
        } else {
            self.page_or_else(die)
        }
    }

    /// What keeps a program waiting while no program or erase runs.
    #[inline(always)]
    fn page_or_else(&self, die: u32) -> Cause {
        let unit = &self.dies()[die];
        let uses = !unit.die.is_free() || unit.die.output_in_use();
        let page = if uses { self.page_in_the_way(unit, None) } else { Cause::Other };
        if page == Cause::Other { self.else_in_the_way(die) } else { page }
    }

    /// What stands in the way of programs on a die, while somebody waits for the buffer: that waits
    /// for it too, unless all that it does is reads of the host and it has no programs.
    #[cold]
    fn set_writes(&mut self, die: u32, cause: Cause) {
        let unit = &self.dies()[die];
        let of_host = matches!(cause, Cause::HostRead | Cause::Other);
        let counts = unit.pending_programs > 0
            || self.dies()[die].operations().next().is_some()
            || self.blame.dies.old_page_waits(die)
            || !of_host;
        self.blame.set_writes(die, cause, counts, self.now);
    }
}
