//! The choices of a history: its drive, its faults, its commands.

use std::sync::OnceLock;

use reprieve_base::Stream;
use reprieve_ssd::scenario::Scenario;

use super::disk::{CELL_BYTES, Fault};
use super::oracle::Number;
use super::wire::{Sent, ZEROES_FLAGS};
use crate::control;
use crate::options::Source;
use crate::protocol::{EINVAL, ENOSPC, FLAG_FUA, FLAG_REQ_ONE, Kind};

pub const BLOCK_BYTES: u64 = 4096;

const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"pes-ipc\"\n[geometry]\nchannels = 1\n\
    dies_per_channel = 2\nplanes_per_die = 1\nblocks_per_plane = 20\npages_per_block = 8\n\
    page_bytes = 4096\n[ftl]\nover_provisioning = 0.6\nprecondition = \"none\"\n[workload]\n\
    unwritten = \"zero\"\n";

/// Drives that acknowledge writes at once or when they are in the flash.
const DRIVES: [&[&str]; 4] = [
    &["buffer.acknowledge=through"],
    &["buffer.acknowledge=back", "buffer.bytes=8192"],
    &["buffer.acknowledge=back", "buffer.bytes=16384", "host.interface=nvme"],
    &["buffer.acknowledge=back", "buffer.bytes=1048576"],
];

/// Returns the source of a scenario.
pub fn source(scenario: usize) -> Source {
    let sets = DRIVES[scenario].iter().map(ToString::to_string).collect();
    Source { text: DRIVE.into(), path: "drive.toml".into(), sets }
}

pub fn scenarios() -> &'static [Scenario] {
    static SCENARIOS: OnceLock<Vec<Scenario>> = OnceLock::new();
    SCENARIOS.get_or_init(|| {
        let load = |scenario| control::load(&source(scenario));
        (0..DRIVES.len()).map(|scenario| load(scenario).expect("it is right")).collect()
    })
}

/// A history before it runs: each word of it draws one thing.
#[derive(Clone, Debug)]
pub struct Plan {
    pub setup: u64,
    pub steps: Vec<u64>,
}

impl Plan {
    pub fn of(seed: u64) -> Plan {
        let mut draw = Stream::new(seed, "plan", 0);
        let setup = draw.next_u64();
        let count = 10 + draw.below(110);
        Plan { setup, steps: (0..count).map(|_| draw.next_u64()).collect() }
    }
}

/// The place of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    Memory,
    File,
    /// A file behind memory that a loss of power clears.
    Volatile,
}

/// The choices of a history: few of all that can happen, so that each happens often somewhere.
#[derive(Debug)]
pub struct Setup {
    pub bytes: u64,
    pub kept: Kept,
    pub scenario: usize,
    pub lies: bool,
    pub clients_max: usize,
    pub kinds: Vec<Kind>,
    pub fua_in: u64,
    pub faults: Vec<Fault>,
    pub injections: Vec<String>,
    /// Bytes that the server sends before the client takes them; `None`: no limit.
    pub room_bytes: Option<u64>,
}

impl Setup {
    /// The share of blocks that survive a loss of power; `None`: one is torn, or there is none.
    pub fn keep_percent(&self) -> Option<u64> {
        let text = self.injections.iter().find_map(|text| text.strip_prefix("power-cut:"))?;
        let words = text.split(',');
        let keep = words.filter_map(|word| word.strip_prefix("keep_percent=")).next()?;
        Some(keep.parse().expect("it was printed"))
    }

    /// Whether the drive acknowledges a write only when no loss of power can take it.
    pub fn is_through(&self) -> bool {
        self.scenario == 0
    }

    pub fn of(word: u64) -> Setup {
        let mut draw = Stream::new(word, "setup", 0);
        let mut chance = |of| draw.below(of) == 0;
        let mut kinds = vec![Kind::Write, Kind::Write];
        let others = [
            Kind::Read,
            Kind::Flush,
            Kind::Trim,
            Kind::WriteZeroes,
            Kind::BlockStatus,
            Kind::Unknown,
        ];
        kinds.extend(others.into_iter().filter(|_| !chance(3)));
        let kept = if chance(3) { Kept::Volatile } else { Kept::File };
        let kept = if chance(12) { Kept::Memory } else { kept };
        let faults =
            [Fault::Error, Fault::SyncError, Fault::Full, Fault::Short, Fault::Interrupted];
        let is_faultless = chance(2);
        let mut faults: Vec<Fault> =
            faults.into_iter().filter(|_| chance(3) && !is_faultless).collect();
        if !chance(4) {
            faults.extend([Fault::Kill, Fault::Cut].into_iter().filter(|_| !chance(3)));
        }
        let mut injections = Vec::new();
        if chance(8) {
            injections.push(format!("eio:after={},every={}", draw.below(5), 1 + draw.below(9)));
        }
        if draw.below(8) == 0 {
            injections.push(format!("late:us={},every={}", 1 + draw.below(900), 1 + draw.below(4)));
        }
        if kept == Kept::Volatile {
            let kind = ["power-cut", "torn"][draw.below(2) as usize];
            let op = ["any", "write", "flush", "trim"][draw.below(4) as usize];
            let op = if kind == "torn" { String::new() } else { format!(",op={op}") };
            let keep = [0, 0, 50, 100][draw.below(4) as usize];
            let (after, seed) = (draw.below(30), draw.below(1000));
            injections.push(format!("{kind}:after={after},keep_percent={keep},seed={seed}{op}"));
        }
        Setup {
            // Sometimes more than the server sends at once.
            bytes: (2 + draw.below(7) + if draw.below(24) == 0 { 70 } else { 0 }) * BLOCK_BYTES
                + [0, 0, 2048][draw.below(3) as usize],
            kept,
            scenario: draw.below(DRIVES.len() as u64) as usize,
            lies: draw.below(12) == 0,
            clients_max: 1 + draw.below(4) as usize,
            kinds,
            fua_in: 1 + draw.below(6),
            faults,
            injections,
            room_bytes: (draw.below(3) == 0).then(|| 1 + draw.below(6000)),
        }
    }

    /// Draws a command: mostly of whole blocks.
    pub fn command(&self, draw: &mut Stream, number: Number, sees_allocation: bool) -> Sent {
        let kind = self.kinds[draw.below(self.kinds.len() as u64) as usize];
        let unit = [BLOCK_BYTES, BLOCK_BYTES, 512, CELL_BYTES as u64][draw.below(4) as usize];
        let units = self.bytes / unit;
        let first = draw.below(units);
        let longest = (units - first).min(if draw.below(8) == 0 { units } else { 3 });
        let mut sent = Sent {
            number,
            kind,
            flags: 0,
            offset: first * unit,
            bytes: (1 + draw.below(longest)) * unit,
            error: None,
        };
        let changes = matches!(kind, Kind::Write | Kind::Trim | Kind::WriteZeroes);
        if changes && draw.below(self.fua_in) == 0 {
            sent.flags |= FLAG_FUA;
        }
        match kind {
            Kind::WriteZeroes => sent.flags |= ZEROES_FLAGS[draw.below(2) as usize],
            Kind::BlockStatus => {
                sent.flags |= [0, FLAG_REQ_ONE][draw.below(2) as usize];
                sent.error = (!sees_allocation).then_some(EINVAL);
            }
            Kind::Flush => (sent.offset, sent.bytes) = (0, 0),
            Kind::Unknown => sent.error = Some(EINVAL),
            _ => {}
        }
        if draw.below(40) == 0 && changes {
            sent.offset = self.bytes - sent.bytes + 512;
            sent.error = Some(if kind == Kind::Trim { EINVAL } else { ENOSPC });
        } else if draw.below(40) == 0 && changes {
            (sent.flags, sent.error) = (1 << 4, Some(EINVAL));
        }
        sent
    }
}
