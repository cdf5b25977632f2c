//! Kind of the next garbage collection step on a die, without starting it.

use reprieve_policy::txn::Kind;

use super::blocks::Blocks;
use super::collection::Collection;

impl Collection {
    /// Returns the kind of the next step on a die that needs collection; a read if no victim is
    /// chosen yet.
    pub(super) fn next_step_kind(&self, die: u32, blocks: &Blocks) -> Kind {
        let planes = || blocks.numbering.planes_of(die);
        let need = planes().map(|plane| self.need_of_plane(plane, blocks)).max();
        let needy = planes().filter(|plane| Some(self.need_of_plane(*plane, blocks)) == need);
        // The order of `Collection`: the current plane, one with a victim, the fewest free blocks.
        let current = self.dies[die as usize].plane;
        let plane = needy.min_by_key(|plane| {
            let state = &blocks.planes[*plane as usize];
            let has_begun = state.victim.is_some();
            (!(has_begun && *plane == current), !has_begun, state.free_blocks(), *plane)
        });
        plane.map_or(Kind::GcRead, |plane| self.next_step_kind_at(plane, blocks))
    }

    fn next_step_kind_at(&self, plane: u32, blocks: &Blocks) -> Kind {
        let pages = blocks.numbering.pages_per_block();
        let job = &self.jobs[plane as usize];
        let moves = if self.copyback { Kind::GcCopy } else { Kind::GcRead };
        let Some(victim) = blocks.victim_of(plane) else { return moves };
        let together = blocks.planes[plane as usize].together;
        // Pages that have been read are programmed next.
        let first = job.first_to_write(pages, together, &blocks.fronts);
        if first.is_some() || job.in_flight {
            return Kind::GcProgram;
        }
        let mut rest = job.cursor..pages;
        if rest.any(|page| blocks.owner(victim * pages + page).is_some()) {
            moves
        } else if job.held.is_empty() {
            Kind::Erase
        } else {
            Kind::GcProgram
        }
    }
}
