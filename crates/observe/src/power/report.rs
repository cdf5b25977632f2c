//! Report of the meter: as JSON, and whether its two sums agree.

use reprieve_base::Time;
use reprieve_nand::ACTIVITIES;
use serde_json::{Map, Value, json};

use super::CLASS_NAMES;
use super::series::{PowerStep, SeriesBatch};

/// States of a die: its activities, suspended, idle.
pub(super) const STATES: usize = ACTIVITIES + 2;

const STATE_NAMES: [&str; STATES] = [
    "sense",
    "program_pulse",
    "program_verify",
    "erase_pulse",
    "erase_verify",
    "suspended",
    "idle",
];

/// Power and energy of a run.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct PowerReport {
    pub(super) dies: u64,
    pub(super) now: Time,
    /// Energy of the dies as if they had been idle all the time.
    pub(super) idle_fj: u128,
    /// Energy above that, by class: at the core supply and at the I/O supply.
    pub(super) by_class: [[u128; CLASS_NAMES.len()]; 2],
    /// Time of each activity on each plane, and of suspensions, summed over the operations.
    pub(super) by_operation_ns: ([u128; ACTIVITIES], u128),
    /// The energy that the meter measured at both supplies.
    pub(super) measured_fj: [u128; 2],
    /// The times by the meter.
    pub(super) measured_ns: ([u128; ACTIVITIES], u128),
    /// Time of all dies in each state.
    pub(super) state_ns: [u128; STATES],
    /// Core, I/O, both.
    pub(super) peak_uw: [u64; 3],
    pub(super) volts: [Option<f64>; 2],
    /// The bins of power over time, if recorded.
    pub series: Option<SeriesBatch>,
    /// Every step of power, if recorded.
    pub trace: Option<Vec<PowerStep>>,
}

fn microjoules(fj: u128) -> f64 {
    fj as f64 / 1e9
}

/// A microwatt for a nanosecond is a femtojoule.
fn milliwatts(fj: u128, ns: u64) -> f64 {
    if ns == 0 { 0.0 } else { fj as f64 / ns as f64 / 1e3 }
}

impl PowerReport {
    /// Returns the energy at core and I/O supply in femtojoules, summed over the operations.
    pub fn energy_fj(&self) -> [u128; 2] {
        let [core, io] = self.by_class.map(|classes| classes.iter().sum::<u128>());
        [self.idle_fj + core, io]
    }

    /// Returns power and energy since an earlier report of the same meter; the highest power is of
    /// both.
    pub fn since(mut self, before: &PowerReport) -> PowerReport {
        fn subtract(now: &mut [u128], before: &[u128]) {
            now.iter_mut().zip(before).for_each(|(now, before)| *now -= before);
        }
        self.now = Time::from_ns((self.now - before.now).ns());
        self.idle_fj -= before.idle_fj;
        for (now, before) in self.by_class.iter_mut().zip(&before.by_class) {
            subtract(now, before);
        }
        subtract(&mut self.by_operation_ns.0, &before.by_operation_ns.0);
        self.by_operation_ns.1 -= before.by_operation_ns.1;
        subtract(&mut self.measured_fj, &before.measured_fj);
        subtract(&mut self.measured_ns.0, &before.measured_ns.0);
        self.measured_ns.1 -= before.measured_ns.1;
        subtract(&mut self.state_ns, &before.state_ns);
        let series = self.series.zip(before.series.as_ref());
        self.series = series.map(|(now, before_then)| now.since(before_then, before.now));
        self
    }

    /// Returns the section `power` of the summary; `host_bytes` were read and written.
    pub fn summary(&self, host_bytes: u64) -> Value {
        let [core, io] = self.energy_fj();
        let by_class: Map<String, Value> = (0..CLASS_NAMES.len())
            .map(|class| {
                let [core, io] = self.by_class.map(|fj| microjoules(fj[class]));
                (CLASS_NAMES[class].to_string(), json!({"core": core, "io": io}))
            })
            .collect();
        let states: Map<String, Value> = STATE_NAMES
            .iter()
            .zip(self.state_ns)
            .map(|(name, ns)| (name.to_string(), json!(u64::try_from(ns).expect("584 die years"))))
            .collect();
        let mean = |fj| milliwatts(fj, self.now.ns());
        let peak = self.peak_uw.map(|uw| uw as f64 / 1e3);
        let nanojoules = (core + io) as f64 / 1e6;
        let per_byte = if host_bytes == 0 { 0.0 } else { nanojoules / host_bytes as f64 };
        let mut power = json!({
            "energy_uj": {
                "total": microjoules(core + io),
                "core": microjoules(core),
                "io": microjoules(io),
                "idle": microjoules(self.idle_fj),
                "by_class": by_class,
            },
            "mean_mw": {"total": mean(core + io), "core": mean(core), "io": mean(io)},
            "peak_mw": {"total": peak[2], "core": peak[0], "io": peak[1]},
            "host_byte_nj": per_byte,
            "states_ns": states,
        });
        for (name, index, fj) in [("core", 0, core), ("io", 1, io)] {
            if let Some(volts) = self.volts[index] {
                power["mean_ma"][name] = json!(mean(fj) / volts);
            }
        }
        power
    }

    /// Checks that the energy of operations equals that of the meter.
    pub fn verify(&self) -> Result<(), String> {
        for (supply, (counted, measured)) in
            ["core", "I/O"].iter().zip(self.energy_fj().into_iter().zip(self.measured_fj))
        {
            if counted != measured {
                return Err(format!(
                    "operations took {counted} fJ at the {supply} supply, which gave {measured} fJ"
                ));
            }
        }
        if self.by_operation_ns != self.measured_ns {
            return Err(format!(
                "operations took {:?} ns of each activity and of suspensions, dies {:?} ns",
                self.by_operation_ns, self.measured_ns
            ));
        }
        let whole = u128::from(self.now.ns()) * u128::from(self.dies);
        let sum: u128 = self.state_ns.iter().sum();
        if sum != whole {
            return Err(format!("the states of all dies add up to {sum} ns, not {whole} ns"));
        }
        Ok(())
    }
}
