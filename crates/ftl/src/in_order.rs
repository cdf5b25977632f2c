//! Where the pages of a large drive are that was written once in order, computed on demand.

/// Pages that were written by whole rounds over the planes, of which each goes where the one before
/// it went, a few pages on.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct InOrder {
    /// The plane, counted over the drive, of each page of a round, and the pages of the round that
    /// the plane has before it.
    round: Vec<(u32, u32)>,
    /// Of each plane, the places of its pages in a round.
    places: Vec<Vec<u32>>,
    rounds: u32,
    pages_per_plane: u32,
}

impl InOrder {
    /// Of a drive of `planes` planes whose pages go to these planes, round by round.
    pub(super) fn new(round: &[u32], rounds: u32, planes: usize, pages_per_plane: u32) -> InOrder {
        let mut places = vec![Vec::new(); planes];
        let turn = |(place, plane): (u32, &u32)| {
            let own: &mut Vec<u32> = &mut places[*plane as usize];
            own.push(place);
            (*plane, own.len() as u32 - 1)
        };
        let round = (0..).zip(round).map(turn).collect();
        InOrder { round, places, rounds, pages_per_plane }
    }

    /// The page, counted over the drive, that holds a logical page; `None`: not one of those.
    pub(super) fn page(&self, lpn: u32) -> Option<u32> {
        let pages = self.round.len() as u32;
        let (round, (plane, number)) = (lpn / pages, self.round[(lpn % pages) as usize]);
        let turns = self.places[plane as usize].len() as u32;
        (round < self.rounds).then(|| plane * self.pages_per_plane + round * turns + number)
    }

    /// The logical page that a page, counted over the drive, holds.
    pub(super) fn owner(&self, page: u32) -> Option<u32> {
        let (plane, number) = (page / self.pages_per_plane, page % self.pages_per_plane);
        let places = &self.places[plane as usize];
        let round = number.checked_div(places.len() as u32)?;
        let place = places[number as usize % places.len()];
        (round < self.rounds).then(|| round * self.round.len() as u32 + place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two planes of ten pages: of a round of three the first plane has the outer ones.
    #[test]
    fn pages_of_a_plane_follow_each_other() {
        let names = InOrder::new(&[0, 1, 0], 2, 3, 10);
        let pages: Vec<_> = (0..7).map(|lpn| names.page(lpn)).collect();
        assert_eq!(pages, [Some(0), Some(10), Some(1), Some(2), Some(11), Some(3), None]);
        let owners: Vec<_> = [0, 1, 2, 3, 4, 10, 11, 12, 20].map(|it| names.owner(it)).into();
        let owned = [Some(0), Some(2), Some(3), Some(5), None, Some(1), Some(4), None, None];
        assert_eq!(owners, owned);
    }
}
