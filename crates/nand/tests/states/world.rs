//! Every action on a die by the specification: why it is refused, what it answers, what follows.

use reprieve_base::PageAddress;
use reprieve_nand::{MultiPlane, Part, ProgramSuspension, Refusal, SameBlock};

use crate::spec::{Action, Answer, Buffer, Due, Kind, Op, Reads, Work, lends_register};

/// A program whose data comes in, or waits, while another one runs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Loaded {
    pages: Vec<PageAddress>,
    left_ns: u64,
}

/// A die by its specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    /// Outermost first; planes that were suspended by themselves are operations of their own.
    pub ops: Vec<Op>,
    pub reads: Reads,
    /// Of a part whose planes read by themselves.
    pub plane_reads: Vec<Reads>,
    loaded: Option<Loaded>,
    /// Pages of each block that are programmed or begun.
    pub pages: Vec<Vec<u32>>,
}

fn all(at: PageAddress, other: Option<PageAddress>) -> Vec<PageAddress> {
    std::iter::once(at).chain(other).collect()
}

impl World {
    pub fn new(part: &Part) -> World {
        let shape = part.shape;
        let independent = part.parallelism.independent_plane_reads;
        World {
            ops: Vec::new(),
            reads: Reads::FREE,
            plane_reads: vec![Reads::FREE; if independent { shape.planes as usize } else { 0 }],
            loaded: None,
            pages: vec![vec![0; shape.blocks_per_plane as usize]; shape.planes as usize],
        }
    }

    /// The operation that began last, on all its planes that were not suspended by themselves.
    pub fn innermost(&self) -> Option<&Op> {
        self.ops.iter().rfind(|op| !op.alone)
    }

    pub fn alone_on(&self, plane: u32) -> Option<&Op> {
        self.ops.iter().find(|op| op.alone && op.pages[0].plane == plane)
    }

    pub fn is_suspended(&self) -> bool {
        self.innermost().is_some_and(|op| op.work == Work::Suspended)
    }

    /// Whether nothing is sensed into the only buffer, and all operations are suspended whole.
    pub fn is_array_idle(&self) -> bool {
        let rests = |op: &Op| op.work == Work::Suspended && !op.alone;
        self.reads.buffer == Buffer::Free && self.ops.iter().all(rests)
    }

    pub fn plane_buffers_free(&self) -> bool {
        self.plane_reads.iter().all(|reads| reads.buffer == Buffer::Free)
    }

    pub fn output_in_use(&self) -> bool {
        let all = self.plane_reads.iter().chain([&self.reads]);
        all.into_iter().any(|reads| reads.register_pages > 0)
    }

    /// Returns the operation that runs, enters suspension or is suspended on one plane; none that
    /// is suspended on all its planes.
    pub fn work_on_plane(&self, plane: u32) -> Option<&Op> {
        let own = |op: &&Op| op.pages.iter().any(|at| at.plane == plane);
        let runs = |op: &&Op| own(op) && op.work == Work::Runs;
        self.alone_on(plane).or_else(|| self.innermost().filter(runs))
    }

    pub fn works_on(&self, at: PageAddress) -> bool {
        self.ops.iter().any(|op| op.works_on(at))
    }

    /// An erase holds its block, a program what the part says.
    pub fn bars(&self, part: &Part, at: PageAddress) -> bool {
        self.ops.iter().flat_map(|op| op.pages.iter().map(move |own| (op.kind, own))).any(
            |(kind, own)| {
                let same = (own.plane, own.block) == (at.plane, at.block);
                same && match (kind, part.suspension.same_block) {
                    (Kind::Erase, _) | (_, SameBlock::Block) => true,
                    (_, SameBlock::Wordline) => match part.timing.page_types {
                        Some(types) => own.page / types.count == at.page / types.count,
                        None => own.page == at.page,
                    },
                    (_, SameBlock::Page) => own.page == at.page,
                }
            },
        )
    }

    fn register_of(&self, part: &Part) -> bool {
        let has_one = part.timing.cache_register || lends_register(part, self.is_suspended());
        has_one && self.loaded.is_none()
    }

    fn plane_register(&self, part: &Part, plane: u32) -> bool {
        let alone = self.alone_on(plane).is_some_and(|op| op.work == Work::Suspended);
        self.register_of(part) || lends_register(part, alone)
    }

    fn order(&self, at: PageAddress) -> Option<Refusal> {
        let expected = self.pages[at.plane as usize][at.block as usize];
        match at.page {
            page if page < expected => Some(Refusal::AlreadyProgrammed),
            page if page > expected => Some(Refusal::OutOfOrder { expected }),
            _ => None,
        }
    }

    fn together(part: &Part, at: PageAddress, other: PageAddress, is_erase: bool) -> bool {
        let pages = is_erase || at.page == other.page;
        at.plane != other.plane
            && match part.parallelism.multi_plane {
                MultiPlane::None => false,
                MultiPlane::Page => pages,
                MultiPlane::Block => pages && at.block == other.block,
            }
    }

    /// All that speaks against an action; it is done if nothing does.
    pub fn reasons(&self, part: &Part, action: Action, now_ns: u64) -> Vec<Refusal> {
        let mut reasons = Vec::new();
        match action {
            Action::Read(at, other) => self.against_read(part, at, other, &mut reasons),
            Action::Program(at, other) => {
                self.against_operation(part, (Kind::Program, at, other), &mut reasons);
            }
            Action::Erase(at, other) => {
                self.against_operation(part, (Kind::Erase, at, other), &mut reasons);
            }
            Action::Load(at, other) => self.against_load(part, at, other, &mut reasons),
            Action::Suspend(plane) => reasons.extend(self.against_suspend(part, plane, now_ns)),
            Action::Resume(plane) => reasons.extend(self.against_resume(part, plane)),
            Action::Release(_) | Action::Elapse(_) | Action::Tick => {}
        }
        reasons
    }

    fn against_read(
        &self,
        part: &Part,
        at: PageAddress,
        other: Option<PageAddress>,
        reasons: &mut Vec<Refusal>,
    ) {
        let independent = !self.plane_reads.is_empty();
        let free = |plane: u32| {
            let work = self.work_on_plane(plane);
            work.is_none_or(|op| op.work == Work::Suspended)
                && self.plane_reads[plane as usize].buffer == Buffer::Free
        };
        let may = match independent {
            false => self.is_array_idle(),
            true if part.parallelism.plane_suspension => free(at.plane),
            true => {
                self.is_array_idle() && self.plane_reads[at.plane as usize].buffer == Buffer::Free
            }
        };
        if !may {
            reasons.push(Refusal::Busy);
        }
        if all(at, other).iter().any(|at| self.bars(part, *at)) {
            reasons.push(Refusal::SuspendedBlock);
        }
        if other.is_some_and(|other| independent || !World::together(part, at, other, false)) {
            reasons.push(Refusal::NotTogether);
        }
    }

    fn against_operation(
        &self,
        part: &Part,
        (kind, at, other): (Kind, PageAddress, Option<PageAddress>),
        reasons: &mut Vec<Refusal>,
    ) {
        let is_erase = kind == Kind::Erase;
        let pages = all(at, other);
        let no_buffer = !is_erase && self.output_in_use();
        if !self.is_array_idle() || !self.plane_buffers_free() || no_buffer {
            reasons.push(Refusal::Busy);
        }
        if pages.iter().any(|at| self.works_on(*at)) {
            reasons.push(Refusal::SuspendedBlock);
        }
        let inside_erase = self.ops.len() == 1 && self.ops[0].kind == Kind::Erase;
        let nests = !is_erase && inside_erase && part.suspension.program_in_erase;
        if !self.ops.is_empty() && !nests {
            reasons.push(Refusal::Nested);
        }
        if other.is_some_and(|other| !World::together(part, at, other, is_erase)) {
            reasons.push(Refusal::NotTogether);
        }
        if !is_erase {
            reasons.extend(pages.iter().filter_map(|at| self.order(*at)));
        }
    }

    fn against_load(
        &self,
        part: &Part,
        at: PageAddress,
        other: Option<PageAddress>,
        reasons: &mut Vec<Refusal>,
    ) {
        let beside = match self.ops.as_slice() {
            [op] => op.kind == Kind::Program && op.work == Work::Runs && !op.is_in_transfer(),
            _ => false,
        };
        let takes = part.parallelism.cache_program && self.loaded.is_none();
        if !takes || !beside || self.output_in_use() {
            reasons.push(Refusal::Busy);
        }
        let suspends = part.suspension.program != ProgramSuspension::None;
        if suspends && !part.suspension.shadow_buffer {
            reasons.push(Refusal::CannotRestore);
        }
        if other.is_some_and(|other| !World::together(part, at, other, false)) {
            reasons.push(Refusal::NotTogether);
        }
        reasons.extend(all(at, other).iter().filter_map(|at| self.order(*at)));
    }

    fn against_suspend(&self, part: &Part, plane: Option<u32>, now_ns: u64) -> Option<Refusal> {
        let op = match plane {
            Some(_) if !part.parallelism.plane_suspension => return Some(Refusal::NotSuspendable),
            Some(plane) => self.work_on_plane(plane),
            None => self
                .innermost()
                .filter(|op| op.work != Work::Runs || self.ops.iter().all(|op| !op.alone)),
        };
        let Some(op) = op else { return Some(Refusal::NothingToSuspend) };
        match op.work {
            Work::Entering(_) => return Some(Refusal::AlreadySuspending),
            Work::Suspended => return Some(Refusal::Nested),
            Work::Runs => {}
        }
        let suspension = &part.suspension;
        let (able, most) = match op.kind {
            Kind::Program => {
                (suspension.program != ProgramSuspension::None, suspension.max_per_program)
            }
            Kind::Erase => (suspension.erase, suspension.max_per_erase),
        };
        let until = reprieve_base::Time::from_ns(now_ns + op.guarded_ns(part));
        match () {
            () if !able => Some(Refusal::NotSuspendable),
            () if most.is_some_and(|most| op.suspensions >= most) => Some(Refusal::LimitReached),
            () if op.guarded_ns(part) > 0 => Some(Refusal::TooSoon { until }),
            () => None,
        }
    }

    fn against_resume(&self, part: &Part, plane: Option<u32>) -> Option<Refusal> {
        let op = match plane {
            Some(plane) => self.alone_on(plane),
            None => self.innermost(),
        };
        let Some(op) = op.filter(|op| op.work == Work::Suspended) else {
            return Some(Refusal::NothingToResume);
        };
        let (free, leaves) = match plane {
            Some(plane) => {
                let reads = self.plane_reads[plane as usize];
                (reads.buffer == Buffer::Free, reads.register_pages > 0)
            }
            None => (self.is_array_idle() && self.plane_buffers_free(), self.output_in_use()),
        };
        (!free || leaves && op.needs_channel(part)).then_some(Refusal::Busy)
    }

    /// Events due at this instant that the die has not handled.
    pub fn dues(&self) -> Vec<Due> {
        let mut dues = Vec::new();
        if self.reads.is_due() || self.innermost().is_some_and(Op::is_due) {
            dues.push(Due::Array);
        }
        for op in self.ops.iter().filter(|op| op.alone && op.is_due()) {
            dues.push(Due::Piece(op.pages[0].plane));
        }
        let planes = (0..).zip(&self.plane_reads).filter(|(_, reads)| reads.is_due());
        dues.extend(planes.map(|(plane, _)| Due::PlaneRead(plane)));
        dues
    }

    /// Programs and erases that have begun, or are loaded, and have not ended.
    pub fn operations(&self) -> usize {
        self.ops.len() + usize::from(self.loaded.is_some())
    }

    /// Whether time passes towards something.
    pub fn has_promised(&self) -> bool {
        let all = self.plane_reads.iter().chain([&self.reads]);
        let senses = |reads: &Reads| matches!(reads.buffer, Buffer::Senses { .. });
        all.into_iter().any(senses) || self.ops.iter().any(|op| op.work != Work::Suspended)
    }

    /// Does what nothing speaks against.
    pub fn act(&mut self, part: &Part, action: Action) -> Answer {
        let command_ns = part.timing.command.ns();
        match action {
            Action::Read(at, other) => {
                let pages = 1 + u32::from(other.is_some());
                let left_ns = command_ns * u64::from(pages) + part.timing.read.ns();
                let buffer = Buffer::Senses { left_ns, pages };
                match self.plane_reads.get_mut(at.plane as usize) {
                    Some(reads) => reads.buffer = buffer,
                    None => self.reads.buffer = buffer,
                }
                Answer::EndsIn(left_ns)
            }
            Action::Program(at, other) => {
                let pages = all(at, other);
                let prelude_ns = (command_ns + part.timing.bus.ns()) * pages.len() as u64;
                self.take(&pages);
                self.begin(part, Kind::Program, pages, prelude_ns)
            }
            Action::Erase(at, other) => {
                let pages = all(PageAddress { page: 0, ..at }, other);
                for at in &pages {
                    self.pages[at.plane as usize][at.block as usize] = 0;
                }
                let prelude_ns = command_ns * pages.len() as u64;
                self.begin(part, Kind::Erase, pages, prelude_ns)
            }
            Action::Load(at, other) => {
                let pages = all(at, other);
                self.take(&pages);
                let left_ns = (command_ns + part.timing.bus.ns()) * pages.len() as u64;
                self.loaded = Some(Loaded { pages, left_ns });
                Answer::EndsIn(left_ns)
            }
            Action::Suspend(plane) => self.suspend(part, plane),
            Action::Resume(plane) => {
                let op = self.target(plane);
                op.resume(part);
                Answer::EndsIn(op.left_ns())
            }
            Action::Release(plane) => {
                let next = match plane {
                    Some(plane) => {
                        let register = self.plane_register(part, plane);
                        self.plane_reads[plane as usize].release(register)
                    }
                    None => {
                        let register = self.register_of(part);
                        self.reads.release(register)
                    }
                };
                Answer::NextLeaves(next)
            }
            Action::Elapse(due) => self.elapse(part, due),
            Action::Tick => {
                self.reads.tick();
                self.plane_reads.iter_mut().for_each(Reads::tick);
                self.ops.iter_mut().for_each(|op| op.tick(part));
                if let Some(loaded) = &mut self.loaded {
                    loaded.left_ns = loaded.left_ns.saturating_sub(1);
                }
                Answer::Passed
            }
        }
    }

    fn take(&mut self, pages: &[PageAddress]) {
        for at in pages {
            self.pages[at.plane as usize][at.block as usize] += 1;
        }
    }

    fn begin(
        &mut self,
        part: &Part,
        kind: Kind,
        pages: Vec<PageAddress>,
        prelude_ns: u64,
    ) -> Answer {
        let op = Op::new(kind, pages, part, prelude_ns);
        let left_ns = op.left_ns();
        self.ops.push(op);
        Answer::EndsIn(left_ns)
    }

    fn target(&mut self, plane: Option<u32>) -> &mut Op {
        let op = self.ops.iter_mut().rfind(|op| match plane {
            Some(plane) => op.alone && op.pages[0].plane == plane,
            None => !op.alone,
        });
        op.expect("nothing speaks against it")
    }

    fn suspend(&mut self, part: &Part, plane: Option<u32>) -> Answer {
        let Some(plane) = plane else {
            return self.target(None).suspend(part).map_or(Answer::RunsToEnd, Answer::FreeIn);
        };
        if self.alone_on(plane).is_some() {
            let op = self.target(Some(plane));
            return op.suspend(part).map_or(Answer::RunsToEnd, Answer::FreeIn);
        }
        // The plane leaves the operation that it is of.
        let whole = self.target(None);
        let (own, others): (Vec<_>, Vec<_>) =
            whole.pages.iter().copied().partition(|at| at.plane == plane);
        let mut piece = whole.of_plane(own);
        let Some(free_ns) = piece.suspend(part) else { return Answer::RunsToEnd };
        whole.pages = others;
        self.ops.retain(|op| !op.pages.is_empty());
        self.ops.push(piece);
        Answer::FreeIn(free_ns)
    }

    fn elapse(&mut self, part: &Part, due: Due) -> Answer {
        let plane = match due {
            Due::PlaneRead(plane) => {
                let register = self.plane_register(part, plane);
                return Answer::Came(self.plane_reads[plane as usize].sensed(register));
            }
            Due::Array if self.reads.is_due() => {
                let register = self.register_of(part);
                return Answer::Came(self.reads.sensed(register));
            }
            Due::Array => None,
            Due::Piece(plane) => Some(plane),
        };
        let op = self.target(plane);
        if op.work != Work::Runs {
            op.work = Work::Suspended;
            return Answer::Came(reprieve_nand::Elapsed::Suspended);
        }
        let done = op.done();
        let ended = op.clone();
        let place = self.ops.iter().position(|op| *op == ended).expect("it is one of them");
        self.ops.remove(place);
        if let Some(Loaded { pages, left_ns }) = self.loaded.take_if(|_| plane.is_none()) {
            self.begin(part, Kind::Program, pages, left_ns);
        }
        Answer::Came(done)
    }
}
