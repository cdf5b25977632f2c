//! Water filling: shares of the waiting writes that balance the load of the channels.

use reprieve_config::Rounding;

/// Returns how many writes each channel may start, given its load and the waiting writes.
///
/// `order` has the channels that take part, the least loaded first; the others get none.
pub(super) fn share(
    rounding: Rounding,
    lengths: &[u32],
    order: &[usize],
    writes: u32,
    allowed: &mut Vec<u32>,
) {
    allowed.clear();
    allowed.resize(lengths.len(), 0);
    if order.is_empty() || writes == 0 {
        return;
    }
    let (mut rest, mut level) = (writes, order.len());
    for next in 1..order.len() {
        // `level` channels are level; raising them to the next takes `writes` writes.
        let step = lengths[order[next]] - lengths[order[next - 1]];
        let needed = u64::from(step) * next as u64;
        if u64::from(rest) < needed {
            level = next;
            break;
        }
        rest -= needed as u32;
    }
    let height = lengths[order[level - 1]];
    let (each, more) = (rest / level as u32, rest % level as u32);
    for (position, channel) in order[..level].iter().enumerate() {
        let extra = match rounding {
            // Rounded up for all of them, as printed: the sum may exceed the number of writes.
            Rounding::Printed => more > 0,
            Rounding::Exact => (position as u32) < more,
        };
        allowed[*channel] = height + each + u32::from(extra) - lengths[*channel];
    }
}

#[cfg(test)]
mod tests {
    use reprieve_base::Stream;

    use super::*;

    /// Returns the total load of each channel, excluded ones unchanged.
    fn carried_by(
        channels: impl Iterator<Item = usize>,
        rounding: Rounding,
        lengths: &[u32],
        writes: u32,
    ) -> Vec<u32> {
        let (mut order, mut allowed) = (channels.collect::<Vec<_>>(), Vec::new());
        order.sort_by_key(|channel| lengths[*channel]);
        share(rounding, lengths, &order, writes, &mut allowed);
        lengths.iter().zip(allowed).map(|(length, allowed)| length + allowed).collect()
    }

    fn carried(rounding: Rounding, lengths: &[u32], writes: u32) -> Vec<u32> {
        carried_by(0..lengths.len(), rounding, lengths, writes)
    }

    #[test]
    fn the_lowest_are_lifted_first() {
        // Sorted 3, 4, 7, 10: one raised by 1, two by 3, and 2 remain for three of height 7.
        let lengths = [3, 7, 4, 10];
        assert_eq!(carried(Rounding::Exact, &lengths, 9), [8, 7, 8, 10]);
        assert_eq!(carried(Rounding::Printed, &lengths, 9), [8, 8, 8, 10]);
        // All at 10 take 16; 14 remain for four.
        assert_eq!(carried(Rounding::Exact, &lengths, 30), [14, 13, 14, 13]);
        assert_eq!(carried(Rounding::Printed, &lengths, 30), [14; 4]);
        assert_eq!(carried(Rounding::Exact, &lengths, 0), lengths);
        assert_eq!(carried(Rounding::Exact, &[5], 3), [8]);
    }

    #[test]
    fn a_channel_without_room_takes_no_part() {
        // Without the second of 3, 7, 4 and 10: raised by 1, then two by 6 each take 13 of 15; the
        // other two go to the lowest.
        let lengths = [3, 7, 4, 10];
        let others = || [0, 2, 3].into_iter();
        assert_eq!(carried_by(others(), Rounding::Exact, &lengths, 15), [11, 7, 11, 10]);
        assert_eq!(carried_by([].into_iter(), Rounding::Exact, &lengths, 15), lengths);
    }

    /// One write at a time goes to the least loaded channel: the same heights.
    #[test]
    fn it_is_the_same_as_one_at_a_time() {
        let mut stream = Stream::new(1, "test.share", 0);
        for _ in 0..2000 {
            let channels = 1 + stream.below(8) as usize;
            let lengths: Vec<u32> = (0..channels).map(|_| stream.below(20) as u32).collect();
            let writes = stream.below(100) as u32;
            let mut lifted = lengths.clone();
            for _ in 0..writes {
                *lifted.iter_mut().min().expect("there is a channel") += 1;
            }
            lifted.sort_unstable();
            let mut shared = carried(Rounding::Exact, &lengths, writes);
            shared.sort_unstable();
            assert_eq!(shared, lifted, "{lengths:?} and {writes}");
        }
    }
}
