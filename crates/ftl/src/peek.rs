//! Next step of garbage collection on a die, without beginning anything.

use reprieve_policy::txn::Kind;

use super::blocks::Blocks;
use super::collection::Collection;

impl Collection {
    /// The kind of the next step on a die that needs collection, as far as it can be told before
    /// a victim is chosen: that begins with a read.
    pub(super) fn peek(&self, die: u32, blocks: &Blocks) -> Kind {
        let planes = || blocks.numbering.planes_of(die);
        let need = planes().map(|plane| self.need_of_plane(plane, blocks)).max();
        let needy = planes().filter(|plane| Some(self.need_of_plane(*plane, blocks)) == need);
        // As the die itself: the plane it is at, else one that has begun, the one with least room.
        let current = self.dies[die as usize].plane;
        let plane = needy.min_by_key(|plane| {
            let state = &blocks.planes[*plane as usize];
            let has_begun = state.victim.is_some();
            (!(has_begun && *plane == current), !has_begun, state.free_blocks(), *plane)
        });
        plane.map_or(Kind::GcRead, |plane| self.peek_at(plane, blocks))
    }

    fn peek_at(&self, plane: u32, blocks: &Blocks) -> Kind {
        let pages = blocks.numbering.pages_per_block();
        let job = &self.jobs[plane as usize];
        let moves = if self.copyback { Kind::GcCopy } else { Kind::GcRead };
        let Some(victim) = blocks.victim_of(plane) else { return moves };
        let together = blocks.planes[plane as usize].together;
        // A page that is on its way is programmed next.
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
