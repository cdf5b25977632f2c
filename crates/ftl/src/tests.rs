//! Preconditioning without names against a long replay that writes every page by its name.

use reprieve_base::{Archive, Stream};
use reprieve_config::{self as scenario, Sources};
use reprieve_state::State;

use super::overwriting::Sampling;
use super::plane::Plane;
use super::*;

/// Drives of each kind that are compared.
const DRIVES: u64 = 80;
/// Overwrites of the drive after which a replay is taken to be stationary.
const REPLAYED_PASSES: u32 = 12;
/// Of a hundred means all are nearer than so many standard errors, but for one time in a thousand.
const ERRORS_MAX: f64 = 4.5;

/// A small drive with these keys besides.
pub(crate) fn drive(seed: u64, more: &[&str]) -> Scenario {
    let text = "device = \"fast12-slc\"\n[geometry]\nchannels = 2\nplanes_per_die = 2\n\
        blocks_per_plane = 40\npages_per_block = 16\n[ftl]\nover_provisioning = 0.22\n\
        [workload]\ngenerator = \"mixed\"\nrequests = 1\nread_fraction = 0.5\nqueue_depth = 1\n\
        request_bytes = 512\n";
    let mut sets = vec![format!("seed={seed}")];
    sets.extend(more.iter().map(ToString::to_string));
    let sources = Sources { text, path: "drive.toml", sets: &sets };
    scenario::load(&sources, crate::registries()).expect("a scenario without mistakes")
}

fn preconditioned(seed: u64, more: &[&str]) -> Ftl {
    let scenario = drive(seed, more);
    let mut ftl = Ftl::new(&scenario).expect("a drive that fits into memory");
    let mut preconditioner = Preconditioner::new(&scenario, &mut ftl, FreeTarget::always(2));
    while !preconditioner.is_done() {
        preconditioner.advance(&mut ftl, &scenario, 1000).expect("a drive that settles");
    }
    ftl
}

impl Ftl {
    /// Overwrites logical pages drawn at random, by name; returns the pages moved for it.
    fn replay(&mut self, writes: u32, stream: &mut Stream) -> u32 {
        self.replay_together(1, writes, stream)
    }

    /// Overwrites runs of `together` adjacent logical pages, drawn at random, by name.
    fn replay_together(&mut self, together: u32, writes: u32, stream: &mut Stream) -> u32 {
        let places = u64::from(self.tables.map.logical_pages() / together);
        let kept = FreeTarget::always(self.tables.blocks.reserve_blocks);
        let mut moved = 0;
        for _ in 0..writes / together {
            let first = stream.below(places) as u32 * together;
            moved += (first..first + together).map(|lpn| self.write_now(lpn, kept)).sum::<u32>();
        }
        moved
    }

    /// Blocks by valid pages, then the pages that the next writes move.
    fn figures(&mut self, together: u32, stream: &mut Stream) -> Vec<f64> {
        let mut figures = vec![0.0; self.numbering.geometry.pages_per_block as usize + 1];
        for block in 0..self.numbering.geometry.blocks() as u32 {
            figures[self.tables.blocks.index.valid(block) as usize] += 1.0;
        }
        // A hundredth of the drive, and as much again nine times.
        let writes = self.tables.map.logical_pages() / 100;
        figures.push(f64::from(self.replay_together(together, writes, stream)));
        figures.push(f64::from(self.replay_together(together, 9 * writes, stream)));
        figures
    }
}

/// Mean and its squared standard error, figure by figure.
fn means(all: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let count = all.len() as f64;
    let figure = |index: usize| {
        let mean = all.iter().map(|figures| figures[index]).sum::<f64>() / count;
        let square = all.iter().map(|figures| (figures[index] - mean).powi(2)).sum::<f64>();
        (mean, square / (count - 1.0) / count)
    };
    (0..all[0].len()).map(figure).collect()
}

fn assert_same_law(more: &[&str]) {
    assert_law_of_replay(1, more, preconditioned);
}

/// `steady` makes a drive in its steady state, by a seed and keys; `together` logical pages are
/// always written together.
fn assert_law_of_replay(together: u32, more: &[&str], steady: impl Fn(u64, &[&str]) -> Ftl) {
    let (mut drawn, mut replayed) = (Vec::new(), Vec::new());
    for seed in 0..DRIVES {
        let mut stream = Stream::new(seed, "test.replay", 0);
        let sets = [more, &["ftl.precondition=steady"]].concat();
        drawn.push(steady(seed, &sets).figures(together, &mut stream));
        // Another seed, so that no draw of a policy is shared.
        let sequential = [more, &["ftl.precondition=sequential"]].concat();
        let mut ftl = preconditioned(DRIVES + seed, &sequential);
        let writes = REPLAYED_PASSES * ftl.tables.map.logical_pages();
        ftl.replay_together(together, writes, &mut stream);
        // As where a drive starts: a wordline that was begun is given up.
        ftl.tables.blocks.planes.iter_mut().for_each(Plane::pad);
        replayed.push(ftl.figures(together, &mut stream));
    }
    let pairs = means(&drawn).into_iter().zip(means(&replayed));
    for (index, ((drawn, drawn_error), (replayed, replayed_error))) in pairs.enumerate() {
        // A figure that hardly ever is not 0 has no error to speak of.
        let error = (drawn_error + replayed_error).sqrt().max(0.1);
        let errors = (drawn - replayed).abs() / error;
        assert!(
            errors < ERRORS_MAX,
            "{more:?}, figure {index}: {drawn} is not {replayed} ± {error}"
        );
    }
}

#[test]
fn the_steady_state_is_that_of_a_long_replay() {
    assert_same_law(&[]);
    assert_same_law(&["ftl.gc_victim=fifo"]);
    assert_same_law(&["ftl.gc_victim=random"]);
    assert_same_law(&["ftl.gc_victim=d-choices", "ftl.gc_choices=3"]);
    assert_same_law(&["ftl.over_provisioning=0.4", "ftl.placement=pdwc"]);
    assert_same_law(&["ftl.gc_victim=cost-benefit"]);
    assert_same_law(&["ftl.gc_victim=windowed-greedy", "ftl.gc_window_blocks=8"]);
    let bad = ["ftl.factory_bad_share=0.02", "ftl.over_provisioning=0.4"];
    assert_same_law(&[&bad[..], &["ftl.free_block=least-worn"]].concat());
    // Not so much room that every victim takes the same few wordlines: then how far a plane is
    // from its next victim depends on the count of writes alone.
    assert_same_law(&["ftl.over_provisioning=0.3", "timing.wordline_pages=2"]);
    assert_same_law(&["ftl.over_provisioning=0.3", "ftl.mapping_bytes=512"]);
}

/// Units that a load always writes together, of a page or of half of one.
#[test]
fn the_steady_state_of_units_written_together_is_that_of_a_long_replay() {
    for (together, more) in [
        (4, &[][..]),
        (2, &["workload.request_bytes=1024", "workload.align_bytes=1024"]),
        (4, &["timing.wordline_pages=2"]),
        (4, &["ftl.placement=dynamic"]),
        (4, &["ftl.gc_stream=separate", "ftl.over_provisioning=0.4"]),
    ] {
        let more = [&FOUR_UNITS[..], more].concat();
        assert!(drive(1, &more).overwrites().in_larger_units().is_some());
        assert_law_of_replay(together, &more, preconditioned);
    }
}

/// A drive in its steady state of which only two planes were overwritten.
fn copied(seed: u64, sets: &[&str]) -> Ftl {
    let scenario = drive(seed, sets);
    let of = |scenario: &Scenario| Ftl::new(scenario).expect("a drive that fits into memory");
    let larger = scenario.overwrites().in_larger_units();
    let prepared = larger.as_ref().unwrap_or(&scenario);
    let (mut ftl, sampling) = (of(prepared), Sampling { beyond: 0, models: 0 });
    let mut preconditioner =
        Preconditioner::without_names(prepared, &mut ftl, FreeTarget::always(2), sampling);
    while !preconditioner.is_done() {
        preconditioner.advance(&mut ftl, prepared, 1000).expect("a drive that settles");
    }
    if larger.is_some() {
        let units = std::mem::replace(&mut ftl, of(&scenario));
        ftl.divide(units);
        ftl.settle(&scenario);
    }
    ftl
}

/// Units of which a load writes four together.
const FOUR_UNITS: [&str; 4] = [
    "ftl.mapping_bytes=512",
    "ftl.over_provisioning=0.3",
    "workload.request_bytes=2048",
    "workload.align_bytes=2048",
];

#[test]
fn planes_that_are_copied_have_the_law_of_a_long_replay() {
    for sets in [
        &[][..],
        &["ftl.gc_victim=d-choices", "ftl.gc_choices=3"],
        &["ftl.gc_victim=fifo"],
        &["ftl.gc_victim=cost-benefit"],
        &["ftl.placement=dynamic"],
        &["ftl.mapping_bytes=512", "ftl.over_provisioning=0.3"],
        // Two planes have a page more than the others.
        &["ftl.over_provisioning=0.2202"],
    ] {
        assert_law_of_replay(1, &[PLANES_MORE, sets].concat(), copied);
    }
    assert_law_of_replay(4, &[PLANES_MORE, &FOUR_UNITS].concat(), copied);
}

/// Pages that collection moves for each of some hundredths of a drive that is overwritten.
fn moved(mut ftl: Ftl, seed: u64) -> Vec<f64> {
    let writes = ftl.tables.map.logical_pages() / 100;
    let mut stream = Stream::new(seed, "test.replay", 1);
    (0..COLLECTED).map(|_| f64::from(ftl.replay(writes, &mut stream))).collect()
}

/// Hundredths of a drive that are overwritten.
const COLLECTED: usize = 60;

/// Many planes from two models: each is many blocks from the next copy of its model, so that the
/// drive varies from one seed to another as one does whose planes were all overwritten.
#[test]
fn a_drive_of_copies_varies_as_another_and_has_nothing_to_settle() {
    let sets = ["ftl.precondition=steady", "geometry.channels=16"];
    let of = |steady: fn(u64, &[&str]) -> Ftl| -> Vec<Vec<f64>> {
        (0..DRIVES).map(|seed| moved(steady(seed, &sets), seed)).collect()
    };
    let (copies, others) = (of(copied), of(preconditioned));
    // Quantiles of 0.0005 and 0.9995 of the ratio of two variances, each of 80 numbers.
    let ratio_max = 2.12;
    for hundredths in [0..1, 0..10, 0..COLLECTED] {
        let sum = |all: &[Vec<f64>]| {
            means(
                &all.iter().map(|it| vec![it[hundredths.clone()].iter().sum()]).collect::<Vec<_>>(),
            )[0]
        };
        let ((mean, square), (other_mean, other_square)) = (sum(&copies), sum(&others));
        let errors = (mean - other_mean).abs() / (square + other_square).sqrt();
        assert!(errors < ERRORS_MAX, "{hundredths:?}: {mean} is not {other_mean}");
        let ratio = square / other_square;
        assert!((1.0 / ratio_max..ratio_max).contains(&ratio), "{hundredths:?}: {ratio}");
    }
    // The first tenth of the drive moves as many pages as the last.
    let drifts = copies.iter().map(|moved| {
        vec![moved[..10].iter().sum::<f64>() - moved[COLLECTED - 10..].iter().sum::<f64>()]
    });
    let (drift, square) = means(&drifts.collect::<Vec<_>>())[0];
    assert!(drift.abs() < ERRORS_MAX * square.sqrt(), "{drift} ± {}", square.sqrt());
}

#[test]
fn each_page_of_a_drive_of_copies_has_one_name() {
    for sets in [
        &["ftl.over_provisioning=0.2202"][..],
        &["ftl.placement=dynamic"],
        &["ftl.placement=aligned", "ftl.mapping_bytes=512", "ftl.over_provisioning=0.3"],
        &FOUR_UNITS,
    ] {
        let sets = [PLANES_MORE, sets, &["ftl.precondition=steady"]].concat();
        let ftl = copied(5, &sets);
        let Geometry { planes_per_die, blocks_per_plane, .. } = ftl.numbering.geometry;
        let mut programmed = vec![0; ftl.numbering.geometry.blocks() as usize];
        ftl.tables.blocks.for_each(|die, plane, block, pages| {
            let plane = die * planes_per_die + plane;
            programmed[(plane * blocks_per_plane + block) as usize] = pages as u16;
        });
        ftl.verify(&Slab::with_capacity(1), &programmed).expect("tables that fit each other");
        let planes = ftl.tables.blocks.planes.iter();
        let committed: u32 = planes.map(|plane| plane.committed).sum();
        assert_eq!(committed, ftl.tables.map.logical_pages(), "{sets:?}");
        // No two planes are alike.
        let mut next: Vec<(u32, u32)> = ftl
            .tables
            .blocks
            .planes
            .iter()
            .map(|plane| (plane.fronts[0].next_page, plane.free_blocks()))
            .collect();
        next.sort_unstable();
        next.dedup();
        assert!(next.len() > 2, "{next:?}");
    }
}

#[test]
fn a_prepared_drive_that_keeps_its_changes_has_each_page_once() {
    let sets = [PLANES_MORE, &["ftl.precondition=steady"]].concat();
    let (mut ftl, mut stream) = (copied(5, &sets), Stream::new(5, "test.replay", 0));
    let pages = ftl.tables.map.logical_pages();
    let mut are_sparse = Vec::new();
    for round in 0..4 {
        ftl.replay(if round == 0 { 1 } else { pages / 20 }, &mut stream);
        if round == 0 {
            ftl.tables.thin_out();
        }
        // Whoever writes it down goes on with it.
        ftl.archive(&mut Archive::saving(Vec::new()));
        assert_eq!(ftl.tables.map.pages_in_flash(), u64::from(pages), "round {round}");
        let physical = ftl.numbering.geometry.pages() as u32;
        let owned = (0..physical).filter_map(|page| Some((page, ftl.tables.blocks.owner(page)?)));
        let found: Vec<(u32, u32)> = owned.collect();
        assert_eq!(found.len(), pages as usize, "round {round}: a page has one owner");
        for (page, lpn) in found {
            assert_eq!(ftl.tables.map.get(lpn), Mapping::Flash(page), "round {round}: {lpn}");
        }
        are_sparse.push(ftl.tables.map.physical.is_sparse());
    }
    assert!(are_sparse[0] && !are_sparse[3], "a 16th changes, then more: {are_sparse:?}");
}

/// Eight planes, of which two are overwritten where the others are copied.
const PLANES_MORE: &[&str] = &["geometry.planes_per_die=4"];

#[test]
fn the_steady_state_under_dynamic_placement_is_that_of_a_long_replay() {
    assert_same_law(&["ftl.placement=dynamic"]);
}

#[test]
fn every_logical_page_is_on_its_plane_and_on_any_page_of_it() {
    every_page_is_anywhere_on_its_plane(&[], preconditioned);
    every_page_is_anywhere_on_its_plane(PLANES_MORE, copied);
}

/// `steady` makes a drive in its steady state, by a seed and keys.
fn every_page_is_anywhere_on_its_plane(more: &[&str], steady: fn(u64, &[&str]) -> Ftl) {
    const BINS: usize = 8;
    let mut counts = [0f64; BINS];
    for seed in 0..800 {
        let ftl = steady(seed, &[more, &["ftl.precondition=steady"]].concat());
        let pages_per_plane =
            ftl.numbering.geometry.blocks_per_plane * ftl.numbering.geometry.pages_per_block;
        for lpn in 0..ftl.tables.map.logical_pages() {
            let Mapping::Flash(page) = ftl.tables.map.get(lpn) else {
                panic!("{lpn} is not written")
            };
            assert_eq!(ftl.tables.blocks.owner(page), Some(lpn));
            assert_eq!(page / pages_per_plane, ftl.placement.home(lpn), "{lpn} left its plane");
        }
        // The rank of one logical page among the valid pages of its plane.
        let Mapping::Flash(page) = ftl.tables.map.get(11) else { panic!("just seen") };
        let first = page / pages_per_plane * pages_per_plane;
        let valid = |pages: std::ops::Range<u32>| {
            pages.filter(|page| ftl.tables.blocks.owner(*page).is_some()).count()
        };
        counts[valid(first..page) * BINS / valid(first..first + pages_per_plane)] += 1.0;
    }
    // Chi-square with 7 degrees of freedom, 99.99 % quantile.
    let chi2: f64 = counts.iter().map(|count| (count - 100.0).powi(2) / 100.0).sum();
    assert!(chi2 < 29.9, "{counts:?}");
}

/// What a drive that keeps track of sectors says of its own state, with that column forged.
fn restored(forge: impl Fn(&mut Vec<u32>)) -> Result<Ftl, String> {
    let sets = ["ftl.partial_write=track_sectors", "ftl.precondition=sequential"];
    let mut state = State::default();
    preconditioned(1, &sets).save(&mut state);
    let mut column = state.take_any("map.sectors");
    forge(&mut column);
    if !column.is_empty() {
        state.put("map.sectors", column);
    }
    let scenario = drive(1, &sets);
    let mut ftl = Ftl::new(&scenario).expect("a drive that fits into memory");
    ftl.restore(&mut state, &scenario).map(|()| ftl).map_err(|error| error.to_string())
}

#[test]
fn a_state_has_the_sectors_of_its_pages_or_whole_pages() {
    // Pages of 4 sectors: the first word of the column has those of 8 pages. Page 1 loses two.
    let ftl = restored(|column| column[0] &= !0x30).expect("a state that fits");
    let held = |ftl: &Ftl, lpn| [0, 1, 2, 3].map(|sector| ftl.sectors.holds(lpn, sector));
    assert_eq!(held(&ftl, 0), [true; 4]);
    assert_eq!(held(&ftl, 1), [false, false, true, true]);
    let ftl = restored(Vec::clear).expect("a state of a drive that kept no track");
    assert!((0..ftl.tables.map.logical_pages()).all(|lpn| held(&ftl, lpn) == [true; 4]));
}

#[test]
fn a_state_whose_sectors_do_not_fit_its_pages_is_refused() {
    let forged: [fn(&mut Vec<u32>); 4] = [
        // Page 1 is written and holds nothing.
        |column| column[0] &= !0xf0,
        |column| column.truncate(column.len() - 2),
        |column| column.push(0),
        // A sector behind the last page.
        |column| *column.last_mut().expect("there are pages") |= 1 << 31,
    ];
    for forge in forged {
        let error = restored(forge).err().expect("a forged state");
        assert!(error.starts_with("the state contradicts itself: "), "{error}");
        assert!(error.contains("sectors"), "{error}");
    }
}
