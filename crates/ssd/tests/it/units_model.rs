//! Mapping units below a page against a model of one plane that knows no time.

use std::collections::VecDeque;
use std::fmt::Write as _;

use reprieve_base::Stream;
use reprieve_ssd::{Options, Ssd};
use reprieve_state::State;

use super::drive;

/// A drive of one plane whose requests come so far apart that each finds all done before it.
const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 28\npages_per_block = 8\n\
    page_bytes = 16384\n[ftl]\nover_provisioning = 0.55\ngc_background = false\n\
    gc_victim = \"fifo\"\ngc_preemptible = false\nwordline_timeout_us = 1000000000\n\
    [buffer]\nacknowledge = \"back\"\nbytes = 1048576\n[host]\nlink_bytes_per_s = \"none\"\n";
const GAP_NS: u64 = 400_000_000;

/// A request, in units but for part of one.
#[derive(Clone, Copy, Debug)]
enum Step {
    Write { first: u32, units: u32 },
    Part(u32),
    Trim { first: u32, units: u32 },
    Flush,
}

/// A logical page as a saved state has it.
const UNWRITTEN: u32 = (1 << 31) - 1;
const TRIMMED: u32 = (1 << 31) - 2;

/// A plane: where each unit is, and what happens to it.
struct Model {
    per_page: usize,
    per_program: usize,
    per_block: u32,
    reserve: usize,
    map: Vec<u32>,
    owner: Vec<Option<u32>>,
    free: VecDeque<u32>,
    full: VecDeque<u32>,
    /// The next victim, of which units have filled up a program.
    next: Option<u32>,
    open: Option<(u32, u32)>,
    /// Units in the buffer, and whether each is the newest of its logical page.
    buffer: Vec<(u32, bool)>,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    host_programs: u64,
    gc_programs: u64,
    gc_reads: u64,
    rmw_reads: u64,
    erases: u64,
    padded_units: u64,
}

impl Model {
    fn new(blocks: u32, pages: u32, per_page: u32, wordline: u32, logical: u32) -> Model {
        Model {
            per_page: per_page as usize,
            per_program: (per_page * wordline) as usize,
            per_block: pages * per_page,
            reserve: 2,
            map: vec![UNWRITTEN; logical as usize],
            owner: vec![None; (blocks * pages * per_page) as usize],
            free: (0..blocks).collect(),
            full: VecDeque::new(),
            next: None,
            open: None,
            buffer: Vec::new(),
            counts: Counts::default(),
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Write { first, units } => (first..first + units).for_each(|lpn| self.write(lpn)),
            Step::Part(lpn) => {
                let is_buffered = self.buffer.contains(&(lpn, true));
                let is_in_flash = self.map[lpn as usize] < TRIMMED;
                self.counts.rmw_reads += u64::from(!is_buffered && is_in_flash);
                self.write(lpn);
            }
            Step::Trim { first, units } => (first..first + units).for_each(|lpn| self.trim(lpn)),
            Step::Flush => self.program(self.buffer.len()),
        }
        // A program begins when all of a request has come.
        if self.buffer.len() >= self.per_program {
            self.program(self.per_program);
        }
    }

    fn write(&mut self, lpn: u32) {
        if !self.buffer.contains(&(lpn, true)) {
            self.buffer.push((lpn, true));
        }
    }

    fn trim(&mut self, lpn: u32) {
        self.buffer
            .iter_mut()
            .filter(|(own, _)| *own == lpn)
            .for_each(|(_, newest)| *newest = false);
        self.leave(lpn);
        self.map[lpn as usize] = TRIMMED;
    }

    fn leave(&mut self, lpn: u32) {
        let at = self.map[lpn as usize];
        if at < TRIMMED {
            self.owner[at as usize] = None;
        }
    }

    /// Programs so many units of the buffer, the first that came.
    fn program(&mut self, units: usize) {
        if units == 0 {
            return;
        }
        let rest = self.buffer.split_off(units);
        let units = std::mem::replace(&mut self.buffer, rest);
        let slots = self.take_program(units.len());
        self.counts.host_programs += units.len().div_ceil(self.per_page) as u64;
        for ((lpn, is_newest), slot) in units.into_iter().zip(slots) {
            if is_newest {
                self.leave(lpn);
                (self.map[lpn as usize], self.owner[slot as usize]) = (slot, Some(lpn));
            }
        }
        while self.free.len() <= self.reserve && self.collect() {}
    }

    /// The slots of a program of which so many hold data.
    fn take_program(&mut self, units: usize) -> std::ops::Range<u32> {
        let program = self.per_program as u32;
        self.counts.padded_units += (self.per_program - units) as u64;
        let (block, next) = match self.open {
            Some((block, next)) if next < self.per_block => (block, next),
            full => {
                self.full.extend(full.map(|(block, _)| block));
                (self.free.pop_front().expect("a free block"), 0)
            }
        };
        self.open = Some((block, next + program));
        let first = block * self.per_block + next;
        first..first + program
    }

    fn valid(&self, block: u32) -> Vec<u32> {
        let slots = block * self.per_block..(block + 1) * self.per_block;
        slots.filter(|slot| self.owner[*slot as usize].is_some()).collect()
    }

    /// The block that was filled longest ago and has garbage.
    fn pick(&mut self) -> Option<u32> {
        let has_garbage = |block: &u32| self.valid(*block).len() < self.per_block as usize;
        let place = self.full.iter().position(has_garbage)?;
        self.full.rotate_left(place);
        self.full.pop_front()
    }

    /// Empties a block; false if none has garbage.
    fn collect(&mut self) -> bool {
        let next = self.next.take();
        let Some(victim) = next.or_else(|| self.pick()) else { return false };
        let mut held = Vec::new();
        for slot in self.valid(victim) {
            let page = slot as usize / self.per_page;
            if held.last().is_none_or(|last: &u32| *last as usize / self.per_page != page) {
                self.counts.gc_reads += 1;
                while held.len() >= self.per_program {
                    let rest = held.split_off(self.per_program);
                    self.move_units(&std::mem::replace(&mut held, rest));
                }
                // What was programmed was of the page before.
            }
            held.push(slot);
        }
        while held.len() >= self.per_program {
            let rest = held.split_off(self.per_program);
            self.move_units(&std::mem::replace(&mut held, rest));
        }
        while let Some(filler) = self.filler(&held) {
            self.counts.gc_reads += 1;
            held.extend(filler);
        }
        if !held.is_empty() {
            self.move_units(&held);
        }
        self.counts.erases += 1;
        self.free.push_back(victim);
        true
    }

    /// Units of the next victim that fill up a program: of the first page with enough of them, or
    /// the most.
    fn filler(&mut self, held: &[u32]) -> Option<Vec<u32>> {
        let missing = self.per_program - held.len();
        if held.is_empty() || missing == 0 {
            return None;
        }
        self.next = self.next.or_else(|| self.pick());
        let valid = self.valid(self.next?);
        let of_page = |slot: u32| {
            let page = slot as usize / self.per_page;
            let own = valid.iter().filter(|other| **other as usize / self.per_page == page);
            own.copied().filter(|slot| !held.contains(slot)).collect::<Vec<u32>>()
        };
        let pages: Vec<Vec<u32>> = valid.iter().map(|slot| of_page(*slot)).collect();
        let enough = pages.iter().find(|page| page.len() >= missing);
        let most = pages.iter().map(Vec::len).max().unwrap_or(0);
        let page = enough.or_else(|| pages.iter().find(|page| page.len() == most))?;
        (!page.is_empty()).then(|| page[..missing.min(page.len())].to_vec())
    }

    fn move_units(&mut self, sources: &[u32]) {
        let slots = self.take_program(sources.len());
        self.counts.gc_programs += sources.len().div_ceil(self.per_page) as u64;
        for (source, slot) in sources.iter().zip(slots) {
            let lpn = self.owner[*source as usize].take().expect("what is moved is valid");
            (self.map[lpn as usize], self.owner[slot as usize]) = (slot, Some(lpn));
        }
    }
}

/// Steps at random, of which most write some units: no more than a program takes, so that none
/// waits for another while collection has its turn.
fn steps(logical: u32, per_program: u32, count: usize, seed: u64) -> Vec<Step> {
    let mut stream = Stream::new(seed, "test.units", 0);
    let step = |_| {
        let units = 1 + stream.below(u64::from(per_program)) as u32;
        let first = stream.below(u64::from(logical - units)) as u32;
        match stream.below(20) {
            0 => Step::Flush,
            1 => Step::Trim { first, units },
            2..5 => Step::Part(first),
            _ => Step::Write { first, units },
        }
    };
    // The last comes when all is done.
    (0..count).map(step).chain([Step::Flush; 2]).collect()
}

/// The steps as a trace.
fn recording(steps: &[Step], unit_bytes: u32) -> String {
    let mut text = "arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns\n".to_string();
    for (number, step) in (0u64..).zip(steps) {
        let (op, first, bytes) = match *step {
            Step::Write { first, units } => ("write", first, units * unit_bytes),
            Step::Part(first) => ("write", first, 512),
            Step::Trim { first, units } => ("trim", first, units * unit_bytes),
            Step::Flush => ("flush", 0, 0),
        };
        let (at_ns, lba) = (number * GAP_NS, first * (unit_bytes / 512));
        writeln!(text, "{at_ns},{op},{lba},{bytes},0,{at_ns},0").expect("a string takes any text");
    }
    text
}

fn assert_like_the_model(sets: &[&str], per_page: u32, wordline: u32, seed: u64) {
    let unit_bytes = 16384 / per_page;
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let text = format!(
        "{DRIVE}[workload]\ntrace = '{}'\nformat = \"recording\"\naddress = \"error\"\n\
         unwritten = \"zero\"\n",
        file.path().display()
    );
    let unit = format!("ftl.mapping_bytes={unit_bytes}");
    let scenario = drive::load_with(&text, &[&[&unit[..]], sets].concat());
    let logical = scenario.logical_pages();
    let steps = steps(logical, per_page * wordline, 4_000, seed);
    std::fs::write(file.path(), recording(&steps, unit_bytes)).expect("room for some rows");
    let geometry = scenario.geometry;
    let mut model = Model::new(
        geometry.blocks_per_plane,
        geometry.pages_per_block,
        per_page,
        wordline,
        logical,
    );
    let options = Options { check: Some(format!("{sets:?}")), ..Options::default() };
    let mut ssd = Ssd::with(scenario.clone(), &options).expect("it fits into memory");
    while ssd.step(1_000).expect("rows without mistakes") {}
    steps.iter().for_each(|step| model.step(*step));
    let summary = ssd.summary();
    let count = |name: &str| summary["flash"][name].as_u64().expect("a count");
    let counts = Counts {
        host_programs: count("host_programs"),
        gc_programs: count("gc_programs"),
        gc_reads: count("gc_reads"),
        rmw_reads: count("rmw_reads"),
        erases: count("erases"),
        padded_units: count("padded_units"),
    };
    assert_eq!(counts, model.counts, "{sets:?} seed {seed}");
    assert!(counts.erases > 20, "{counts:?}");
    let state = tempfile::NamedTempFile::new().expect("a temporary file");
    ssd.save_state(state.path()).expect("the run is over");
    let mut state = State::read(state.path(), &scenario).expect("it was just written");
    let map = state.take("map.physical", logical as usize).expect("a saved map");
    assert_eq!(map, model.map, "{sets:?} seed {seed}");
    let written: u64 = steps
        .iter()
        .map(|step| match step {
            Step::Write { units, .. } => u64::from(units * unit_bytes),
            Step::Part(_) => 512,
            _ => 0,
        })
        .sum();
    let programmed = (counts.host_programs + counts.gc_programs) * 16384;
    let waf = summary["flash"]["waf"].as_f64().expect("a number");
    assert!((waf - programmed as f64 / written as f64).abs() < 1e-12, "{waf}");
}

#[test]
fn a_plane_is_as_the_model_says() {
    for seed in 0..4 {
        assert_like_the_model(&[], 4, 1, seed);
        assert_like_the_model(&["ftl.over_provisioning=0.7"], 8, 1, seed);
        assert_like_the_model(&[], 2, 1, seed);
        let wordline = ["timing.wordline_pages=2", "ftl.over_provisioning=0.7"];
        assert_like_the_model(&wordline, 4, 2, seed);
    }
}
