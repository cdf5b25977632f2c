//! Each policy on a plane of a few blocks whose gains are known.

use reprieve_config::{self as scenario, Sources};

use super::*;

/// Blocks of a plane by what reclaiming each gains; `None`: not full.
struct Plane(Vec<Option<u32>>);

impl BlockView for Plane {
    fn emptiest(&mut self, plane: u32) -> Option<u32> {
        assert_eq!(plane, 0);
        let full = self.0.iter().enumerate().filter_map(|(block, gain)| Some(((*gain)?, block)));
        full.max().filter(|(gain, _)| *gain > 0).map(|(_, block)| block as u32)
    }

    fn blocks_per_plane(&self) -> u32 {
        self.0.len() as u32
    }

    fn gain(&self, block: u32) -> Option<u32> {
        self.0[block as usize]
    }
}

fn policy(name: &str, more: &[&str]) -> Box<dyn VictimPolicy> {
    let text = "device = \"fast12-slc\"\n[geometry]\nchannels = 1\nplanes_per_die = 1\n\
        [workload]\ngenerator = \"mixed\"\nrequests = 1\nread_fraction = 0.5\nqueue_depth = 1\n";
    let mut sets = vec![format!("ftl.gc_victim={name}")];
    sets.extend(more.iter().map(ToString::to_string));
    let sources = Sources { text, path: "drive.toml", sets: &sets };
    let scenario = scenario::load(&sources, &crate::registries(|_| None))
        .expect("a scenario without mistakes");
    make(&scenario, scenario.geometry)
}

/// Mean gain of many picks on a hundred full blocks that gain 0 to 99.
fn mean_gain(policy: &mut dyn VictimPolicy) -> f64 {
    let mut plane = Plane((0..100).map(Some).collect());
    let picks = (0..PICKS).map(|_| {
        let block = policy.pick(&mut plane, 0).expect("99 blocks gain something");
        f64::from(plane.gain(block).expect("a full block"))
    });
    picks.sum::<f64>() / f64::from(PICKS)
}

const PICKS: u32 = 40_000;

#[test]
fn d_choices_is_the_best_of_that_many_draws() {
    // The greatest of d draws from 0 to 99 is at most k with probability ((k + 1) / 100)^d; where
    // all d are 0 the set is drawn again. Means and deviations of that law, for its four d.
    for (sets, mean, deviation) in [
        (&["ftl.gc_choices=1"][..], 50.0, 28.6),
        (&["ftl.gc_choices=2"], 66.172, 23.6),
        (&["ftl.gc_choices=3"], 74.5, 19.4),
        // By default ten.
        (&[], 90.4, 8.3),
    ] {
        let got = mean_gain(&mut *policy("d-choices", sets));
        let error = 4.0 * deviation / f64::from(PICKS).sqrt() + 0.01;
        assert!((got - mean).abs() < error, "{sets:?}: {got}, by hand {mean} ± {error}");
    }
}

#[test]
fn random_is_one_choice() {
    // 0 is drawn again: the mean of 1 to 99.
    let got = mean_gain(&mut *policy("random", &[]));
    assert!((got - 50.0).abs() < 4.0 * 28.6 / f64::from(PICKS).sqrt(), "{got}");
}

#[test]
fn a_draw_that_gains_nothing_is_drawn_again() {
    // One block of a hundred is not full and would gain most, one gains something.
    let mut blocks = vec![Some(0); 100];
    (blocks[13], blocks[41]) = (None, Some(1));
    for name in ["random", "d-choices"] {
        for _ in 0..100 {
            assert_eq!(policy(name, &[]).pick(&mut Plane(blocks.clone()), 0), Some(41), "{name}");
        }
    }
    for name in ["random", "d-choices", "fifo", "greedy"] {
        let mut policy = policy(name, &[]);
        policy.filled(0, 1);
        assert_eq!(policy.pick(&mut Plane(vec![None, Some(0)]), 0), None, "{name}");
    }
}

#[test]
fn fifo_takes_blocks_in_the_order_of_their_filling() {
    let mut policy = policy("fifo", &[]);
    for block in [3, 0, 2, 1] {
        policy.filled(0, block);
    }
    // The longest filled gains nothing: its turn comes again after all others.
    let mut plane = Plane(vec![Some(1), Some(9), Some(5), Some(0)]);
    assert_eq!(policy.pick(&mut plane, 0), Some(0));
    plane.0[0] = None;
    assert_eq!(policy.pick(&mut plane, 0), Some(2));
    plane.0[2] = None;
    // Filled anew, it is the youngest.
    policy.filled(0, 0);
    plane.0 = vec![Some(7), Some(9), None, Some(2)];
    let order: Vec<_> = (0..3).map(|_| policy.pick(&mut plane, 0)).collect();
    assert_eq!(order, [Some(1), Some(3), Some(0)]);
    assert_eq!(policy.pick(&mut plane, 0), None, "none is left");
    for block in [2, 1] {
        policy.filled(0, block);
    }
    policy.taken(0, 2);
    assert_eq!(policy.pick(&mut plane, 0), Some(1), "the other was taken");
}

#[test]
fn windowed_greedy_takes_the_emptiest_of_the_oldest() {
    let mut policy = policy("windowed-greedy", &["ftl.gc_window_blocks=3"]);
    for block in [4, 0, 2, 1, 3] {
        policy.filled(0, block);
    }
    // The window is 4, 0, 2: of two equals the longest filled; 3 would gain most and lies outside.
    let mut plane = Plane(vec![Some(5), Some(6), Some(5), Some(9), Some(1)]);
    assert_eq!(policy.pick(&mut plane, 0), Some(0));
    // Now 4, 2, 1.
    assert_eq!(policy.pick(&mut plane, 0), Some(1));
    // One that somebody else reclaims leaves its place to the next: 2 and 3.
    policy.taken(0, 4);
    assert_eq!(policy.pick(&mut plane, 0), Some(3));
    // Nothing is to be gained in the window: the emptiest wherever it is.
    policy.filled(0, 4);
    policy.filled(0, 1);
    policy.filled(0, 0);
    let mut plane = Plane(vec![Some(2), Some(0), Some(0), None, Some(0)]);
    assert_eq!(policy.pick(&mut plane, 0), Some(0));
    assert_eq!(policy.pick(&mut Plane(vec![None, Some(0), Some(0), None, Some(0)]), 0), None);
}

#[test]
fn cost_benefit_weighs_gain_with_age() {
    // Blocks have 64 pages: scores are gain x age / (128 - gain).
    let mut policy = policy("cost-benefit", &[]);
    for block in 0..5 {
        policy.filled(0, block);
    }
    // Ages 5, 4, 3, 2, 1 and scores 0, 4 x 8 / 120 = 0.27, 3 x 20 / 108 = 0.56, 2 x 30 / 98 = 0.61,
    // 40 / 88 = 0.45: neither the oldest nor the emptiest.
    let mut plane = Plane(vec![Some(0), Some(8), Some(20), Some(30), Some(40)]);
    assert_eq!(policy.pick(&mut plane, 0), Some(3));
    plane.0[3] = None;
    assert_eq!(policy.pick(&mut plane, 0), Some(2));
    plane.0[2] = None;
    policy.taken(0, 4);
    plane.0[4] = None;
    assert_eq!(policy.pick(&mut plane, 0), Some(1));
    plane.0[1] = None;
    assert_eq!(policy.pick(&mut plane, 0), None, "nothing is to be gained");
}

#[test]
fn cost_benefit_finds_the_best_without_looking_at_all() {
    // Against the rule itself, on random planes: the search ends as soon as none behind can win.
    let mut stream = reprieve_base::Stream::new(5, "test.victim", 0);
    for _ in 0..200 {
        let mut policy = policy("cost-benefit", &[]);
        let count = 1 + stream.below(40) as usize;
        (0..count as u32).for_each(|block| policy.filled(0, block));
        let gains: Vec<u64> = (0..count).map(|_| stream.below(65) * stream.below(2)).collect();
        let score = |block: usize| {
            gains[block] as f64 * (count - block) as f64 / (128 - gains[block]) as f64
        };
        let best = (0..count).map(score).fold(0.0, f64::max);
        let mut plane = Plane(gains.iter().map(|gain| Some(*gain as u32)).collect());
        let picked = policy.pick(&mut plane, 0);
        assert_eq!(picked.is_some(), best > 0.0);
        assert!(picked.is_none_or(|block| (score(block as usize) - best).abs() < 1e-12));
    }
}
