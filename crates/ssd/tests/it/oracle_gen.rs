//! Random legal commands, timings and suspension rules with which two implementations are compared.

use reprieve_base::{Dur, Stream};
use reprieve_nand::{
    EraseMode, EraseResume, PageOrder, PageTypes, ProgramSuspension, Restore, ResumeAt, Retention,
    SameBlock, Slices, Suspension, Timing, VthReached,
};

use super::oracle::{Command, Kind};

/// Planes that commands can name: 0 to 3.
pub const PLANES: u32 = 4;
/// Blocks of a plane that commands can name: 0 to 2, few, so that reads meet the block at work.
pub const BLOCKS_PER_PLANE: u32 = 3;
/// Pages of a block that commands can name.
pub const PAGES_PER_BLOCK: u32 = 16;

/// Everything that one comparison needs, except the policy.
#[derive(Clone, Debug)]
pub struct Case {
    /// Lengths of the phases.
    pub timing: Timing,
    /// What can be suspended.
    pub suspension: Suspension,
    /// From how many queued programs on they go ahead of reads.
    pub write_queue_limit: Option<u32>,
    /// Legal commands in order of arrival.
    pub commands: Vec<Command>,
}

/// The case that belongs to a seed.
pub fn random_case(seed: u64) -> Case {
    let mut stream = Stream::new(seed, "test.oracle", 0);
    let mut timing = random_timing(&mut stream);
    let mut suspension = random_suspension(&mut stream, &timing);
    let mut modes = Stream::new(seed, "test.modes", 0);
    if one_in(&mut modes, 2) {
        set_modes(&mut modes, &mut timing, &mut suspension);
    }
    let mut limits = Stream::new(seed, "test.limits", 0);
    suspension.max_per_erase = match one_in(&mut limits, 2) {
        true => suspension.max_per_program,
        false => one_in(&mut limits, 4).then(|| 1 + limits.below(3) as u32),
    };
    set_same_block(&mut limits, &mut timing, &mut suspension);
    let write_queue_limit = one_in(&mut stream, 2).then(|| 1 + stream.below(4) as u32);
    let commands = random_commands(&mut stream, &timing);
    Case { timing, suspension, write_queue_limit, commands }
}

/// Phases of a few nanoseconds, of whole microseconds, of any length, or those of a real part.
pub fn random_timing(stream: &mut Stream) -> Timing {
    let timing = match stream.below(4) {
        0 => timing_in_units_of(stream, 1, 12),
        1 => timing_in_units_of(stream, 1_000, 40),
        2 => timing_in_units_of(stream, 1, 50_000),
        _ => real_timing(stream),
    };
    Timing { cache_register: one_in(stream, 2), ..timing }
}

fn timing_in_units_of(stream: &mut Stream, unit_ns: u64, most: u64) -> Timing {
    let length = |stream: &mut Stream| Dur::from_ns(unit_ns * (1 + stream.below(most)));
    let or_none = |stream: &mut Stream| match one_in(stream, 2) {
        true => Dur::ZERO,
        false => length(stream),
    };
    let iterations_most = if one_in(stream, 2) { 3 } else { 15 };
    let (program_pulse, verify) = (length(stream), length(stream));
    // An erase is much longer than anything else of the part, and its verify is not.
    let (erase, erase_verify) = (length(stream) * (1 + stream.below(20)), length(stream));
    let shortest = program_pulse.min(verify).min(erase).min(erase_verify);
    let voltage_reset = match stream.below(4) {
        0 => Dur::ZERO,
        1 => shortest,
        _ => Dur::from_ns(unit_ns * stream.below(shortest.ns() / unit_ns + 1)),
    };
    Timing {
        command: or_none(stream),
        bus: length(stream),
        read: length(stream),
        program_iterations: 1 + stream.below(iterations_most) as u32,
        program_pulse,
        verify,
        erase,
        erase_segments: 1,
        erase_verify,
        voltage_reset,
        buffer: or_none(stream),
        suspend_overhead: or_none(stream),
        erase_suspend_overhead: or_none(stream),
        ..Timing::default()
    }
}

/// The SLC or MLC part of Wu and He, FAST'12, table 1, with a command time that they do not have.
fn real_timing(stream: &mut Stream) -> Timing {
    let us = Dur::from_us;
    let slc = one_in(stream, 2);
    let (bus, read, verify) = if slc { (20, 10, 8) } else { (40, 25, 24) };
    let (program_iterations, erase) = if slc { (5, 1_500) } else { (15, 3_300) };
    Timing {
        command: us(stream.below(2)),
        bus: us(bus),
        read: us(read),
        program_iterations,
        program_pulse: us(20),
        verify: us(verify),
        erase: us(erase),
        erase_segments: 1,
        erase_verify: us(verify),
        voltage_reset: us(4),
        buffer: us(3),
        suspend_overhead: us(stream.below(3)),
        erase_suspend_overhead: us(stream.below(3)),
        ..Timing::default()
    }
}

/// Every way to suspend and to resume, with and without the guards.
pub fn random_suspension(stream: &mut Stream, timing: &Timing) -> Suspension {
    use ProgramSuspension::{Ipc, Ips, Iteration, None as Never};
    let pass_ns = timing.program_pulse.ns() + timing.verify.ns();
    Suspension {
        program: one_of(stream, &[Never, Ips, Ips, Ipc, Ipc, Ipc, Iteration, Iteration]),
        erase: !one_in(stream, 4),
        erase_resume: one_of(
            stream,
            &[EraseResume::Exact, EraseResume::RedoPhase, EraseResume::Restart],
        ),
        erase_mode: EraseMode::Immediate,
        reset_inside_phase: true,
        shadow_buffer: one_in(stream, 2),
        restore: Restore::Atomic,
        resume_at: ResumeAt::DataOut,
        vth_reached: one_of(
            stream,
            &[VthReached::Never, VthReached::Always, VthReached::Proportional],
        ),
        same_block: SameBlock::Block,
        max_per_program: one_in(stream, 4).then(|| 1 + stream.below(3) as u32),
        min_progress: match stream.below(8) {
            0 => timing.buffer,
            1 => Dur::from_ns(stream.below(2 * pass_ns)),
            2 => Dur::from_ns(pass_ns * stream.below(4)),
            3 => Dur::from_ns(stream.below(timing.erase.ns())),
            _ => Dur::ZERO,
        },
        program_in_erase: one_in(stream, 2),
        retention: Retention::NONE,
        ..Suspension::default()
    }
}

/// Draws the settings that depart from the parts of Wu and He, FAST'12.
pub fn set_modes(stream: &mut Stream, timing: &mut Timing, suspension: &mut Suspension) {
    let segments = one_of(stream, &[1, 2, 3, 5, 6]);
    timing.erase_segments = segments as u32;
    timing.erase = Dur::from_ns(timing.erase.ns().next_multiple_of(segments));
    suspension.erase_mode = match stream.below(4) {
        0 => EraseMode::Immediate,
        1 => EraseMode::Deferred,
        // Often exactly at the end of a segment, if nothing came in between.
        2 => EraseMode::Timeout(Dur::from_ns(
            timing.erase.ns() / segments * stream.below(segments + 1),
        )),
        _ => EraseMode::Timeout(Dur::from_ns(stream.below(2 * timing.erase.ns()))),
    };
    suspension.reset_inside_phase = one_in(stream, 2);
    suspension.restore = one_of(stream, &[Restore::Atomic, Restore::Interruptible]);
    suspension.resume_at = one_of(stream, &[ResumeAt::DataOut, ResumeAt::ArrayRead]);
    if one_in(stream, 2) {
        suspension.retention = Retention {
            iterations: 1 + stream.below(4) as u32,
            first_share_ppm: one_of(stream, &[100_000, 200_000, 500_000, 1_000_000]),
            second_share_ppm: one_of(stream, &[0, 100_000, 250_000, 500_000, 700_000]),
        };
    }
}

/// Draws which reads wait for a program, and how many pages share a wordline.
pub fn set_same_block(stream: &mut Stream, timing: &mut Timing, suspension: &mut Suspension) {
    use SameBlock::{Block, Page, Wordline};
    suspension.same_block = one_of(stream, &[Block, Wordline, Wordline, Page]);
    if one_in(stream, 2) {
        // Of several types, but all alike.
        timing.page_types = Some(PageTypes {
            count: 2 + stream.below(3) as u32,
            order: PageOrder::Modulo,
            read: [timing.read; 4],
            program_iterations: [timing.program_iterations; 4],
        });
    }
}

/// Suspends programs this way; slices of any length, and then without early retention loss.
pub fn set_program(
    seed: u64,
    program: ProgramSuspension,
    timing: &mut Timing,
    suspension: &mut Suspension,
) {
    suspension.program = program;
    if program == ProgramSuspension::Sliced {
        let mut stream = Stream::new(seed, "test.slices", 0);
        let overhead = one_of(&mut stream, &[Dur::ZERO, timing.buffer, timing.verify]);
        let iterations = 1 + stream.below(4) as u32;
        timing.slices = Some(Slices { iterations, overhead });
        suspension.retention = Retention::NONE;
    }
}

/// 5 to 60 commands; many arrive together, or just when a phase of the part can end.
pub fn random_commands(stream: &mut Stream, timing: &Timing) -> Vec<Command> {
    let mut blocks = Blocks::new(1 + stream.below(u64::from(PLANES)) as u32);
    let reads_of_16 = one_of(stream, &[4, 8, 11, 14]);
    let sparse_of_16 = one_of(stream, &[0, 2, 10]);
    // With phases of some nanoseconds a grid of 1 us would leave the die idle before each command.
    let grid_ns = match timing.read.ns() >= 1_000 && one_in(stream, 2) {
        true => 1_000,
        false => 1,
    };
    let mut arrival_ns = stream.below(3) * grid_ns;
    let count = 5 + stream.below(56);
    let mut commands = Vec::new();
    for _ in 0..count {
        let gap_ns = match stream.below(16) < sparse_of_16 {
            true => sparse_gap_ns(stream, timing),
            false => dense_gap_ns(stream, timing),
        };
        arrival_ns = (arrival_ns + gap_ns).next_multiple_of(grid_ns);
        let reads = stream.below(16) < reads_of_16;
        commands.push(if reads {
            blocks.read(stream, arrival_ns)
        } else {
            blocks.write(stream, arrival_ns)
        });
    }
    commands
}

/// None, a little, or exactly as long as part of an operation takes.
fn dense_gap_ns(stream: &mut Stream, timing: &Timing) -> u64 {
    let (pulse_ns, verify_ns) = (timing.program_pulse.ns(), timing.verify.ns());
    let read_ns = timing.command.ns() + timing.read.ns();
    match stream.below(10) {
        0..=3 => 0,
        4 => timing.command.ns() + timing.bus.ns() + stream.below(4) * (pulse_ns + verify_ns),
        5 => timing.command.ns() + timing.bus.ns() + pulse_ns + stream.below(2) * verify_ns,
        6 => pulse_ns.saturating_sub(timing.voltage_reset.ns()),
        7 => read_ns + stream.below(2) * timing.bus.ns(),
        8 => timing.command.ns(),
        _ => stream.below(read_ns + timing.bus.ns() + pulse_ns),
    }
}

/// Of the order of a whole program or erase.
fn sparse_gap_ns(stream: &mut Stream, timing: &Timing) -> u64 {
    let pass_ns = timing.program_pulse.ns() + timing.verify.ns();
    let program_ns = timing.bus.ns() + u64::from(timing.program_iterations) * pass_ns;
    let erase_ns = timing.erase.ns();
    match stream.below(4) {
        0 | 1 => stream.below(2 * program_ns),
        2 => stream.below(2 * erase_ns),
        _ => timing.command.ns() + erase_ns + stream.below(2) * timing.erase_verify.ns(),
    }
}

/// How far each block is written, so that programs go in page order and erases start anew.
struct Blocks {
    planes: u32,
    next_page: [[u32; BLOCKS_PER_PLANE as usize]; PLANES as usize],
    /// Plane and block of the latest program or erase.
    latest: (u32, u32),
}

impl Blocks {
    fn new(planes: u32) -> Blocks {
        Blocks { planes, next_page: Default::default(), latest: (0, 0) }
    }

    fn any(&self, stream: &mut Stream) -> (u32, u32) {
        let plane = stream.below(u64::from(self.planes)) as u32;
        (plane, stream.below(u64::from(BLOCKS_PER_PLANE)) as u32)
    }

    fn read(&self, stream: &mut Stream, arrival_ns: u64) -> Command {
        let (plane, block) = match one_in(stream, 4) {
            true => self.latest,
            false => self.any(stream),
        };
        let page = stream.below(u64::from(PAGES_PER_BLOCK)) as u32;
        Command { arrival_ns, kind: Kind::Read, plane, block, page }
    }

    fn write(&mut self, stream: &mut Stream, arrival_ns: u64) -> Command {
        let (plane, block) = self.any(stream);
        self.latest = (plane, block);
        let next_page = &mut self.next_page[plane as usize][block as usize];
        let page = *next_page;
        if page == PAGES_PER_BLOCK || one_in(stream, 4) {
            *next_page = 0;
            return Command { arrival_ns, kind: Kind::Erase, plane, block, page: 0 };
        }
        *next_page += 1;
        Command { arrival_ns, kind: Kind::Program, plane, block, page }
    }
}

fn one_in(stream: &mut Stream, count: u64) -> bool {
    stream.below(count) == 0
}

fn one_of<T: Copy>(stream: &mut Stream, choices: &[T]) -> T {
    choices[stream.below(choices.len() as u64) as usize]
}
