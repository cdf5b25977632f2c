//! d-choices: of some full blocks drawn at random, the one with the fewest valid pages.

use reprieve_base::{Archive, Entry, Stream};
use reprieve_config::Scenario;

use super::{BlockView, VictimPolicy};

pub(super) const ENTRY: Entry =
    Entry { name: "d-choices", doc: "the emptiest of gc_choices full blocks drawn at random" };

/// Sets of draws without gain before the emptiest block of the plane is chosen.
const SETS_MAX: u32 = 64;
/// Draws for one full block. Of a plane with a tenth of its blocks full, one set in 800 misses.
const DRAWS_MAX: u32 = 64;

#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct DChoices {
    choices: u32,
    /// One for each plane.
    streams: Vec<Stream>,
}

impl DChoices {
    pub(super) fn of(scenario: &Scenario) -> DChoices {
        let choices = scenario.ftl.gc_choices;
        DChoices::new(scenario, choices.expect("the key has a default with this policy"))
    }

    /// Draws `choices` blocks, with replacement, for each victim.
    pub(super) fn new(scenario: &Scenario, choices: u32) -> DChoices {
        let planes = u64::from(scenario.geometry.planes());
        let stream = |plane| Stream::new(scenario.seed, "gc.victim", plane);
        DChoices { choices, streams: (0..planes).map(stream).collect() }
    }
}

impl VictimPolicy for DChoices {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(self);
    }

    fn pick(&mut self, blocks: &mut dyn BlockView, plane: u32) -> Option<u32> {
        let stream = &mut self.streams[plane as usize];
        for _ in 0..SETS_MAX {
            let drawn = (0..self.choices).filter_map(|_| draw(stream, blocks, plane));
            // Ties go to the first draw.
            let best = drawn.reduce(|best, next| if next.0 > best.0 { next } else { best });
            if let Some((1.., block)) = best {
                return Some(block);
            }
        }
        blocks.emptiest(plane)
    }
}

/// Draws a full block of the plane with equal probability; returns it with its gain.
fn draw(stream: &mut Stream, blocks: &dyn BlockView, plane: u32) -> Option<(u32, u32)> {
    let count = blocks.blocks_per_plane();
    (0..DRAWS_MAX).find_map(|_| {
        let block = plane * count + stream.below(u64::from(count)) as u32;
        blocks.gain(block).map(|gain| (gain, block))
    })
}
