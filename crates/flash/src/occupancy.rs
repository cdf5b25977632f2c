//! Work of dies and channels, kept between instants.
//!
//! A dispatcher needs it at every instant, and only dies that decided have changed.

use reprieve_base::Geometry;
use reprieve_policy::dispatch::{ChannelWork, IdleUnits};
use reprieve_policy::txn::{Kind, NONE};

use super::dies::Dies;
use super::lane::Lane;

/// Work of a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct DieWork {
    /// Nothing runs or waits.
    pub(super) is_idle: bool,
    /// Host operations run or wait.
    pub(super) serves_host: bool,
    /// Reads that wait.
    pub(super) reads: u32,
    /// Programs that wait, and host pages that it programs or has suspended.
    pub(super) programs: u32,
}

impl DieWork {
    /// Returns the work of a die, by its queues and lanes.
    pub(super) fn of(dies: &Dies, die: u32) -> DieWork {
        let unit = &dies[die];
        let by_host = |id: u32| {
            let of_collection =
                |kind| matches!(kind, Kind::GcRead | Kind::GcProgram | Kind::GcCopy | Kind::Erase);
            id != NONE && !of_collection(dies.txns[id].kind)
        };
        // The first of these is nearly always true; planes are checked only where they differ.
        let serves_host = unit.reads.first().is_some()
            || unit.writes.first().is_some()
            || by_host(unit.whole.operation())
            || by_host(unit.reading)
            || by_host(unit.leaving.first())
            || by_host(unit.loaded)
            || by_host(unit.whole.below.operation)
            || unit.planes.get().is_some_and(|planes| {
                let lanes = planes.lanes.iter().map(Lane::operation);
                planes.reads.iter().copied().chain(lanes).any(by_host)
            });
        let programming = unit.lanes().map(|lane| dies.host_pages_of(lane.operation()));
        DieWork {
            is_idle: unit.is_idle(),
            serves_host,
            reads: unit.reads.count(),
            programs: unit.writes.count() + programming.sum::<u32>(),
        }
    }
}

/// The work of all dies, and its sums by channel.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Occupancy {
    dies: Vec<DieWork>,
    channels: Vec<ChannelWork>,
    /// Of each chip, its dies that are not idle.
    busy_dies: Vec<u32>,
    dies_per_channel: u32,
    dies_per_chip: u32,
    idle: IdleUnits,
    /// Dies that decided since the last update.
    pub(super) decided: Vec<u32>,
}

impl Occupancy {
    /// Creates the work of all dies of a drive of this shape.
    pub(super) fn new(dies: Vec<DieWork>, geometry: &Geometry) -> Occupancy {
        let (channels, chips) = (geometry.channels, geometry.channels * geometry.chips_per_channel);
        let dies_per_chip = geometry.dies_per_channel / geometry.chips_per_channel;
        let mut occupancy = Occupancy {
            dies: vec![DieWork::default(); dies.len()],
            channels: vec![ChannelWork::default(); channels as usize],
            busy_dies: vec![dies_per_chip; chips as usize],
            dies_per_channel: geometry.dies_per_channel,
            dies_per_chip,
            idle: IdleUnits { quiet_channels: channels, ..IdleUnits::default() },
            decided: Vec::with_capacity(dies.len()),
        };
        (0..).zip(dies).for_each(|(die, work)| occupancy.set(die, work));
        occupancy
    }

    /// Whether no die has been set yet.
    pub(super) fn is_new(&self) -> bool {
        self.dies.is_empty()
    }

    /// Sets the work of a die.
    #[inline]
    pub(super) fn set(&mut self, die: u32, work: DieWork) {
        let before = std::mem::replace(&mut self.dies[die as usize], work);
        if before == work {
            return;
        }
        let channel = &mut self.channels[(die / self.dies_per_channel) as usize];
        self.idle.quiet_channels -= u32::from(channel.serving_dies == 0);
        for (sum, now, before) in [
            (&mut channel.serving_dies, u32::from(work.serves_host), u32::from(before.serves_host)),
            (&mut channel.reads, work.reads, before.reads),
            (&mut channel.programs, work.programs, before.programs),
        ] {
            *sum = *sum + now - before;
        }
        self.idle.quiet_channels += u32::from(channel.serving_dies == 0);
        if before.is_idle != work.is_idle {
            self.set_idle(die, work.is_idle);
        }
    }

    /// Counts a die that becomes idle, or stops being idle.
    fn set_idle(&mut self, die: u32, is_idle: bool) {
        let channel = &mut self.channels[(die / self.dies_per_channel) as usize];
        let busy = &mut self.busy_dies[(die / self.dies_per_chip) as usize];
        if is_idle {
            *busy -= 1;
            self.idle.dies += 1;
            channel.idle_dies += 1;
            self.idle.chips += u32::from(*busy == 0);
            channel.idle_chips += u32::from(*busy == 0);
        } else {
            self.idle.chips -= u32::from(*busy == 0);
            channel.idle_chips -= u32::from(*busy == 0);
            *busy += 1;
            self.idle.dies -= 1;
            channel.idle_dies -= 1;
        }
    }

    /// Returns the work of a die.
    pub(super) fn of_die(&self, die: u32) -> DieWork {
        self.dies[die as usize]
    }

    /// Returns the work of the dies of a channel.
    pub(super) fn of_channel(&self, channel: u32) -> ChannelWork {
        self.channels[channel as usize]
    }

    /// Returns the idle units of the drive.
    pub(super) fn idle(&self) -> IdleUnits {
        self.idle
    }
}

#[cfg(test)]
mod tests {
    use reprieve_base::Stream;

    use super::*;

    const SHAPE: Geometry = Geometry {
        channels: 3,
        chips_per_channel: 2,
        dies_per_channel: 4,
        planes_per_die: 1,
        blocks_per_plane: 1,
        pages_per_block: 1,
        page_bytes: 4096,
    };

    /// Computes the work of a channel from its dies.
    fn looked_at(dies: &[DieWork]) -> ChannelWork {
        let count = |of: fn(&DieWork) -> u32| dies.iter().map(of).sum();
        let is_idle = |chip: &&[DieWork]| chip.iter().all(|die| die.is_idle);
        ChannelWork {
            idle_dies: count(|die| u32::from(die.is_idle)),
            idle_chips: dies.chunks(2).filter(is_idle).count() as u32,
            serving_dies: count(|die| u32::from(die.serves_host)),
            reads: count(|die| die.reads),
            programs: count(|die| die.programs),
        }
    }

    #[test]
    fn what_is_counted_is_what_a_look_at_all_dies_finds() {
        let mut stream = Stream::new(1, "test.occupancy", 0);
        let mut draw = || DieWork {
            is_idle: stream.below(2) == 0,
            serves_host: stream.below(3) == 0,
            reads: stream.below(4) as u32,
            programs: stream.below(4) as u32,
        };
        let mut dies: Vec<DieWork> = (0..12).map(|_| draw()).collect();
        let mut occupancy = Occupancy::new(dies.clone(), &SHAPE);
        for step in 0..500 {
            let channels: Vec<ChannelWork> = dies.chunks(4).map(looked_at).collect();
            let idle = IdleUnits {
                dies: channels.iter().map(|channel| channel.idle_dies).sum(),
                chips: channels.iter().map(|channel| channel.idle_chips).sum(),
                quiet_channels: channels.iter().filter(|channel| channel.serving_dies == 0).count()
                    as u32,
            };
            assert_eq!(occupancy.idle(), idle);
            for (number, channel) in (0..).zip(channels) {
                assert_eq!(occupancy.of_channel(number), channel);
            }
            let die = step % 12;
            dies[die] = draw();
            occupancy.set(die as u32, dies[die]);
            assert_eq!(occupancy.of_die(die as u32), dies[die]);
        }
    }
}
