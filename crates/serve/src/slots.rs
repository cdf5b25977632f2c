//! Reusable slots, with a generation that detects stale keys.

/// The place of a value, valid until it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub index: u32,
    pub generation: u32,
}

/// Values in slots.
pub struct Slots<T> {
    places: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
    count: usize,
}

impl<T> Slots<T> {
    pub fn new() -> Slots<T> {
        Slots { places: Vec::new(), free: Vec::new(), count: 0 }
    }

    /// Number of values, including those taken out for a while.
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn insert(&mut self, thing: T) -> Key {
        self.count += 1;
        if let Some(index) = self.free.pop() {
            let (generation, place) = &mut self.places[index as usize];
            *place = Some(thing);
            return Key { index, generation: *generation };
        }
        self.places.push((0, Some(thing)));
        Key { index: self.places.len() as u32 - 1, generation: 0 }
    }

    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let (generation, place) = self.places.get_mut(key.index as usize)?;
        if *generation == key.generation { place.as_mut() } else { None }
    }

    /// Takes a value out, and reserves its slot.
    pub fn take(&mut self, key: Key) -> Option<T> {
        let (generation, place) = self.places.get_mut(key.index as usize)?;
        if *generation == key.generation { place.take() } else { None }
    }

    /// Puts a value back into its slot.
    pub fn put_back(&mut self, key: Key, thing: T) {
        self.places[key.index as usize].1 = Some(thing);
    }

    /// Frees a slot, whether or not the value is in it.
    pub fn remove(&mut self, key: Key) -> Option<T> {
        let (generation, place) = &mut self.places[key.index as usize];
        assert_eq!(*generation, key.generation, "a place is given up once");
        *generation = generation.wrapping_add(1);
        self.free.push(key.index);
        self.count -= 1;
        place.take()
    }

    /// Keys of the values present.
    pub fn keys(&self) -> Vec<Key> {
        let all = self.places.iter().zip(0..);
        let there = all.filter(|((_, place), _)| place.is_some());
        there.map(|((generation, _), index)| Key { index, generation: *generation }).collect()
    }
}
