//! An optional value that takes no space where it is absent.

use std::ops::{Deref, DerefMut};

/// A boxed value where it is needed; elsewhere nothing.
///
/// A loop visits a thousand dies in turn, so each cache line that a die takes matters.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Rare<T>(Option<Box<T>>);

impl<T> Rare<T> {
    /// The value of `make` if it is needed.
    pub fn only_if(is_needed: bool, make: impl FnOnce() -> T) -> Rare<T> {
        Rare(is_needed.then(|| Box::new(make())))
    }

    /// The value, where it is needed.
    pub fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }
}

impl<T> Deref for Rare<T> {
    type Target = T;

    /// Panics where the value is absent.
    fn deref(&self) -> &T {
        self.0.as_deref().expect("it is looked for only where it is needed")
    }
}

impl<T> DerefMut for Rare<T> {
    /// Panics where the value is absent.
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
