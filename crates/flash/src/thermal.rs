//! Temperature of the drive by its firmware, and the resulting limits on power.

use reprieve_base::{Archive, Time, parts};
use reprieve_config::Scenario;
use reprieve_observe::power::Meter;

use super::budget::Budget;

/// The temperature at the firmware's last check, and the limit since then.
///
/// The drive is one body: over a step of constant power its rise over the ambient approaches that
/// of the power exponentially. A step lasts between two checks, at their mean power.
#[derive(Clone, Debug)]
pub(super) struct Thermal {
    given: reprieve_config::Thermal,
    /// Limit without throttling.
    budget_uw: u64,
    /// Share of a temperature difference that remains after a step.
    left: f64,
    now_c: f64,
    next_look: Time,
    /// Energy of the flash until the last check.
    energy_fj: u128,
    /// Throttling level: none, light, heavy.
    level: usize,
    counts: ThermalCounts,
    /// The check at which waiting dies decide again.
    woken_at: Time,
}

/// Counters of the measured part.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct ThermalCounts {
    highest_c: f64,
    /// Time at each level, and changes to a higher one.
    level_ns: [u64; 3],
    rises: u64,
}

/// Section `thermal` of the summary: the measured part, by the firmware's checks.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct ThermalReport {
    end_c: f64,
    highest_c: f64,
    unthrottled_s: f64,
    light_s: f64,
    heavy_s: f64,
    /// Changes to a heavier limit.
    rises: u64,
}

impl Thermal {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.now_c, self.next_look, self.energy_fj, self.level, self.counts);
        archive.part(&mut self.woken_at);
    }

    /// Returns the temperature of a scenario at the start; `None` without a thermal model.
    pub(super) fn of(scenario: &Scenario) -> Option<Thermal> {
        let power = scenario.power.as_ref()?;
        let given = power.thermal?;
        let mut made = Thermal {
            budget_uw: power.budget_uw.unwrap_or(u64::MAX),
            // `libm` for the same bits on every machine.
            left: libm::exp(-(given.poll.ns() as f64) / given.time_constant.ns() as f64),
            now_c: given.start_c,
            next_look: Time::ZERO + given.poll,
            energy_fj: 0,
            level: 0,
            counts: ThermalCounts { highest_c: given.start_c, ..ThermalCounts::default() },
            woken_at: Time::ZERO,
            given,
        };
        made.set_level();
        Some(made)
    }

    /// Returns the limit on the power of all dies.
    pub(super) fn limit_uw(&self) -> u64 {
        let level = self.level.checked_sub(1).map(|level| self.given.levels[level].budget_uw);
        level.map_or(self.budget_uw, |limit_uw| limit_uw.min(self.budget_uw))
    }

    /// Runs every check of the firmware until `now`.
    pub(super) fn look(&mut self, now: Time, meter: &mut Meter, budget: &mut Budget) {
        while self.next_look <= now {
            meter.advance(self.next_look);
            self.step(meter.energy_fj());
            self.next_look = self.next_look + self.given.poll;
            budget.set_limit(self.limit_uw());
        }
    }

    /// Ends a step, by whose end the flash has taken `energy_fj`.
    fn step(&mut self, energy_fj: u128) {
        let given = &self.given;
        let taken_fj = energy_fj - std::mem::replace(&mut self.energy_fj, energy_fj);
        // A femtojoule a nanosecond is a microwatt.
        let mean_uw = taken_fj as f64 / given.poll.ns() as f64 + given.controller_uw as f64;
        let end_c = given.ambient_c + given.c_per_w * mean_uw / 1e6;
        self.counts.level_ns[self.level] += given.poll.ns();
        self.now_c = end_c + (self.now_c - end_c) * self.left;
        self.counts.highest_c = self.counts.highest_c.max(self.now_c);
        let before = self.level;
        self.set_level();
        self.counts.rises += u64::from(self.level > before);
    }

    /// Sets the level to the highest reached one, or keeps one above its hysteresis.
    fn set_level(&mut self) {
        let holds = |level: &usize| {
            let below_c = if *level <= self.level { self.given.hysteresis_c } else { 0.0 };
            self.now_c >= self.given.levels[level - 1].from_c - below_c
        };
        self.level = (1..=2).rfind(holds).unwrap_or(0);
    }

    /// Returns when the limit may end for waiting dies, once.
    pub(super) fn take_wake(&mut self, budget: &Budget) -> Option<Time> {
        let is_new = self.level > 0 && self.woken_at != self.next_look && budget.is_waited_for();
        is_new.then(|| {
            self.woken_at = self.next_look;
            self.next_look
        })
    }

    /// Starts the measured part.
    pub(super) fn forget_counts(&mut self) {
        self.counts = ThermalCounts { highest_c: self.now_c, ..ThermalCounts::default() };
    }

    /// Returns the temperature and throttling for the summary.
    pub(super) fn report(&self) -> ThermalReport {
        let [unthrottled_s, light_s, heavy_s] = self.counts.level_ns.map(|ns| ns as f64 / 1e9);
        ThermalReport {
            end_c: self.now_c,
            highest_c: self.counts.highest_c,
            unthrottled_s,
            light_s,
            heavy_s,
            rises: self.counts.rises,
        }
    }
}
