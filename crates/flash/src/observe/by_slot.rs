//! A list that grows as far as it is asked: of what is kept by slot.

/// A value for each slot up to the highest one that was asked for.
#[derive(Clone, Debug)]
pub(super) struct BySlot<T> {
    values: Vec<T>,
    /// The value of a slot that nothing has happened to.
    new: T,
}

impl<T: Copy> BySlot<T> {
    pub(super) fn new(new: T) -> BySlot<T> {
        BySlot { values: Vec::new(), new }
    }

    /// The value of a slot.
    #[inline(always)]
    pub(super) fn at(&mut self, slot: u32) -> &mut T {
        let index = slot as usize;
        if index < self.values.len() {
            return &mut self.values[index];
        }
        self.grown_to(index)
    }

    #[cold]
    fn grown_to(&mut self, index: usize) -> &mut T {
        self.values.resize(index + 1, self.new);
        &mut self.values[index]
    }

    /// The same if the slot, or a higher one, was asked for before.
    #[inline(always)]
    pub(super) fn known(&mut self, slot: u32) -> Option<&mut T> {
        self.values.get_mut(slot as usize)
    }
}
