//! Water filling: how many of the writes that wait each channel gets, so that all carry alike.

use crate::scenario::ChannelLimit;

/// How many writes each channel may begin, given what each has to do and the writes that wait.
///
/// `order` is room to think in.
pub(super) fn share(
    limit: ChannelLimit,
    lengths: &[u32],
    writes: u32,
    order: &mut Vec<usize>,
    allowed: &mut Vec<u32>,
) {
    allowed.clear();
    allowed.resize(lengths.len(), if limit == ChannelLimit::None { writes } else { 0 });
    if limit == ChannelLimit::None || writes == 0 {
        return;
    }
    order.clear();
    order.extend(0..lengths.len());
    order.sort_by_key(|channel| lengths[*channel]);
    let (mut rest, mut level) = (writes, lengths.len());
    for next in 1..lengths.len() {
        // So many channels are level, and lifting them to the next takes so many writes.
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
        let extra = match limit {
            // Rounded up for all of them, as printed: in sum it may be more than there are writes.
            ChannelLimit::Printed => more > 0,
            _ => (position as u32) < more,
        };
        allowed[*channel] = height + each + u32::from(extra) - lengths[*channel];
    }
}

#[cfg(test)]
mod tests {
    use reprieve_base::Stream;

    use super::*;

    /// What each channel may carry in all.
    fn carried(limit: ChannelLimit, lengths: &[u32], writes: u32) -> Vec<u32> {
        let (mut order, mut allowed) = (Vec::new(), Vec::new());
        share(limit, lengths, writes, &mut order, &mut allowed);
        lengths.iter().zip(allowed).map(|(length, allowed)| length + allowed).collect()
    }

    #[test]
    fn the_lowest_are_lifted_first() {
        // Sorted 3, 4, 7, 10: one lifted by 1, two by 3, and 2 are left for three of height 7.
        let lengths = [3, 7, 4, 10];
        assert_eq!(carried(ChannelLimit::Exact, &lengths, 9), [8, 7, 8, 10]);
        assert_eq!(carried(ChannelLimit::Printed, &lengths, 9), [8, 8, 8, 10]);
        // All at 10 take 16; 14 are left for four.
        assert_eq!(carried(ChannelLimit::Exact, &lengths, 30), [14, 13, 14, 13]);
        assert_eq!(carried(ChannelLimit::Printed, &lengths, 30), [14; 4]);
        assert_eq!(carried(ChannelLimit::None, &lengths, 5), [8, 12, 9, 15]);
        assert_eq!(carried(ChannelLimit::Exact, &lengths, 0), lengths);
        assert_eq!(carried(ChannelLimit::Exact, &[5], 3), [8]);
    }

    /// One write at a time goes to the channel with the least to do: the same heights.
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
            let mut shared = carried(ChannelLimit::Exact, &lengths, writes);
            shared.sort_unstable();
            assert_eq!(shared, lifted, "{lengths:?} and {writes}");
        }
    }
}
