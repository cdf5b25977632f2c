//! Generator `mixed`: random draws of operation, size, address and arrival time.

use reprieve_base::{Entry, Op, Request, SECTOR_BYTES, Stream, UserError};

use super::arrival::{ArrivalTimes, check_span};
use super::by_size::BySize;
use super::locality::Locality;
use super::probability::{ONE, fixed_point};
use super::zipf::{Scatter, Zipf};
use crate::arrivals::Arrivals;
use crate::config::{Addresses, Footprint, MixedConfig};
use crate::counts::Counts;
use crate::request_source::RequestSource;
use crate::wrong;

/// Its entry in the registry.
pub(super) const ENTRY: Entry = Entry {
    name: "mixed",
    doc: "Random draws of operation, size, address and inter-arrival time.",
};

/// Smallest unit of popularity of Zipf's law: the page that most hosts use.
const ZIPF_UNIT_BYTES_MIN: u64 = 4096;

/// The generator, ready to draw.
#[derive(Debug)]
pub(crate) struct Mixed {
    requests: u64,
    handed_out: u64,
    op_stream: Stream,
    read_below: u64,
    trim_below: u64,
    flush_every: Option<u64>,
    fua_stream: Stream,
    fua_below: u64,
    size_stream: Stream,
    sizes: SizeTables,
    address_stream: Stream,
    placement: Placement,
    continuation: Continuation,
    align_sectors: u64,
    /// The first sector of the footprint, on the drive; others count from there.
    start_sector: u64,
    footprint_sectors: u64,
    arrivals: ArrivalTimes,
    queue_depth: Option<u32>,
}

/// The dependence of places on earlier requests.
#[derive(Debug)]
enum Continuation {
    /// Every place is drawn independently.
    None,
    /// Sizes come in runs, and places follow earlier requests of the same size.
    BySize(BySize),
    Locality(Locality<Size>),
}

impl Continuation {
    fn new(config: &MixedConfig, seed: u64) -> Continuation {
        if let Some(by_size) = BySize::new(config, seed) {
            return Continuation::BySize(by_size);
        }
        Locality::new(config, seed).map_or(Continuation::None, Continuation::Locality)
    }
}

/// The sizes of each operation.
#[derive(Debug)]
struct SizeTables {
    read: Vec<Size>,
    write: Vec<Size>,
    trim: Vec<Size>,
}

/// A size, and the number of aligned places that fit it.
#[derive(Clone, Copy, Debug)]
struct Size {
    bytes: u32,
    sectors: u64,
    /// A draw of 53 bits below this, and not below that of the size before, chooses it.
    below: u64,
    /// Places in the footprint; of `HotCold`, in its cold part.
    places: u64,
    /// Places in the hot part of `HotCold`; else 0.
    hot_places: u64,
}

/// `Addresses`, resolved for a footprint.
#[derive(Debug)]
enum Placement {
    Uniform,
    Sequential { next_sector: u64 },
    Zipf { law: Zipf, scatter: Scatter, unit_sectors: u64 },
    HotCold { hot_below: u64, cold_sector: u64 },
}

impl SizeTables {
    #[inline]
    fn of(&self, op: Op) -> &[Size] {
        match op {
            Op::Read => &self.read,
            Op::Write => &self.write,
            _ => &self.trim,
        }
    }
}

impl Mixed {
    pub(crate) fn new(
        config: &MixedConfig,
        capacity_bytes: u64,
        seed: u64,
    ) -> Result<Mixed, UserError> {
        let MixedFit { align_sectors, footprint_sectors, hot_sectors, sizes } =
            MixedFit::of(config, capacity_bytes)?;
        let arrivals =
            ArrivalTimes::new(&config.arrivals, config.requests, config.time_scale, seed)?;
        let queue_depth = match config.arrivals {
            Arrivals::Closed { queue_depth } => Some(queue_depth),
            _ => None,
        };
        let read_below = fixed_point(config.read_fraction);
        Ok(Mixed {
            requests: config.requests,
            handed_out: 0,
            op_stream: Stream::new(seed, "workload.op", 0),
            read_below,
            trim_below: read_below + fixed_point(config.trim_fraction),
            flush_every: config.flush_every_requests,
            fua_stream: Stream::new(seed, "workload.fua", 0),
            fua_below: fixed_point(config.fua_fraction),
            size_stream: Stream::new(seed, "workload.size", 0),
            placement: placement(config, hot_sectors, footprint_sectors),
            continuation: Continuation::new(config, seed),
            sizes,
            address_stream: Stream::new(seed, "workload.address", 0),
            align_sectors,
            start_sector: config.footprint_start_bytes / SECTOR_BYTES,
            footprint_sectors,
            arrivals,
            queue_depth,
        })
    }

    #[inline(always)]
    fn next_request(&mut self) -> Option<Request> {
        if self.handed_out == self.requests {
            return None;
        }
        self.handed_out += 1;
        if self.flush_every.is_some_and(|every| self.handed_out % every == 0) {
            let arrival = self.arrivals.next_arrival();
            return Some(Request { arrival, op: Op::Flush, lba: 0, bytes: 0, fua: false });
        }
        let draw = self.op_stream.next_u64() >> 11;
        let op = if draw < self.read_below {
            Op::Read
        } else if draw < self.trim_below {
            Op::Trim
        } else {
            Op::Write
        };
        let (lba, size) = match self.continuation {
            Continuation::None => {
                let size = self.next_size(op);
                (self.next_lba(&size), size)
            }
            Continuation::BySize(_) | Continuation::Locality(_) => self.next_place(op),
        };
        debug_assert!(lba + size.sectors <= self.footprint_sectors, "{lba} leaves the footprint");
        let (lba, fua) = (self.start_sector + lba, op == Op::Write && self.next_fua());
        Some(Request { arrival: self.arrivals.next_arrival(), op, lba, bytes: size.bytes, fua })
    }

    /// Returns place and size of the next request, if they may depend on earlier ones.
    #[inline(never)]
    fn next_place(&mut self, op: Op) -> (u64, Size) {
        let drawn = match self.continuation {
            Continuation::BySize(ref mut by_size) => self.sizes.of(op)[by_size.next_size(op)],
            _ => self.next_size(op),
        };
        let known = match &mut self.continuation {
            Continuation::None => None,
            Continuation::BySize(by_size) => by_size.next_lba(op).map(|lba| (lba, drawn)),
            Continuation::Locality(locality) => locality.next(op, drawn),
        };
        let end_sector = self.footprint_sectors;
        let known = known.filter(|(lba, size)| lba + size.sectors <= end_sector);
        let (lba, size) = known.unwrap_or_else(|| (self.next_lba(&drawn), drawn));
        let next_sector = (lba + size.sectors).next_multiple_of(self.align_sectors);
        match &mut self.continuation {
            Continuation::None => {}
            Continuation::BySize(by_size) => by_size.record(op, lba, next_sector),
            Continuation::Locality(locality) => locality.record(op, lba, next_sector, size),
        }
        (lba, size)
    }

    #[inline]
    fn next_fua(&mut self) -> bool {
        self.fua_below > 0 && self.fua_stream.next_u64() >> 11 < self.fua_below
    }

    #[inline(always)]
    fn next_size(&mut self, op: Op) -> Size {
        let sizes = self.sizes.of(op);
        if sizes.len() == 1 {
            return sizes[0];
        }
        let draw = self.size_stream.next_u64() >> 11;
        let chosen = sizes.iter().find(|size| draw < size.below);
        *chosen.expect("the last size takes every draw")
    }

    #[inline(always)]
    fn next_lba(&mut self, size: &Size) -> u64 {
        match self.placement {
            Placement::Uniform => self.address_stream.below(size.places) * self.align_sectors,
            _ => self.next_lba_by_place(size),
        }
    }

    #[inline(never)]
    fn next_lba_by_place(&mut self, size: &Size) -> u64 {
        let stream = &mut self.address_stream;
        match &mut self.placement {
            Placement::Uniform => unreachable!("all places are alike"),
            Placement::Sequential { next_sector } => {
                let fits = *next_sector + size.sectors <= self.footprint_sectors;
                let lba = if fits { *next_sector } else { 0 };
                *next_sector = (lba + size.sectors).next_multiple_of(self.align_sectors);
                lba
            }
            Placement::Zipf { law, scatter, unit_sectors } => {
                scatter.place(law.draw(stream) - 1) * *unit_sectors
            }
            Placement::HotCold { hot_below, cold_sector } => {
                if stream.next_u64() >> 11 < *hot_below {
                    stream.below(size.hot_places) * self.align_sectors
                } else {
                    *cold_sector + stream.below(size.places) * self.align_sectors
                }
            }
        }
    }
}

impl RequestSource for Mixed {
    #[inline(always)]
    fn next_request(&mut self) -> Result<Option<Request>, UserError> {
        Ok(Mixed::next_request(self))
    }

    fn queue_depth(&self) -> Option<u32> {
        self.queue_depth
    }

    fn progress(&self) -> Option<f64> {
        Some(self.handed_out as f64 / self.requests as f64)
    }

    fn counts(&self) -> Counts {
        Counts { requests: self.handed_out, ..Counts::default() }
    }
}

/// Returns the sectors of the hot and of the other part of the footprint, both whole multiples of
/// the alignment; without `HotCold` all of it is the other part.
fn split(config: &MixedConfig, footprint_sectors: u64, align_sectors: u64) -> (u64, u64) {
    match config.addresses {
        Addresses::HotCold { hot_share, .. } => {
            let places = (footprint_sectors / align_sectors) as f64;
            let hot_sectors = (places * hot_share).round() as u64 * align_sectors;
            (hot_sectors, footprint_sectors - hot_sectors)
        }
        Addresses::Uniform | Addresses::Sequential | Addresses::Zipf { .. } => {
            (0, footprint_sectors)
        }
    }
}

/// A load fitted to a drive.
pub(super) struct MixedFit {
    align_sectors: u64,
    footprint_sectors: u64,
    hot_sectors: u64,
    sizes: SizeTables,
}

impl MixedFit {
    pub(super) fn of(config: &MixedConfig, capacity_bytes: u64) -> Result<MixedFit, UserError> {
        if let Arrivals::Trains(trains) = &config.arrivals {
            trains.check()?;
        }
        let align_sectors = u64::from(config.align_bytes) / SECTOR_BYTES;
        let footprint_sectors =
            footprint_bytes(config, capacity_bytes)? / SECTOR_BYTES / align_sectors * align_sectors;
        let (hot_sectors, cold_sectors) = split(config, footprint_sectors, align_sectors);
        let sizes = size_tables(config, hot_sectors, cold_sectors, align_sectors)?;
        Ok(MixedFit { align_sectors, footprint_sectors, hot_sectors, sizes })
    }
}

/// The misfit of a load on a drive of `capacity_bytes`: the key in section `[workload]`, and the
/// sentence. Its cost does not depend on the size of the drive.
pub fn misfit(config: &MixedConfig, capacity_bytes: u64) -> Option<(String, UserError)> {
    let arrivals = || check_span(&config.arrivals, config.requests, config.time_scale);
    let error = MixedFit::of(config, capacity_bytes).map(drop).and_then(|()| arrivals()).err()?;
    let sentence = error.to_string();
    let (key, _) = sentence.split_once(" = ").expect("each begins with the key and its value");
    Some((key.to_string(), error))
}

/// The bytes of the footprint, from the first one on.
fn footprint_bytes(config: &MixedConfig, drive_bytes: u64) -> Result<u64, UserError> {
    let start_bytes = config.footprint_start_bytes;
    let Some(capacity_bytes) = drive_bytes.checked_sub(start_bytes).filter(|rest| *rest > 0) else {
        let what = format!("is past the end of the drive; must be below {drive_bytes}");
        return Err(wrong("footprint_start_bytes", start_bytes, &what));
    };
    match config.footprint {
        Footprint::Share(share) => Ok(((capacity_bytes as f64 * share) as u64).min(capacity_bytes)),
        Footprint::Bytes(bytes) if bytes <= capacity_bytes => Ok(bytes),
        Footprint::Bytes(bytes) => {
            let what = match start_bytes {
                0 => format!("is more than the drive has; must be at most {capacity_bytes}"),
                _ => format!(
                    "is more than lies behind footprint_start_bytes = {start_bytes}; must be at \
                     most {capacity_bytes}"
                ),
            };
            Err(wrong("footprint_bytes", bytes, &what))
        }
    }
}

fn size_tables(
    config: &MixedConfig,
    hot_sectors: u64,
    cold_sectors: u64,
    align_sectors: u64,
) -> Result<SizeTables, UserError> {
    let hot_cold = matches!(config.addresses, Addresses::HotCold { .. });
    let table = |key, sizes: &[(u32, f64)]| {
        let places = |bytes: u32| {
            let sectors = u64::from(bytes) / SECTOR_BYTES;
            let places = |region: u64| Some(region.checked_sub(sectors)? / align_sectors + 1);
            match (places(cold_sectors), places(hot_sectors)) {
                (Some(places), Some(hot_places)) => Ok((places, hot_places)),
                (Some(places), None) if !hot_cold => Ok((places, 0)),
                _ => Err(does_not_fit(key, bytes, hot_cold, hot_sectors, cold_sectors)),
            }
        };
        size_table(sizes, places)
    };
    // An unused table must fit too: its mistake would stay hidden.
    let both = table("request_bytes", &config.sizes)?;
    let own = |key, sizes: &Option<Vec<(u32, f64)>>| match sizes {
        Some(sizes) => table(key, sizes),
        None => Ok(both.clone()),
    };
    Ok(SizeTables {
        read: own("read_request_bytes", &config.read_sizes)?,
        write: own("write_request_bytes", &config.write_sizes)?,
        trim: both.clone(),
    })
}

/// A table to draw from; `places` counts the fitting places, in the cold and in the hot part.
fn size_table(
    sizes: &[(u32, f64)],
    places: impl Fn(u32) -> Result<(u64, u64), UserError>,
) -> Result<Vec<Size>, UserError> {
    let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
    let mut sum = 0.0;
    let mut table = Vec::with_capacity(sizes.len());
    for &(bytes, weight) in sizes {
        sum += weight;
        let (places, hot_places) = places(bytes)?;
        table.push(Size {
            bytes,
            sectors: u64::from(bytes) / SECTOR_BYTES,
            below: fixed_point(sum / total),
            places,
            hot_places,
        });
    }
    // A sum of weights may miss the total by a rounding error: the last size takes the rest.
    table.last_mut().expect("checked: at least one size").below = ONE;
    Ok(table)
}

fn does_not_fit(
    key: &str,
    bytes: u32,
    hot_cold: bool,
    hot_sectors: u64,
    cold_sectors: u64,
) -> UserError {
    let region = match (hot_cold, hot_sectors < cold_sectors) {
        (false, _) => "footprint",
        (true, true) => "hot part of the footprint",
        (true, false) => "cold part of the footprint",
    };
    let sectors = if hot_cold { hot_sectors.min(cold_sectors) } else { cold_sectors };
    let room = sectors * SECTOR_BYTES;
    let what = format!("does not fit into the {region}, which has {room} bytes");
    wrong(key, bytes, &what)
}

fn placement(config: &MixedConfig, hot_sectors: u64, footprint_sectors: u64) -> Placement {
    match config.addresses {
        Addresses::Uniform => Placement::Uniform,
        Addresses::Sequential => Placement::Sequential { next_sector: 0 },
        Addresses::HotCold { hot_fraction, .. } => {
            Placement::HotCold { hot_below: fixed_point(hot_fraction), cold_sector: hot_sectors }
        }
        Addresses::Zipf { theta, unit_bytes } => {
            let align_bytes = u64::from(config.align_bytes);
            let usual_bytes = ZIPF_UNIT_BYTES_MIN.next_multiple_of(align_bytes).max(align_bytes);
            let unit_sectors = unit_bytes.map_or(usual_bytes, u64::from) / SECTOR_BYTES;
            let longest = config.size_tables().flat_map(|(_, sizes)| sizes).map(|size| size.0);
            let longest = u64::from(longest.max().expect("checked: a size")) / SECTOR_BYTES;
            // The last units may be too near the end for the longest request: they stay unused.
            let units = (footprint_sectors - longest) / unit_sectors + 1;
            Placement::Zipf {
                law: Zipf::new(units, theta),
                scatter: Scatter::new(units),
                unit_sectors,
            }
        }
    }
}
