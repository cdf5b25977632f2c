//! Races a rival against the product: the same drive in the same state, the same kind of load.

use std::time::Instant;

use reprieve_base::UserError;
use reprieve_ssd::Options;

use crate::load::{FIXED, Load, Sample};
use crate::rivals::blocks::AtRest;
use crate::rivals::closed_loop::Drive as _;
use crate::rivals::plane::PlaneAtRest;
use crate::rivals::{Draws, NONE, Outcome, Request, equal, main, open, tlc};

/// A load that has a rival.
pub struct Rivalled {
    /// The fixed load that it is.
    pub name: &'static str,
    /// The keys that differ from the fixed load's, beside `same_block`: rivals know `block` alone.
    sets: &'static [&'static str],
    /// Mean distance of arrivals, where they do not wait for completions.
    interval_ns: Option<f64>,
    prepare: fn(&mut Load) -> Result<Rival, UserError>,
}

/// A rival with its drive in the state of the product's, ready to serve requests.
pub type Rival = Box<dyn FnMut(Vec<Request>, bool) -> Ran>;

/// Results of a rival.
pub struct Ran {
    pub transactions: u64,
    /// Arrival and completion of each request, if requested.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests compare them"))]
    pub log: Vec<(u64, u64)>,
}

pub const RIVALLED: [Rivalled; 4] = [
    Rivalled { name: "equal", sets: &[], interval_ns: None, prepare: of_equal },
    Rivalled { name: "main", sets: &[], interval_ns: None, prepare: of_main },
    Rivalled {
        name: "tlc",
        sets: &[
            "geometry.dies_per_channel=1",
            "parallelism.multi_plane=page",
            "buffer.bytes=67108864",
        ],
        interval_ns: None,
        prepare: of_tlc,
    },
    Rivalled { name: "open", sets: &[], interval_ns: Some(1e9 / 18_000.0), prepare: of_open },
];

impl Rivalled {
    /// The load of that name.
    pub fn named(name: &str) -> Option<&'static Rivalled> {
        RIVALLED.iter().find(|load| load.name == name)
    }

    /// The product with this load, preconditioned; `sets` are further overrides.
    pub fn product(
        &self,
        sets: &[String],
        requests: u64,
        options: &Options,
    ) -> Result<Load, UserError> {
        let fixed = FIXED.iter().find(|fixed| fixed.name == self.name).expect("it is a load");
        let own = ["suspension.same_block=block"].iter().chain(self.sets).map(ToString::to_string);
        let all: Vec<String> = own.chain(sets.iter().cloned()).collect();
        Load::fixed(fixed, &all, requests, options)
    }

    /// Runs and times the rival from the state of the product.
    pub fn race(&self, sets: &[String], requests: u64) -> Result<Sample, UserError> {
        let mut product = self.product(sets, requests, &Options::default())?;
        let mut rival = (self.prepare)(&mut product)?;
        let lpns = product.scenario.logical_pages();
        drop(product);
        let start = Instant::now();
        let ran = rival(self.draw(lpns, requests), false);
        let seconds = start.elapsed().as_secs_f64();
        Ok(Sample { seconds, requests, transactions: ran.transactions })
    }

    fn draw(&self, lpns: u32, requests: u64) -> Vec<Request> {
        let mut draws = Draws::new(lpns);
        let mut now_ns = 0.0;
        let mut draw = |_| {
            let request = draws.next().expect("draws do not end");
            let Some(interval_ns) = self.interval_ns else { return request };
            now_ns -= interval_ns * (1.0 - draws.share()).ln();
            Request { arrival: now_ns as u64, ..request }
        };
        (0..requests).map(&mut draw).collect()
    }
}

impl<const PARTS: usize> From<Outcome<PARTS>> for Ran {
    fn from(outcome: Outcome<PARTS>) -> Ran {
        std::hint::black_box(&outcome.latencies);
        Ran { transactions: outcome.transactions, log: outcome.log.unwrap_or_default() }
    }
}

fn of_equal(product: &mut Load) -> Result<Rival, UserError> {
    let mut rival = equal::Equal::new(product.scenario.logical_pages());
    Ok(Box::new(move |requests, is_logged| rival.run(requests, is_logged).into()))
}

fn of_main(product: &mut Load) -> Result<Rival, UserError> {
    let mut rival = main::Main::new(dies_of_main(product)?);
    Ok(Box::new(move |requests, is_logged| rival.run(requests, is_logged).into()))
}

fn of_open(product: &mut Load) -> Result<Rival, UserError> {
    let mut dies = dies_of_main(product)?;
    Ok(Box::new(move |requests, is_logged| open::run(&mut dies, &requests, is_logged).into()))
}

fn of_tlc(product: &mut Load) -> Result<Rival, UserError> {
    let blocks = product.scenario.geometry.blocks_per_plane;
    let (states, dirty) = at_rest(product)?;
    let dies = states.into_iter().map(|state| tlc::Die::new(state, blocks)).collect();
    let mut rival = tlc::Tlc::new(dies, &dirty);
    Ok(Box::new(move |requests, is_logged| rival.run(requests, is_logged).into()))
}

fn dies_of_main(product: &mut Load) -> Result<Vec<main::Die>, UserError> {
    let blocks = product.scenario.geometry.blocks_per_plane;
    let (states, _) = at_rest(product)?;
    Ok(states.into_iter().map(|state| main::Die::new(state, blocks)).collect())
}

/// The state of each die before the first request, and the pages that are in the buffer.
fn at_rest(product: &mut Load) -> Result<(Vec<AtRest>, Vec<u32>), UserError> {
    let geometry = product.scenario.geometry;
    let mut state = product.state()?;
    let planes = geometry.planes() as usize;
    let map = state.take_any("map.physical");
    let free_blocks = state.take("plane.free_blocks", planes)?;
    let mut free = state.take_any("plane.free").into_iter();
    let open = state.take("plane.open", planes)?;
    let next_page = state.take("plane.next_page", planes)?;
    let victim = state.take("plane.victim", planes)?;
    let mut of_planes = (0..planes).map(|plane| {
        let is_open = open[plane] != NONE;
        PlaneAtRest {
            free: free.by_ref().take(free_blocks[plane] as usize).collect(),
            open: open[plane],
            next_page: if is_open { next_page[plane] } else { geometry.pages_per_block },
            victim: victim[plane],
        }
    });
    let dies = geometry.dies();
    let die_pages = (geometry.pages() / u64::from(dies)) as u32;
    let dies = (0..dies).map(|die| {
        // Logical pages go around the dies.
        let own = map.iter().skip(die as usize).step_by(dies as usize);
        AtRest {
            map: own.map(|page| page - die * die_pages).collect(),
            planes: of_planes.by_ref().take(geometry.planes_per_die as usize).collect(),
        }
    });
    Ok((dies.collect(), state.take_any("buffer.dirty")))
}

#[cfg(test)]
mod tests;
