//! Places of the requests of a fio job.

use reprieve_base::{SECTOR_BYTES, Stream};

use super::zipf::{Scatter, Zipf};
use crate::fio::{FioJob, JobOrder, JobZone};

/// Number of uniform draws whose mean is fio's normal distribution.
const NORMAL_DRAWS: u64 = 12;

/// The places of a job, in its order.
#[derive(Debug)]
pub(super) struct Places {
    order: Order,
    stream: Stream,
    /// The unit of places: the shortest request of each kind.
    unit_sectors: [u64; 3],
    region_sectors: u64,
}

#[derive(Debug)]
enum Order {
    Sequential {
        next_sector: [u64; 3],
    },
    Uniform,
    /// Every place once.
    Shuffle {
        shuffle: Shuffle,
        next: u64,
    },
    Zipf {
        law: Zipf,
        scatter: Scatter,
    },
    Pareto {
        power: f64,
        scatter: Scatter,
    },
    Normal {
        blur: f64,
        scatter: Scatter,
    },
    Zoned {
        zones: [Vec<JobZone>; 3],
    },
}

impl Places {
    pub(super) fn new(job: &FioJob, seed: u64) -> Places {
        let region_sectors = job.region_bytes / SECTOR_BYTES;
        let used = || job.ops.kinds().iter().flat_map(|kind| &job.sizes[*kind]);
        let sectors = |bytes: u32| u64::from(bytes) / SECTOR_BYTES;
        let least = used().map(|size| sectors(size.0)).min().expect("a job has sizes");
        let longest = used().map(|size| sectors(size.0)).max().expect("a job has sizes");
        let one_size = least == longest;
        // Laws with ranks have one unit; the last may be too near the end.
        let units = (region_sectors - longest) / least + 1;
        let mut unit_sectors = [least; 3];
        let mut stream = Stream::new(seed, "job.place", 0);
        let scatter = || Scatter::new(units);
        let order = match &job.order {
            JobOrder::Sequential => Order::Sequential { next_sector: [0; 3] },
            JobOrder::Random if one_size => {
                Order::Shuffle { shuffle: Shuffle::new(units, &mut stream), next: 0 }
            }
            JobOrder::Random | JobOrder::RandomRepeating => {
                for kind in job.ops.kinds() {
                    let own = job.sizes[*kind].iter().map(|size| sectors(size.0)).min();
                    unit_sectors[*kind] = own.expect("each kind has sizes");
                }
                Order::Uniform
            }
            JobOrder::Zipf(theta) => {
                Order::Zipf { law: Zipf::new(units, *theta), scatter: scatter() }
            }
            JobOrder::Pareto(h) => {
                Order::Pareto { power: libm::log(*h) / libm::log(1.0 - h), scatter: scatter() }
            }
            JobOrder::Normal(percent) => {
                Order::Normal { blur: percent / 100.0, scatter: scatter() }
            }
            JobOrder::Zoned(zones) => Order::Zoned { zones: zones.clone() },
        };
        Places { order, stream, unit_sectors, region_sectors }
    }

    /// The first sector of the next request of a kind, in the region.
    pub(super) fn next(&mut self, kind: usize, bytes: u32) -> u64 {
        let sectors = u64::from(bytes) / SECTOR_BYTES;
        let unit = self.unit_sectors[kind];
        let stream = &mut self.stream;
        match &mut self.order {
            Order::Sequential { next_sector } => {
                let next = &mut next_sector[kind];
                let lba = if *next + sectors <= self.region_sectors { *next } else { 0 };
                *next = lba + sectors;
                lba
            }
            Order::Uniform => stream.below((self.region_sectors - sectors) / unit + 1) * unit,
            Order::Shuffle { shuffle, next } => {
                if *next == shuffle.count {
                    *next = 0;
                    *shuffle = Shuffle::new(shuffle.count, stream);
                }
                *next += 1;
                shuffle.place(*next - 1) * unit
            }
            Order::Zipf { law, scatter } => scatter.place(law.draw(stream) - 1) * unit,
            Order::Pareto { power, scatter } => {
                let share = libm::pow(stream.unit(), *power);
                scatter.place(((scatter.count() - 1) as f64 * share) as u64) * unit
            }
            Order::Normal { blur, scatter } => {
                scatter.place(normal(stream, *blur, scatter.count())) * unit
            }
            Order::Zoned { zones } => {
                let (draw, mut below) = (stream.unit(), 0.0);
                let chosen = zones[kind].iter().find(|zone| {
                    below += zone.requests_percent / 100.0;
                    draw < below
                });
                let zone = chosen.or(zones[kind].last()).expect("a job with zones has one");
                zone_place(zone, stream, sectors, unit)
            }
        }
    }
}

/// An aligned place in a zone that fits `sectors` sectors.
fn zone_place(zone: &JobZone, stream: &mut Stream, sectors: u64, unit: u64) -> u64 {
    let (from, end) = (zone.from_sector.next_multiple_of(unit), zone.end_sector);
    assert!(from + sectors <= end, "the file was checked for zones that are too small");
    from + stream.below((end - from - sectors) / unit + 1) * unit
}

/// A rank as fio's "normal" has it: the mean of twelve uniform draws, blurred by a share of all.
fn normal(stream: &mut Stream, blur: f64, count: u64) -> u64 {
    let sum: f64 = (0..NORMAL_DRAWS).map(|_| stream.unit()).sum();
    let mut off = (stream.unit() - 0.5) * blur.min(0.5);
    let mean = sum / NORMAL_DRAWS as f64;
    while !(0.0..1.0).contains(&(mean + off)) {
        off /= 2.0;
    }
    (((mean + off) * count as f64) as u64).min(count - 1)
}

/// A random bijection on `0..count`, of four rounds of a Feistel network (Luby and Rackoff,
/// SIAM J. Comput. 17(2), 1988): every place once, without state.
///
/// Results outside the range go round again, which keeps the whole a bijection.
#[derive(Debug)]
struct Shuffle {
    count: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Shuffle {
    fn new(count: u64, stream: &mut Stream) -> Shuffle {
        assert!(count > 0, "a shuffle of nothing");
        let bits = u64::BITS - (count - 1).leading_zeros();
        let keys = [(); 4].map(|()| stream.next_u64());
        Shuffle { count, half_bits: bits.div_ceil(2).max(1), keys }
    }

    fn place(&self, index: u64) -> u64 {
        debug_assert!(index < self.count, "place {index} of {}", self.count);
        let mask = (1u64 << self.half_bits) - 1;
        let mut x = index;
        loop {
            let (mut left, mut right) = (x >> self.half_bits, x & mask);
            for key in self.keys {
                // The finaliser of SplitMix64 (Steele, Lea and Flood, 2014) as round function.
                let mut mixed = (right ^ key).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                (left, right) = (right, left ^ ((mixed ^ (mixed >> 31)) & mask));
            }
            x = (left << self.half_bits) | right;
            if x < self.count {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_has_every_place_once_and_another_order_each_time() {
        let mut stream = Stream::new(3, "test", 0);
        for count in [1, 2, 3, 5, 64, 1000, 4097] {
            let shuffle = Shuffle::new(count, &mut stream);
            let mut places: Vec<u64> = (0..count).map(|index| shuffle.place(index)).collect();
            let other = Shuffle::new(count, &mut stream);
            if count > 60 {
                assert!(places.iter().zip(0..).any(|(place, index)| *place != index));
                assert!((0..count).any(|index| other.place(index) != places[index as usize]));
            }
            places.sort_unstable();
            assert!(places.into_iter().eq(0..count), "{count}");
        }
    }

    #[test]
    fn a_shuffle_leaves_no_trace_of_order() {
        // Of 4096 places in random order about half of the steps go up: 2047.5, and the standard
        // deviation of that number is sqrt((4096 + 1) / 12) = 18.5.
        let shuffle = Shuffle::new(4096, &mut Stream::new(8, "test", 0));
        let places: Vec<u64> = (0..4096).map(|index| shuffle.place(index)).collect();
        let ups = places.windows(2).filter(|pair| pair[0] < pair[1]).count() as f64;
        assert!((ups - 2047.5).abs() < 5.0 * 18.5, "{ups} steps go up");
    }

    #[test]
    fn normal_ranks_have_the_spread_of_a_mean_of_twelve() {
        // Variance 1/144 of the range, and blur^2 / 12 on top: 0.2^2 / 12 = 1/300.
        let mut stream = Stream::new(3, "test", 0);
        for (blur, variance) in [(0.0, 1.0 / 144.0), (0.2, 1.0 / 144.0 + 1.0 / 300.0)] {
            let draws: Vec<f64> = (0..100_000)
                .map(|_| normal(&mut stream, blur, 1 << 20) as f64 / 1048576.0)
                .collect();
            let mean = draws.iter().sum::<f64>() / 1e5;
            let spread = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5;
            assert!((mean - 0.5).abs() < 0.002, "{mean}");
            // The variance of 100,000 draws has a relative error of sqrt(2 / 100,000) = 0.0045.
            assert!((spread / variance - 1.0).abs() < 5.0 * 0.0045, "{spread} and not {variance}");
        }
    }
}
