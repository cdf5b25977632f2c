//! Drives made from copies of some planes against drives whose every page was overwritten by name.

use reprieve_base::Slab;
use reprieve_config::{self as scenario, Sources};

use super::super::Mapping;
use super::super::precondition::Preconditioner;
use super::*;

/// Drives of each kind that are compared.
const DRIVES: u64 = 16;
/// Planes of a drive, and logical pages up to which it is done by name: those of eight planes.
const PLANES: u32 = 32;
const LIMIT_PAGES: u32 = 8 * 256 * 16 * 72 / 100 + 16;
/// Of a few hundred means all are nearer than so many standard errors, but for one time in a
/// thousand.
const ERRORS_MAX: f64 = 4.7;
fn kept() -> FreeTarget {
    FreeTarget::always(2)
}

const HOT_COLD: [&str; 3] =
    ["workload.addresses=hot-cold", "workload.hot_share=0.2", "workload.hot_fraction=0.8"];

fn drive(seed: u64, more: &[&str]) -> Scenario {
    let text = "device = \"fast12-mlc\"\n[geometry]\nchannels = 4\ndies_per_channel = 2\n\
        chips_per_channel = 1\nplanes_per_die = 4\nblocks_per_plane = 256\npages_per_block = 16\n\
        [ftl]\nover_provisioning = 0.28\nprecondition = \"steady\"\n[workload]\n\
        generator = \"mixed\"\nrequests = 1\nread_fraction = 0.3\nqueue_depth = 1\n\
        request_bytes = 4096\nalign_bytes = 4096\n";
    let mut sets = vec![format!("seed={seed}")];
    sets.extend(more.iter().map(ToString::to_string));
    let sources = Sources { text, path: "drive.toml", sets: &sets };
    scenario::load(&sources, crate::registries()).expect("a scenario without mistakes")
}

fn preconditioned(scenario: &Scenario, by_name_pages: u32) -> Ftl {
    let mut ftl = Ftl::new(scenario).expect("a drive that fits into memory");
    let mut preconditioner = Preconditioner::with_limit(scenario, &mut ftl, kept(), by_name_pages);
    while !preconditioner.is_done() {
        preconditioner.advance(&mut ftl, scenario, 1000).expect("a drive that settles");
    }
    ftl
}

fn replicated(seed: u64, more: &[&str]) -> Ftl {
    let scenario = drive(seed, more);
    assert!(models(&scenario, LIMIT_PAGES).is_some(), "{more:?}: is not made from copies");
    preconditioned(&scenario, LIMIT_PAGES)
}

/// Blocks by valid pages, open blocks that are as full as another, logical pages without data, and
/// the pages that the next requests move, a tenth of the drive and as much again four times.
fn figures(ftl: &mut Ftl, scenario: &Scenario) -> Vec<f64> {
    let mut figures = vec![0.0; ftl.numbering.geometry.pages_per_block as usize + 1];
    for block in 0..ftl.numbering.geometry.blocks() as u32 {
        figures[ftl.tables.blocks.index.valid(block) as usize] += 1.0;
    }
    let next: Vec<u32> =
        ftl.tables.blocks.planes.iter().map(|plane| plane.fronts[0].next_page).collect();
    let alike = |at: usize| next[at + 1..].iter().filter(|page| **page == next[at]).count();
    figures.push((0..next.len()).map(alike).sum::<usize>() as f64);
    let is_trimmed = |lpn: &u32| ftl.tables.map.get(*lpn) == Mapping::Trimmed;
    figures.push((0..ftl.tables.map.logical_pages()).filter(is_trimmed).count() as f64);
    let mut replay = Replay::new(scenario, kept()).expect("a load without mistakes");
    let writes = u64::from(ftl.tables.map.logical_pages()) / 10;
    for writes in [writes, 4 * writes] {
        let done = replay.overwrite(ftl, writes).expect("a load without end");
        figures.push(done.moved as f64);
    }
    figures
}

/// Mean and its squared standard error of a figure.
fn mean(all: &[Vec<f64>], index: usize) -> (f64, f64) {
    let count = all.len() as f64;
    let mean = all.iter().map(|figures| figures[index]).sum::<f64>() / count;
    let square = all.iter().map(|figures| (figures[index] - mean).powi(2)).sum::<f64>();
    (mean, square / (count - 1.0) / count)
}

fn assert_same_law(more: &[&str]) {
    let (mut copied, mut named) = (Vec::new(), Vec::new());
    for seed in 0..DRIVES {
        // What is written to look at the drives is drawn apart from what made them.
        let apart = drive(1000 + seed, more);
        copied.push(figures(&mut replicated(seed, more), &apart));
        let mut ftl = preconditioned(&drive(DRIVES + seed, more), u32::MAX);
        named.push(figures(&mut ftl, &apart));
    }
    for index in 0..copied[0].len() {
        let (one, one_error) = mean(&copied, index);
        let (other, other_error) = mean(&named, index);
        // A figure that hardly ever is not 0 has no error to speak of.
        let error = (one_error + other_error).sqrt().max(0.3);
        let errors = (one - other).abs() / error;
        assert!(errors < ERRORS_MAX, "{more:?}, figure {index}: {one} is not {other} ± {error}");
    }
}

#[test]
fn copies_of_planes_have_the_law_of_pages_by_name_where_some_are_hot() {
    assert_same_law(&HOT_COLD);
    let footprint = ["workload.footprint_bytes=33554432", "workload.footprint_start_bytes=8388608"];
    assert_same_law(&[&HOT_COLD[..], &footprint[..]].concat());
    let victim = ["ftl.gc_victim=cost-benefit", "ftl.gc_stream=separate"];
    assert_same_law(&[&HOT_COLD[..], &victim[..]].concat());
}

#[test]
fn copies_of_planes_have_the_law_of_pages_by_name_where_requests_are_long() {
    let long = ["workload.request_bytes=16384", "workload.align_bytes=16384"];
    assert_same_law(&[&HOT_COLD[..], &long[..]].concat());
    assert_same_law(&[&HOT_COLD[..], &["ftl.mapping_bytes=2048"]].concat());
    let twin_blocks = ["ftl.twin_blocks=true", "parallelism.multi_plane=block"];
    assert_same_law(&[&HOT_COLD[..], &twin_blocks[..]].concat());
}

#[test]
fn every_page_is_copied_once_to_its_plane() {
    let tracked = ["ftl.partial_write=track_sectors", "ftl.gc_stream=separate"];
    // Planes with one page more than others.
    let uneven = ["ftl.over_provisioning=0.2803"];
    let units = [&HOT_COLD[..], &["ftl.mapping_bytes=1024"]].concat();
    for more in [&HOT_COLD[..], &[&HOT_COLD[..], &tracked].concat(), &units] {
        let more = [more, &uneven, &["workload.footprint_share=0.9"]].concat();
        let scenario = drive(5, &more);
        assert_ne!(scenario.user_pages() % PLANES, 0, "a page more on some planes");
        let mut ftl = replicated(5, &more);
        let Geometry { planes_per_die, blocks_per_plane, .. } = scenario.geometry;
        let mut programmed = vec![0; scenario.geometry.blocks() as usize];
        ftl.tables.blocks.for_each(|die, plane, block, pages| {
            let plane = die * planes_per_die + plane;
            programmed[(plane * blocks_per_plane + block) as usize] = pages as u16;
        });
        ftl.verify(&Slab::with_capacity(1), &programmed).expect("tables that fit each other");
        for lpn in 0..ftl.tables.map.logical_pages() {
            let Mapping::Flash(page) = ftl.tables.map.get(lpn) else { panic!("{lpn} is nowhere") };
            let plane = page / ftl.numbering.pages_per_plane();
            assert_eq!(plane, ftl.placement.home(lpn), "{lpn} left its plane");
        }
        let committed: u32 = ftl.tables.blocks.planes.iter().map(|plane| plane.committed).sum();
        assert_eq!(committed, ftl.tables.map.logical_pages());
        // It can go on: a page that has no room, or a block that is lost, panics.
        figures(&mut ftl, &scenario);
    }
}

#[test]
fn a_drive_made_from_copies_depends_on_its_seed_alone() {
    let places = |seed, chunk| {
        let scenario = drive(seed, &HOT_COLD);
        let mut ftl = Ftl::new(&scenario).expect("a drive that fits into memory");
        let mut preconditioner =
            Preconditioner::with_limit(&scenario, &mut ftl, kept(), LIMIT_PAGES);
        while !preconditioner.is_done() {
            preconditioner.advance(&mut ftl, &scenario, chunk).expect("a drive that settles");
        }
        (0..ftl.tables.map.logical_pages()).map(|lpn| ftl.tables.map.get(lpn)).collect::<Vec<_>>()
    };
    let first = places(3, 1000);
    assert!(first == places(3, 77_777), "the state depends on how often it is looked at");
    assert!(first != places(4, 1000), "the seed has no effect");
}

#[test]
fn drives_whose_planes_are_not_alike_are_done_by_name() {
    let is_replicated = |more: &[&str]| models(&drive(1, more), LIMIT_PAGES).is_some();
    let hot_cold_and = |more: &[&str]| is_replicated(&[&HOT_COLD[..], more].concat());
    assert!(hot_cold_and(&[]) && hot_cold_and(&["ftl.placement=pdwc"]));
    // Without names, or in another state.
    assert!(!is_replicated(&[]) && !hot_cold_and(&["ftl.precondition=sequential"]));
    for more in [
        &["ftl.placement=dynamic"][..],
        &["ftl.stream=hot-cold", "ftl.gc_hard_free_blocks=3"],
        &["ftl.factory_bad_share=0.001"],
        // One plane in eight is written.
        &["workload.align_bytes=32768"],
        // A request that lies on every plane.
        &["workload.request_bytes=131072", "workload.align_bytes=4096"],
    ] {
        assert!(!hot_cold_and(more), "{more:?}");
    }
    // Trims, and pages with popularities of their own.
    assert!(!hot_cold_and(&["workload.trim_fraction=0.05"]));
    assert!(!is_replicated(&["workload.addresses=zipf", "workload.zipf_theta=0.8"]));
    // As many pages as are done by name.
    let few = drive(1, &HOT_COLD);
    assert!(models(&few, few.logical_pages()).is_none());
    assert!(models(&few, few.logical_pages() - 1).is_some());
}
