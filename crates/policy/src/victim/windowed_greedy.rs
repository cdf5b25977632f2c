//! Windowed greedy: among the blocks filled first, the one with the fewest valid pages.

use reprieve_base::{Archive, Entry};
use reprieve_config::Scenario;

use super::filled::FilledBlocks;
use super::{BlockView, VictimPolicy};

pub(super) const ENTRY: Entry = Entry {
    name: "windowed-greedy",
    doc: "the emptiest of the gc_window_blocks full blocks that were filled longest ago",
};

#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct WindowedGreedy {
    filled: FilledBlocks,
    window: usize,
}

impl WindowedGreedy {
    pub(super) fn of(scenario: &Scenario) -> WindowedGreedy {
        let window = scenario.ftl.gc_window_blocks.expect("the key has a default with this policy");
        WindowedGreedy { filled: FilledBlocks::new(&scenario.geometry), window: window as usize }
    }
}

impl VictimPolicy for WindowedGreedy {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(self);
    }

    fn pick(&mut self, blocks: &mut dyn BlockView, plane: u32) -> Option<u32> {
        let window = self.filled.of(plane).iter().take(self.window).enumerate();
        let gains = window.map(|(index, filled)| {
            let gain = blocks.gain(filled.block);
            (gain.expect("a block is listed from its filling to its pick"), index)
        });
        // Ties go to the block filled first.
        let best = gains.reduce(|best, next| if next.0 > best.0 { next } else { best });
        match best {
            Some((1.., index)) => Some(self.filled.take_at(plane, index)),
            // The whole window is full of valid pages.
            _ => {
                let block = blocks.emptiest(plane)?;
                self.filled.take(plane, block);
                Some(block)
            }
        }
    }

    fn filled(&mut self, plane: u32, block: u32) {
        self.filled.push(plane, block);
    }

    fn taken(&mut self, plane: u32, block: u32) {
        self.filled.take(plane, block);
    }
}
