//! Calls of the checker by the drive.

use super::event_loop::EventLoop;

impl EventLoop {
    /// Checks the end of an instant; `all`: everything, not only the changes.
    #[cold]
    pub(super) fn check_instant(&mut self, all: bool) {
        let Some(checker) = &mut self.pages.record.checker else { return };
        self.pages.flash.pass_record(checker);
        if let Err(what) = self.pages.flash.observers_mut().verify_budget(self.now) {
            checker.fail(self.now, "the budget", &what);
        }
        if !checker.instant(self.now) && !all {
            return;
        }
        if let Err(what) = self.pages.ftl.verify(self.pages.flash.txns(), checker.programmed()) {
            checker.fail(self.now, "the FTL", &what);
        }
        if let Some(held) = &checker.sectors {
            if let Err(what) = held.verify(|lpn, sector| self.pages.ftl.sectors.holds(lpn, sector))
            {
                checker.fail(self.now, "the FTL", &what);
            }
        }
        self.check_front();
    }

    fn check_front(&self) {
        let Some(checker) = &self.pages.record.checker else { return };
        if let Err((place, what)) = self.pages.verify() {
            checker.fail(self.now, place, &what);
        }
        if let Err(what) = self.host.verify() {
            checker.fail(self.now, "the submission queues", &what);
        }
    }

    /// Checks the end of the workload.
    pub(super) fn end_checks(&mut self) {
        self.check_instant(true);
        let Some(checker) = &self.pages.record.checker else { return };
        checker.ended(self.now, self.stats.completed);
        if let Some(Err(what)) =
            self.pages.flash.observers().power_report(self.now).map(|power| power.verify())
        {
            checker.fail(self.now, "power", &what);
        }
    }

    /// Corrupts the tables of the FTL, and has everything checked at the next instant.
    #[cfg(test)]
    pub(super) fn break_ftl(&mut self, breaks: fn(&mut reprieve_ftl::Ftl)) {
        breaks(&mut self.pages.ftl);
        self.pages.record.checker.as_mut().expect("the drive is checked").hurry();
    }

    /// Corrupts tables between the host and the FTL, and has them checked at once.
    #[cfg(test)]
    pub(super) fn break_front(&mut self, breaks: fn(&mut EventLoop)) {
        breaks(self);
        self.check_front();
    }
}
