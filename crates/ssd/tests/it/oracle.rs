//! A second, slow implementation of one die and its channel, written from the model's text alone.
//!
//! It shares no code with the production die and scheduler, so that random command sequences can be
//! compared between the two to the nanosecond. An operation is the written-out list of the phases
//! that it still has before it; a suspension cuts that list and splices in what must be repeated.

use std::collections::VecDeque;

use reprieve_base::Stream;
use reprieve_nand::{
    EraseMode, EraseResume, ProgramSuspension, Restore, ResumeAt, SameBlock, Suspension, Timing,
    VthReached,
};

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads one page.
    Read,
    /// Programs one page.
    Program,
    /// Erases one block.
    Erase,
}

/// One command to the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// When it reaches the die's queue.
    pub arrival_ns: u64,
    /// What it does.
    pub kind: Kind,
    /// Plane of the block.
    pub plane: u32,
    /// Block in the plane.
    pub block: u32,
    /// Page in the block; an erase ignores it.
    pub page: u32,
}

/// Which command the die serves next. Suspension is `Rps` with a `Suspension` that allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// In order of arrival.
    Fifo,
    /// Reads first.
    Rps,
    /// Reads first, and a program or erase takes one array read time.
    Per,
    /// Reads first, and a program or erase takes no array time.
    Pe0,
}

/// What became of one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// When the die first began to serve it.
    pub start_ns: u64,
    /// When it was complete.
    pub completion_ns: u64,
    /// How often it was suspended.
    pub suspensions: u32,
}

/// Serves the commands, which are legal and sorted by arrival; the outcomes are in input order.
pub fn run(
    timing: &Timing,
    suspension: &Suspension,
    policy: Policy,
    write_queue_limit: Option<u32>,
    seed: u64,
    commands: &[Command],
) -> Vec<Outcome> {
    let mut die = Die::new(timing, suspension, policy, write_queue_limit, seed, commands);
    while let Some(now_ns) = die.next_instant_ns() {
        die.live_through(now_ns);
    }
    assert_eq!(die.incomplete, 0, "commands that are never served");
    die.outcomes
}

/// What one phase of a program or erase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Command, and for a program its data in: never interrupted.
    Transfer,
    /// The page buffer gets its data back.
    Restore,
    /// The voltages of a suspended erase are set again.
    SetUp,
    /// A program pulse, or a segment of the erase pulse.
    Pulse,
    Verify,
    /// Pulse and verify that cannot be parted.
    Iteration,
    /// Iterations between which nothing can come, and their overhead.
    Slice,
    /// The array time that the policies PER and PE0 put in the place of all pulses and verifies.
    Idealised,
}

#[derive(Clone, Copy, Debug)]
struct Phase {
    what: What,
    length_ns: u64,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// The first phase of `ahead` began at this nanosecond.
    Within(u64),
    /// A phase of this kind has just ended and the first one of `ahead` has not begun.
    Between(What),
    /// The suspension is decided; the array is free at this nanosecond.
    Stopping(u64),
    Suspended,
}

/// Phases of no length do not exist: nothing can be observed between their ends.
fn phases(list: &[(What, u64)]) -> VecDeque<Phase> {
    let real = list.iter().filter(|&&(_, length_ns)| length_ns > 0);
    real.map(|&(what, length_ns)| Phase { what, length_ns }).collect()
}

fn erase_array(timing: &Timing) -> Vec<(What, u64)> {
    let segments = timing.erase_segments;
    let mut list = vec![(What::Pulse, timing.erase.ns() / u64::from(segments)); segments as usize];
    list.push((What::Verify, timing.erase_verify.ns()));
    list
}

/// A program or erase that has begun and is not complete.
#[derive(Debug)]
struct Operation {
    index: usize,
    ahead: VecDeque<Phase>,
    state: State,
    /// It began under the pressure of the write queue.
    unsuspendable: bool,
    /// A suspension was asked for in the phase under way.
    asked: bool,
    resumed_ns: Option<u64>,
    /// A program's first suspension was early, and its additional iterations are not due yet.
    early: bool,
    /// When the first pulse or verify since the last resume began.
    runs_since_ns: Option<u64>,
}

impl Operation {
    /// Splices phases in before those that are still ahead.
    fn put_before(&mut self, list: &[(What, u64)]) {
        let rest = std::mem::replace(&mut self.ahead, phases(list));
        self.ahead.extend(rest);
    }
}

/// The die, its channel and its queue at one instant.
pub struct Die<'a> {
    now_ns: u64,
    timing: &'a Timing,
    suspension: &'a Suspension,
    policy: Policy,
    write_queue_limit: Option<u32>,
    vth: Stream,
    commands: &'a [Command],
    arrived: usize,
    /// Arrived and not begun, in order of arrival.
    queue: Vec<usize>,
    /// The read that has the array, and the end of its tR.
    reading: Option<(usize, u64)>,
    /// The read whose data is on the channel, and the end of that transfer.
    data_out: Option<(usize, u64)>,
    /// That data leaves from a second register, so that the array has a page buffer to itself.
    leaves_apart: bool,
    operation: Option<Operation>,
    /// The suspended erase inside which that program began.
    erase_around: Option<Operation>,
    /// One for each command, as far as it is known.
    pub outcomes: Vec<Outcome>,
    /// Commands that are not complete yet.
    pub incomplete: usize,
}

impl<'a> Die<'a> {
    /// An idle die before the first command.
    pub fn new(
        timing: &'a Timing,
        suspension: &'a Suspension,
        policy: Policy,
        write_queue_limit: Option<u32>,
        seed: u64,
        commands: &'a [Command],
    ) -> Die<'a> {
        assert!(commands.is_sorted_by_key(|command| command.arrival_ns));
        Die {
            now_ns: 0,
            timing,
            suspension,
            policy,
            write_queue_limit,
            vth: Stream::new(seed, "nand.vth", 0),
            commands,
            arrived: 0,
            queue: Vec::new(),
            reading: None,
            data_out: None,
            leaves_apart: false,
            operation: None,
            erase_around: None,
            outcomes: vec![Outcome::default(); commands.len()],
            incomplete: commands.len(),
        }
    }

    /// The earliest arrival, end or permission to suspend that still lies ahead.
    pub fn next_instant_ns(&self) -> Option<u64> {
        let mut ahead_ns = Vec::new();
        ahead_ns.extend(self.commands.get(self.arrived).map(|command| command.arrival_ns));
        match self.data_out {
            Some((_, end_ns)) => ahead_ns.push(end_ns),
            None => ahead_ns.extend(self.reading.map(|(_, end_ns)| end_ns)),
        }
        if let Some(operation) = &self.operation {
            match operation.state {
                State::Within(since_ns) => {
                    ahead_ns.push(since_ns + operation.ahead[0].length_ns);
                    let guard_end_ns = self.guard_end_ns(operation);
                    ahead_ns.extend(guard_end_ns.filter(|&end_ns| end_ns > self.now_ns));
                }
                State::Stopping(until_ns) => ahead_ns.push(until_ns),
                State::Between(_) | State::Suspended => {}
            }
        }
        ahead_ns.into_iter().min()
    }

    /// Everything that happens at one instant: ends and arrivals first, then decisions.
    ///
    /// A decision can begin something of no length, whose end then belongs to the same instant.
    pub fn live_through(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        loop {
            while self.end_what_is_due() {}
            self.queue_arrivals();
            if !self.decide() {
                return;
            }
        }
    }

    fn queue_arrivals(&mut self) {
        while self.commands.get(self.arrived).is_some_and(|next| next.arrival_ns <= self.now_ns) {
            self.queue.push(self.arrived);
            self.arrived += 1;
        }
    }

    /// Ends one thing that is over; false if there is none.
    fn end_what_is_due(&mut self) -> bool {
        let now_ns = self.now_ns;
        if let Some((index, _)) = self.data_out.filter(|&(_, end_ns)| end_ns == now_ns) {
            self.complete(index);
            self.data_out = None;
            return true;
        }
        // A read whose data finds the second register taken keeps the array until that is empty.
        let over = self.reading.filter(|&(_, end_ns)| end_ns <= now_ns && self.data_out.is_none());
        if let Some((index, _)) = over {
            self.data_out = Some((index, now_ns + self.timing.bus.ns()));
            let served_in_between = self.suspension.resume_at == ResumeAt::ArrayRead
                && self.operation.as_ref().is_some_and(|o| matches!(o.state, State::Suspended));
            self.leaves_apart = self.timing.cache_register || served_in_between;
            self.reading = None;
            return true;
        }
        self.end_phase_that_is_due()
    }

    fn end_phase_that_is_due(&mut self) -> bool {
        let now_ns = self.now_ns;
        let Some(operation) = &mut self.operation else { return false };
        match operation.state {
            State::Within(since_ns) if since_ns + operation.ahead[0].length_ns == now_ns => {
                let phase = operation.ahead.pop_front().expect("the phase just looked at");
                operation.state = State::Between(phase.what);
                self.add_iterations_if_due();
            }
            State::Between(_) if operation.ahead.is_empty() => {
                let index = operation.index;
                self.complete(index);
                self.operation = self.erase_around.take();
            }
            State::Stopping(until_ns) if until_ns == now_ns => {
                self.outcomes[operation.index].suspensions += 1;
                operation.state = State::Suspended;
            }
            _ => return false,
        }
        true
    }

    fn complete(&mut self, index: usize) {
        self.outcomes[index].completion_ns = self.now_ns;
        self.incomplete -= 1;
    }

    /// The program or erase under way, suspended or not.
    fn running(&mut self) -> &mut Operation {
        self.operation.as_mut().expect("called while a program or erase is under way")
    }

    /// Takes one decision; false if there is none to take.
    fn decide(&mut self) -> bool {
        match self.operation.as_ref().map(|operation| operation.state) {
            None => self.start_something(),
            Some(State::Within(since_ns)) => self.break_off_if_wanted(since_ns),
            Some(State::Between(ended)) => self.go_on_or_stop(ended),
            Some(State::Stopping(_)) => false,
            Some(State::Suspended) => self.serve_or_resume(),
        }
    }

    fn start_something(&mut self) -> bool {
        let read = self.oldest_admissible_read();
        let write = self.queue.iter().position(|&index| self.commands[index].kind != Kind::Read);
        let chosen = match self.policy {
            Policy::Fifo => (!self.queue.is_empty()).then_some(0),
            _ if self.writes_press() => write.or(read),
            _ => read.or(write),
        };
        let Some(position) = chosen.filter(|_| self.array_is_free()) else { return false };
        match self.commands[self.queue[position]].kind {
            Kind::Read => self.start_read(position),
            Kind::Program | Kind::Erase => self.start_operation(position),
        }
    }

    fn start_read(&mut self, position: usize) -> bool {
        if self.timing.command.ns() > 0 && self.data_out.is_some() {
            return false;
        }
        let index = self.queue.remove(position);
        self.outcomes[index].start_ns = self.now_ns;
        let busy_ns = self.timing.command.ns() + self.timing.read.ns();
        self.reading = Some((index, self.now_ns + busy_ns));
        true
    }

    fn start_operation(&mut self, position: usize) -> bool {
        let kind = self.commands[self.queue[position]].kind;
        let needs_channel = kind == Kind::Program || self.timing.command.ns() > 0;
        if needs_channel && self.data_out.is_some() {
            return false;
        }
        let now_ns = self.now_ns;
        let unsuspendable = self.writes_press();
        let index = self.queue.remove(position);
        self.outcomes[index].start_ns = now_ns;
        let ahead = self.whole_operation(kind);
        // At this instant no phase has begun; without any, the operation is at its end already.
        let state = match ahead.front() {
            Some(phase) if phase.what == What::Transfer => State::Within(now_ns),
            _ => State::Between(What::Transfer),
        };
        self.erase_around = self.operation.replace(Operation {
            index,
            ahead,
            state,
            unsuspendable,
            asked: false,
            resumed_ns: None,
            early: false,
            runs_since_ns: None,
        });
        true
    }

    /// All the phases of a program or erase that is not suspended.
    fn whole_operation(&self, kind: Kind) -> VecDeque<Phase> {
        let timing = self.timing;
        let data_in_ns = if kind == Kind::Program { timing.bus.ns() } else { 0 };
        let mut list = vec![(What::Transfer, timing.command.ns() + data_in_ns)];
        match (self.policy, kind) {
            (Policy::Per, _) => list.push((What::Idealised, timing.read.ns())),
            (Policy::Pe0, _) => {}
            (_, Kind::Erase) => list.extend(erase_array(timing)),
            _ => {
                let (pulse_ns, verify_ns) = (timing.program_pulse.ns(), timing.verify.ns());
                let whole = [(What::Iteration, pulse_ns + verify_ns)];
                let parted = [(What::Pulse, pulse_ns), (What::Verify, verify_ns)];
                let iterations = timing.program_iterations;
                match self.suspension.program {
                    ProgramSuspension::Iteration => {
                        list.extend(whole.repeat(iterations as usize));
                    }
                    ProgramSuspension::Sliced => list.extend(self.slices()),
                    _ => list.extend(parted.repeat(iterations as usize)),
                }
            }
        }
        phases(&list)
    }

    /// Every slice of a program, filled one iteration after the other.
    fn slices(&self) -> Vec<(What, u64)> {
        let (timing, mut list) = (self.timing, Vec::new());
        let slices = timing.slices.expect("a part that cuts its programs");
        for iteration in 0..timing.program_iterations {
            if iteration % slices.iterations == 0 {
                list.push((What::Slice, slices.overhead.ns()));
            }
            let (_, length_ns) = list.last_mut().expect("a slice has just begun");
            *length_ns += timing.program_pulse.ns() + timing.verify.ns();
        }
        list
    }

    /// Array time of a program that nobody suspends.
    fn program_ns(&self) -> u64 {
        let pass_ns = self.timing.program_pulse.ns() + self.timing.verify.ns();
        pass_ns * u64::from(self.timing.program_iterations)
    }

    /// After an early suspension and as long a run as it takes, more iterations follow at the end.
    fn add_iterations_if_due(&mut self) {
        let (now_ns, whole_ns) = (self.now_ns, self.program_ns());
        let retention = self.suspension.retention;
        let (pulse_ns, verify_ns) = (self.timing.program_pulse.ns(), self.timing.verify.ns());
        let in_one = self.suspension.program == ProgramSuspension::Iteration;
        let operation = self.running();
        let Some(since_ns) = operation.runs_since_ns.filter(|_| operation.early) else { return };
        if (now_ns - since_ns) * 1_000_000 < whole_ns * u64::from(retention.second_share_ppm) {
            return;
        }
        operation.early = false;
        for _ in 0..retention.iterations {
            operation.ahead.extend(match in_one {
                true => phases(&[(What::Iteration, pulse_ns + verify_ns)]),
                false => phases(&[(What::Pulse, pulse_ns), (What::Verify, verify_ns)]),
            });
        }
    }

    /// Within a phase: cancels it, if it can be cancelled and a read wants the array.
    fn break_off_if_wanted(&mut self, since_ns: u64) -> bool {
        let (now_ns, reset_ns) = (self.now_ns, self.timing.voltage_reset.ns());
        let reset_inside_ns = if self.suspension.reset_inside_phase { reset_ns } else { 0 };
        let operation =
            self.operation.as_ref().expect("called while a program or erase is under way");
        let phase = operation.ahead[0];
        let erases = self.commands[operation.index].kind == Kind::Erase;
        let can_be_cancelled = matches!(phase.what, What::Pulse | What::Verify)
            && match erases {
                true => !self.erase_is_deferred(operation.index),
                false => self.suspension.program == ProgramSuspension::Ipc,
            };
        let already_resets = now_ns + reset_inside_ns >= since_ns + phase.length_ns;
        let sets_up = phase.what == What::SetUp;
        let restores = phase.what == What::Restore && self.suspension.shadow_buffer;
        let can_be_undone = self.suspension.restore == Restore::Interruptible;
        if !self.suspension_is_wanted() {
            return false;
        }
        if can_be_undone && (sets_up || restores) {
            self.running().ahead.pop_front();
            self.stop(None, 0, if sets_up { now_ns + reset_ns } else { now_ns });
            return true;
        }
        if !can_be_cancelled || already_resets {
            // The request stands, whatever the queue looks like when the phase ends.
            self.running().asked = true;
            return false;
        }
        if !erases {
            self.add_iterations_if_due();
        }
        if phase.what == What::Pulse && !erases {
            self.cut_program_pulse(phase, now_ns - since_ns);
        }
        let overhead_ns = self.suspend_overhead_ns();
        self.stop(None, now_ns - since_ns, now_ns + reset_ns + overhead_ns);
        true
    }

    /// Whether the erase has grown so old that it stops at the end of a segment only.
    fn erase_is_deferred(&self, index: usize) -> bool {
        let first_ns = self.outcomes[index].start_ns + self.timing.command.ns();
        match self.suspension.erase_mode {
            EraseMode::Immediate => false,
            EraseMode::Deferred => true,
            EraseMode::Timeout(limit) => self.now_ns - first_ns >= limit.ns(),
        }
    }

    /// At the end of a phase that is not the last: suspends there, or begins the next phase.
    fn go_on_or_stop(&mut self, ended: What) -> bool {
        let now_ns = self.now_ns;
        let asked = std::mem::take(&mut self.running().asked);
        if !asked && !self.suspension_is_wanted() {
            self.running().state = State::Within(now_ns);
            self.mark_run();
        } else if matches!(ended, What::Transfer | What::Restore | What::SetUp) {
            self.stop(Some(ended), 0, now_ns);
        } else {
            self.stop(Some(ended), 0, now_ns + self.suspend_overhead_ns());
        }
        true
    }

    /// What the part adds to a stop of the phases of what runs.
    fn suspend_overhead_ns(&self) -> u64 {
        let operation = self.operation.as_ref().expect("something is suspended");
        match self.commands[operation.index].kind {
            Kind::Erase => self.timing.erase_suspend_overhead.ns(),
            _ => self.timing.suspend_overhead.ns(),
        }
    }

    /// Suspends; what a resume must do first goes before the phases that are still ahead.
    ///
    /// The first of these is broken off after `elapsed_ns`, or not begun if that is 0. After the
    /// phase that `ended` just now the voltages are still there.
    fn stop(&mut self, ended: Option<What>, elapsed_ns: u64, until_ns: u64) {
        let timing = self.timing;
        let resume = self.suspension.erase_resume;
        let restore = (What::Restore, self.restore_ns());
        let index = self.running().index;
        let programs = self.commands[index].kind == Kind::Program;
        let first = self.outcomes[index].suspensions == 0;
        let (whole_ns, retention) = (self.program_ns(), self.suspension.retention);
        let operation = self.running();
        operation.state = State::Stopping(until_ns);
        if programs {
            let left_ns: u64 = operation.ahead.iter().map(|phase| phase.length_ns).sum();
            let done_ns = whole_ns.saturating_sub(left_ns);
            if first && retention.iterations > 0 {
                operation.early =
                    done_ns * 1_000_000 < whole_ns * u64::from(retention.first_share_ppm);
            }
            operation.put_before(&[restore]);
        } else if resume == EraseResume::Restart {
            operation.ahead = phases(&erase_array(timing));
        } else if resume == EraseResume::Exact
            && operation.ahead[0].what == What::Pulse
            && ended != Some(What::Pulse)
        {
            operation.ahead[0].length_ns -= elapsed_ns;
            operation.put_before(&[(What::SetUp, timing.voltage_reset.ns())]);
        }
    }

    /// A cancelled pulse is verified first, and done again if the cells missed their target.
    fn cut_program_pulse(&mut self, pulse: Phase, elapsed_ns: u64) {
        let again = !self.target_is_reached(pulse, elapsed_ns);
        let verify = (What::Verify, self.timing.verify.ns());
        let operation = self.running();
        operation.ahead.pop_front();
        if again {
            operation.put_before(&[verify, (What::Pulse, pulse.length_ns)]);
        }
    }

    fn target_is_reached(&mut self, pulse: Phase, elapsed_ns: u64) -> bool {
        match self.suspension.vth_reached {
            VthReached::Never => false,
            VthReached::Always => true,
            VthReached::Proportional => self.vth.below(pulse.length_ns) < elapsed_ns,
        }
    }

    fn serve_or_resume(&mut self) -> bool {
        if !self.array_is_free() {
            return false;
        }
        let read = self.oldest_admissible_read().filter(|_| !self.writes_press());
        if let Some(position) = read {
            return self.start_read(position);
        }
        if let Some(position) = self.program_to_go_inside() {
            return self.start_operation(position);
        }
        let now_ns = self.now_ns;
        let restores = self.running().ahead[0].what == What::Restore;
        if restores && !self.suspension.shadow_buffer && self.data_out.is_some() {
            return false;
        }
        let operation = self.running();
        operation.resumed_ns = Some(now_ns);
        operation.state = State::Within(now_ns);
        operation.runs_since_ns = None;
        self.mark_run();
        true
    }

    /// A phase begins: if it is the first pulse or verify of a run, the run begins.
    fn mark_run(&mut self) {
        let now_ns = self.now_ns;
        let operation = self.running();
        let prepares = matches!(operation.ahead[0].what, What::Transfer | What::Restore);
        if !prepares && operation.runs_since_ns.is_none() {
            operation.runs_since_ns = Some(now_ns);
        }
    }

    /// Whether a read or a program asks at this instant for the array of what is running.
    fn suspension_is_wanted(&self) -> bool {
        let operation =
            self.operation.as_ref().expect("called while a program or erase is under way");
        let erases = self.commands[operation.index].kind == Kind::Erase;
        let programs_stop = self.suspension.program != ProgramSuspension::None;
        let able = if erases { self.suspension.erase } else { programs_stop };
        let most =
            if erases { self.suspension.max_per_erase } else { self.suspension.max_per_program };
        let used_up = most.is_some_and(|most| self.outcomes[operation.index].suspensions >= most);
        let guarded = self.guard_end_ns(operation).is_some_and(|end_ns| self.now_ns < end_ns);
        let reads_barred = operation.unsuspendable || self.writes_press();
        let read = !reads_barred && self.oldest_admissible_read().is_some();
        let wanted = read || self.program_to_go_inside().is_some();
        self.policy == Policy::Rps && able && !used_up && !guarded && wanted
    }

    /// The place in the queue of a program that can run inside the erase under way.
    ///
    /// Programs and erases keep their order: it is the first of them, and of another block.
    fn program_to_go_inside(&self) -> Option<usize> {
        let under_way = self.commands[self.operation.as_ref()?.index];
        let first = |&index: &usize| self.commands[index].kind != Kind::Read;
        let position = self.queue.iter().position(first)?;
        let next = self.commands[self.queue[position]];
        let fits = (next.kind, under_way.kind) == (Kind::Program, Kind::Erase);
        let own_block = (next.plane, next.block) == (under_way.plane, under_way.block);
        (self.suspension.program_in_erase && fits && !own_block).then_some(position)
    }

    /// When the minimum time of progress after the last resume is over.
    fn guard_end_ns(&self, operation: &Operation) -> Option<u64> {
        operation.resumed_ns.map(|resumed_ns| resumed_ns + self.suspension.min_progress.ns())
    }

    /// Whether so many programs are queued that they go ahead of reads.
    fn writes_press(&self) -> bool {
        let is_program = |&&index: &&usize| self.commands[index].kind == Kind::Program;
        let programs = self.queue.iter().filter(is_program).count();
        self.write_queue_limit.is_some_and(|limit| programs >= limit as usize)
    }

    /// The place in the queue of the oldest read, but none of what is being worked on.
    fn oldest_admissible_read(&self) -> Option<usize> {
        let under_way: Vec<_> = self.operation.iter().chain(&self.erase_around).collect();
        self.queue.iter().position(|&index| {
            let read = self.commands[index];
            let mut held = under_way.iter().map(|operation| self.commands[operation.index]);
            read.kind == Kind::Read && !held.any(|own| self.is_held(own, read))
        })
    }

    /// Whether a program or erase keeps a page from being read.
    fn is_held(&self, own: Command, read: Command) -> bool {
        if (own.plane, own.block) != (read.plane, read.block) {
            return false;
        }
        match self.suspension.same_block {
            _ if own.kind == Kind::Erase => true,
            SameBlock::Block => true,
            SameBlock::Wordline => self.wordline(own.page) == self.wordline(read.page),
            SameBlock::Page => own.page == read.page,
        }
    }

    /// How many pages of the same type the block has before this one.
    fn wordline(&self, page: u32) -> usize {
        let types = self.timing.page_types.map_or(1, |types| types.count);
        (0..page).filter(|earlier| earlier % types == page % types).count()
    }

    /// Whether no read holds the array, or the one page buffer of a die without a second register.
    fn array_is_free(&self) -> bool {
        self.reading.is_none() && (self.leaves_apart || self.data_out.is_none())
    }

    fn restore_ns(&self) -> u64 {
        if self.suspension.shadow_buffer { self.timing.buffer.ns() } else { self.timing.bus.ns() }
    }
}
