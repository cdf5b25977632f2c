//! Power of a die by activity; without effect on times.

use crate::timing::PAGE_TYPES_MAX;

/// Activities of an array, on one plane, other than waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Activity {
    /// Sensing a page.
    Sense,
    /// A program pulse.
    ProgramPulse,
    /// The verify of a program, and the time after it until a suspension has taken effect.
    ProgramVerify,
    /// The erase pulse, and the setting of its voltages.
    ErasePulse,
    /// The verify of an erase.
    EraseVerify,
}

/// Number of activities.
pub const ACTIVITIES: usize = 5;

/// Power of a command above that of an idle die: one part for the die, one for each plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CommandPower {
    /// Drawn once.
    pub base_uw: u64,
    /// Drawn by each plane.
    pub plane_uw: u64,
}

impl CommandPower {
    /// Returns the power on a number of planes, at least one.
    #[inline]
    pub fn on(&self, planes: impl Into<u64>) -> u64 {
        self.base_uw + self.plane_uw * planes.into()
    }
}

/// Power of a die at its core supply in microwatts; each with an idle rest of the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorePower {
    /// Nothing runs or is suspended.
    pub idle_uw: u64,
    /// Power of a command for any planes: charge pumps and logic.
    pub base_uw: u64,
    /// Nothing runs and one program or erase is suspended.
    pub suspended_uw: u64,
    /// Sensing, program pulse and program verify, by page type.
    pub by_type: [[u64; 3]; PAGE_TYPES_MAX],
    /// Erase pulse and erase verify.
    pub erase_uw: [u64; 2],
}

impl CorePower {
    /// Returns the power of a command above that of an idle die.
    #[inline]
    pub fn of(&self, activity: Activity, page_type: usize) -> CommandPower {
        let [sense, pulse, verify] = self.by_type[page_type];
        let whole = match activity {
            Activity::Sense => sense,
            Activity::ProgramPulse => pulse,
            Activity::ProgramVerify => verify,
            Activity::ErasePulse => self.erase_uw[0],
            Activity::EraseVerify => self.erase_uw[1],
        };
        CommandPower { base_uw: self.base_uw - self.idle_uw, plane_uw: whole - self.base_uw }
    }

    /// Returns the power of a suspended operation above that of an idle die.
    #[inline]
    pub fn suspended_excess_uw(&self) -> u64 {
        self.suspended_uw - self.idle_uw
    }
}
