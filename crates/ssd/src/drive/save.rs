//! Saving the drive's state before its first request, after its last or in between, and starting
//! from one.

use std::collections::BTreeSet;
use std::path::Path;

use reprieve_base::{Archive, Time, UserError};
use reprieve_config::{Acknowledge, Scenario};
use reprieve_flash::Aftermath;
use reprieve_ftl::{Ftl, ZoneTable};
use reprieve_policy::Policies;
use reprieve_state::State;

use super::preparation::Preparation;
use super::replay::DIRTY;
use super::{Options, Ssd};

/// Reads the initial state of a drive.
///
/// Separate from the drive, which may also start from a state that is in no file.
pub(super) fn read(path: &Path, scenario: &Scenario) -> Result<State, UserError> {
    State::read(path, scenario)
}

/// Brings a drive with nothing written into a state, which errors name by its place.
///
/// The write buffer begins with the logical pages that the state has for it.
pub(super) fn restore(
    mut state: State,
    place: &str,
    scenario: &Scenario,
    ftl: &mut Ftl,
) -> Result<(Preparation, Option<Box<ZoneTable>>), UserError> {
    ftl.restore(&mut state, scenario).map_err(|error| error.at(place))?;
    let mut zones = ZoneTable::of(scenario);
    if let Some(zones) = &mut zones {
        zones.restore_zones(&mut state).map_err(|error| error.at(place))?;
    }
    let dirty = state.take_any(DIRTY);
    let room = scenario.buffer.bytes / u64::from(scenario.mapping_bytes());
    let is_back = scenario.buffer.acknowledge == Acknowledge::Back;
    if dirty.len() as u64 > room || !is_back && !dirty.is_empty() {
        return Err(UserError::new(format!(
            "{}: the state has {} dirty pages from before a loss of power, and buffer.bytes has \
             room for {room}; must be at least as large as it was, with buffer.acknowledge = \
             \"back\"",
            place,
            dirty.len()
        )));
    }
    let different: BTreeSet<u32> = dirty.iter().copied().collect();
    // A buffer that holds dirty pages overwrites them; others have each version until its program.
    let is_twice = different.len() < dirty.len() && scenario.buffer.hold.is_some();
    if dirty.iter().any(|lpn| *lpn >= ftl.tables.map.logical_pages()) || is_twice {
        let what = "the state has pages in its buffer that the drive has not, or one of them \
                    twice; save it anew";
        return Err(UserError::new(what).at(place));
    }
    if let Some(name) = state.left() {
        let what = format!("the state has a column {name:?} that no drive has; save it anew");
        return Err(UserError::new(what).at(place));
    }
    Ok((Preparation::done(dirty), zones))
}

impl Ssd {
    /// Writes the drive's state: of the preconditioned drive, or of the drive after its last
    /// request, when its operations are complete.
    ///
    /// After a loss of power it is the state that a recovery finds, with saved pages in the write
    /// buffer again. Completing operations takes simulated time, so the summary has to be taken
    /// before. Errors if requests are still to arrive, or the file cannot be written.
    pub fn save_state(&mut self, path: &Path) -> Result<(), UserError> {
        if let Some(cut) = &self.cut {
            let view = self.power_loss();
            return view.state_after(&view.recover(cut)).write(path, &self.scenario);
        }
        if self.scenario.ftl.slc_cache.is_some() {
            return Err(UserError::new(
                "a state does not say which blocks are in SLC mode; must be slc_cache.mode = \
                 \"none\" to save one",
            ));
        }
        let at_start = !self.started && self.is_preconditioned();
        if !at_start && !self.ended {
            return Err(UserError::new(
                "a state is saved when the drive is preconditioned, before its first request, or \
                 after its last",
            ));
        }
        if self.ended {
            self.close();
        }
        let mut state = State::default();
        self.run.pages.ftl.save(&mut state);
        if let Some(zones) = &self.run.pages.zones {
            zones.save_zones(&mut state);
        }
        if let Some(media) = self.run.pages.flash.media() {
            media.save(&mut state, self.run.now, &Aftermath::default());
        }
        if !self.preparation.replay.is_empty() {
            state.put(DIRTY, self.preparation.replay.clone());
        }
        state.write(path, &self.scenario)
    }

    /// Saves or restores the drive during a run.
    ///
    /// Panics unless it is served, has started and has power, and no observer was added.
    pub fn archive(&mut self, archive: &mut Archive) {
        assert!(
            self.started && !self.run.pages.record.has_journal(),
            "a drive is saved that can be cut"
        );
        self.preparation.archive(archive);
        self.run.archive(archive);
    }

    /// Restores a drive whose requests are handed over from an archive.
    ///
    /// Errors if it does not fit into memory, or the archive is of another drive.
    pub fn from_archive(scenario: Scenario, archive: &mut Archive) -> Result<Ssd, UserError> {
        crate::memory::check(&scenario)?;
        let options = Options { served: true, handed_over: true, ..Options::default() };
        let (policies, ftl) = (Policies::of(&scenario), Ftl::new(&scenario)?);
        let (seed, done) = (scenario.seed, Preparation::done(Vec::new()));
        let mut ssd = Ssd::assemble(scenario, seed, &options, policies, ftl, done)?;
        ssd.started = true;
        ssd.archive(archive);
        archive.check()?;
        Ok(ssd)
    }

    /// Completes all operations: pages in the buffer are programmed, victims erased.
    fn close(&mut self) {
        self.run.pages.ftl.close();
        self.run.pages.hold_no_more();
        (self.run.pages.scan, self.run.pages.busy_window) = (None, None);
        self.run.pages.flash.dies_mut().wake_all();
        self.run.decide();
        while self.run.next_event() != Time::NEVER {
            self.run.now = self.run.next_event();
            self.run.let_happen();
            self.run.decide();
            if self.run.pages.record.checker.is_some() {
                self.run.check_instant(false);
            }
        }
        self.run.end_checks();
        let left = self.run.pages.flash.txns().len();
        assert!(left == 0, "at {} {left} transactions have no end", self.run.now);
    }
}
