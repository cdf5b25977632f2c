//! MBM (Maximize Bandwidth Management): writes go to idle chips, as many as their planes and the
//! share of their channel permit; reads of different requests do not share commands.

use std::cmp::Reverse;
use std::collections::VecDeque;

use reprieve_base::{Archive, Entry, Geometry, Time, parts};
use reprieve_config::{
    Alignment, Chips, Dispatch, FirstOf, MbmRules, Spread, Ties, TransactionUnit,
};
use reprieve_nand::MultiPlane;

use super::areas::Areas;
use super::lines::DispatchLines;
use super::share::share;
use super::{Dispatcher, DriveView};

pub(super) const ENTRY: Entry = Entry {
    name: "mbm",
    doc: "writes get their planes when a chip is idle: by its parallelism, up to an even share of \
          the channels' load; what long reads have touched is spread over the dies",
};

/// The policy.
pub struct Mbm {
    rules: MbmRules,
    /// Writes and their planes on idle chips, to be released at this instant.
    plan: VecDeque<(u32, u32)>,
    planned_at: Option<Time>,
    lines: DispatchLines,
    /// Waiting writes for any plane.
    free: u32,
    /// By channel: its work, the writes that it may start, and the writes given to it in total.
    lengths: Vec<u32>,
    allowed: Vec<u32>,
    given: Vec<u64>,
    /// Channels with room for a page, the least loaded first, and their sort keys.
    order: Vec<usize>,
    ranks: Vec<(u32, u32, usize)>,
    /// Idle chips, and for each channel whether one has been picked at this instant.
    idle: Vec<Chip>,
    picked: Vec<bool>,
    /// The channel after the last one chosen, and the chip of each channel.
    next_channel: u32,
    next_chip: Vec<u32>,
    /// The request and arrival of the last placed page: a later arrival is of another request, even
    /// under the same number.
    request: Option<(u32, Time)>,
    areas: Areas,
    /// Pages that were placed, and rewritten ones among them.
    placed: u64,
    anew: u64,
    /// Writes that the last plan left waiting.
    waiting: usize,
}

/// An idle chip, or an idle die that starts writes alone.
#[derive(Clone, Debug)]
struct Chip {
    number: u32,
    channel: u32,
    /// The planes of the pages that it can program at once, in their order.
    planes: Vec<u32>,
}

impl Mbm {
    /// Creates the policy with the settings of a scenario that names it.
    pub fn new(dispatch: &Dispatch) -> Mbm {
        Mbm {
            rules: dispatch.mbm.expect("the scenario has its settings"),
            plan: VecDeque::new(),
            planned_at: None,
            lines: DispatchLines::default(),
            free: 0,
            lengths: Vec::new(),
            allowed: Vec::new(),
            given: Vec::new(),
            order: Vec::new(),
            ranks: Vec::new(),
            idle: Vec::new(),
            picked: Vec::new(),
            next_channel: 0,
            next_chip: Vec::new(),
            request: None,
            areas: Areas::default(),
            placed: 0,
            anew: 0,
            waiting: 0,
        }
    }

    /// Makes the next plan without the state of earlier ones.
    #[cfg(feature = "testing")]
    pub fn forget(&mut self) {
        self.lines.lose_track();
        self.waiting = usize::MAX;
    }

    /// Whether a plan would place nothing: the last one has left the same writes, none has room on
    /// its plane, and no chip has become free.
    ///
    /// In a burst thousands of writes wait for many instants at which only this is checked.
    fn nothing_to_plan(&self, drive: &dyn DriveView) -> bool {
        let waiting = drive.unplaced();
        let on_arrival = self.rules.share.is_some_and(|share| share.on_arrival);
        if waiting == 0 {
            return true;
        }
        if waiting != self.waiting || on_arrival || self.lines.can_spread(drive) {
            return false;
        }
        let idle = drive.idle();
        self.idle_units(idle.dies, idle.chips) == 0 && idle.quiet_channels == 0
    }

    /// Returns the idle dies or chips, by the unit that starts writes.
    fn idle_units(&self, dies: u32, chips: u32) -> u32 {
        match self.rules.unit {
            TransactionUnit::Chip => chips,
            TransactionUnit::Die => dies,
        }
    }

    /// Returns the dies that start writes together: those of a chip, or one.
    fn dies_per_chip(&self, geometry: &Geometry) -> u32 {
        match self.rules.unit {
            TransactionUnit::Chip => geometry.dies_per_channel / geometry.chips_per_channel,
            TransactionUnit::Die => 1,
        }
    }

    /// Distributes the waiting writes.
    fn make_plan(&mut self, drive: &dyn DriveView) {
        let by_number = self.rules.read_areas.filter(|areas| areas.spread == Spread::ByNumber);
        self.lines.follow(&mut self.areas, by_number.as_ref(), drive);
        if self.nothing_to_plan(drive) {
            self.waiting = self.waiting.min(drive.unplaced());
            return;
        }
        let channels = drive.geometry().channels as usize;
        self.given.resize(channels, 0);
        self.next_chip.resize(channels, 0);
        self.allowed.resize(channels, 0);
        self.measure(drive);
        self.spread(drive);
        self.share_out(drive);
        self.list_idle(drive);
        self.picked.clear();
        self.picked.resize(channels, false);
        // One chip a channel in turn, while any channel has both a chip and a share.
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for index in 0..self.order.len() {
                let channel = self.order[index];
                goes_on |= self.give(channel as u32, drive);
            }
        }
        self.waiting = self.free as usize;
        self.deal(drive);
    }

    /// Whether the budget affords the rewrite of another page after the host's writes.
    ///
    /// A page that then stays in place counts as written: the budget is never exceeded.
    fn affords_move(&self) -> bool {
        let rules = self.rules.read_areas.and_then(|areas| areas.redistribution);
        if self.waiting > 0 && rules.is_some_and(|rules| rules.makes_way) {
            return false;
        }
        rules.and_then(|rules| rules.writes_per_page).is_none_or(|writes| {
            let of_host = self.placed.saturating_sub(self.anew);
            (self.anew + 1) * u64::from(writes) <= of_host
        })
    }

    /// Redistributes the places of planned writes of marked areas over the channels in turn.
    ///
    /// The set of places stays as planned, and with it all limits of the plan.
    fn deal(&mut self, drive: &dyn DriveView) {
        let Some(areas) = self.rules.read_areas.filter(|areas| areas.spread == Spread::Even) else {
            return;
        };
        let geometry = drive.geometry();
        let is_marked =
            |write: u32| self.areas.is_marked(drive.queued(write).lpn, &areas, geometry);
        let marked: Vec<usize> =
            (0..self.plan.len()).filter(|at| is_marked(self.plan[*at].0)).collect();
        let planes = geometry.dies_per_channel * geometry.planes_per_die;
        let mut of_channel = vec![0; geometry.channels as usize];
        // A stable sort: channels stay in the order of the plan, the least loaded first.
        let mut places: Vec<(u32, u32)> = Vec::with_capacity(marked.len());
        for at in &marked {
            let plane = self.plan[*at].1;
            let turn = &mut of_channel[(plane / planes) as usize];
            places.push((*turn, plane));
            *turn += 1;
        }
        places.sort_by_key(|(turn, _)| *turn);
        for (at, (_, plane)) in marked.into_iter().zip(places) {
            self.plan[at].1 = plane;
        }
    }

    /// Counts the work of each channel: pages to be read, and host pages to be programmed.
    fn measure(&mut self, drive: &dyn DriveView) {
        let geometry = drive.geometry();
        self.lengths.clear();
        self.lengths.resize(geometry.channels as usize, 0);
        let (weight, all, collection) = match self.rules.share {
            Some(rules) => (rules.read_weight, rules.counts_all_writes, rules.counts_collection),
            None => (1, false, false),
        };
        let dies = geometry.dies_per_channel;
        for (channel, length) in (0..).zip(&mut self.lengths) {
            let work = drive.channel(channel);
            *length = work.reads * weight + if all { 0 } else { work.programs };
            if collection {
                let collects = |die: &u32| drive.collects(*die);
                *length += (channel * dies..(channel + 1) * dies).filter(collects).count() as u32;
            }
        }
        if all {
            // Only differences matter.
            let least = self.given.iter().min().copied().unwrap_or(0);
            for (length, given) in self.lengths.iter_mut().zip(&self.given) {
                *length += (given - least) as u32;
            }
        }
    }

    /// Places writes to areas of long reads on dies by page number, idle or not.
    fn spread(&mut self, drive: &dyn DriveView) {
        let geometry = drive.geometry();
        let planes = geometry.planes_per_die * geometry.dies_per_channel;
        let (lengths, given) = (&mut self.lengths, &mut self.given);
        self.lines.part(drive, &mut |plane, writes| {
            lengths[(plane / planes) as usize] += writes;
            given[(plane / planes) as usize] += u64::from(writes);
        });
        self.free = self.lines.count_free();
    }

    /// Sets how many writes each channel may start; none on a channel without room.
    fn share_out(&mut self, drive: &dyn DriveView) {
        let geometry = drive.geometry();
        let planes = geometry.dies_per_channel * geometry.planes_per_die;
        let has_room = |channel: &usize| {
            let first = *channel as u32 * planes;
            (first..first + planes).any(|plane| drive.has_room(plane))
        };
        let behind_last = |channel: usize| match self.rules.ties {
            Ties::Rotating => {
                (channel as u32 + geometry.channels - self.next_channel) % geometry.channels
            }
            Ties::InOrder => channel as u32,
        };
        let channels = (0..geometry.channels as usize).filter(has_room);
        self.ranks.clear();
        self.ranks
            .extend(channels.map(|channel| (self.lengths[channel], behind_last(channel), channel)));
        self.ranks.sort_unstable();
        self.order.clear();
        self.order.extend(self.ranks.iter().map(|(.., channel)| *channel));
        let writes = self.free;
        let Some(rules) = self.rules.share else {
            self.allowed.clear();
            self.allowed.resize(geometry.channels as usize, writes);
            return;
        };
        let has_come = self.lines.has_come(drive.now());
        let left: u32 = self.order.iter().filter_map(|channel| self.allowed.get(*channel)).sum();
        // A waiting write has to have a share somewhere.
        if !rules.on_arrival || has_come || left < writes {
            share(rules.rounding, &self.lengths, &self.order, writes, &mut self.allowed);
        }
    }

    /// Lists the idle chips with room, each with the planes that can program together.
    ///
    /// On a channel without one, whose dies do no work for the host, collecting dies count as idle
    /// too: idle collection yields only to operations of its own die.
    fn list_idle(&mut self, drive: &dyn DriveView) {
        self.idle.clear();
        for channel in 0..drive.geometry().channels {
            let (before, work) = (self.idle.len(), drive.channel(channel));
            if self.idle_units(work.idle_dies, work.idle_chips) > 0 {
                self.list_chips(channel, drive, &|die| drive.is_idle(die));
            }
            if self.idle.len() == before && work.serving_dies == 0 {
                self.list_chips(channel, drive, &|_| true);
            }
        }
    }

    /// Lists the chips of a channel whose dies are free, unless one gets a write at this instant.
    fn list_chips(&mut self, channel: u32, drive: &dyn DriveView, is_free: &dyn Fn(u32) -> bool) {
        let geometry = *drive.geometry();
        let dies_per_chip = self.dies_per_chip(&geometry);
        let chips = geometry.dies_per_channel / dies_per_chip;
        for number in channel * chips..(channel + 1) * chips {
            let dies = number * dies_per_chip..(number + 1) * dies_per_chip;
            let planes = geometry.planes_per_die;
            let is_taken = |die| self.lines.spreads_over(die * planes, planes);
            if !dies.clone().all(|die| is_free(die) && !is_taken(die)) {
                continue;
            }
            let alignment = self.rules.alignment;
            let mut groups: Vec<Vec<u32>> =
                dies.map(|die| aligned(die, alignment, drive)).collect();
            groups.sort_by_key(|group| Reverse(group.len()));
            // A program of several pages of a plane gets them.
            let together = drive.pages_together() as usize;
            let pages = groups.concat().into_iter();
            let planes: Vec<u32> =
                pages.flat_map(|plane| std::iter::repeat_n(plane, together)).collect();
            if !planes.is_empty() {
                self.idle.push(Chip { number, channel, planes });
            }
        }
    }

    /// Gives an idle chip of a channel as many of the oldest writes as it takes; false if there is
    /// no chip, no share or no write left.
    fn give(&mut self, channel: u32, drive: &dyn DriveView) -> bool {
        let at = channel as usize;
        let allowed = self.allowed[at];
        if self.free == 0 || allowed == 0 {
            return false;
        }
        let next = drive.queued(self.lines.first_free().expect("some are left"));
        let begins = |request: u32| {
            self.request.is_none_or(|(last, when)| last != request || next.since > when)
        };
        let of_drive = || !self.picked.contains(&true);
        let first = |of: FirstOf| match of {
            FirstOf::Channel => !self.picked[at],
            FirstOf::Instant => of_drive(),
            FirstOf::Request => next.request.map_or_else(of_drive, begins),
        };
        let of_channel = |(_, chip): &(usize, &Chip)| chip.channel == channel;
        let chips = self.idle.iter().enumerate().filter(of_channel);
        let (behind, ties) = (self.next_chip[at], self.rules.ties);
        let turn = |chip: &Chip| match ties {
            Ties::Rotating => (chip.number < behind, chip.number),
            Ties::InOrder => (false, chip.number),
        };
        let chosen = match self.rules.chips {
            Chips::InOrder => chips.min_by_key(|(_, chip)| turn(chip)),
            Chips::LeastThenGreatest(of) if first(of) => {
                chips.min_by_key(|(_, chip)| (chip.planes.len(), turn(chip)))
            }
            Chips::LeastThenGreatest(_) => {
                chips.min_by_key(|(_, chip)| (Reverse(chip.planes.len()), turn(chip)))
            }
        };
        let Some((index, _)) = chosen else { return false };
        let chip = self.idle.remove(index);
        let pages = chip.planes.len().min(allowed as usize).min(self.free as usize);
        for plane in &chip.planes[..pages] {
            let write = self.lines.take_free().expect("as many are there");
            self.plan.push_back((write, *plane));
            self.request = drive.queued(write).request.map(|request| (request, drive.now()));
        }
        self.free -= pages as u32;
        self.allowed[at] -= pages as u32;
        self.given[at] += pages as u64;
        self.picked[at] = true;
        (self.next_channel, self.next_chip[at]) = (channel + 1, chip.number + 1);
        true
    }
}

/// Returns the planes of a die that can program together: without multi-plane commands, the one
/// with the lowest page.
fn aligned(die: u32, alignment: Alignment, drive: &dyn DriveView) -> Vec<u32> {
    let geometry = drive.geometry();
    let (planes, pages) = (geometry.planes_per_die, geometry.pages_per_block);
    let place = |plane: u32| match drive.multi_plane() {
        MultiPlane::Block => (drive.next_page(plane), drive.next_block(plane)),
        _ => (drive.next_page(plane), None),
    };
    let with_room = (die * planes..(die + 1) * planes).filter(|plane| drive.has_room(*plane));
    let mut planes: Vec<u32> = with_room.collect();
    // Returns the pages between a plane and the farthest of the others, around the block.
    let behind = |plane: u32| {
        let to = |other: u32| (drive.next_page(other) + pages - drive.next_page(plane)) % pages;
        planes.iter().map(|other| to(*other)).max().unwrap_or(0)
    };
    let mut ranks: Vec<_> = planes.iter().map(|plane| (behind(*plane), place(*plane))).collect();
    ranks.sort_unstable();
    let of_rank =
        |rank: &(u32, (u32, Option<u32>))| ranks.iter().filter(|other| other.1 == rank.1).count();
    let chosen = match alignment {
        Alignment::Lagging => ranks.first(),
        Alignment::Largest => ranks.iter().min_by_key(|rank| (Reverse(of_rank(rank)), **rank)),
    };
    let Some((_, chosen)) = chosen else { return planes };
    let chosen = *chosen;
    planes.retain(|plane| place(*plane) == chosen);
    if drive.multi_plane() == MultiPlane::None {
        planes.truncate(1);
    }
    planes
}

impl Dispatcher for Mbm {
    fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.plan, self.planned_at, self.lines, self.free, self.given);
        parts!(archive; self.next_channel, self.next_chip, self.request, self.areas, self.placed);
        parts!(archive; self.anew, self.waiting);
    }

    fn joins_requests(&self) -> bool {
        self.rules.joins_requests
    }

    fn chooses_heads(&self) -> bool {
        false
    }

    fn rewrites(&self) -> bool {
        self.rules.read_areas.is_some_and(|areas| areas.redistribution.is_some())
    }

    fn rewrite(&mut self) -> Option<u32> {
        if !self.affords_move() {
            self.areas.drop_moves();
        }
        let next = self.areas.next_move();
        self.anew += u64::from(next.is_some());
        next
    }

    fn place(&mut self, drive: &dyn DriveView) -> Option<(u32, u32)> {
        if self.planned_at != Some(drive.now()) {
            self.planned_at = Some(drive.now());
            self.make_plan(drive);
        }
        if let Some(own) = self.lines.take_own(drive) {
            self.placed += 1;
            return Some(own);
        }
        // A program of several pages of a plane may find room for fewer.
        while let Some((write, plane)) = self.plan.pop_front() {
            if drive.has_room(plane) {
                self.placed += 1;
                return Some((write, plane));
            }
            self.lines.lose_track();
        }
        None
    }

    fn visit(&mut self, dies: &mut [u32], drive: &dyn DriveView) {
        if let Some(rules) = self.rules.read_areas {
            self.areas.look(dies, &rules, drive);
        }
    }
}
