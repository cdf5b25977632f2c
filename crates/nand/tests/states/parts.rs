//! The parts whose states are visited: every way to suspend, in times of a few nanoseconds.

use reprieve_base::Dur;
use reprieve_nand::{
    EraseLoops, EraseMode, EraseResume, MultiPlane, PageOrder, PageTypes, Parallelism, Part,
    ProgramSuspension, Restore, ResumeAt, Retention, SameBlock, Shape, Suspension, Timing,
    VthReached,
};

/// A part to visit.
pub struct Row {
    pub name: &'static str,
    pub part: Part,
    /// Whether the table of transitions is of such a part.
    pub has_table: bool,
}

fn ns(ns: u64) -> Dur {
    Dur::from_ns(ns)
}

/// Phases whose lengths differ, and of which each has an instant apart from its ends.
fn timing() -> Timing {
    Timing {
        command: ns(1),
        bus: ns(2),
        read: ns(2),
        program_iterations: 2,
        program_pulse: ns(4),
        verify: ns(3),
        erase: ns(6),
        erase_segments: 1,
        erase_verify: ns(3),
        voltage_reset: ns(2),
        buffer: ns(2),
        suspend_overhead: ns(1),
        erase_suspend_overhead: ns(0),
        ..Timing::default()
    }
}

pub fn suspension(program: ProgramSuspension) -> Suspension {
    Suspension {
        program,
        erase: true,
        erase_resume: EraseResume::Exact,
        erase_mode: EraseMode::Immediate,
        reset_inside_phase: true,
        shadow_buffer: true,
        restore: Restore::Atomic,
        resume_at: ResumeAt::DataOut,
        vth_reached: VthReached::Never,
        same_block: SameBlock::Page,
        retention: Retention::NONE,
        ..Suspension::default()
    }
}

const IPS: ProgramSuspension = ProgramSuspension::Ips;
const IPC: ProgramSuspension = ProgramSuspension::Ipc;

/// One plane of two blocks of two pages.
fn one_plane(suspension: Suspension) -> Part {
    Part {
        shape: Shape { planes: 1, blocks_per_plane: 2, pages_per_block: 2 },
        timing: timing(),
        suspension,
        parallelism: Parallelism::NONE,
    }
}

pub fn two_planes(suspension: Suspension, parallelism: Parallelism) -> Part {
    let shape = Shape { planes: 2, blocks_per_plane: 2, pages_per_block: 1 };
    Part { shape, timing: timing(), suspension, parallelism }
}

pub const APART: Parallelism = Parallelism {
    multi_plane: MultiPlane::Page,
    pages_end_together: false,
    independent_plane_reads: true,
    cache_program: false,
    plane_suspension: true,
};

fn row(name: &'static str, part: Part) -> Row {
    Row { name, part, has_table: false }
}

/// The parts of which a user has some, each with rules that no other has.
pub fn rows() -> Vec<Row> {
    [programs(), erases(), buffers(), planes()].into_iter().flatten().collect()
}

/// Ways to suspend a program.
fn programs() -> Vec<Row> {
    vec![
        Row {
            has_table: true,
            ..row(
                "IPS, programs in erases",
                one_plane(Suspension { program_in_erase: true, ..suspension(IPS) }),
            )
        },
        row("IPC", one_plane(suspension(IPC))),
        row(
            "IPC, targets reached, restores that can be broken off",
            one_plane(Suspension {
                vth_reached: VthReached::Always,
                restore: Restore::Interruptible,
                reset_inside_phase: false,
                ..suspension(IPC)
            }),
        ),
        row(
            "iterations, deferred erases, pages over the channel",
            one_plane(Suspension {
                erase_mode: EraseMode::Deferred,
                shadow_buffer: false,
                same_block: SameBlock::Block,
                ..suspension(ProgramSuspension::Iteration)
            }),
        ),
    ]
}

/// Ways to suspend an erase.
fn erases() -> Vec<Row> {
    vec![
        row(
            "erases in loops with a timeout, progress between suspensions",
            Part {
                timing: Timing {
                    erase_loops: EraseLoops::new(&[ns(6), ns(7)]),
                    erase: ns(12),
                    ..timing()
                },
                ..one_plane(Suspension {
                    erase_mode: EraseMode::Timeout(ns(7)),
                    min_progress: ns(5),
                    ..suspension(IPS)
                })
            },
        ),
        row(
            "erases in segments that are done again, pages by type",
            Part {
                timing: Timing {
                    erase_segments: 2,
                    erase: ns(8),
                    erase_suspend_overhead: ns(1),
                    page_types: Some(PageTypes {
                        count: 2,
                        order: PageOrder::Modulo,
                        read: [ns(2); 4],
                        program_iterations: [2; 4],
                    }),
                    ..timing()
                },
                ..one_plane(Suspension {
                    erase_resume: EraseResume::RedoPhase,
                    same_block: SameBlock::Wordline,
                    ..suspension(IPC)
                })
            },
        ),
    ]
}

/// Registers, and several pages at once.
fn buffers() -> Vec<Row> {
    vec![
        row(
            "erases from the beginning, a register in suspensions",
            one_plane(Suspension {
                erase_resume: EraseResume::Restart,
                resume_at: ResumeAt::ArrayRead,
                ..suspension(IPS)
            }),
        ),
        row(
            "a cache register, pages over the channel",
            Part {
                timing: Timing { cache_register: true, bus: ns(6), ..timing() },
                ..one_plane(Suspension {
                    shadow_buffer: false,
                    restore: Restore::Interruptible,
                    ..suspension(IPC)
                })
            },
        ),
        row(
            "two planes with one command",
            Part {
                timing: Timing { bus: ns(4), ..timing() },
                ..two_planes(
                    Suspension {
                        shadow_buffer: false,
                        max_per_program: Some(1),
                        ..suspension(IPS)
                    },
                    Parallelism { multi_plane: MultiPlane::Page, ..Parallelism::NONE },
                )
            },
        ),
    ]
}

/// Several planes or programs at once.
fn planes() -> Vec<Row> {
    vec![
        row(
            "cache programs",
            two_planes(
                Suspension {
                    max_per_program: Some(1),
                    resume_at: ResumeAt::ArrayRead,
                    ..suspension(IPS)
                },
                Parallelism { cache_program: true, ..Parallelism::NONE },
            ),
        ),
        row(
            "independent plane reads, programs in erases",
            two_planes(
                Suspension {
                    program_in_erase: true,
                    max_per_program: Some(1),
                    max_per_erase: Some(1),
                    ..suspension(IPS)
                },
                Parallelism { independent_plane_reads: true, ..Parallelism::NONE },
            ),
        ),
        row(
            "planes that make way by themselves",
            two_planes(
                Suspension { max_per_program: Some(1), max_per_erase: Some(1), ..suspension(IPS) },
                APART,
            ),
        ),
    ]
}

/// Every combination of the ways to suspend, on one plane.
pub fn matrix() -> Vec<Row> {
    let mut all = Vec::new();
    let programs = [IPS, IPC, ProgramSuspension::Iteration];
    let resumes = [EraseResume::Exact, EraseResume::RedoPhase, EraseResume::Restart];
    let modes = [EraseMode::Immediate, EraseMode::Deferred, EraseMode::Timeout(ns(5))];
    for number in 0..27 * 64 {
        let (ways, flags) = (number % 27, number / 27);
        let is = |bit: usize| flags >> bit & 1 == 1;
        let suspension = Suspension {
            erase_resume: resumes[ways / 3 % 3],
            erase_mode: modes[ways / 9],
            reset_inside_phase: is(0),
            shadow_buffer: is(1),
            restore: if is(2) { Restore::Atomic } else { Restore::Interruptible },
            vth_reached: if is(3) { VthReached::Always } else { VthReached::Never },
            resume_at: if is(4) { ResumeAt::DataOut } else { ResumeAt::ArrayRead },
            ..suspension(programs[ways % 3])
        };
        let loops = is(5).then(|| EraseLoops::new(&[ns(5), ns(6)])).flatten();
        let shape = Shape { planes: 1, blocks_per_plane: 2, pages_per_block: 1 };
        let timing = Timing { erase_loops: loops, bus: ns(6), ..timing() };
        all.push(row("of the matrix", Part { shape, timing, ..one_plane(suspension) }));
    }
    all
}
