//! The choices of an array, and the rules between them.

use reprieve_base::{Dur, SECTOR_BYTES, UserError};

/// The largest chunk.
const MOST_CHUNK_BYTES: u64 = 1 << 30;

/// How an array serves a read of a drive that answers late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// By the drive that has the data.
    Direct,
    /// From other drives, if the drive has writes of the array to do and enough others have none.
    AroundWrites,
    /// From other drives as well, if the drive has not answered after this time.
    Hedged(Dur),
}

/// An array: its drives, where data is, and how it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Drives.
    pub drives: usize,
    /// Chunks of parity in each stripe; the others have data.
    pub parity: usize,
    /// Copies of each chunk; 1 without mirrors.
    pub mirrors: usize,
    /// Bytes of a stripe on one drive.
    pub chunk_bytes: u64,
    /// Drives that have failed.
    pub failed: Vec<usize>,
    /// Policy of reads.
    pub reads: Reads,
    /// Time from the last read of a partial write to its writes.
    pub controller: Dur,
    /// Threads on which drives run.
    pub threads: usize,
}

impl Options {
    /// Errors at the first choice that is wrong.
    pub(crate) fn check(&self) -> Result<(), UserError> {
        let Options { drives, parity, mirrors, chunk_bytes, .. } = *self;
        let wrong = |what: String| Err(UserError::new(what));
        if drives == 0 || drives > usize::from(u16::MAX) {
            return wrong(format!("drives = {drives}: must be from 1 to {}", u16::MAX));
        }
        if parity >= drives {
            return wrong(format!("parity = {parity}: must be below drives, which is {drives}"));
        }
        if mirrors == 0 || drives % mirrors > 0 {
            return wrong(format!("mirrors = {mirrors}: must divide drives, which is {drives}"));
        }
        if parity > 0 && mirrors > 1 {
            return wrong(format!("mirrors = {mirrors}: must be 1 with parity"));
        }
        if !(1..=MOST_CHUNK_BYTES).contains(&chunk_bytes) || chunk_bytes % SECTOR_BYTES > 0 {
            return wrong(format!(
                "chunk_bytes = {chunk_bytes}: must be a multiple of 512, at most {MOST_CHUNK_BYTES}"
            ));
        }
        if self.reads != Reads::Direct && parity == 0 && mirrors == 1 {
            return wrong("read: must be \"direct\" without parity and mirrors".to_owned());
        }
        if self.reads == Reads::Hedged(Dur::ZERO) {
            return wrong("hedge_after_us = 0: must be at least 0.001".to_owned());
        }
        if self.controller == Dur::ZERO {
            return wrong("controller_ns = 0: must be at least 1".to_owned());
        }
        if self.threads == 0 {
            return wrong("threads = 0: must be at least 1".to_owned());
        }
        self.check_failed()
    }

    /// Errors if data is lost.
    fn check_failed(&self) -> Result<(), UserError> {
        let Options { drives, parity, mirrors, ref failed, .. } = *self;
        for (place, drive) in failed.iter().enumerate() {
            if *drive >= drives || failed[..place].contains(drive) {
                return Err(UserError::new(format!(
                    "failed = {failed:?}: must be different numbers below drives, which is {drives}"
                )));
            }
        }
        let lost = match mirrors {
            1 => failed.len() > parity,
            _ => (0..drives / mirrors).any(|group| {
                failed.iter().filter(|drive| **drive / mirrors == group).count() == mirrors
            }),
        };
        match lost {
            false => Ok(()),
            true => Err(UserError::new(format!(
                "failed = {failed:?}: data is lost; a stripe can do without {} of its drives",
                if mirrors > 1 { mirrors - 1 } else { parity }
            ))),
        }
    }
}
