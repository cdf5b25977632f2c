//! What few values of a type have, and which takes no room in the others.

use std::ops::{Deref, DerefMut};

/// Something in a box of its own, where it is needed; elsewhere nothing.
///
/// A thousand dies are looked at in turn, so that each line of a cache counts that a die takes.
#[derive(Clone, Debug)]
pub struct Rare<T>(Option<Box<T>>);

impl<T> Rare<T> {
    /// What `make` makes if it is needed.
    pub fn only_if(is_needed: bool, make: impl FnOnce() -> T) -> Rare<T> {
        Rare(is_needed.then(|| Box::new(make())))
    }

    /// It, where it is needed.
    pub fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }
}

impl<T> Deref for Rare<T> {
    type Target = T;

    /// Panics where it was said not to be needed.
    fn deref(&self) -> &T {
        self.0.as_deref().expect("it is looked for only where it is needed")
    }
}

impl<T> DerefMut for Rare<T> {
    /// Panics where it was said not to be needed.
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_deref_mut().expect("it is looked for only where it is needed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_is_there() {
        let mut rare = Rare::only_if(true, || vec![1]);
        rare.push(2);
        assert_eq!((&*rare, rare.get()), (&vec![1, 2], Some(&vec![1, 2])));
        assert_eq!(size_of::<Rare<[u64; 9]>>(), size_of::<usize>());
    }

    #[test]
    fn what_is_not_needed_is_not_made() {
        let rare: Rare<u32> = Rare::only_if(false, || panic!("it was made"));
        assert_eq!(rare.get(), None);
    }

    #[test]
    #[should_panic(expected = "only where it is needed")]
    fn what_is_not_needed_is_not_there() {
        let rare: Rare<u32> = Rare::only_if(false, || 1);
        let _ = *rare;
    }
}
