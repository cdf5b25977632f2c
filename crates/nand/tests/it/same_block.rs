//! Which reads a program keeps waiting: those of its block, of its wordline, or of its own pages.

use reprieve_base::{Dur, PageAddress, Time};
use reprieve_nand::{
    Command, Die, Elapsed, MultiPlane, PageOrder, PageTypes, Parallelism, ProgramSuspension,
    Refusal, SameBlock, Suspend, Suspension, Timing, Wordline,
};

use crate::device::{page, parallel_die, part, suspending};

const IPS: ProgramSuspension = ProgramSuspension::Ips;
const RULES: [SameBlock; 3] = [SameBlock::Block, SameBlock::Wordline, SameBlock::Page];

const fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

fn ruled(same_block: SameBlock) -> Suspension {
    Suspension { same_block, ..suspending(IPS) }
}

/// A part of pages of several types, which differ in nothing.
fn typed(count: u32, order: PageOrder) -> Timing {
    let timing = part();
    let (read, program_iterations) = ([timing.read; 4], [timing.program_iterations; 4]);
    let types = PageTypes { count, order, read, program_iterations };
    Timing { page_types: Some(types), ..timing }
}

/// Pages of a block that cannot be read; the others can.
fn held(die: &Die, now_ns: u64, plane: u32, block: u32) -> Vec<u32> {
    let is_held = |number: &u32| {
        let read = Command::Read(page(plane, block, *number));
        let answer = die.clone().start(at(now_ns), read);
        let of_die = die.bars_read(page(plane, block, *number));
        assert_eq!(answer.is_err(), of_die, "{answer:?}");
        assert!(matches!(answer, Ok(_) | Err(Refusal::SuspendedBlock)), "{answer:?}");
        of_die
    };
    (0..4).filter(is_held).collect()
}

/// Begins an operation at 0 and suspends it as soon as its first pulse has begun.
fn suspended(mut die: Die, command: Command, others: &[PageAddress]) -> (Die, u64) {
    die.start_together(at(0), command, others).expect("it is idle");
    let now = at(4_300);
    let Ok(Suspend::FreeAt(free_at)) = die.suspend(now) else { panic!("it can be suspended") };
    assert_eq!(die.elapse(free_at), Elapsed::Suspended);
    let free_ns = (free_at - Time::ZERO).ns();
    (die, free_ns)
}

/// The pages of its block that the program of a page holds, under each rule.
fn holds(timing: Timing, number: u32) -> [Vec<u32>; 3] {
    RULES.map(|rule| {
        // A transfer so long that the first pulse is under way when it is asked for.
        let timing = Timing { bus: Dur::from_ns(4_000 / timing.pages_together() as u64), ..timing };
        let mut die = parallel_die(timing, ruled(rule), Parallelism::NONE);
        die.precondition(0, 1, number);
        let (die, free_ns) = suspended(die, Command::Program(page(0, 1, number)), &[]);
        for (plane, block) in [(0, 0), (1, 1)] {
            assert_eq!(held(&die, free_ns, plane, block), [0; 0]);
        }
        held(&die, free_ns, 0, 1)
    })
}

#[test]
fn a_program_holds_its_block_its_wordline_or_its_page() {
    let all = vec![0, 1, 2, 3];
    // A page that shares no cells with others is a wordline by itself.
    assert_eq!(holds(part(), 2), [all.clone(), vec![2], vec![2]]);
    let two = typed(2, PageOrder::Modulo);
    assert_eq!(holds(two, 1), [all.clone(), vec![0, 1], vec![1]]);
    assert_eq!(holds(two, 2), [all.clone(), vec![2, 3], vec![2]]);
    let three = typed(3, PageOrder::Modulo);
    assert_eq!(holds(three, 0), [all.clone(), vec![0, 1, 2], vec![0]]);
    assert_eq!(holds(three, 3), [all.clone(), vec![3], vec![3]]);
    // Programmed together, the pages of a wordline are held together.
    let wordline = Some(Wordline { pages: 2, load_gap: Dur::ZERO });
    let together = Timing { wordline, ..part() };
    assert_eq!(holds(together, 2), [all, vec![2, 3], vec![2, 3]]);
}

#[test]
fn an_erase_holds_its_block_and_a_program_inside_it_what_the_rule_says() {
    for (rule, inside) in RULES.into_iter().zip([vec![0, 1, 2, 3], vec![1], vec![1]]) {
        let nesting = Suspension { program_in_erase: true, ..ruled(rule) };
        let die = parallel_die(part(), nesting, Parallelism::NONE);
        let (mut die, _) = suspended(die, Command::Erase(page(0, 1, 0)), &[]);
        assert_eq!(held(&die, 5_000, 0, 1), [0, 1, 2, 3]);
        die.precondition(0, 0, 1);
        die.start(at(5_000), Command::Program(page(0, 0, 1))).expect("it fits inside");
        // Command 100, data 2000, the first pulse from 7100 to 7400.
        assert_eq!(die.suspend(at(7_200)), Ok(Suspend::FreeAt(at(7_400))));
        assert_eq!(die.elapse(at(7_400)), Elapsed::Suspended);
        assert_eq!(held(&die, 7_400, 0, 1), [0, 1, 2, 3], "{rule:?}");
        assert_eq!(held(&die, 7_400, 0, 0), inside, "{rule:?}");
        assert_eq!(held(&die, 7_400, 1, 0), [0; 0], "{rule:?}");
        // Nothing is erased or programmed in a block that is being worked on.
        let erase = Command::Erase(page(0, 0, 0));
        assert_eq!(die.clone().start(at(7_400), erase), Err(Refusal::SuspendedBlock));
    }
}

#[test]
fn each_plane_of_a_command_holds_as_much() {
    let together = Parallelism { multi_plane: MultiPlane::Page, ..Parallelism::NONE };
    let apart = Parallelism { independent_plane_reads: true, plane_suspension: true, ..together };
    for (rule, holds) in RULES.into_iter().zip([vec![0, 1, 2, 3], vec![0, 1], vec![0]]) {
        let timing = typed(2, PageOrder::Modulo);
        let die = parallel_die(timing, ruled(rule), together);
        let program = Command::Program(page(0, 1, 0));
        let (die, free_ns) = suspended(die, program, &[page(1, 2, 0)]);
        for (plane, block, expected) in [(0, 1, &holds), (1, 2, &holds), (1, 1, &vec![])] {
            assert_eq!(held(&die, free_ns, plane, block), *expected, "{rule:?} {plane} {block}");
        }
        // Two pages with one command: neither may be held.
        let both = |number| {
            let read = Command::Read(page(0, 1, number));
            die.clone().start_together(at(free_ns), read, &[page(1, 2, number)]).is_ok()
        };
        let open: Vec<u32> = (0..4).filter(|number| !holds.contains(number)).collect();
        assert_eq!((0..4).filter(|number| both(*number)).collect::<Vec<_>>(), open);
        // One plane stopped apart from the other, which runs on.
        let mut die = parallel_die(timing, ruled(rule), apart);
        die.start_together(at(0), program, &[page(1, 2, 0)]).expect("it is idle");
        assert_eq!(die.suspend_plane(at(4_300), 1), Ok(Suspend::FreeAt(at(4_500))));
        assert_eq!(die.elapse_piece(at(4_500), 1), Elapsed::Suspended);
        assert_eq!(held(&die, 4_500, 1, 2), holds, "{rule:?}");
        assert_eq!(held(&die, 4_500, 1, 1), [0; 0], "{rule:?}");
    }
}

#[test]
fn a_copyback_holds_where_it_writes() {
    for (rule, expected) in RULES.into_iter().zip([vec![0, 1, 2, 3], vec![1], vec![1]]) {
        let mut die = parallel_die(part(), ruled(rule), Parallelism::NONE);
        die.precondition(0, 0, 1);
        let copy = Command::Copyback { from: page(0, 1, 2), to: page(0, 0, 1) };
        // Two commands and the read to 1200, the first pulse to 1500.
        die.start(at(0), copy).expect("it is idle");
        assert_eq!(die.suspend(at(1_300)), Ok(Suspend::FreeAt(at(1_500))));
        assert_eq!(die.elapse(at(1_500)), Elapsed::Suspended);
        assert_eq!(held(&die, 1_500, 0, 0), expected, "{rule:?}");
        // What it has read it needs no more.
        assert_eq!(held(&die, 1_500, 0, 1), [0; 0], "{rule:?}");
    }
}

#[test]
fn every_wordline_has_a_page_of_each_type_in_the_order_of_their_programs() {
    for (count, order) in [
        (2, PageOrder::Modulo),
        (3, PageOrder::Modulo),
        (4, PageOrder::Modulo),
        (3, PageOrder::Interleaved),
    ] {
        let timing = typed(count, order);
        let types = timing.page_types.expect("it has types");
        for number in 0..200 {
            // Pages of its type before it, one by one.
            let before = (0..number).filter(|page| types.of(*page) == types.of(number)).count();
            assert_eq!(timing.wordline_of(number) as usize, before, "{order:?} page {number}");
        }
    }
}
