//! Cached need of garbage collection of each die, until its blocks change.

use reprieve_base::Geometry;
use reprieve_policy::work::GcNeed;

/// Need of each die, which every decision queries.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Needs {
    /// `None`: unknown.
    of_dies: Vec<Option<GcNeed>>,
    planes_per_die: u32,
}

impl Needs {
    /// Creates the needs of a drive, all unknown.
    pub(super) fn new(geometry: &Geometry) -> Needs {
        let of_dies = vec![None; geometry.dies() as usize];
        Needs { of_dies, planes_per_die: geometry.planes_per_die }
    }

    /// Returns the need of a die, if known.
    #[inline]
    pub(super) fn of(&self, die: u32) -> Option<GcNeed> {
        self.of_dies[die as usize]
    }

    /// Sets the need of a die.
    #[inline]
    pub(super) fn found(&mut self, die: u32, need: GcNeed) {
        self.of_dies[die as usize] = Some(need);
    }

    /// Resets the need of a plane after a change to its blocks.
    #[inline]
    pub(super) fn forget(&mut self, plane: u32) {
        self.forget_die(plane / self.planes_per_die);
    }

    /// Forgets the need of a die.
    #[inline]
    pub(super) fn forget_die(&mut self, die: u32) {
        self.of_dies[die as usize] = None;
    }

    /// Forgets the needs of all dies.
    pub(super) fn forget_all(&mut self) {
        self.of_dies.fill(None);
    }
}
