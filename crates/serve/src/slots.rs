//! Places that are used again, told apart by a generation from what was there before.

/// Where something is, as long as it is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub index: u32,
    pub generation: u32,
}

/// Things in places.
pub struct Slots<T> {
    places: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
    count: usize,
}

impl<T> Slots<T> {
    pub fn new() -> Slots<T> {
        Slots { places: Vec::new(), free: Vec::new(), count: 0 }
    }

    /// How many things there are, those that are taken out for a while among them.
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

    /// Takes a thing out of its place, which stays its own.
    pub fn take(&mut self, key: Key) -> Option<T> {
        let (generation, place) = self.places.get_mut(key.index as usize)?;
        if *generation == key.generation { place.take() } else { None }
    }

    /// Puts it back.
    pub fn put_back(&mut self, key: Key, thing: T) {
        self.places[key.index as usize].1 = Some(thing);
    }

    /// Gives up a place, whether or not the thing is in it.
    pub fn remove(&mut self, key: Key) -> Option<T> {
        let (generation, place) = &mut self.places[key.index as usize];
        assert_eq!(*generation, key.generation, "a place is given up once");
        *generation = generation.wrapping_add(1);
        self.free.push(key.index);
        self.count -= 1;
        place.take()
    }

    /// Keys of what is there.
    pub fn keys(&self) -> Vec<Key> {
        let all = self.places.iter().zip(0..);
        let there = all.filter(|((_, place), _)| place.is_some());
        there.map(|((generation, _), index)| Key { index, generation: *generation }).collect()
    }
}
