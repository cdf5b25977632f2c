//! What stands in the way on each die, for those who want to know what requests waited for.

use reprieve_base::Time;
use reprieve_nand::{PlaneWork, Refusal};
use reprieve_observe::blame::{Blamed, Cause};
use reprieve_policy::suspend::{Answer, Reason};
use reprieve_policy::txn::{Kind, NONE, Txn};
use reprieve_policy::work::Work;

use super::Flash;
use super::asking::Asking;
use super::die::DieUnit;
use super::lane::{Lane, LaneId};
use super::observe::{Blame, InTheWay};

impl Flash {
    /// Begins to blame waits on what stands in the way; nothing has happened yet.
    pub fn keep_blame(&mut self) {
        let by_plane = self.facts.parallelism.independent_plane_reads || self.facts.splits;
        let places = if by_plane { self.facts.geometry.planes_per_die } else { 1 };
        let blame = Blame::new(self.facts.geometry.dies(), places);
        self.observers.blame = Some(Box::new(blame));
        self.observers.listens = true;
        self.look_for_shared();
    }

    /// Whether waits are blamed on something.
    #[inline]
    pub fn is_blamed(&self) -> bool {
        self.observers.blame.is_some()
    }

    fn blame(&mut self) -> &mut Blame {
        self.observers.blame.as_mut().expect("the caller has asked for it")
    }

    /// A request begins to wait for the write buffer.
    #[cold]
    pub fn blame_buffer(&mut self, request: u32, now: Time) {
        self.blame().buffer_begins(request, now);
    }

    /// A page of a write, perhaps its last, is in the buffer; that of `id` goes on to its die.
    #[cold]
    pub fn blame_buffered(&mut self, request: u32, id: Option<u32>, is_last: bool, now: Time) {
        self.blame().buffer_ends(request, id, is_last, now);
    }

    /// The rest of a page that is written in part is there.
    #[cold]
    pub fn blame_old_page(&mut self, id: u32) {
        let txn = &self.txns[id];
        // A write that was acknowledged before has no account: its slot may hold an older one.
        if txn.request != NONE {
            let parts = txn.parts;
            self.blame().old_page_read(id, &parts);
        }
    }

    /// A page of a request is complete, without the flash if it is that of `None`.
    #[cold]
    pub fn blame_page(&mut self, request: u32, id: Option<u32>) {
        let page = id.map(|id| (id, self.txns[id].die));
        self.blame().page_ends(request, page);
    }

    /// A request is complete: what its time was blamed on, but for what its parts tell themselves,
    /// and the die of its last page if that came from one or went to one.
    #[cold]
    pub fn blamed(&mut self, request: u32) -> (Blamed, Option<u32>) {
        self.blame().close(request)
    }

    /// A transaction waits from its mark on, in no queue that is told of.
    #[cold]
    pub(super) fn blame_wait(&mut self, id: u32) {
        if let Some(blame) = &mut self.observers.blame {
            let txn = &self.txns[id];
            blame.waits(id, txn, txn.mark);
        }
    }

    /// The page of a read is there.
    #[cold]
    pub(super) fn blame_read(&mut self, id: u32) {
        let Txn { kind, request, die, .. } = self.txns[id];
        if let Some(blame) = &mut self.observers.blame {
            if kind == Kind::HostRead && request != NONE {
                blame.page_ends(request, Some((id, die)));
            }
        }
    }

    /// Looks at the end of the instant what stands in the way on the dies to which something has
    /// happened.
    #[cold]
    pub(super) fn look_in_the_way<W: Work>(&mut self, now: Time, work: &mut W) {
        let Some(mut blame) = self.observers.blame.take() else { return };
        if blame.take_awakes() {
            self.look_at_all_writes(&mut blame, now);
        }
        let touched = blame.take_touched();
        // Where nothing waits nobody reads the clocks, until something comes and has them set. But
        // what a dispatcher kept has waited before it comes.
        let keeps = self.stage.holds_back || self.stage.places_late;
        let always = keeps || self.facts.splits;
        for die in touched.iter().copied() {
            let unit = &self.units[die as usize];
            let has_reads = unit.reads.first().is_some();
            let has_writes = unit.writes.first().is_some() || unit.whole.operation() != NONE;
            if has_reads || always {
                if blame.bars_changed(die) {
                    self.look_at_bars(die, &mut blame, now, work);
                }
                self.look_at_reads(die, &mut blame, now, work);
            }
            if has_writes || always || blame.buffer_is_wanted() {
                let (cause, counts) = self.in_the_way_of_writes(die, &blame, now);
                blame.set_writes(die, cause, counts, now);
            }
        }
        blame.give_back(touched);
        self.observers.blame = Some(blame);
    }

    #[cold]
    fn look_at_all_writes(&self, blame: &mut Blame, now: Time) {
        for die in 0..self.facts.geometry.dies() {
            let (cause, counts) = self.in_the_way_of_writes(die, blame, now);
            blame.set_writes(die, cause, counts, now);
        }
    }

    /// Which of the reads that wait on a die are for what an operation there holds.
    fn look_at_bars<W: Work>(&mut self, die: u32, blame: &mut Blame, now: Time, work: &mut W) {
        let unit = &self.units[die as usize];
        if unit.whole.operation() == NONE && !self.facts.splits && blame.first_barred(die).is_none()
        {
            return;
        }
        let mut first = None;
        let mut next = unit.reads.first().unwrap_or(NONE);
        while next != NONE {
            // What a queue shows to a dispatcher is renewed by nobody but those who serve it.
            let mut txn = self.txns[next];
            work.locate(&mut txn);
            let is_barred = unit.die.bars_read(txn.at);
            blame.bar(next, &txn, is_barred, now);
            first = first.or(is_barred.then_some(next));
            next = txn.next;
        }
        blame.set_first_barred(die, first);
    }

    fn look_at_reads<W: Work>(&mut self, die: u32, blame: &mut Blame, now: Time, work: &mut W) {
        let facts = &self.facts;
        if facts.splits && !self.units[die as usize].die.takes_reads() {
            for plane in 0..self.facts.geometry.planes_per_die {
                let way = self.in_the_way_on_lane((die, plane), blame, now, work);
                blame.set_reads((die, plane), way, now);
            }
            return;
        }
        if let Some(operation) = self.operation_in_the_way(die, now) {
            let mut way = InTheWay { read: operation, barred: operation };
            if operation != Cause::SuspendEntry {
                way = InTheWay {
                    read: self.as_answered((die, LaneId::WHOLE), operation, blame, now, work),
                    barred: self.as_barred((die, LaneId::WHOLE), operation, blame, now, work),
                };
            }
            self.set_all_planes(die, blame, way, now);
        } else if facts.parallelism.independent_plane_reads {
            for plane in 0..self.facts.geometry.planes_per_die {
                let read = self.on_free_array(die, Some(plane));
                blame.set_reads((die, plane), self.beside_suspended(die, read), now);
            }
        } else {
            let read = self.on_free_array(die, None);
            let way = self.beside_suspended(die, read);
            self.set_all_planes(die, blame, way, now);
        }
    }

    fn set_all_planes(&self, die: u32, blame: &mut Blame, way: InTheWay, now: Time) {
        let by_plane = self.facts.parallelism.independent_plane_reads || self.facts.splits;
        let places = if by_plane { self.facts.geometry.planes_per_die } else { 1 };
        (0..places).for_each(|plane| blame.set_reads((die, plane), way, now));
    }

    /// A barred read waits, if nothing else is in its way, for the operation that holds its page.
    fn beside_suspended(&self, die: u32, read: Cause) -> InTheWay {
        let holds = self.units[die as usize].whole.operation() != NONE;
        let barred = if holds && read == Cause::Other { Cause::SameBlock } else { read };
        InTheWay { read, barred }
    }

    /// The program or erase that the array of all planes works on, as something in the way.
    fn operation_in_the_way(&self, die: u32, now: Time) -> Option<Cause> {
        let unit = &self.units[die as usize];
        self.lane_in_the_way(&unit.whole, unit.die.is_running(), now)
    }

    fn lane_in_the_way(&self, lane: &Lane, runs: bool, now: Time) -> Option<Cause> {
        if lane.operation() == NONE {
            return None;
        }
        if lane.free_at > now {
            return Some(Cause::SuspendEntry);
        }
        runs.then(|| Cause::of(self.txns[lane.operation()].kind))
    }

    /// What a running operation is to reads that it does not bar, by what the chain has answered.
    ///
    /// Had it made way at some instant, it would not be in the way later either, though by then it
    /// may be too near its end to make way.
    fn as_answered<W: Work>(
        &mut self,
        (die, lane): (u32, LaneId),
        operation: Cause,
        blame: &mut Blame,
        now: Time,
        work: &mut W,
    ) -> Cause {
        if !blame.was_asked(die) {
            return operation;
        }
        let unit = &self.units[die as usize];
        match unit.lane(lane).answer {
            Answer::No(Reason::Budget) => Cause::Budget,
            Answer::No(Reason::Limit) => {
                let Some(first) = self.waiting_reads(die, lane).next() else { return operation };
                // What was answered of a plane may be of an earlier operation there.
                let holds = lane == LaneId::WHOLE
                    || unit.die.may_suspend(now, lane.plane()) == Err(Refusal::LimitReached);
                let stands = &mut blame.stands(die, lane.plane()).limit;
                *stands =
                    *stands || holds && self.stops_but_for_limit((die, lane), first, now, work);
                if *stands { Cause::Limit } else { operation }
            }
            _ => operation,
        }
    }

    /// The same of reads of what it holds.
    fn as_barred<W: Work>(
        &mut self,
        (die, lane): (u32, LaneId),
        operation: Cause,
        blame: &mut Blame,
        now: Time,
        work: &mut W,
    ) -> Cause {
        let barred = match lane {
            LaneId::WHOLE => blame.first_barred(die),
            _ => self.first_barred_on(die, lane),
        };
        let Some(read) = barred else { return operation };
        let bar_stands = &mut blame.stands(die, lane.plane()).bar;
        *bar_stands = *bar_stands || self.stops_but_for_bar((die, lane), read, now, work);
        if *bar_stands { Cause::SameBlock } else { operation }
    }

    /// The reads that wait for a plane, or for any.
    fn waiting_reads(&self, die: u32, lane: LaneId) -> impl Iterator<Item = u32> {
        let next = |id: &u32| Some(self.txns[*id].next).filter(|next| *next != NONE);
        let all = std::iter::successors(self.units[die as usize].reads.first(), next);
        all.filter(move |id| lane.plane().is_none_or(|plane| self.txns[*id].at.plane == plane))
    }

    fn first_barred_on(&self, die: u32, lane: LaneId) -> Option<u32> {
        let unit = &self.units[die as usize];
        self.waiting_reads(die, lane).find(|id| unit.die.bars_read(self.txns[*id].at))
    }

    /// Whether what runs would make way for a read if it had not used up its suspensions.
    fn stops_but_for_limit<W: Work>(
        &mut self,
        lane: (u32, LaneId),
        read: u32,
        now: Time,
        work: &mut W,
    ) -> bool {
        let asking = Asking { read: Some(read), ..Asking::default() };
        let answer = self.ask_in_vain(lane, now, (asking, false), work);
        !matches!(answer, Answer::No(_)) && self.has_time_to_stop(lane, now)
    }

    /// Whether it would if it did not hold what the read wants: as in `Flash::asking`, the read
    /// has to be eligible.
    fn stops_but_for_bar<W: Work>(
        &mut self,
        (die, lane): (u32, LaneId),
        read: u32,
        now: Time,
        work: &mut W,
    ) -> bool {
        let unit = &self.units[die as usize];
        let operation = &self.txns[unit.running_lane(lane).operation()];
        let eligibility = &self.suspension.eligibility;
        if !self.serving.suspends
            || operation.unsuspendable
            || self.write_queue.is_reached(unit)
            || !eligibility.admits(self.txns[read].kind, operation.kind)
        {
            return false;
        }
        let asking = Asking { read: Some(read), ..Asking::default() };
        let answer = self.ask_in_vain((die, lane), now, (asking, true), work);
        !matches!(answer, Answer::No(_)) && self.has_time_to_stop((die, lane), now)
    }

    /// Whether what runs, of a part that can suspend it, would make way before its end.
    fn has_time_to_stop(&self, (die, lane): (u32, LaneId), now: Time) -> bool {
        self.units[die as usize].die.outlook(now, lane.plane()).is_some()
    }

    /// The same where planes make way by themselves, of one plane.
    fn in_the_way_on_lane<W: Work>(
        &mut self,
        (die, plane): (u32, u32),
        blame: &mut Blame,
        now: Time,
        work: &mut W,
    ) -> InTheWay {
        let lane = LaneId::of_plane(plane);
        let unit = &self.units[die as usize];
        let runs = matches!(unit.die.plane_work(plane), PlaneWork::Running(_));
        let Some(operation) = self.lane_in_the_way(unit.running_lane(lane), runs, now) else {
            // What is done on other planes may keep a read of this one waiting.
            let others = self.operations(die).next();
            let read = match self.on_free_array(die, Some(plane)) {
                Cause::Other => others.map_or(Cause::Other, |id| Cause::of(self.txns[id].kind)),
                read => read,
            };
            return self.beside_suspended(die, read);
        };
        if operation == Cause::SuspendEntry {
            return InTheWay { read: operation, barred: operation };
        }
        InTheWay {
            read: self.as_answered((die, lane), operation, blame, now, work),
            barred: self.as_barred((die, lane), operation, blame, now, work),
        }
    }

    /// What keeps a read waiting while no program or erase runs: pages that are sensed or leave,
    /// or what a command needs besides.
    fn on_free_array(&self, die: u32, plane: Option<u32>) -> Cause {
        let unit = &self.units[die as usize];
        let in_use = match plane {
            Some(plane) => !unit.die.plane_is_free(plane),
            None => !unit.die.takes_reads(),
        };
        match in_use {
            true => self.page_in_the_way(unit, plane),
            false => self.else_in_the_way(die),
        }
    }

    /// The page that is sensed, held or leaves, of a plane or of any.
    fn page_in_the_way(&self, unit: &DieUnit, plane: Option<u32>) -> Cause {
        let on_plane = |id: &u32| plane.is_none_or(|plane| self.txns[*id].at.plane == plane);
        let reads = unit.planes.get().map_or(&[][..], |planes| &planes.reads);
        let sensed = [unit.reading].into_iter().chain(reads.iter().copied());
        let next = |id: &u32| Some(self.txns[*id].next).filter(|next| *next != NONE);
        let leaving = Some(unit.leaving).filter(|id| *id != NONE);
        let pages = sensed.chain(std::iter::successors(leaving, next));
        let page = pages.filter(|id| *id != NONE).find(on_plane);
        page.map_or(Cause::Other, |id| Cause::of(self.txns[id].kind))
    }

    /// What a free die waits for that has something to begin.
    fn else_in_the_way(&self, die: u32) -> Cause {
        let unit = &self.units[die as usize];
        if self.observers.budget.as_ref().is_some_and(|budget| budget.waits_for_power(die)) {
            Cause::Power
        } else if unit.in_line != [false; 2] {
            Cause::Channel
        } else if unit.gc_decoding > 0 {
            Cause::GcRead
        } else {
            Cause::Other
        }
    }

    /// What stands in the way of programs on a die, and whether the buffer waits for it: it does
    /// for all but the host's reads of a die without programs.
    fn in_the_way_of_writes(&self, die: u32, blame: &Blame, now: Time) -> (Cause, bool) {
        let unit = &self.units[die as usize];
        let enters = |lane: &Lane| lane.operation() != NONE && lane.free_at > now;
        let operation = self.operations(die).next();
        let runs = if self.facts.splits { self.runs_on_a_plane(die) } else { self.runs(die) };
        let cause = if unit.lanes().any(enters) {
            Cause::SuspendEntry
        } else if let Some(id) = runs {
            Cause::of(self.txns[id].kind)
        } else {
            let uses = !unit.die.is_free() || unit.die.output_in_use();
            let page = if uses { self.page_in_the_way(unit, None) } else { Cause::Other };
            if page == Cause::Other { self.else_in_the_way(die) } else { page }
        };
        let of_host = matches!(cause, Cause::HostRead | Cause::Other);
        let counts = unit.pending_programs > 0
            || operation.is_some()
            || blame.old_page_waits(die)
            || !of_host;
        (cause, counts)
    }

    /// The operation that runs on all planes of a die.
    fn runs(&self, die: u32) -> Option<u32> {
        let unit = &self.units[die as usize];
        Some(unit.whole.operation()).filter(|id| *id != NONE && unit.die.is_running())
    }

    /// The operation that runs on the first plane on which one does.
    fn runs_on_a_plane(&self, die: u32) -> Option<u32> {
        let unit = &self.units[die as usize];
        let runs = |plane: &u32| matches!(unit.die.plane_work(*plane), PlaneWork::Running(_));
        let plane = (0..self.facts.geometry.planes_per_die).find(runs)?;
        Some(unit.running_lane(LaneId::of_plane(plane)).operation()).filter(|id| *id != NONE)
    }
}
