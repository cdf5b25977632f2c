//! What a die draws power for, and how much of it a part draws; nothing here takes time.

use crate::timing::PAGE_TYPES_MAX;

/// What an array is doing, on one plane, when it does more than wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Sensing a page.
    Sense,
    /// A program pulse.
    ProgramPulse,
    /// The verify of a program, and what follows it until a suspension has taken effect.
    ProgramVerify,
    /// The erase pulse, and the setting of its voltages.
    ErasePulse,
    /// The verify of an erase.
    EraseVerify,
}

/// How many activities there are.
pub const ACTIVITIES: usize = 5;

/// Power of a die at its core supply in microwatts; each with an idle rest of the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorePower {
    /// Nothing runs and nothing is suspended.
    pub idle_uw: u64,
    /// Nothing runs and one program or erase is suspended.
    pub suspended_uw: u64,
    /// Sensing, program pulse and program verify, by page type.
    pub by_type: [[u64; 3]; PAGE_TYPES_MAX],
    /// Erase pulse and erase verify.
    pub erase_uw: [u64; 2],
}

impl CorePower {
    /// Power of one plane at work, above that of an idle die.
    #[inline]
    pub fn excess_uw(&self, activity: Activity, page_type: usize) -> u64 {
        let [sense, pulse, verify] = self.by_type[page_type];
        let whole = match activity {
            Activity::Sense => sense,
            Activity::ProgramPulse => pulse,
            Activity::ProgramVerify => verify,
            Activity::ErasePulse => self.erase_uw[0],
            Activity::EraseVerify => self.erase_uw[1],
        };
        whole - self.idle_uw
    }

    /// Power of a suspended operation above that of an idle die.
    #[inline]
    pub fn suspended_excess_uw(&self) -> u64 {
        self.suspended_uw - self.idle_uw
    }
}
