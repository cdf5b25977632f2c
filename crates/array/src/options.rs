//! The options of an array, and the rules between them.

use reprieve_base::{Dur, SECTOR_BYTES, UserError};
use serde::Deserialize;

use crate::windows::Windows;

/// The largest chunk.
pub(crate) const MOST_CHUNK_BYTES: u64 = 1 << 30;

/// How an array serves a read of a drive that answers late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Read {
    /// By the drive that has the data.
    Direct,
    /// From other drives, if the drive has writes of the array to do and enough others have none.
    AroundWrites,
    /// From other drives, if the drive is in its busy window, or has its turn to collect.
    AroundWindows,
    /// From other drives, if the drive collects on a die that has the data, and refuses the read.
    FastFail,
    /// From other drives as well, if the drive has not answered after `hedge_after_us`.
    Hedged,
}

/// An array: its drives, where data is, and how it is read. As text, a table of TOML.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Number of drives.
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
    pub read: Read,
    /// Time after which a read is hedged, in us.
    pub hedge_after_us: Option<f64>,
    /// Length of the busy windows of the drives, which take turns, in us: only then does a drive
    /// collect that need not.
    pub busy_window_us: Option<f64>,
    /// Drives of a stripe that may collect at a time while they need not: those that lack the most
    /// free blocks.
    pub collecting_drives: Option<usize>,
    /// Time after which the array chooses them anew, in us.
    pub collection_poll_us: f64,
    /// A failed drive that an unwritten one replaces at time zero.
    pub rebuild: Option<usize>,
    /// Stripes that are rebuilt together.
    pub rebuild_stripes: u64,
    /// Limit of the rate at which the new drive is written, in bytes per s.
    pub rebuild_bytes_per_s: Option<f64>,
    /// Whether the parity of a partial write is logged first, so that a loss of power tears no
    /// stripe.
    pub parity_log: bool,
    /// Time that the controller takes from reads to the writes that follow, in ns.
    pub controller_ns: u64,
    /// Threads on which drives run; `None`: one a core.
    pub threads: Option<usize>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            drives: 1,
            parity: 0,
            mirrors: 1,
            chunk_bytes: 1 << 16,
            failed: Vec::new(),
            read: Read::Direct,
            hedge_after_us: None,
            busy_window_us: None,
            collecting_drives: None,
            collection_poll_us: 1000.0,
            rebuild: None,
            rebuild_stripes: 16,
            rebuild_bytes_per_s: None,
            parity_log: false,
            controller_ns: 1000,
            threads: None,
        }
    }
}

impl Options {
    /// Reads a table of TOML, such as `drives = 6`, `parity = 2` on two lines.
    ///
    /// Errors at a key that does not exist, and at a value of the wrong kind or out of its bounds.
    pub fn parse(text: &str) -> Result<Options, UserError> {
        let options: Options = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(0, |span| text[..span.start].matches('\n').count());
            let what = error.message().lines().collect::<Vec<_>>().join("; ");
            let written = text.lines().nth(line).unwrap_or_default().trim();
            UserError::new(format!("line {} of the array's options, `{written}`: {what}", line + 1))
        })?;
        options.check()?;
        Ok(options)
    }

    /// Drives that have the chunks of a stripe: those of a mirror, or all.
    pub(crate) fn group(&self) -> usize {
        if self.mirrors > 1 { self.mirrors } else { self.drives }
    }

    /// Time after which drives that may collect are chosen anew.
    pub(crate) fn collection_poll(&self) -> Dur {
        dur(self.collection_poll_us)
    }

    /// Windows of the drives, by turns.
    pub(crate) fn windows(&self) -> Option<Windows> {
        let turns = self.group();
        self.busy_window_us.map(|us| Windows { length: dur(us), turns })
    }

    /// Time after which reads are hedged.
    pub(crate) fn hedge_after(&self) -> Option<Dur> {
        self.hedge_after_us.map(dur)
    }

    /// Errors at the first choice that is wrong.
    pub(crate) fn check(&self) -> Result<(), UserError> {
        let Options { drives, parity, mirrors, chunk_bytes, controller_ns, .. } = *self;
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
        if !(1..1 << 62).contains(&controller_ns) {
            return wrong(format!("controller_ns = {controller_ns}: must be from 1 to 2^62 − 1"));
        }
        if self.threads == Some(0) {
            return wrong("threads = 0: must be at least 1".to_owned());
        }
        self.check_reads()?;
        self.check_rebuild()?;
        self.check_failed()
    }

    fn check_reads(&self) -> Result<(), UserError> {
        let wrong = |what: &str| Err(UserError::new(what));
        let has_others = self.parity > 0 || self.mirrors > 1;
        if self.read != Read::Direct && !has_others {
            return wrong("read: must be \"direct\" without parity and mirrors");
        }
        if (self.read == Read::Hedged) != self.hedge_after_us.is_some() {
            return wrong(match self.hedge_after_us {
                None => "read = \"hedged\": needs hedge_after_us",
                Some(_) => "hedge_after_us: only read = \"hedged\" has it",
            });
        }
        let (windows, turns) = (self.busy_window_us.is_some(), self.collecting_drives);
        if self.read == Read::AroundWindows && !windows && turns.is_none() {
            return wrong("read = \"around-windows\": needs busy_window_us or collecting_drives");
        }
        if windows && turns.is_some() {
            return wrong("collecting_drives: must be absent with busy_window_us");
        }
        if let Some(drives) = turns.filter(|drives| !(1..self.group()).contains(drives)) {
            let group = self.group();
            return Err(UserError::new(format!(
                "collecting_drives = {drives}: must be at least 1 and below the {group} of a stripe"
            )));
        }
        if self.windows().is_some_and(|windows| windows.turns == 1) {
            return wrong("busy_window_us: drives take turns; needs two or more");
        }
        if self.parity_log && self.parity != 1 {
            return wrong("parity_log: must be false unless parity is 1");
        }
        let us = [
            ("hedge_after_us", self.hedge_after_us),
            ("busy_window_us", self.busy_window_us),
            ("collection_poll_us", Some(self.collection_poll_us)),
        ];
        us.into_iter().try_for_each(|(name, us)| within(name, us, 0.001, 1e12))
    }

    fn check_rebuild(&self) -> Result<(), UserError> {
        let wrong = |what: String| Err(UserError::new(what));
        if let Some(drive) = self.rebuild.filter(|drive| !self.failed.contains(drive)) {
            let failed = &self.failed;
            return wrong(format!("rebuild = {drive}: must be one of failed, which is {failed:?}"));
        }
        if self.rebuild.is_none() && self.rebuild_bytes_per_s.is_some() {
            return wrong("rebuild_bytes_per_s: only a rebuild has it; needs rebuild".to_owned());
        }
        let Options { rebuild_stripes: stripes, chunk_bytes, .. } = *self;
        if !(1..=1 << 20).contains(&stripes) {
            return wrong(format!("rebuild_stripes = {stripes}: must be from 1 to 2^20"));
        }
        let most = MOST_CHUNK_BYTES / chunk_bytes;
        if self.rebuild.is_some() && stripes > most {
            let with = format!("with chunk_bytes = {chunk_bytes}");
            return wrong(format!("rebuild_stripes = {stripes}: must be at most {most} {with}"));
        }
        within("rebuild_bytes_per_s", self.rebuild_bytes_per_s, 1.0, 1e12)
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

fn within(name: &str, value: Option<f64>, least: f64, most: f64) -> Result<(), UserError> {
    match value {
        Some(value) if !(least..=most).contains(&value) => {
            Err(UserError::new(format!("{name} = {value:?}: must be from {least} to {most:?}")))
        }
        _ => Ok(()),
    }
}

/// Returns a time in us as whole nanoseconds.
fn dur(us: f64) -> Dur {
    Dur::from_ns((us * 1e3).round() as u64)
}
