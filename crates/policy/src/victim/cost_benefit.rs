//! Cost and benefit: pages gained from a block, times its age, over the cost of collecting it.

use std::cmp::Ordering;

use reprieve_base::{Archive, Entry};
use reprieve_config::Scenario;

use super::filled::FilledBlocks;
use super::{BlockView, VictimPolicy};

pub(super) const ENTRY: Entry = Entry {
    name: "cost-benefit",
    doc: "the full block with the greatest (1 - u) age / (1 + u), u being its share of valid pages",
};

#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct CostBenefit {
    filled: FilledBlocks,
    pages_per_block: u32,
}

/// (1 - u) age / (1 + u) as a fraction of integers: u is (pages - gain) / pages.
#[derive(Clone, Copy)]
struct Score {
    benefit: u128,
    cost: u128,
}

impl Score {
    fn new(gain: u32, age: u64, pages: u32) -> Score {
        Score { benefit: u128::from(gain) * u128::from(age), cost: u128::from(2 * pages - gain) }
    }

    fn cmp(&self, other: &Score) -> Ordering {
        (self.benefit * other.cost).cmp(&(other.benefit * self.cost))
    }
}

impl CostBenefit {
    pub(super) fn of(scenario: &Scenario) -> CostBenefit {
        let geometry = &scenario.geometry;
        CostBenefit {
            filled: FilledBlocks::new(geometry),
            pages_per_block: geometry.pages_per_block,
        }
    }
}

impl VictimPolicy for CostBenefit {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(self);
    }

    fn pick(&mut self, blocks: &mut dyn BlockView, plane: u32) -> Option<u32> {
        let emptiest = blocks.emptiest(plane)?;
        let pages = self.pages_per_block;
        let gain_max = blocks.gain(emptiest).expect("the emptiest is full");
        let now = self.filled.count(plane);
        let mut best: Option<(Score, usize)> = None;
        for (index, filled) in self.filled.of(plane).iter().enumerate() {
            let age = now - filled.number;
            // Later ones are younger, and none is emptier than the emptiest.
            let bound = Score::new(gain_max, age, pages);
            if best.is_some_and(|(score, _)| bound.cmp(&score).is_le()) {
                break;
            }
            let gain = blocks.gain(filled.block);
            let gain = gain.expect("a block is listed from its filling to its pick");
            let score = Score::new(gain, age, pages);
            if gain > 0 && best.is_none_or(|(best, _)| score.cmp(&best).is_gt()) {
                best = Some((score, index));
            }
        }
        best.map(|(_, index)| self.filled.take_at(plane, index))
    }

    fn filled(&mut self, plane: u32, block: u32) {
        self.filled.push(plane, block);
    }

    fn passed(&mut self, plane: u32, blocks: u32) {
        self.filled.pass(plane, blocks);
    }

    fn taken(&mut self, plane: u32, block: u32) {
        self.filled.take(plane, block);
    }
}
