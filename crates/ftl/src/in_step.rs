//! Victims of planes that collect in parallel, chosen as a set that keeps open blocks aligned.
//!
//! A moved page stays in its plane, so that the open blocks of two planes drift apart by the
//! difference of their moves, whatever the order of programs. The moves are known when the victims
//! are chosen.

use reprieve_policy::victim::BlockView;
use reprieve_policy::work::GcNeed;

use super::blocks::Blocks;
use super::collection::Collection;
use super::page_tables::PageTables;
use super::plane::Victim;

/// Programs of a plane: their first offset in its open block, and their number.
#[derive(Clone, Copy, Debug)]
struct Course {
    from: u32,
    programs: u32,
}

/// A candidate for a victim.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    block: u32,
    course: Course,
    /// Pages gained.
    gain: u32,
}

/// Cost of a set of victims, and the pages gained.
#[derive(Clone, Copy, Debug)]
struct Cost {
    programs: u32,
    gain: u32,
}

impl Cost {
    /// Computes the cost of these courses around blocks of `ring` programs of `together` pages.
    ///
    /// A final distance of open blocks counts as caught up by a later victim with as many valid
    /// pages more: more programs, and fewer pages gained.
    fn of(courses: &[Course], ring: u32, together: u32, gain: u32) -> Cost {
        let (programs, apart) = programs(courses, ring);
        Cost { programs: programs + apart, gain: gain.saturating_sub(apart * together) }
    }

    fn is_below(self, other: Cost) -> bool {
        u64::from(self.programs) * u64::from(other.gain)
            < u64::from(other.programs) * u64::from(self.gain)
    }
}

/// Returns the programs of a die whose planes take these courses around blocks of `ring` programs,
/// where programs at one offset are one; and the final distance of the open blocks.
fn programs(courses: &[Course], ring: u32) -> (u32, u32) {
    let mut offsets: Vec<u32> = courses.iter().map(|course| course.from).collect();
    let (origin, _) = arc(&mut offsets, ring);
    let mut spans: Vec<(u32, u32)> = courses
        .iter()
        .map(|course| ((course.from + ring - origin) % ring, course.programs))
        .collect();
    spans.sort_unstable();
    let (mut together, mut done) = (0, 0);
    for (from, programs) in spans {
        let end = from + programs;
        together += end.saturating_sub(from.max(done));
        done = done.max(end);
    }
    offsets.clear();
    offsets.extend(courses.iter().map(|course| (course.from + course.programs) % ring));
    (together, arc(&mut offsets, ring).1)
}

/// Returns the shortest arc of a ring with all of these points: its start and length.
fn arc(points: &mut Vec<u32>, ring: u32) -> (u32, u32) {
    points.sort_unstable();
    points.dedup();
    let mut before = points[points.len() - 1];
    let mut widest = (0, points[0]);
    for point in &*points {
        // One point leaves the whole ring.
        let gap = (*point + ring - before - 1) % ring + 1;
        if gap > widest.0 {
            widest = (gap, *point);
        }
        before = *point;
    }
    (widest.1, ring - widest.0)
}

impl Collection {
    /// Chooses victims for planes of a die with the die's need, and with the first one of a die, if
    /// they `may_join`, for planes that will need one soon.
    pub(super) fn begin_set(
        &mut self,
        die: u32,
        need: GcNeed,
        may_join: bool,
        tables: &mut PageTables,
    ) {
        let of_die = tables.blocks.numbering.planes_of(die);
        let is_needy = |plane: &u32| {
            let has_begun = tables.blocks.victim_of(*plane).is_some();
            !has_begun && self.need_of_plane(*plane, &tables.blocks) == need
        };
        let mut planes: Vec<u32> = of_die.clone().filter(is_needy).collect();
        if planes.is_empty() {
            return;
        }
        let needy = planes.len();
        if may_join {
            let joins =
                |plane: &u32| !planes.contains(plane) && self.may_join(*plane, &tables.blocks);
            let joining: Vec<u32> = of_die.filter(joins).collect();
            planes.extend(joining);
        }
        self.begin_in_step(die, &planes, tables);
        for plane in &planes[needy..] {
            self.jobs[*plane as usize].joined = tables.blocks.victim_of(*plane).is_some();
        }
    }

    /// Starts victims on the given planes of a die that have one.
    pub(super) fn begin_in_step(&mut self, die: u32, planes: &[u32], tables: &mut PageTables) {
        // Failed blocks, and blocks with little wear, precede the choice of a policy.
        let has_own = |plane: &&u32| {
            let state = &tables.blocks.planes[**plane as usize];
            !state.failed.is_empty() || state.unworn.is_some()
        };
        let (own, free): (Vec<u32>, Vec<u32>) = planes.iter().partition(has_own);
        for plane in own {
            if let Some(victim) = tables.blocks.choose_victim(plane, false) {
                self.job_begins(plane, victim, tables);
            }
        }
        for (plane, victim) in victims_in_step(die, &free, &tables.blocks) {
            take(plane, victim, &mut tables.blocks);
            self.job_begins(plane, victim, tables);
        }
    }
}

/// Returns planes and victims: the set with the fewest programs per page gained.
fn victims_in_step(die: u32, planes: &[u32], blocks: &Blocks) -> Vec<(u32, u32)> {
    let Some(first) = planes.first() else { return Vec::new() };
    let together = blocks.planes[*first as usize].together;
    let ring = blocks.numbering.pages_per_block() / together;
    let of_plane = |plane: &u32| (*plane, candidates(*plane, blocks));
    let mut candidates: Vec<_> = planes.iter().map(of_plane).collect();
    candidates.retain(|(_, all)| !all.is_empty());
    let begins = |plane: &u32| candidates.iter().any(|(begins, _)| begins == plane);
    let others = blocks.numbering.planes_of(die).filter(|plane| !begins(plane));
    let under_way: Vec<Course> = others.map(|plane| course(plane, blocks)).collect();
    let mut best: Option<(Cost, Vec<(u32, u32)>)> = None;
    // Each plane in turn takes its emptiest block, and the others take matching ones.
    for leader in 0..candidates.len() {
        let mut courses = under_way.clone();
        let (mut gain, mut chosen) = (0, Vec::new());
        let order = std::iter::once(leader).chain((0..candidates.len()).filter(|at| *at != leader));
        for at in order {
            let (plane, all) = &candidates[at];
            let may_be = if at == leader && candidates.len() > 1 { &all[..1] } else { &all[..] };
            let mut found: Option<(Cost, Candidate)> = None;
            for candidate in may_be {
                courses.push(candidate.course);
                let cost = Cost::of(&courses, ring, together, gain + candidate.gain);
                courses.pop();
                if found.is_none_or(|(least, _)| cost.is_below(least)) {
                    found = Some((cost, *candidate));
                }
            }
            let (_, candidate) = found.expect("a plane without candidates was left out");
            courses.push(candidate.course);
            gain += candidate.gain;
            chosen.push((*plane, candidate.block));
        }
        let cost = Cost::of(&courses, ring, together, gain);
        if best.as_ref().is_none_or(|(least, _)| cost.is_below(*least)) {
            best = Some((cost, chosen));
        }
    }
    best.map_or_else(Vec::new, |(_, chosen)| chosen)
}

/// Returns full blocks of a plane that gain programs, the emptiest first: one for each number of
/// programs.
fn candidates(plane: u32, blocks: &Blocks) -> Vec<Candidate> {
    let pages = blocks.numbering.pages_per_block();
    let here = course(plane, blocks);
    let together = blocks.planes[plane as usize].together;
    let of_block = |block| {
        let gain = blocks.index.gain(block).filter(|gain| *gain > 0)?;
        let programs = (pages - gain).div_ceil(together);
        // One whose pages, padded, fill a block would be moved for ever.
        (programs * together < pages).then_some(Candidate {
            block,
            course: Course { programs, ..here },
            gain,
        })
    };
    let mut found: Vec<_> = blocks.numbering.blocks_of(plane).filter_map(of_block).collect();
    found.sort_by_key(|candidate| pages - candidate.gain);
    found.dedup_by_key(|candidate| candidate.course.programs);
    found
}

/// Returns the remaining programs of the victim of a plane, if it has one.
fn course(plane: u32, blocks: &Blocks) -> Course {
    let state = &blocks.planes[plane as usize];
    let left = blocks.victim_of(plane).map_or(0, |victim| blocks.index.valid(victim));
    let front = blocks.fronts.of_moved_data().next().expect("moved pages go somewhere");
    let next = state.next_offset(front, blocks.numbering.pages_per_block());
    Course { from: next / state.together, programs: left.div_ceil(state.together) }
}

/// Makes a full block of a plane its victim.
fn take(plane: u32, block: u32, blocks: &mut Blocks) {
    blocks.victim.taken(plane, block);
    blocks.index.reclaim(block);
    blocks.planes[plane as usize].victim = Some(Victim { block, retires: false, levels: false });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::drive;

    fn courses(all: &[(u32, u32)]) -> Vec<Course> {
        all.iter().map(|(from, programs)| Course { from: *from, programs: *programs }).collect()
    }

    #[test]
    fn programs_at_one_offset_are_one_and_the_rest_is_caught_up() {
        let of = |all: &[(u32, u32)]| programs(&courses(all), 8);
        assert_eq!(of(&[(3, 2)]), (2, 0), "a plane alone is in step with itself");
        assert_eq!(of(&[(0, 3), (0, 3)]), (3, 0));
        assert_eq!(of(&[(0, 3), (0, 5)]), (5, 2));
        assert_eq!(of(&[(0, 5), (2, 3)]), (5, 0), "the one behind begins");
        // 6, 7, 0 and 1, the last of them with the other plane.
        assert_eq!(of(&[(6, 4), (1, 1)]), (4, 0));
        // Nothing in common, and pages 1 and 5 are four apart.
        assert_eq!(of(&[(0, 1), (4, 1)]), (2, 4));
        // A plane that collects nothing is to be in step, too.
        assert_eq!(of(&[(0, 2), (0, 2), (1, 0)]), (2, 1));
    }

    /// A drive with a die of two planes whose full blocks have these valid pages of 16, and whose
    /// open blocks for moved pages are at these pages.
    fn made(valid: [&[u32]; 2], moved: [u32; 2]) -> PageTables {
        made_in_wordlines(1, valid, moved)
    }

    /// Creates the drive of [`made`] with programs of `pages` pages.
    fn made_in_wordlines(pages: u32, valid: [&[u32]; 2], moved: [u32; 2]) -> PageTables {
        let pages = format!("timing.wordline_pages={pages}");
        let more = [
            "ftl.gc_stream=separate",
            "parallelism.multi_plane=page",
            "ftl.over_provisioning=0.5",
            &pages,
        ];
        let mut tables = PageTables::new(&drive(1, &more)).expect("it fits into memory");
        let mut lpn = 0;
        for (plane, (valid, moved)) in (0..).zip(valid.into_iter().zip(moved)) {
            for of_block in valid {
                for page in 0..16 {
                    let at = tables.blocks.take_page(plane, 0);
                    if page < *of_block {
                        tables.blocks.validate(at, lpn);
                        lpn += 1;
                    }
                }
            }
            // The block before is full now.
            tables.blocks.take_page(plane, 0);
            let front = tables.blocks.fronts.of_moved_data().next().expect("there is one");
            for _ in 0..moved {
                tables.blocks.take_page(plane, front);
            }
        }
        tables
    }

    /// Valid pages of the victims, in the order of their planes.
    fn chosen(tables: &PageTables, planes: &[u32]) -> Vec<u32> {
        let mut victims = victims_in_step(0, planes, &tables.blocks);
        victims.sort_unstable();
        victims.into_iter().map(|(_, victim)| tables.blocks.index.valid(victim)).collect()
    }

    #[test]
    fn planes_in_step_move_as_many_pages_and_others_what_they_lag_behind() {
        let valid: [&[u32]; 2] = [&[9, 4, 6], &[6, 12]];
        // 6 and 6 take 6 programs for 20 pages. Both emptiest take 6, and 2 to catch up, for 22
        // pages less 2.
        assert_eq!(chosen(&made(valid, [0, 0]), &[0, 1]), [6, 6]);
        // 9 and 6 take 9 programs to page 9 for 17 pages; 6 and 6, or 4 and 6, 12 or 14 for 17.
        assert_eq!(chosen(&made(valid, [0, 3]), &[0, 1]), [9, 6]);
        // Around the block, page 14 is three pages before page 1.
        assert_eq!(chosen(&made(valid, [14, 1]), &[0, 1]), [9, 6]);
        // Alone on its way to page 9 a plane has to take 9 programs anyhow.
        assert_eq!(chosen(&made(valid, [0, 9]), &[0]), [4]);
    }

    #[test]
    fn what_would_gain_too_little_is_not_moved_for_the_sake_of_step() {
        // 2 and 4 take 4, and 2 to catch up, for 26 pages less 2; 12 and 12, 12 for 8.
        assert_eq!(chosen(&made([&[2, 12], &[4, 12]], [0, 0]), &[0, 1]), [2, 4]);
    }

    #[test]
    fn a_block_whose_padded_pages_fill_another_gains_nothing() {
        // 13 and 13 would be in step, and take all 4 programs of a block.
        let tables = made_in_wordlines(4, [&[13, 5], &[13]], [0, 0]);
        assert_eq!(chosen(&tables, &[0, 1]), [5]);
        assert!(chosen(&tables, &[1]).is_empty());
    }

    #[test]
    fn a_plane_that_has_nothing_to_gain_is_left_out() {
        let tables = made([&[16, 16], &[16, 5]], [0, 0]);
        assert_eq!(chosen(&tables, &[0, 1]), [5]);
        assert!(chosen(&tables, &[0]).is_empty());
        assert!(chosen(&tables, &[]).is_empty());
    }
}
