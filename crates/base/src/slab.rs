//! A pool of reusable slots addressed by index: no allocation once it has grown to its load.

use std::ops::{Index, IndexMut};

/// Values in reusable slots. An index is valid from `insert` until `remove`.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Slab<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T: Copy> Slab<T> {
    /// An empty pool with room for `capacity` values.
    pub fn with_capacity(capacity: usize) -> Slab<T> {
        Slab { slots: Vec::with_capacity(capacity), free: Vec::with_capacity(capacity) }
    }

    /// Stores a value and returns its index.
    ///
    /// The value is made in place, not moved there.
    #[inline(always)]
    pub fn insert_with(&mut self, make: impl FnOnce() -> T) -> u32 {
        let Some(index) = self.free.pop() else { return self.push(make()) };
        self.slots[index as usize] = make();
        index
    }

    /// Stores a value and returns its index.
    pub fn insert(&mut self, value: T) -> u32 {
        self.insert_with(|| value)
    }

    #[cold]
    fn push(&mut self, value: T) -> u32 {
        let index = u32::try_from(self.slots.len()).expect("fewer than 2^32 values in flight");
        self.slots.push(value);
        index
    }

    /// Frees the slot and returns its value; the index must not be used again.
    #[inline]
    pub fn remove(&mut self, index: u32) -> T {
        self.release(index);
        self.slots[index as usize]
    }

    /// Frees the slot and drops its value.
    #[inline]
    pub fn release(&mut self, index: u32) {
        self.free.push(index);
    }

    /// The values in use with their indices, for checks.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let mut in_use = vec![true; self.slots.len()];
        self.free.iter().for_each(|index| in_use[*index as usize] = false);
        let all = (0..).zip(&self.slots).zip(in_use);
        all.filter_map(|(value, in_use)| in_use.then_some(value))
    }

    /// Values in use.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether no value is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.slots[index as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.slots[index as usize]
    }
}
