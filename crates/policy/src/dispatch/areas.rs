//! Areas of long reads: their writes are spread, and unevenly placed pages are moved.

use reprieve_base::Geometry;
use reprieve_config::{ReadAreas, Redistribution, Spread, Trigger};
use reprieve_nand::MultiPlane;

use super::{DriveView, Queued};

/// Areas of logical pages with long reads, and pages to be rewritten.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Areas {
    /// One bit an area.
    marked: Vec<u64>,
    /// Host reads that have arrived at this instant.
    reads: Vec<Queued>,
    /// Logical pages to be rewritten, the first of a read at the end.
    moves: Vec<u32>,
    /// A mark was set or cleared since the last query.
    changed: bool,
}

impl Areas {
    /// Whether a logical page is in a marked area.
    pub(super) fn is_marked(&self, lpn: u32, rules: &ReadAreas, geometry: &Geometry) -> bool {
        let area = area_of(lpn, rules, geometry);
        self.marked.get(area / 64).is_some_and(|bits| bits >> (area % 64) & 1 > 0)
    }

    fn set(&mut self, area: usize, marked: bool) {
        let (word, bit) = (area / 64, 1 << (area % 64));
        if word >= self.marked.len() {
            self.marked.resize(word + 1, 0);
        }
        self.changed |= marked != (self.marked[word] & bit > 0);
        self.marked[word] = if marked { self.marked[word] | bit } else { self.marked[word] & !bit };
    }

    /// Whether a mark was set or cleared since the last call.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Returns the next page to be rewritten.
    pub(super) fn next_move(&mut self) -> Option<u32> {
        self.moves.pop()
    }

    /// Drops pages to be rewritten, until another read requests it.
    pub(super) fn drop_moves(&mut self) {
        self.moves.clear();
    }

    /// Checks the host reads that have arrived at these dies at this instant.
    pub(super) fn look(&mut self, dies: &[u32], rules: &ReadAreas, drive: &dyn DriveView) {
        let mut reads = std::mem::take(&mut self.reads);
        reads.clear();
        for die in dies {
            drive.for_each_at(*die, &mut |queued| {
                let is_new = queued.since == drive.now() && queued.request.is_some();
                if queued.is_read && !queued.for_write && is_new {
                    reads.push(*queued);
                }
            });
        }
        reads.sort_unstable_by_key(|queued| (queued.request, queued.lpn));
        for request in reads.chunk_by(|one, other| one.request == other.request) {
            self.look_at(request, rules, drive);
        }
        self.reads = reads;
    }

    /// Marks the areas of a long read, or clears those of a short one.
    fn look_at(&mut self, request: &[Queued], rules: &ReadAreas, drive: &dyn DriveView) {
        let is_long = request.len() as u32 > rules.threshold_pages;
        if is_long || rules.short_reads_end {
            for read in request {
                self.set(area_of(read.lpn, rules, drive.geometry()), is_long);
            }
        }
        if let Some(again) = rules.redistribution.filter(|_| is_long) {
            self.moves.extend(uneven(request, again, rules.spread, drive));
        }
    }
}

fn area_of(lpn: u32, rules: &ReadAreas, geometry: &Geometry) -> usize {
    let area_pages = (rules.area_bytes / u64::from(geometry.page_bytes)).max(1);
    (u64::from(lpn) / area_pages) as usize
}

/// Returns the plane of a page striped over channels first, then the dies of each, then planes.
pub(super) fn striped(lpn: u32, geometry: &Geometry) -> u32 {
    let channel = lpn % geometry.channels;
    let rest = lpn / geometry.channels;
    let die = channel * geometry.dies_per_channel + rest % geometry.dies_per_channel;
    die * geometry.planes_per_die + rest / geometry.dies_per_channel % geometry.planes_per_die
}

/// Returns the pages of a request that channels or dies have beyond their share, the last first;
/// with placement by number, those that this places elsewhere.
fn uneven(
    request: &[Queued],
    rules: Redistribution,
    spread: Spread,
    drive: &dyn DriveView,
) -> Vec<u32> {
    let geometry = drive.geometry();
    let plane_of = |read: &Queued| read.plane.expect("a read is of a page that has a plane");
    let (channels, dies) = match rules.trigger {
        Trigger::Either => (true, true),
        Trigger::Channels => (true, false),
        Trigger::Transactions => (false, true),
    };
    let mut moves = Vec::new();
    let mut look = |planes: u32, own: &dyn Fn(&[&Queued]) -> u32, share: u32| {
        for unit in 0..geometry.planes() / planes {
            let here: Vec<&Queued> =
                request.iter().filter(|read| plane_of(read) / planes == unit).collect();
            let surplus = own(&here).saturating_sub(share);
            let elsewhere = here.iter().rev().filter(|read| {
                let target = striped(read.lpn, geometry);
                spread == Spread::Even || target / planes != unit && drive.has_room(target)
            });
            moves.extend(elsewhere.map(|read| read.lpn).take(surplus as usize));
        }
    };
    let pages = request.len() as u32;
    if channels {
        let planes = geometry.dies_per_channel * geometry.planes_per_die;
        look(planes, &|here| here.len() as u32, pages.div_ceil(geometry.channels));
    }
    if dies {
        let at_once = match drive.multi_plane() {
            MultiPlane::None => geometry.dies(),
            MultiPlane::Page | MultiPlane::Block => geometry.planes(),
        };
        let commands = |here: &[&Queued]| commands(here, drive.multi_plane());
        look(geometry.planes_per_die, &commands, pages.div_ceil(at_once));
    }
    moves.sort_unstable();
    moves.dedup();
    moves.truncate(rules.pages_max as usize);
    moves.reverse();
    moves
}

/// Page offset, block if it has to match, and plane.
type Placed = ((Option<u32>, Option<u32>), Option<u32>);

/// Returns the commands that a die needs for these pages.
fn commands(reads: &[&Queued], multi_plane: MultiPlane) -> u32 {
    let place = |read: &Queued| match multi_plane {
        MultiPlane::Block => (read.page, read.block),
        _ => (read.page, None),
    };
    let mut left: Vec<Placed> = reads.iter().map(|read| (place(read), read.plane)).collect();
    if multi_plane == MultiPlane::None {
        return left.len() as u32;
    }
    left.sort_unstable();
    // Each plane reads its pages of one place one after the other.
    let of_place = |group: &[Placed]| {
        group.chunk_by(|one, other| one.1 == other.1).map(<[_]>::len).max().unwrap_or(0) as u32
    };
    left.chunk_by(|one, other| one.0 == other.0).map(of_place).sum()
}
