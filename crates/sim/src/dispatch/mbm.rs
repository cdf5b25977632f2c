//! MBM (Maximize Bandwidth Management): writes go to idle chips, as many as their planes and the
//! share of their channel allow; reads of different requests are not made to wait for each other.

use std::cmp::Reverse;
use std::collections::VecDeque;

use reprieve_base::{Entry, Geometry, Time};
use reprieve_nand::MultiPlane;

use super::share::share;
use super::{Dispatcher, DriveView, Queued};
use crate::scenario::{Chips, Dispatch, MbmRules};

pub(super) const ENTRY: Entry = Entry {
    name: "mbm",
    doc: "writes get their planes when a chip is idle: by its parallelism, up to an even share of \
          the channels' load; what long reads have touched is spread over the dies",
};

/// The policy.
pub(super) struct Mbm {
    rules: MbmRules,
    /// Writes and their planes, to be handed out at this instant.
    plan: VecDeque<(u32, u32)>,
    planned_at: Option<Time>,
    writes: Vec<Queued>,
    /// By channel: what it has to do, and how many writes it may begin.
    lengths: Vec<u32>,
    allowed: Vec<u32>,
    order: Vec<usize>,
    /// Idle chips, and of each channel whether one has been picked at this instant.
    idle: Vec<Chip>,
    picked: Vec<bool>,
    /// Of each channel whether its chips do nothing but collect.
    quiet: Vec<bool>,
    areas: Areas,
}

/// A chip whose dies have nothing to do.
#[derive(Clone, Debug)]
struct Chip {
    number: u32,
    channel: u32,
    /// The planes of the pages that it can program at once, in the order in which they get them.
    planes: Vec<u32>,
}

/// Stretches of the logical pages that a long read has touched.
#[derive(Debug, Default)]
struct Areas {
    marked: Vec<u64>,
    /// Reads that have come at this instant, and to which request they belong.
    reads: Vec<(u32, u32)>,
}

impl Areas {
    fn is_marked(&self, area: u32) -> bool {
        self.marked.get(area as usize / 64).is_some_and(|bits| bits >> (area % 64) & 1 > 0)
    }

    fn mark(&mut self, area: u32) {
        let word = area as usize / 64;
        if word >= self.marked.len() {
            self.marked.resize(word + 1, 0);
        }
        self.marked[word] |= 1 << (area % 64);
    }
}

impl Mbm {
    pub(super) fn new(dispatch: &Dispatch) -> Mbm {
        Mbm {
            rules: dispatch.mbm.expect("the scenario has its settings"),
            plan: VecDeque::new(),
            planned_at: None,
            writes: Vec::new(),
            lengths: Vec::new(),
            allowed: Vec::new(),
            order: Vec::new(),
            idle: Vec::new(),
            picked: Vec::new(),
            quiet: Vec::new(),
            areas: Areas::default(),
        }
    }

    /// Distributes the writes that wait.
    fn make_plan(&mut self, drive: &dyn DriveView) {
        self.writes.clear();
        drive.for_each_unplaced(&mut |queued| self.writes.push(*queued));
        if self.writes.is_empty() {
            return;
        }
        self.measure(drive);
        self.spread(drive);
        let writes = self.writes.len() as u32;
        let limit = self.rules.channel_limit;
        share(limit, &self.lengths, writes, &mut self.order, &mut self.allowed);
        self.list_idle(drive);
        self.picked.clear();
        self.picked.resize(self.lengths.len(), false);
        self.order.clear();
        self.order.extend(0..self.lengths.len());
        self.order.sort_by_key(|channel| self.lengths[*channel]);
        // One chip a channel by turns, while any channel has both a chip and a share.
        let mut next = 0;
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for index in 0..self.order.len() {
                let channel = self.order[index];
                goes_on |= self.give(channel as u32, &mut next);
            }
        }
    }

    /// Counts what each channel has to do: pages to be read, and host pages to be programmed.
    fn measure(&mut self, drive: &dyn DriveView) {
        let geometry = drive.geometry();
        self.lengths.clear();
        self.lengths.resize(geometry.channels as usize, 0);
        for die in 0..geometry.dies() {
            let mut pages = drive.programming(die);
            drive.for_each_at(die, &mut |_| pages += 1);
            self.lengths[(die / geometry.dies_per_channel) as usize] += pages;
        }
    }

    /// Writes to what long reads have touched go around the dies by their numbers, busy or not.
    fn spread(&mut self, drive: &dyn DriveView) {
        let Some(reads) = self.rules.read_areas else { return };
        let geometry = *drive.geometry();
        let area_pages = (reads.area_bytes / u64::from(geometry.page_bytes)).max(1);
        let (areas, plan, lengths) = (&self.areas, &mut self.plan, &mut self.lengths);
        self.writes.retain(|write| {
            if !areas.is_marked((u64::from(write.lpn) / area_pages) as u32) {
                return true;
            }
            let plane = striped(write.lpn, &geometry);
            if !drive.has_room(plane) {
                return true;
            }
            let die = plane / geometry.planes_per_die;
            lengths[(die / geometry.dies_per_channel) as usize] += 1;
            plan.push_back((write.id, plane));
            false
        });
    }

    /// Lists the chips that are idle, each with the planes that can go together.
    ///
    /// On a channel whose chips all collect and do nothing else they count as idle too: collection
    /// in idle time makes way only for what waits at its die.
    fn list_idle(&mut self, drive: &dyn DriveView) {
        let geometry = *drive.geometry();
        let dies_per_chip = geometry.dies_per_channel / geometry.chips_per_channel;
        self.idle.clear();
        let chips = |channel: u32| {
            let first = channel * geometry.chips_per_channel;
            (first..first + geometry.chips_per_channel)
                .map(|chip| chip * dies_per_chip..(chip + 1) * dies_per_chip)
        };
        let is_quiet = |channel| {
            let none_idle = !chips(channel).any(|mut dies| dies.all(|die| drive.is_idle(die)));
            none_idle && chips(channel).flatten().all(|die| !drive.serves_host(die))
        };
        self.quiet.clear();
        self.quiet.extend((0..geometry.channels).map(is_quiet));
        for number in 0..geometry.channels * geometry.chips_per_channel {
            let dies = number * dies_per_chip..(number + 1) * dies_per_chip;
            let is_taken =
                |die| self.plan.iter().any(|(_, plane)| plane / geometry.planes_per_die == die);
            let channel = number / geometry.chips_per_channel;
            let quiet = self.quiet[channel as usize];
            let is_free = |die| if quiet { !drive.serves_host(die) } else { drive.is_idle(die) };
            if !dies.clone().all(|die| is_free(die) && !is_taken(die)) {
                continue;
            }
            let mut groups: Vec<Vec<u32>> = dies.map(|die| aligned(die, drive)).collect();
            groups.sort_by_key(|group| Reverse(group.len()));
            // Where a program takes several pages of a plane, it gets them.
            let together = drive.pages_together() as usize;
            let pages = groups.concat().into_iter();
            let planes: Vec<u32> =
                pages.flat_map(|plane| std::iter::repeat_n(plane, together)).collect();
            if !planes.is_empty() {
                self.idle.push(Chip { number, channel, planes });
            }
        }
    }

    /// Gives one idle chip of a channel as many of the writes from `next` on as it takes; false if
    /// there is no chip, no share or no write left.
    fn give(&mut self, channel: u32, next: &mut usize) -> bool {
        let left = self.writes.len() - *next;
        let allowed = self.allowed[channel as usize];
        if left == 0 || allowed == 0 {
            return false;
        }
        let of_channel = |(_, chip): &(usize, &Chip)| chip.channel == channel;
        let chips = self.idle.iter().enumerate().filter(of_channel);
        let first = !std::mem::replace(&mut self.picked[channel as usize], true);
        let chosen = match self.rules.chips {
            Chips::InOrder => chips.min_by_key(|(_, chip)| chip.number),
            Chips::LeastThenGreatest if first => {
                chips.min_by_key(|(_, chip)| (chip.planes.len(), chip.number))
            }
            Chips::LeastThenGreatest => {
                chips.min_by_key(|(_, chip)| (Reverse(chip.planes.len()), chip.number))
            }
        };
        let Some((index, _)) = chosen else { return false };
        let chip = self.idle.remove(index);
        let pages = chip.planes.len().min(allowed as usize).min(left);
        for (write, plane) in self.writes[*next..].iter().zip(&chip.planes[..pages]) {
            self.plan.push_back((write.id, *plane));
        }
        self.allowed[channel as usize] -= pages as u32;
        *next += pages;
        true
    }
}

/// Planes of a die that can program together: those of the most that stand at one place, of equals
/// at the lowest; where no command takes several, the plane that lags behind.
fn aligned(die: u32, drive: &dyn DriveView) -> Vec<u32> {
    let planes_per_die = drive.geometry().planes_per_die;
    let place = |plane: u32| match drive.multi_plane() {
        MultiPlane::Block => (drive.next_page(plane), drive.next_block(plane)),
        _ => (drive.next_page(plane), None),
    };
    let planes = die * planes_per_die..(die + 1) * planes_per_die;
    let mut planes: Vec<u32> = planes.filter(|plane| drive.has_room(*plane)).collect();
    planes.sort_by_key(|plane| place(*plane));
    if drive.multi_plane() == MultiPlane::None {
        planes.truncate(1);
        return planes;
    }
    let groups = planes.chunk_by(|one, other| place(*one) == place(*other));
    let largest = groups.max_by_key(|group| (group.len(), Reverse(place(group[0]))));
    largest.map(<[u32]>::to_vec).unwrap_or_default()
}

/// The plane of a page that is striped over channels first, then the dies of each, then planes.
fn striped(lpn: u32, geometry: &Geometry) -> u32 {
    let channel = lpn % geometry.channels;
    let rest = lpn / geometry.channels;
    let die = channel * geometry.dies_per_channel + rest % geometry.dies_per_channel;
    die * geometry.planes_per_die + rest / geometry.dies_per_channel % geometry.planes_per_die
}

impl Dispatcher for Mbm {
    fn joins_requests(&self) -> bool {
        self.rules.joins_requests
    }

    fn place(&mut self, drive: &dyn DriveView) -> Option<(u32, u32)> {
        if self.planned_at != Some(drive.now()) {
            self.planned_at = Some(drive.now());
            self.make_plan(drive);
        }
        // A plane can get several that are spread, and what it has no room for waits.
        std::iter::from_fn(|| self.plan.pop_front()).find(|(_, plane)| drive.has_room(*plane))
    }

    fn visit(&mut self, dies: &mut [u32], drive: &dyn DriveView) {
        let Some(rules) = self.rules.read_areas else { return };
        let reads = &mut self.areas.reads;
        reads.clear();
        for die in dies.iter() {
            drive.for_each_at(*die, &mut |queued| {
                if let (true, Some(request)) = (queued.is_read, queued.request) {
                    if queued.since == drive.now() {
                        reads.push((request, queued.lpn));
                    }
                }
            });
        }
        reads.sort_unstable();
        let area_pages = (rules.area_bytes / u64::from(drive.geometry().page_bytes)).max(1);
        let mut reads = std::mem::take(&mut self.areas.reads);
        for request in reads.chunk_by(|one, other| one.0 == other.0) {
            if request.len() as u32 > rules.threshold_pages {
                for (_, lpn) in request {
                    self.areas.mark((u64::from(*lpn) / area_pages) as u32);
                }
            }
        }
        reads.clear();
        self.areas.reads = reads;
    }
}
