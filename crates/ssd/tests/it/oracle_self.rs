//! Checks the second implementation itself: the model's worked examples and hand calculations.

use reprieve_base::Dur;
use reprieve_nand::{
    EraseMode, EraseResume, PageOrder, PageTypes, ProgramSuspension, Restore, ResumeAt, Retention,
    SameBlock, Suspension, Timing, VthReached,
};

use super::oracle::{Command, Die, Kind, Outcome, Policy, run};
use super::oracle_gen::{Case, PAGES_PER_BLOCK, random_case};

const POLICIES: [Policy; 4] = [Policy::Fifo, Policy::Rps, Policy::Per, Policy::Pe0];

/// Wu and He, FAST'12, table 1: single-level cells.
fn slc() -> Timing {
    let us = Dur::from_us;
    Timing {
        command: Dur::ZERO,
        bus: us(20),
        read: us(10),
        program_iterations: 5,
        program_pulse: us(20),
        verify: us(8),
        erase: us(1_500),
        erase_segments: 1,
        erase_verify: us(8),
        voltage_reset: us(4),
        buffer: us(3),
        suspend_overhead: Dur::ZERO,
        erase_suspend_overhead: Dur::ZERO,
        ..Timing::default()
    }
}

/// Wu and He, FAST'12, table 1: multi-level cells.
fn mlc() -> Timing {
    let us = Dur::from_us;
    Timing {
        bus: us(40),
        read: us(25),
        program_iterations: 15,
        verify: us(24),
        erase: us(3_300),
        erase_verify: us(24),
        ..slc()
    }
}

fn pes(program: ProgramSuspension) -> Suspension {
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
        same_block: SameBlock::Block,
        retention: Retention::NONE,
        ..Suspension::default()
    }
}

const IPS: ProgramSuspension = ProgramSuspension::Ips;
const IPC: ProgramSuspension = ProgramSuspension::Ipc;

/// A program of block 0, an erase of block 1 or a read of block 2, where no two get in their way.
fn at_us(arrival_us: u64, kind: Kind) -> Command {
    let block = match kind {
        Kind::Program => 0,
        Kind::Erase => 1,
        Kind::Read => 2,
    };
    Command { arrival_ns: arrival_us * 1_000, kind, plane: 0, block, page: 0 }
}

fn program_then_reads(reads_us: &[u64]) -> Vec<Command> {
    let reads = reads_us.iter().map(|&us| at_us(us, Kind::Read));
    std::iter::once(at_us(0, Kind::Program)).chain(reads).collect()
}

fn erase_then_reads(reads_us: &[u64]) -> Vec<Command> {
    let reads = reads_us.iter().map(|&us| at_us(us, Kind::Read));
    std::iter::once(at_us(0, Kind::Erase)).chain(reads).collect()
}

/// Completions in whole microseconds under RPS, in input order.
fn done_us(timing: &Timing, suspension: &Suspension, commands: &[Command]) -> Vec<u64> {
    limited_us(timing, suspension, None, commands)
}

fn limited_us(
    timing: &Timing,
    suspension: &Suspension,
    limit: Option<u32>,
    commands: &[Command],
) -> Vec<u64> {
    let outcomes = run(timing, suspension, Policy::Rps, limit, 1, commands);
    assert!(outcomes.iter().all(|outcome| outcome.completion_ns % 1_000 == 0), "{outcomes:?}");
    outcomes.iter().map(|outcome| outcome.completion_ns / 1_000).collect()
}

#[test]
fn the_worked_examples_of_a_program() {
    let commands = program_then_reads(&[61]);
    assert_eq!(done_us(&slc(), &pes(ProgramSuspension::None), &commands), [160, 190]);
    assert_eq!(done_us(&slc(), &pes(IPS), &commands), [193, 98]);
    assert_eq!(done_us(&slc(), &pes(IPC), &commands), [218, 95]);
    assert_eq!(done_us(&mlc(), &pes(IPS), &commands), [768, 149]);
    assert_eq!(done_us(&mlc(), &pes(IPC), &commands), [773, 130]);

    let fifo = run(&slc(), &pes(IPC), Policy::Fifo, None, 1, &commands);
    let want = |start_us: u64, done_us: u64| Outcome {
        start_ns: start_us * 1_000,
        completion_ns: done_us * 1_000,
        suspensions: 0,
    };
    assert_eq!(fifo, [want(0, 160), want(160, 190)]);
    // A page program with an array time of tR, and with none: 20 + 10 and 20; the read waits.
    let late = program_then_reads(&[19]);
    let per = run(&slc(), &pes(IPC), Policy::Per, None, 1, &late);
    assert_eq!(per, [want(0, 30), want(30, 60)]);
    let pe0 = run(&slc(), &pes(IPC), Policy::Pe0, None, 1, &late);
    assert_eq!(pe0, [want(0, 20), want(20, 50)]);
}

#[test]
fn the_worked_example_of_an_erase() {
    let outcomes = run(&slc(), &pes(IPS), Policy::Rps, None, 1, &erase_then_reads(&[500, 900]));
    let done: Vec<u64> = outcomes.iter().map(|outcome| outcome.completion_ns).collect();
    assert_eq!(done, [1_584_000, 534_000, 934_000]);
    assert_eq!(outcomes[0].suspensions, 2);
    assert_eq!([outcomes[1].start_ns, outcomes[2].start_ns], [504_000, 904_000]);
}

#[test]
fn a_boundary_belongs_to_neither_phase() {
    // Data in ends at 20, the first pulse at 40, its verify at 48: the read goes at once, and the
    // program is 30 + 3 late.
    for read_us in [20, 40, 48] {
        for program in [IPS, IPC] {
            let done = done_us(&slc(), &pes(program), &program_then_reads(&[read_us]));
            assert_eq!(done, [193, read_us + 30]);
        }
    }
    // The pulse of the erase ends at 1500: no set-up.
    assert_eq!(done_us(&slc(), &pes(IPS), &erase_then_reads(&[1_500])), [1_538, 1_530]);
    // At the last end the program is complete, and nothing was suspended.
    let outcomes = run(&slc(), &pes(IPC), Policy::Rps, None, 1, &program_then_reads(&[157, 160]));
    assert_eq!((outcomes[0].completion_ns, outcomes[0].suspensions), (160_000, 0));
}

#[test]
fn within_the_reset_a_phase_ends_by_itself() {
    // The pulse from 20 to 40 resets from 36 on. At 35 it is cancelled: free at 39, read to 69,
    // restore to 72, verify to 80, and five whole iterations of 28 to 220.
    assert_eq!(done_us(&slc(), &pes(IPC), &program_then_reads(&[35])), [220, 69]);
    assert_eq!(done_us(&slc(), &pes(IPC), &program_then_reads(&[36])), [193, 70]);
    // The erase pulse resets from 1496 on. At 1495: free at 1499, read to 1529, set-up to 1533,
    // 5 left of the pulse to 1538, verify to 1546.
    assert_eq!(done_us(&slc(), &pes(IPS), &erase_then_reads(&[1_495])), [1_546, 1_529]);
    assert_eq!(done_us(&slc(), &pes(IPS), &erase_then_reads(&[1_496])), [1_538, 1_530]);
    // A reset longer than the verify: all of it lies within its reset (verify from 40 to 48).
    let long = Timing { voltage_reset: Dur::from_us(9), ..slc() };
    assert_eq!(done_us(&long, &pes(IPC), &program_then_reads(&[41])), [193, 78]);
}

#[test]
fn the_target_of_a_cancelled_pulse() {
    // Reached: cancelled at 61, free at 65, read to 95, restore to 98, verify to 106, 3 x 28.
    let always = Suspension { vth_reached: VthReached::Always, ..pes(IPC) };
    assert_eq!(done_us(&slc(), &always, &program_then_reads(&[61])), [190, 95]);
    // With an elapsed share of 13/20 both verdicts occur over the seeds, and nothing between.
    let proportional = Suspension { vth_reached: VthReached::Proportional, ..pes(IPC) };
    let reached = (0..10_000)
        .filter(|&seed| {
            let commands = program_then_reads(&[61]);
            let outcome = run(&slc(), &proportional, Policy::Rps, None, seed, &commands)[0];
            assert!([190_000, 218_000].contains(&outcome.completion_ns), "{outcome:?}");
            outcome.completion_ns == 190_000
        })
        .count();
    // The pulse runs from 48: share 0.65, standard deviation 48 of 10,000; five of them allowed.
    assert!(reached.abs_diff(6_500) < 240, "{reached}");
}

#[test]
fn a_restore_is_never_broken_off() {
    // The second read meets the restore from 98 to 101: it takes effect there, and again costs 3.
    assert_eq!(done_us(&slc(), &pes(IPS), &program_then_reads(&[61, 99])), [226, 98, 131]);
    // Without a shadow buffer the restore is a page over the channel: 98 to 118.
    let bare = Suspension { shadow_buffer: false, ..pes(IPS) };
    assert_eq!(done_us(&slc(), &bare, &program_then_reads(&[61])), [210, 98]);
    // The erase's set-up from 534 to 538, as atomic: read to 568, set-up to 572, 1000, 8.
    assert_eq!(done_us(&slc(), &pes(IPS), &erase_then_reads(&[500, 535])), [1_580, 534, 568]);
}

#[test]
fn the_ways_to_resume_an_erase() {
    let with = |erase_resume| Suspension { erase_resume, ..pes(IPS) };
    let (redo, restart) = (with(EraseResume::RedoPhase), with(EraseResume::Restart));
    // Broken off at 500, free at 504, read to 534, then the whole 1500 + 8.
    assert_eq!(done_us(&slc(), &redo, &erase_then_reads(&[500])), [2_042, 534]);
    assert_eq!(done_us(&slc(), &restart, &erase_then_reads(&[500])), [2_042, 534]);
    // At the pulse's end: read to 1530, then 8, or 1508.
    assert_eq!(done_us(&slc(), &redo, &erase_then_reads(&[1_500])), [1_538, 1_530]);
    assert_eq!(done_us(&slc(), &restart, &erase_then_reads(&[1_500])), [3_038, 1_530]);
    // In the verify: broken off at 1502, free at 1506, read to 1536, then 8, 8 or 1508.
    assert_eq!(done_us(&slc(), &pes(IPS), &erase_then_reads(&[1_502])), [1_544, 1_536]);
    assert_eq!(done_us(&slc(), &redo, &erase_then_reads(&[1_502])), [1_544, 1_536]);
    assert_eq!(done_us(&slc(), &restart, &erase_then_reads(&[1_502])), [3_044, 1_536]);
}

#[test]
fn resets_outside_the_phases() {
    let outside = |program| Suspension { reset_inside_phase: false, ..pes(program) };
    // The pulse to 40, broken off at 38: free at 42, read to 72, restore to 75, verify to 83, and
    // five iterations of 28.
    assert_eq!(done_us(&slc(), &outside(IPC), &program_then_reads(&[38])), [223, 72]);
    assert_eq!(done_us(&slc(), &outside(IPS), &program_then_reads(&[38])), [193, 70]);
    // The last verify at 159, past its end at 160: free at 163, read to 193, 3, 8.
    assert_eq!(done_us(&slc(), &outside(IPC), &program_then_reads(&[159])), [204, 193]);
    // The erase pulse with 1 left: free at 1503, read to 1533, set-up 4, 1, verify 8.
    assert_eq!(done_us(&slc(), &outside(IPS), &erase_then_reads(&[1_499])), [1_546, 1_533]);
}

#[test]
fn an_erase_in_segments() {
    let timing = Timing { erase_segments: 5, ..slc() };
    let with = |erase_mode, erase_resume| Suspension { erase_mode, erase_resume, ..pes(IPS) };
    let done = |suspension: &Suspension, reads: &[u64]| {
        done_us(&timing, suspension, &erase_then_reads(reads))
    };
    let (exact, redo) = (EraseResume::Exact, EraseResume::RedoPhase);
    // Segments of 300. At 500 the second is broken off: free at 504, read to 534, then set-up and
    // 1000, or four segments; the verify.
    assert_eq!(done(&with(EraseMode::Immediate, exact), &[500]), [1_546, 534]);
    assert_eq!(done(&with(EraseMode::Immediate, redo), &[500]), [1_742, 534]);
    // Within its reset it ends, and the third needs no set-up.
    assert_eq!(done(&with(EraseMode::Immediate, exact), &[597]), [1_538, 630]);
    // Deferred to 600: read to 630, 900, 8. In the verify it is too late.
    assert_eq!(done(&with(EraseMode::Deferred, exact), &[500]), [1_538, 630]);
    assert_eq!(done(&with(EraseMode::Deferred, exact), &[1_501]), [1_508, 1_538]);
    let restart = with(EraseMode::Deferred, EraseResume::Restart);
    assert_eq!(done(&restart, &[500]), [2_138, 630]);
    // Up to 550 immediate: 500 to 534, set-up to 538, the 100 left of the second to 638. The read
    // of 560 waits for that, to 668; 900, 8.
    let timeout = with(EraseMode::Timeout(Dur::from_us(550)), exact);
    assert_eq!(done(&timeout, &[500, 560]), [1_576, 534, 668]);
    assert_eq!(done(&timeout, &[549]), [1_546, 583]);
    assert_eq!(done(&timeout, &[550]), [1_538, 630]);
}

#[test]
fn restores_that_are_broken_off() {
    let undo = Suspension { restore: Restore::Interruptible, ..pes(IPS) };
    // The restore from 98 on, broken off at 99: read to 129, restore 3, verify 8, 3 x 28.
    assert_eq!(done_us(&slc(), &undo, &program_then_reads(&[61, 99])), [224, 98, 129]);
    let bare = Suspension { shadow_buffer: false, ..undo };
    // A page over the channel from 98 to 118 is not: read to 148, 20, 8, 3 x 28.
    assert_eq!(done_us(&slc(), &bare, &program_then_reads(&[61, 99])), [260, 98, 148]);
    // The set-up from 534 on, broken off at 535: free at 539, read to 569, 4, 1000, 8.
    assert_eq!(done_us(&slc(), &undo, &erase_then_reads(&[500, 535])), [1_581, 534, 569]);
}

#[test]
fn a_read_in_between_frees_the_array_when_it_is_sensed() {
    let early = Suspension { resume_at: ResumeAt::ArrayRead, ..pes(IPS) };
    // Sensed at 78, and the program goes on: restore to 81, verify to 89, 3 x 28.
    assert_eq!(done_us(&slc(), &early, &program_then_reads(&[61])), [173, 98]);
    // The second is sensed at 88 and takes the register at 98.
    assert_eq!(done_us(&slc(), &early, &program_then_reads(&[61, 62])), [193, 98, 118]);
    let bare = Suspension { shadow_buffer: false, ..early };
    assert_eq!(done_us(&slc(), &bare, &program_then_reads(&[61])), [210, 98]);
    // Without a suspension, one after the other.
    let reads = [at_us(0, Kind::Read), at_us(0, Kind::Read)];
    assert_eq!(done_us(&slc(), &early, &reads), [30, 60]);
    // Transfers of 300: the program is done at 453, the page has left at 742. The read of 460 is
    // sensed at 470 and its page leaves after the first; the next program waits for both.
    let slow = Timing { bus: Dur::from_us(300), ..slc() };
    let next = Command { page: 1, ..at_us(461, Kind::Program) };
    let commands = [at_us(0, Kind::Program), at_us(420, Kind::Read), at_us(460, Kind::Read), next];
    assert_eq!(done_us(&slow, &early, &commands), [453, 742, 1_042, 1_482]);
}

#[test]
fn an_iteration_is_atomic() {
    // Iterations of 28 end at 48, 76, 104, 132 and 160; the part adds 2 to a suspension there.
    let timing = Timing { suspend_overhead: Dur::from_us(2), ..slc() };
    let suspension = pes(ProgramSuspension::Iteration);
    let done = |read_us| done_us(&timing, &suspension, &program_then_reads(&[read_us]));
    // Effect at 78, read to 108, restore to 111, three iterations of 28.
    assert_eq!(done(49), [195, 108]);
    assert_eq!(done(76), [195, 108]);
    // During data in: effect at 20 without overhead, read to 50, restore to 53, 5 x 28.
    assert_eq!(done(10), [193, 50]);
    // In the last one the program ends first.
    assert_eq!(done(140), [160, 190]);
}

#[test]
fn a_read_of_the_block_at_work_waits_for_its_end() {
    let own = Command { block: 0, ..at_us(61, Kind::Read) };
    // Alone it suspends nothing.
    assert_eq!(done_us(&slc(), &pes(IPS), &[at_us(0, Kind::Program), own]), [160, 190]);
    // Another read overtakes it, and the program still goes on before it.
    let commands = [at_us(0, Kind::Program), own, at_us(62, Kind::Read)];
    assert_eq!(done_us(&slc(), &pes(IPS), &commands), [193, 223, 98]);
    // The same block number of another plane is another block.
    let far = Command { plane: 1, ..own };
    assert_eq!(done_us(&slc(), &pes(IPS), &[at_us(0, Kind::Program), far]), [193, 98]);
}

#[test]
fn a_program_may_hold_less_than_its_block() {
    // The program of page 1 of block 0; a read comes at 61, whose page is held or not.
    let typed = |count| {
        let (read, program_iterations) = ([Dur::from_us(10); 4], [5; 4]);
        let types = PageTypes { count, order: PageOrder::Modulo, read, program_iterations };
        Timing { page_types: Some(types), ..slc() }
    };
    let done = |timing: &Timing, same_block, page| {
        let program = Command { page: 1, ..at_us(0, Kind::Program) };
        let read = Command { block: 0, page, ..at_us(61, Kind::Read) };
        done_us(timing, &Suspension { same_block, ..pes(IPS) }, &[program, read])
    };
    let (held, open) = ([160, 190], [193, 98]);
    for page in 0..6 {
        let when = |is_held: bool| if is_held { held } else { open };
        assert_eq!(done(&slc(), SameBlock::Block, page), held);
        for rule in [SameBlock::Wordline, SameBlock::Page] {
            assert_eq!(done(&slc(), rule, page), when(page == 1), "{rule:?} {page}");
        }
        // Two or three bits a cell: pages 0 and 1 share a wordline, or 0 to 2.
        assert_eq!(done(&typed(2), SameBlock::Wordline, page), when(page <= 1));
        assert_eq!(done(&typed(3), SameBlock::Wordline, page), when(page <= 2));
        assert_eq!(done(&typed(3), SameBlock::Page, page), when(page == 1));
        // An erase holds its block: free of it at 1508.
        let rule = Suspension { same_block: SameBlock::Page, ..pes(IPS) };
        let read = Command { block: 1, page, ..at_us(61, Kind::Read) };
        let erase = at_us(0, Kind::Erase);
        assert_eq!(done_us(&slc(), &rule, &[erase, read]), [1_508, 1_538]);
    }
}

#[test]
fn the_guards_against_starvation() {
    // Once only: the second read waits for the end at 193.
    let once = Suspension { max_per_program: Some(1), ..pes(IPS) };
    assert_eq!(done_us(&slc(), &once, &program_then_reads(&[61, 99])), [193, 98, 223]);
    // 20 of progress from the resume at 95, so the request of the read at 96 comes at 115. Restore
    // to 98, verify to 106, pulse broken off at 115, free at 119, read to 149, restore to 152,
    // verify to 160, 4 x 28.
    let slow = Suspension { min_progress: Dur::from_us(20), ..pes(IPC) };
    assert_eq!(done_us(&slc(), &slow, &program_then_reads(&[61, 96])), [272, 95, 149]);
}

#[test]
fn the_limit_of_the_write_queue() {
    let program = |arrival_us, page| Command { page, ..at_us(arrival_us, Kind::Program) };
    // Two programs wait at 61: nothing is suspended, and one of them goes ahead of the read. The
    // other is below the limit and waits for the read.
    let commands = [program(0, 0), program(1, 1), program(2, 2), at_us(61, Kind::Read)];
    assert_eq!(limited_us(&slc(), &pes(IPS), Some(2), &commands), [160, 320, 510, 350]);
    // Suspended from 68 on when the second program queues at 70: resumes at 98, as soon as the
    // read in hand is done. The read of 71 waits for that end at 193 and for a program to 353.
    let commands = [
        program(0, 0),
        program(1, 1),
        at_us(61, Kind::Read),
        program(70, 2),
        at_us(71, Kind::Read),
    ];
    assert_eq!(limited_us(&slc(), &pes(IPS), Some(2), &commands), [193, 353, 98, 543, 383]);
    // The second program queues between request and effect: the request stands, the program is
    // suspended at 68 and resumes there: 3, verify 8, 3 x 28.
    let commands = [program(0, 0), program(1, 1), at_us(61, Kind::Read), program(65, 2)];
    assert_eq!(limited_us(&slc(), &pes(IPS), Some(2), &commands), [163, 323, 353, 513]);
    // With IPC the reset has begun by then: the array is free at 65, and the program resumes
    // there: 3, verify 8, pulse 20, verify 8, 3 x 28.
    assert_eq!(limited_us(&slc(), &pes(IPC), Some(2), &commands), [188, 348, 378, 538]);
}

#[test]
fn a_cache_register_frees_the_array() {
    let timing = Timing { cache_register: true, ..slc() };
    // tR 10, data out 20: the second read's data waits for the register from 20 to 30, and the
    // third read's tR begins at 30.
    let reads = [at_us(0, Kind::Read), at_us(0, Kind::Read), at_us(0, Kind::Read)];
    let outcomes = run(&timing, &pes(IPS), Policy::Rps, None, 1, &reads);
    let starts: Vec<u64> = outcomes.iter().map(|outcome| outcome.start_ns / 1_000).collect();
    assert_eq!(starts, [0, 10, 30]);
    assert_eq!(done_us(&timing, &pes(IPS), &reads), [30, 50, 70]);
    // With a command of 1 the channel is taken until 31: no overlap is left.
    let command = Timing { command: Dur::from_us(1), ..timing };
    assert_eq!(done_us(&command, &pes(IPS), &reads), [31, 62, 93]);
    // The program resumes at 78 from the shadow buffer, or at 98 over the channel.
    let commands = program_then_reads(&[61]);
    assert_eq!(done_us(&timing, &pes(IPS), &commands), [173, 98]);
    let bare = Suspension { shadow_buffer: false, ..pes(IPS) };
    assert_eq!(done_us(&timing, &bare, &commands), [210, 98]);
    // A new program waits for the data out, an erase does not.
    let program = [at_us(0, Kind::Read), at_us(5, Kind::Program)];
    assert_eq!(done_us(&timing, &pes(IPS), &program), [30, 190]);
    let erase = [at_us(0, Kind::Read), at_us(5, Kind::Erase)];
    assert_eq!(done_us(&timing, &pes(IPS), &erase), [30, 1_518]);
}

#[test]
fn a_command_occupies_the_channel() {
    let timing = Timing { command: Dur::from_us(2), ..slc() };
    // Read 2 + 10 + 20; program 2 + 20 + 140; a read at 21 takes effect at 22.
    assert_eq!(done_us(&timing, &pes(IPS), &program_then_reads(&[21])), [197, 54]);
    // During the command of an erase: effect at 2, read to 34, set-up to 38, 1500, 8.
    assert_eq!(done_us(&timing, &pes(IPS), &erase_then_reads(&[1])), [1_546, 34]);
    let redo = Suspension { erase_resume: EraseResume::RedoPhase, ..pes(IPS) };
    assert_eq!(done_us(&timing, &redo, &erase_then_reads(&[1])), [1_542, 34]);
}

/// Every nanosecond looked at, so that no instant which matters can be left out.
fn run_every_ns(case: &Case, policy: Policy, seed: u64) -> Vec<Outcome> {
    let (timing, suspension) = (&case.timing, &case.suspension);
    let limit = case.write_queue_limit;
    let mut die = Die::new(timing, suspension, policy, limit, seed, &case.commands);
    let mut now_ns = 0;
    while die.incomplete > 0 {
        die.live_through(now_ns);
        now_ns += 1;
    }
    die.outcomes
}

#[test]
fn no_instant_that_matters_is_left_out() {
    let mut compared = 0;
    for seed in 0..4_000 {
        let case = random_case(seed);
        if case.timing.erase >= Dur::from_ns(1_000) {
            continue;
        }
        for policy in POLICIES {
            let limit = case.write_queue_limit;
            let (timing, suspension) = (&case.timing, &case.suspension);
            let outcomes = run(timing, suspension, policy, limit, seed, &case.commands);
            assert_eq!(outcomes, run_every_ns(&case, policy, seed), "seed {seed}, {policy:?}");
        }
        compared += 1;
    }
    assert!(compared > 800, "only {compared} cases with phases short enough");
}

#[test]
fn fifo_follows_lindleys_recursion() {
    // A single server without a cache register: begins at the later of arrival and last end.
    for seed in 0..2_000 {
        let case = random_case(seed);
        let timing = Timing { cache_register: false, ..case.timing };
        let pass_ns = timing.program_pulse.ns() + timing.verify.ns();
        let (command_ns, bus_ns) = (timing.command.ns(), timing.bus.ns());
        let outcomes = run(&timing, &case.suspension, Policy::Fifo, None, seed, &case.commands);
        let mut free_ns = 0;
        for (command, outcome) in case.commands.iter().zip(&outcomes) {
            let start_ns = free_ns.max(command.arrival_ns);
            free_ns = start_ns + command_ns;
            free_ns += match command.kind {
                Kind::Read => timing.read.ns() + bus_ns,
                Kind::Program => bus_ns + u64::from(timing.program_iterations) * pass_ns,
                Kind::Erase => timing.erase.ns() + timing.erase_verify.ns(),
            };
            let want = Outcome { start_ns, completion_ns: free_ns, suspensions: 0 };
            assert_eq!(*outcome, want, "seed {seed}");
        }
    }
}

#[test]
fn generated_commands_are_legal_and_meet_every_situation() {
    let (mut suspensions, mut ties, mut cached) = (0u64, 0u64, 0u64);
    let mut modes = [0u64; 5];
    for seed in 0..2_000 {
        let case = random_case(seed);
        assert!((5..=60).contains(&case.commands.len()));
        assert!(case.commands.is_sorted_by_key(|command| command.arrival_ns));
        let mut next_page = std::collections::BTreeMap::new();
        for command in &case.commands {
            assert!(command.page < PAGES_PER_BLOCK, "seed {seed}");
            let page = next_page.entry((command.plane, command.block)).or_insert(0);
            match command.kind {
                Kind::Read => {}
                Kind::Erase => *page = 0,
                Kind::Program => {
                    assert_eq!(command.page, *page, "seed {seed}");
                    *page += 1;
                }
            }
        }
        let pairs = case.commands.windows(2);
        ties += pairs.filter(|pair| pair[0].arrival_ns == pair[1].arrival_ns).count() as u64;
        cached += u64::from(case.timing.cache_register);
        let Suspension { erase_mode, restore, resume_at, .. } = case.suspension;
        let met = [
            case.timing.erase_segments > 1,
            matches!(erase_mode, EraseMode::Timeout(_)),
            !case.suspension.reset_inside_phase,
            restore == Restore::Interruptible,
            resume_at == ResumeAt::ArrayRead,
        ];
        modes.iter_mut().zip(met).for_each(|(count, met)| *count += u64::from(met));
        let limit = case.write_queue_limit;
        let (timing, suspension) = (&case.timing, &case.suspension);
        let outcomes = run(timing, suspension, Policy::Rps, limit, seed, &case.commands);
        suspensions += outcomes.iter().map(|outcome| u64::from(outcome.suspensions)).sum::<u64>();
    }
    assert!(suspensions > 2_000, "{suspensions} suspensions");
    assert!(ties > 2_000, "{ties} equal arrivals");
    assert!(modes.iter().all(|&count| count > 400), "{modes:?} cases with each mode");
    assert!((900..1_100).contains(&cached), "{cached} cases with a cache register");
}
