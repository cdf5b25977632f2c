//! Behaviour of a part whose programs are suspended repeatedly, as a tester measures it.
//!
//! The procedure is that of Zambelli et al., Electronics 10, 1394 (2021), Figure 5: a program is
//! suspended a first delay after its confirmation, a page is read, the program resumes, and is
//! suspended again a second delay after each resume, until it is complete.
//!
//! With equal iterations a tenth of a program is about a whole number of iterations, so that every
//! suspension meets the same phase. So wordlines may differ in the length of their iterations and
//! in their start, and delays may be drawn around the steps of the grid.

use std::sync::Arc;

use reprieve_base::{Dur, PageAddress, Stream, Time, UserError};
use reprieve_config::Scenario;
use reprieve_nand::{
    Command, Die, Elapsed, Parallelism, Part, ProgramSuspension, Refusal, Shape, Suspend, Timing,
};

/// Delays go from a tenth of the undisturbed program to the whole of it.
pub const DELAY_STEPS: u32 = 10;

/// Suspensions after which a program does not end: a second delay undoes its progress.
const SUSPENSIONS_MAX: u32 = 10_000;

/// Page that is programmed, and the page that is read meanwhile.
const PROGRAMMED: PageAddress = PageAddress { plane: 0, block: 0, page: 0 };
const READ_BLOCK: u32 = 1;

/// One program of one wordline under one pair of delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first delay, from 1 to [`DELAY_STEPS`].
    pub delay1_tenths: u32,
    /// The delay after each resume, likewise.
    pub delay2_tenths: u32,
    /// Both delays: the steps, or drawn from within half a step of them.
    pub delays: [Dur; 2],
    /// Whether they were drawn.
    pub is_drawn: bool,
    /// Number of the wordline in its block.
    pub wordline: u32,
    /// Type of the page that was read, from 0.
    pub page_type: u32,
    /// Number of suspensions.
    pub suspensions: u32,
    /// Time from suspend requests to a free array (tEPS), in total.
    pub eps_total: Dur,
    /// Longest of these times.
    pub eps_worst: Dur,
    /// From confirmation to completion, without the times in suspension.
    pub suspended: Dur,
    /// Time until both the program and the last delay were over.
    pub timers: Dur,
    /// Time from confirmation to completion without suspension.
    pub undisturbed: Dur,
}

/// Variation between wordlines besides their numbers of iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Variety {
    /// The iterations of a wordline are longer or shorter than the part's by up to this share.
    pub length_share: f64,
    /// The first iteration starts up to this share of one after the confirmation.
    pub start_share: f64,
}

/// Draws of a wordline from its [`Variety`].
#[derive(Clone, Copy, Debug)]
struct OfWordline {
    /// Length of its iterations over that of the part's.
    factor: f64,
    /// Time from confirmation to the first pulse.
    start: Dur,
}

impl OfWordline {
    fn draw(variety: &Variety, timing: &Timing, seed: u64, wordline: u32) -> OfWordline {
        let mut stream = Stream::new(seed, "characterize-wordline", u64::from(wordline));
        let [factor, start] = [(); 2].map(|()| stream.unit());
        let iteration = (timing.program_pulse + timing.verify).ns() as f64;
        OfWordline {
            factor: 1.0 + variety.length_share * (2.0 * factor - 1.0),
            start: Dur::from_ns((start * variety.start_share * iteration) as u64),
        }
    }
}

/// Runs the procedure on some wordlines of a block, drawn by the scenario's seed: with every
/// pair of steps, and once more with delays drawn around them.
///
/// Delays are shares of the mean undisturbed program of these wordlines, without its data in.
/// Errors if the part suspends no programs, has not as many wordlines, or a program never ends.
pub fn run(scenario: &Scenario, wordlines: u32, variety: &Variety) -> Result<Vec<Run>, UserError> {
    if scenario.suspension.program == ProgramSuspension::None {
        return Err(UserError::new(
            "suspension.program = \"none\": the part suspends no programs; must be one of \
             \"ips\", \"ipc\", \"iteration\", \"sliced\"",
        ));
    }
    let chosen = Bench::new(scenario, None).choose(wordlines, scenario.seed)?;
    let own =
        |wordline: &u32| OfWordline::draw(variety, &scenario.timing, scenario.seed, *wordline);
    let mut benches: Vec<(u32, Bench)> =
        chosen.iter().map(|line| (*line, Bench::new(scenario, Some(own(line))))).collect();
    let undisturbed: Vec<Dur> =
        benches.iter_mut().map(|(line, bench)| bench.leave_alone(*line)).collect();
    let total_ns: u64 = undisturbed.iter().map(|length| length.ns()).sum();
    let mean_ns = total_ns / u64::from(wordlines);
    let mut stream = Stream::new(scenario.seed, "characterize-delays", 0);
    // From half a step below to half a step above.
    let mut around = |tenths: u32| {
        let steps = f64::from(tenths) + stream.unit() - 0.5;
        Dur::from_ns((mean_ns as f64 * steps / f64::from(DELAY_STEPS)) as u64)
    };
    let exact = |tenths: u32| Dur::from_ns(mean_ns * u64::from(tenths) / u64::from(DELAY_STEPS));
    let mut runs = Vec::new();
    for is_drawn in [false, true] {
        for (delay1_tenths, delay2_tenths) in pairs() {
            for ((wordline, bench), undisturbed) in benches.iter_mut().zip(&undisturbed) {
                for (page_type, read) in bench.pages_to_read().iter().enumerate() {
                    let steps = [delay1_tenths, delay2_tenths];
                    let delays = if is_drawn { steps.map(&mut around) } else { steps.map(exact) };
                    let measured = bench.suspend_again_and_again(*wordline, *read, delays)?;
                    runs.push(Run {
                        delay1_tenths,
                        delay2_tenths,
                        is_drawn,
                        wordline: *wordline,
                        page_type: page_type as u32,
                        undisturbed: *undisturbed,
                        ..measured
                    });
                }
            }
        }
    }
    Ok(runs)
}

/// Every pair of steps, the second changing faster.
fn pairs() -> impl Iterator<Item = (u32, u32)> {
    (1..=DELAY_STEPS).flat_map(|one| (1..=DELAY_STEPS).map(move |two| (one, two)))
}

/// One die, and its time.
struct Bench {
    die: Die,
    now: Time,
    /// Time from confirmation to the first pulse, and its start.
    start: Dur,
    begun: Time,
    /// Pages of a block, of a wordline, and how many types they have.
    pages_per_block: u32,
    pages_together: u32,
    page_types: u32,
}

impl Bench {
    /// Creates a bench of the part, or of one wordline of it.
    fn new(scenario: &Scenario, own: Option<OfWordline>) -> Bench {
        let pages_per_block = scenario.geometry.pages_per_block;
        let mut timing = scenario.timing;
        if let Some(OfWordline { factor, .. }) = own {
            for phase in [&mut timing.program_pulse, &mut timing.verify] {
                *phase = Dur::from_ns((phase.ns() as f64 * factor).round() as u64);
            }
        }
        let part = Part {
            shape: Shape { planes: 1, blocks_per_plane: 2, pages_per_block },
            timing,
            suspension: scenario.suspension,
            parallelism: Parallelism::NONE,
        };
        Bench {
            die: Die::new(Arc::new(part), scenario.seed, 0),
            now: Time::ZERO,
            start: own.map_or(Dur::ZERO, |own| own.start),
            begun: Time::ZERO,
            pages_per_block,
            pages_together: timing.pages_together(),
            page_types: timing.page_types.map_or(1, |types| types.count),
        }
    }

    /// Different wordlines of a block, drawn at random, in order.
    fn choose(&self, wordlines: u32, seed: u64) -> Result<Vec<u32>, UserError> {
        let present = self.pages_per_block / self.pages_together;
        if wordlines == 0 || wordlines > present {
            return Err(UserError::new(format!(
                "wordlines = {wordlines}: a block of this part has {present}; must be from 1 to \
                 {present}"
            )));
        }
        let mut stream = Stream::new(seed, "characterize", 0);
        let mut left: Vec<u32> = (0..present).collect();
        let draw = |_| left.swap_remove(stream.below(left.len() as u64) as usize);
        let mut chosen: Vec<u32> = (0..wordlines).map(draw).collect();
        chosen.sort_unstable();
        Ok(chosen)
    }

    /// A page of each type, of another block than the one that is programmed.
    fn pages_to_read(&self) -> Vec<PageAddress> {
        let types = self.die.part().timing.page_types;
        let page_of = |wanted: u32| {
            let of = |page: &u32| types.map_or(0, |types| types.of(*page) as u32) == wanted;
            (0..self.pages_per_block).find(of)
        };
        // A block of fewer pages than types has not all of them.
        let pages = (0..self.page_types).filter_map(page_of);
        pages.map(|page| PageAddress { plane: 0, block: READ_BLOCK, page }).collect()
    }

    /// Starts the program of a wordline; returns its confirmation and its end.
    fn start(&mut self, wordline: u32) -> (Time, Time) {
        let page = wordline * self.pages_together;
        self.die.precondition(PROGRAMMED.plane, PROGRAMMED.block, page);
        let timing = self.die.part().timing;
        let confirmed = self.now + timing.command + timing.data_in();
        let command = Command::Program(PageAddress { page, ..PROGRAMMED });
        self.begun = confirmed + self.start;
        // The start is no event of the die: later events are earlier for it by that time.
        let end = self
            .die
            .start(self.now + self.start, command)
            .expect("the die is free, the page is next");
        (confirmed, end)
    }

    fn leave_alone(&mut self, wordline: u32) -> Dur {
        let (confirmed, end) = self.start(wordline);
        self.die.elapse(end);
        self.now = end;
        end - confirmed
    }

    /// Runs the procedure on one wordline, reading the same page in every suspension.
    fn suspend_again_and_again(
        &mut self,
        wordline: u32,
        read: PageAddress,
        [first, later]: [Dur; 2],
    ) -> Result<Run, UserError> {
        let (mut since, mut end) = self.start(wordline);
        let mut delay = first;
        let mut run = Run {
            delay1_tenths: 0,
            delay2_tenths: 0,
            delays: [first, later],
            is_drawn: false,
            wordline,
            page_type: 0,
            suspensions: 0,
            eps_total: Dur::ZERO,
            eps_worst: Dur::ZERO,
            suspended: Dur::ZERO,
            timers: Dur::ZERO,
            undisturbed: Dur::ZERO,
        };
        while let Some((request, free_at)) = self.suspend(since + delay, end) {
            let eps = free_at - request;
            run.suspensions += 1;
            run.eps_total += eps;
            run.eps_worst = run.eps_worst.max(eps);
            run.suspended += free_at - since;
            if run.suspensions == SUSPENSIONS_MAX {
                return Err(UserError::new(format!(
                    "wordline {wordline}: its program is suspended {SUSPENSIONS_MAX} times with \
                     delays of {first} and {later} and does not end; limit them by \
                     suspension.max_per_program"
                )));
            }
            since = self.read(free_at, read);
            end = self.die.resume(since).expect("the page buffer is free");
            delay = later;
        }
        run.timers = run.suspended + (end.max(since + delay) - since);
        run.suspended += end - since;
        self.die.elapse(end);
        self.now = end;
        Ok(run)
    }

    /// Requests a suspension at `request`, or as soon after as the part allows; returns the request
    /// and when the array is free. `None`: the program ends unsuspended.
    fn suspend(&mut self, mut request: Time, end: Time) -> Option<(Time, Time)> {
        request = request.max(self.begun);
        while request < end {
            match self.die.suspend(request) {
                Ok(Suspend::FreeAt(free_at)) => {
                    self.die.elapse(free_at);
                    return Some((request, free_at));
                }
                Ok(Suspend::RunsToEnd) | Err(Refusal::LimitReached) => return None,
                Err(Refusal::TooSoon { until }) => request = until,
                Err(refusal) => panic!("a program that runs is not suspended: {refusal}"),
            }
        }
        None
    }

    /// Reads a page; returns when it is in the page buffer, which is then free again.
    fn read(&mut self, now: Time, page: PageAddress) -> Time {
        let sensed = self.die.start(now, Command::Read(page)).expect("the array is free");
        let elapsed = self.die.elapse(sensed);
        assert_eq!(elapsed, Elapsed::ReadReady, "the last page has left");
        self.die.release();
        sensed
    }
}

#[cfg(test)]
mod tests;
