//! The books of one operation: where it stands in its nominal work, and every overhead by name.
//!
//! The nominal work of an operation is an axis in nanoseconds, on which its phases have fixed
//! places. A run moves along it from where the last one ended; what is cancelled moves back.

use reprieve_base::Stream;
use reprieve_nand::{
    EraseMode, EraseResume, ProgramSuspension, Restore, Suspension, Timing, VthReached,
};

/// The two operations that can be suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Program,
    Erase,
}

/// Array time that the operation took besides its nominal work.
#[derive(Clone, Copy, Debug, Default)]
struct Overheads {
    restores: u64,
    set_ups: u64,
    resets: u64,
    suspend_overheads: u64,
    check_verifies: u64,
    /// Work of cancelled phases that has to be done again.
    lost_ns: u64,
    /// What was left of cancelled pulses that had reached their target, and of restores and
    /// set-ups that were broken off, and is never done.
    spared_ns: u64,
}

/// One operation from its start to its end.
#[derive(Clone, Debug)]
pub struct Ledger {
    pub kind: Kind,
    timing: Timing,
    suspension: Suspension,
    /// Nominal work done when the present run began.
    done_ns: u64,
    /// The verify after a cancelled pulse, which is on no axis and comes before all else.
    owed_ns: u64,
    run_began_ns: u64,
    /// End of the first transfer.
    first_ns: u64,
    /// End of the transfer, restore or set-up with which the run began.
    prelude_end_ns: u64,
    array_ns: u64,
    overheads: Overheads,
    pub resumed_ns: Option<u64>,
    pub suspensions: u32,
}

impl Ledger {
    /// An operation whose command and data have arrived at `prelude_end_ns`.
    pub fn new(kind: Kind, timing: Timing, suspension: Suspension, prelude_end_ns: u64) -> Ledger {
        Ledger {
            kind,
            timing,
            suspension,
            done_ns: 0,
            owed_ns: 0,
            run_began_ns: prelude_end_ns,
            first_ns: prelude_end_ns,
            prelude_end_ns,
            array_ns: 0,
            overheads: Overheads::default(),
            resumed_ns: None,
            suspensions: 0,
        }
    }

    fn pulse_ns(&self) -> u64 {
        match self.kind {
            Kind::Program => self.timing.program_pulse.ns(),
            Kind::Erase => self.timing.erase.ns(),
        }
    }

    fn segment_ns(&self) -> u64 {
        self.timing.erase.ns() / u64::from(self.timing.erase_segments)
    }

    /// A pulse and its verify.
    fn iteration_ns(&self) -> u64 {
        self.pulse_ns()
            + match self.kind {
                Kind::Program => self.timing.verify.ns(),
                Kind::Erase => self.timing.erase_verify.ns(),
            }
    }

    fn nominal_ns(&self) -> u64 {
        match self.kind {
            Kind::Program => self.iteration_ns() * u64::from(self.timing.program_iterations),
            Kind::Erase => self.iteration_ns(),
        }
    }

    /// The end of the operation if nobody interrupts it.
    pub fn end_ns(&self) -> u64 {
        self.prelude_end_ns + self.owed_ns + self.nominal_ns() - self.done_ns
    }

    /// The phase of the axis that ends at `axis_ns` or has it inside: its begin and its end.
    fn phase(&self, axis_ns: u64) -> (u64, u64) {
        if self.kind == Kind::Erase && axis_ns <= self.pulse_ns() {
            let begin_ns = (axis_ns - 1) / self.segment_ns() * self.segment_ns();
            return (begin_ns, begin_ns + self.segment_ns());
        }
        let iteration_ns = self.iteration_ns();
        let begin_ns = (axis_ns - 1) / iteration_ns * iteration_ns;
        let pulse_end_ns = begin_ns + self.pulse_ns();
        if axis_ns <= pulse_end_ns {
            (begin_ns, pulse_end_ns)
        } else {
            (pulse_end_ns, begin_ns + iteration_ns)
        }
    }

    /// Books a suspend request; says when the array is free, or `None` if the operation ends.
    ///
    /// `vth` is drawn from only for a cancelled pulse whose target is `proportional`.
    pub fn suspend(&mut self, now_ns: u64, vth: &mut Stream) -> Option<u64> {
        let free_ns = match now_ns.checked_sub(self.prelude_end_ns) {
            None => self.suspend_prelude(now_ns),
            Some(0) => self.prelude_end_ns,
            Some(into_ns) => {
                let stopped_ns = if into_ns <= self.owed_ns {
                    self.suspend_check_verify(now_ns)
                } else {
                    let axis_ns = self.done_ns + into_ns - self.owed_ns;
                    self.suspend_phase(now_ns, axis_ns, vth)?
                };
                self.overheads.suspend_overheads += 1;
                stopped_ns + self.suspend_overhead_ns()
            }
        };
        self.suspensions += 1;
        self.array_ns += free_ns - self.run_began_ns;
        Some(free_ns)
    }

    /// Before the first phase of the run: of a restore and of a set-up the rest may be spared.
    fn suspend_prelude(&mut self, now_ns: u64) -> u64 {
        let over_channel = self.kind == Kind::Program && !self.suspension.shadow_buffer;
        let atomic = self.suspension.restore == Restore::Atomic || self.resumed_ns.is_none();
        if atomic || over_channel {
            return self.prelude_end_ns;
        }
        self.overheads.spared_ns += self.prelude_end_ns - now_ns;
        if self.kind == Kind::Program || self.resumed_ns == Some(now_ns) {
            return now_ns;
        }
        self.overheads.resets += 1;
        now_ns + self.timing.voltage_reset.ns()
    }

    /// The last part of a phase, in which it is not broken off.
    fn reset_inside_ns(&self) -> u64 {
        let inside = self.suspension.reset_inside_phase;
        if inside { self.timing.voltage_reset.ns() } else { 0 }
    }

    fn deferred(&self, now_ns: u64) -> bool {
        match self.suspension.erase_mode {
            EraseMode::Immediate => false,
            EraseMode::Deferred => true,
            EraseMode::Timeout(limit) => now_ns >= self.first_ns + limit.ns(),
        }
    }

    fn suspend_check_verify(&mut self, now_ns: u64) -> u64 {
        let (begin_ns, reset_ns) = (self.prelude_end_ns, self.timing.voltage_reset.ns());
        let end_ns = begin_ns + self.owed_ns;
        if now_ns + self.reset_inside_ns() >= end_ns {
            self.owed_ns = 0;
            return end_ns;
        }
        self.overheads.lost_ns += now_ns - begin_ns;
        self.overheads.resets += 1;
        now_ns + reset_ns
    }

    fn suspend_phase(&mut self, now_ns: u64, axis_ns: u64, vth: &mut Stream) -> Option<u64> {
        let reset_ns = self.timing.voltage_reset.ns();
        let (mut begin_ns, mut end_ns) = self.phase(axis_ns);
        let mut cancels = axis_ns + self.reset_inside_ns() < end_ns;
        if self.kind == Kind::Erase {
            cancels &= !self.deferred(now_ns);
        } else {
            cancels &= self.suspension.program == ProgramSuspension::Ipc;
            if self.suspension.program == ProgramSuspension::Iteration {
                let iteration_ns = self.iteration_ns();
                end_ns = axis_ns.div_ceil(iteration_ns) * iteration_ns;
            }
        }
        if !cancels {
            if end_ns == self.nominal_ns() {
                return None;
            }
            self.owed_ns = 0;
            self.done_ns = end_ns;
            self.restart_if_so();
            return Some(now_ns + (end_ns - axis_ns));
        }
        self.overheads.resets += 1;
        self.owed_ns = 0;
        let in_pulse = begin_ns % self.iteration_ns() < self.pulse_ns();
        let exact = self.suspension.erase_resume == EraseResume::Exact;
        match self.kind {
            Kind::Program if in_pulse && self.reached(axis_ns - begin_ns, vth) => {
                self.overheads.spared_ns += end_ns - axis_ns;
                begin_ns = end_ns;
            }
            Kind::Program => {
                self.overheads.lost_ns += axis_ns - begin_ns;
                if in_pulse {
                    self.overheads.check_verifies += 1;
                    self.owed_ns = self.timing.verify.ns();
                }
            }
            Kind::Erase if in_pulse && exact => begin_ns = axis_ns,
            Kind::Erase => self.overheads.lost_ns += axis_ns - begin_ns,
        }
        self.done_ns = begin_ns;
        self.restart_if_so();
        Some(now_ns + reset_ns)
    }

    fn restart_if_so(&mut self) {
        if self.kind == Kind::Erase && self.suspension.erase_resume == EraseResume::Restart {
            self.overheads.lost_ns += self.done_ns;
            self.done_ns = 0;
        }
    }

    fn reached(&self, elapsed_ns: u64, vth: &mut Stream) -> bool {
        match self.suspension.vth_reached {
            VthReached::Never => false,
            VthReached::Always => true,
            VthReached::Proportional => vth.below(self.pulse_ns()) < elapsed_ns,
        }
    }

    /// Books a resume; the operation then ends at `end_ns`.
    pub fn resume(&mut self, now_ns: u64) {
        // At the end of a segment, which is the end of the pulse too, the voltages are there.
        let at_safe_point = self.done_ns > 0 && self.done_ns % self.segment_ns() == 0;
        let sets_up = self.suspension.erase_resume == EraseResume::Exact
            && self.done_ns < self.pulse_ns()
            && !at_safe_point;
        let prelude_ns = match self.kind {
            Kind::Program => {
                self.overheads.restores += 1;
                self.restore_ns()
            }
            Kind::Erase if sets_up => {
                self.overheads.set_ups += 1;
                self.timing.voltage_reset.ns()
            }
            Kind::Erase => 0,
        };
        self.run_began_ns = now_ns;
        self.prelude_end_ns = now_ns + prelude_ns;
        self.resumed_ns = Some(now_ns);
    }

    fn suspend_overhead_ns(&self) -> u64 {
        match self.kind {
            Kind::Program => self.timing.suspend_overhead.ns(),
            Kind::Erase => self.timing.erase_suspend_overhead.ns(),
        }
    }

    fn restore_ns(&self) -> u64 {
        let shadow = self.suspension.shadow_buffer;
        if shadow { self.timing.buffer.ns() } else { self.timing.bus.ns() }
    }

    /// Closes the books at the end of the operation: the array time is all accounted for.
    pub fn close(&self, now_ns: u64) {
        let array_ns = self.array_ns + (now_ns - self.run_began_ns);
        let Overheads { lost_ns, spared_ns, .. } = self.overheads;
        let named_ns = self.overheads.restores * self.restore_ns()
            + self.overheads.set_ups * self.timing.voltage_reset.ns()
            + self.overheads.resets * self.timing.voltage_reset.ns()
            + self.overheads.suspend_overheads * self.suspend_overhead_ns()
            + self.overheads.check_verifies * self.timing.verify.ns()
            + lost_ns;
        assert_eq!(array_ns + spared_ns, self.nominal_ns() + named_ns, "{self:#?}");
        let atomic = self.suspension.restore == Restore::Atomic;
        let ips = self.suspension.program == ProgramSuspension::Ips;
        if self.kind == Kind::Program && ips && atomic {
            let restores_ns = u64::from(self.suspensions) * self.restore_ns();
            let entries_ns = self.overheads.suspend_overheads * self.suspend_overhead_ns();
            assert_eq!(array_ns, self.nominal_ns() + restores_ns + entries_ns, "{self:#?}");
        }
    }
}
